"""The plumbing of chapter 8: words and their mirror images, training, listening."""

import pytest
import torch
from torch import nn

from bookkit import machines
from bookkit.machines import END, PAD, START, spell


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_targets_are_the_words_backwards_with_an_end():
    pairs = machines.words_to_reverse(100, generator(), shortest=4, longest=7)
    assert pairs.source.shape == (100, 7)
    assert pairs.target.shape == (100, 8)
    assert set(pairs.lengths.tolist()) == {4, 5, 6, 7}
    for word, length, target in zip(*pairs, strict=True):
        n = int(length)
        assert spell(target) == spell(word)[::-1]
        assert len(spell(word)) == n
        assert target[n] == END
        assert (word[n:] == PAD).all()
        assert (target[n + 1 :] == PAD).all()


def test_a_word_s_pair_has_no_padding():
    pairs = machines.pair("cab")
    assert pairs.source.tolist() == [[2, 0, 1]]
    assert pairs.target.tolist() == [[1, 0, 2, END]]
    assert pairs.lengths.tolist() == [3]


def test_spelling_shows_the_start_and_stops_at_the_end():
    assert spell(torch.tensor([START, 0, 1, END, 2])) == "^ab"
    assert spell(torch.tensor([0, PAD, 1])) == "a"


def test_unseen_words_leave_out_what_was_seen():
    drawn = machines.words_to_reverse(20, generator())
    seen = {spell(word) for word in drawn.source[:5]}
    new = machines.unseen(10, seen, generator())
    assert torch.equal(new.source, drawn.source[5:15])
    assert torch.equal(new.target, drawn.target[5:15])


def test_a_word_is_right_to_its_end_or_not_at_all():
    target = torch.tensor([[1, 2, END, PAD], [3, 4, END, PAD]])
    written = torch.tensor([[1, 2, END, 7], [3, 5, END, PAD]])
    assert machines.exactly_right(written, target) == 0.5


def test_drawn_rows_are_rows():
    rows = torch.arange(6).view(3, 2)
    drawn = machines.draw(rows, 50, generator())
    assert {tuple(row) for row in drawn.tolist()} == {(0, 1), (2, 3), (4, 5)}


@pytest.mark.parametrize(("stop", "steps"), [(None, 120), (30, 30)])
def test_training_lowers_the_loss_and_watches(stop, steps):
    model = nn.Linear(1, 1)
    losses, seen = machines.train(
        model,
        lambda: (model(torch.ones(1, 1)) - 2).square().mean(),
        steps=120,
        stop=stop,
        rate=0.05,
        watch=lambda: model.training,
        every=10,
    )
    assert len(losses) == steps
    assert losses[-1] < losses[0]
    assert len(seen) == steps // 10 + 1


def test_the_same_course_stopped_early_begins_alike():
    def course(stop):
        torch.manual_seed(0)
        model = nn.Linear(1, 1)
        loss = lambda: (model(torch.ones(1, 1)) - 2).square().mean()  # noqa: E731
        return machines.train(model, loss, steps=60, stop=stop)[0]

    assert course(20) == course(None)[:20]


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x, scale=1.0):
        return self.one(x) * scale


def test_what_a_module_is_called_with_is_overheard_for_a_while():
    model, x = Two(), torch.ones(1, 2)
    with machines.overhear(model) as heard:
        model(x, scale=torch.tensor(2.0))
    model(x + 1)
    assert torch.equal(heard[0], x)
    assert heard[1] == 2


def test_the_census_names_the_part_without_a_gradient():
    model = Two()
    model(torch.ones(1, 2)).sum().backward()
    assert machines.gradient_census(model) == {"one": True, "other": False}


def test_running_sums_are_moved_by_what_stands_before():
    def run(tokens):  # (1, m) -> (1, m, 1)
        return tokens.float().cumsum(dim=1)[..., None]

    moves = machines.who_moves_whom(run, torch.tensor([1, 2, 3]), other=9)
    assert torch.equal(moves, torch.ones(3, 3).tril())
