"""Chapter 6's plumbing: the text, the reader and its trainer, what neurons fire on."""

import matplotlib.pyplot as plt
import pytest
import torch
from torch import nn

from bookkit.feed_forward_figures import (
    Memory,
    draw_memories,
    draw_seeds,
    draw_shares,
    swish_picture,
)
from bookkit.gates import BEFORE, Reader, held_out_loss, split, train
from bookkit.library import characters, source
from bookkit.neurons import Watch, key_of, log_p, shared_ending, strongest, votes
from solutions.feed_forward import FeedForward

TEXT, SHOWN = characters("the cat sat on the mat, " * 60, size=16)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def reader_of(layer=None, d_model=12):
    torch.manual_seed(0)
    return Reader(layer or FeedForward(d_model, 24), d_model, len(SHOWN))


def test_the_library_is_text_of_this_python():
    text = source(["heapq", "copy"])
    assert "def heappush(" in text
    assert "def deepcopy(" in text


def test_characters_are_numbered_by_frequency_and_the_rest_share_a_number():
    numbers, shown = characters("aaaa bb\nz", size=4)
    assert shown == ["a", "b", "⏎", "▯"]
    assert numbers.tolist() == [0, 0, 0, 0, 3, 1, 1, 2, 3]


def test_a_small_text_leaves_numbers_unused():
    numbers, shown = characters("ab", size=5)
    assert numbers.tolist() == [0, 1]
    assert shown == ["a", "b", "▯", "▯", "▯"]


def test_windows_hold_eight_characters_and_the_next_and_do_not_meet_across_the_cut():
    seen, rest = split(torch.arange(108))
    assert (len(seen), len(rest)) == (90, 10)
    assert seen[0].tolist() == list(range(BEFORE + 1))
    assert rest[0, 0] == seen[-1, 0] + 1


def test_a_reader_tells_places_apart():
    reader = reader_of()
    forth = torch.arange(BEFORE)[None]
    assert not torch.allclose(reader(forth), reader(forth.flip(1)))


def test_training_helps_and_one_seed_gives_one_result():
    def loss(steps, seed=0):
        settings = {"seed": seed, "d_model": 12, "steps": steps}
        return held_out_loss(lambda C: FeedForward(C, 24), TEXT, **settings)

    assert loss(60) == loss(60) != loss(60, seed=1)
    assert loss(60) < loss(1) - 1


def test_a_cost_on_activity_makes_neurons_quieter():
    activity = []
    for price in (0.0, 3.0):
        reader = reader_of()
        watch = Watch(reader.block)
        train(reader, TEXT, seed=0, steps=60, cost=watch.price(price))
        activity.append(watch.hidden.abs().mean().item())
    assert activity[1] < activity[0] / 2


def test_a_silenced_neuron_says_nothing_and_the_others_are_as_before():
    layer = FeedForward(3, 5)
    watch, x = Watch(layer), torch.randn(4, 3)
    usual, hidden = layer(x), watch.hidden
    watch.silenced = [2]
    without = layer(x)
    said = hidden[:, 2, None] * layer.W_2.weight[:, 2]
    assert torch.allclose(usual - without, said, atol=1e-6)
    watch.silenced = []
    assert torch.equal(layer(x), usual)


def test_votes_are_what_a_value_adds_to_the_logits():
    reader = reader_of()
    reader.last_norm = nn.Identity()  # so that the way to the logits is linear
    reader.last_norm.weight = torch.ones(12)
    with torch.no_grad():
        reader.block.W_2.weight -= reader.block.W_2.weight.mean(dim=0)
    watch, windows = Watch(reader.block), torch.randint(16, (1, BEFORE))
    usual = reader(windows)
    fires = watch.hidden[0, 7]
    watch.silenced = [7]
    added = (usual - reader(windows))[0]
    assert torch.allclose(added - added.mean(), fires * votes(reader)[7], atol=1e-5)


def test_a_key_s_fits_add_up_to_what_moves_its_neuron():
    reader = reader_of()
    reader.norm = nn.LayerNorm(12, eps=1e12)  # centres; its division is by a constant
    reader.norm.weight.data.mul_(1e6)
    layer = reader.block
    fits = key_of(reader, 3) / 1e6  # (BEFORE, characters)
    with torch.no_grad():
        a, b = torch.randint(16, (2, BEFORE))
        x = [reader.embed(w + 16 * torch.arange(BEFORE)).sum(0) for w in (a, b)]
        z = [layer.W_1(reader.norm(one))[3] for one in x]
    places = torch.arange(BEFORE)
    expected = fits[places, a].sum() - fits[places, b].sum()
    assert torch.allclose(z[0] - z[1], expected, atol=1e-4)


def test_strongest_places_are_ranked_and_alike_contexts_count_once():
    windows = torch.tensor([[9, 9, *range(6)], [8, 8, *range(6)], [0] * 8, [1] * 8])
    activation = torch.tensor([1.0, 3.0, 2.0, 0.0])
    assert strongest(activation, windows, count=3).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("contexts", "enough", "ending"),
    [
        (["if sel", "(sel", " sel", "tail"], 3, "sel"),
        (["if sel", "(sel", " sel", "tail"], 4, "l"),
        (["ab", "cd"], 2, ""),
    ],
)
def test_a_pattern_is_the_longest_ending_that_enough_contexts_share(
    contexts, enough, ending
):
    assert shared_ending(contexts, enough) == ending


def test_what_is_expected_adds_up_to_one():
    total = log_p(reader_of(), torch.randint(16, (5, BEFORE))).exp().sum(dim=-1)
    assert torch.allclose(total, torch.ones(5))


def test_shares_are_written_into_their_bars():
    parts = {"attention": 0.33, "feed-forward": 0.66, "embeddings": 0.01}
    (ax,) = draw_shares({"GPT-3": parts}, "Shares").axes
    written = [text.get_text() for text in ax.texts]
    assert written == ["33%", "66%", "attention", "feed-forward", "embeddings"]
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx([0.33, 0.66, 0.01])


def test_every_seed_is_a_dot_and_every_mean_a_stroke():
    _, ax = plt.subplots()
    draw_seeds({"a": torch.tensor([1.0, 3.0]), "b": torch.tensor([2.0, 2.0])}, ax)
    dots, mean, *_ = ax.lines
    assert dots.get_xdata().tolist() == [1.0, 3.0]
    assert list(mean.get_xdata()) == [2.0, 2.0]


def test_a_memory_shows_its_contexts_votes_and_both_probabilities():
    memory = Memory(7, ["(sel", " sel"], "sel", ["f", "l"], "f", 0.98, 0.16)
    written = [text.get_text() for text in draw_memories([memory], "T").axes[0].texts]
    assert {"neuron 7", "f  l", "0.98 ", "0.16 silenced"} <= set(written)
    assert "(   " in written
    assert " sel" in written


@pytest.mark.parametrize(("beta", "at_left"), [(0.0, 227.0), (20.0, 152.0)])
def test_swish_is_a_line_at_first_and_relu_at_last(beta, at_left):
    picture = swish_picture(beta)
    curve = picture.body.split("<path d='M")[-1]
    lowest = float(curve.split("L")[0].split()[1])
    assert lowest == pytest.approx(at_left, abs=0.2)
    assert lowest < picture.height
    assert "−0.00" not in picture.words
