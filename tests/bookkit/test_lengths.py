"""Parades ask what they say, watchers are asked beyond what they were trained on."""

import pytest
import torch
from torch import Generator, nn

from bookkit.lengths import BACK, NO_ANSWER, Watcher, answered, by_length, deal, train


def parade(batch=50, length=20):
    return deal(batch, length, Generator().manual_seed(0))


def test_the_first_answer_is_the_colour_so_many_steps_ago():
    _, colours, answers = parade()
    assert (answers[:, :BACK, 0] == NO_ANSWER).all()
    assert (answers[:, BACK:, 0] == colours[:, :-BACK]).all()


def test_the_second_answer_is_what_the_same_person_wore_last():
    people, colours, answers = parade()
    for row in range(len(people)):
        worn = {}
        for person, colour, answer in zip(
            people[row].tolist(),
            colours[row].tolist(),
            answers[row, :, 1].tolist(),
            strict=True,
        ):
            assert answer == worn.get(person, NO_ANSWER)
            worn[person] = colour


class Back(nn.Module):
    """Answers the first question rightly by counting, as long as it is asked alone."""

    def forward(self, people, colours):
        logits = torch.zeros(*people.shape, 2, 8)
        logits[:, BACK:, 0] = nn.functional.one_hot(colours[:, :-BACK], 8).float()
        return logits


def test_shares_are_told_by_position_and_question():
    shares = answered(Back(), 16)
    assert shares.shape == (16, 2)
    assert shares[:BACK, 0].isnan().all()
    assert (shares[BACK:, 0] == 1).all()
    assert shares[8:, 1].max() < 0.3


def test_in_pieces_nothing_is_known_from_before_the_cut():
    shares = answered(Back(), 16, piece=8)[:, 0]
    assert (shares[8 + BACK :] == 1).all()
    assert shares[8 : 8 + BACK].max() < 0.3


def test_spans_are_up_to_once_twice_and_four_times():
    shares = torch.arange(16.0)[:, None] * torch.tensor([1.0, 10.0])
    shares[0] = torch.nan
    assert by_length(shares, 4) == [2, 5.5, 11.5, 20, 55, 115]


def test_training_is_the_same_for_the_same_seed_and_learns():
    def watcher():
        torch.manual_seed(0)
        return train(Watcher(nn.Identity(), 16), 8, steps=30, batch=8)

    first, second = watcher(), watcher()
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)
    torch.manual_seed(0)
    assert not torch.equal(first.head.weight, Watcher(nn.Identity(), 16).head.weight)


@pytest.mark.parametrize("add", [None, lambda x: x + 1])
def test_a_watcher_tells_its_tokens_their_positions_if_it_can(add):
    heard = []

    def attention(x):
        heard.append(x)
        return torch.zeros_like(x)

    class Listening(nn.Module):
        forward = staticmethod(attention)

    torch.manual_seed(0)
    watcher = Watcher(Listening(), 16, add)
    people = torch.tensor([[0, 1, 2]])
    assert watcher(people, people).shape == (1, 3, 2, 8)
    tokens = watcher.people(people) + watcher.colours(people)
    wanted = watcher.norms[0](tokens if add is None else add(tokens))
    assert torch.equal(heard[0], wanted)
