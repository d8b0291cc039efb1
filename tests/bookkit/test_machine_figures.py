"""Chapter 8's pictures show the masks, the shift and the shares they are given."""

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_rgb

from bookkit.figures import PALETTE
from bookkit.machine_figures import (
    BLANK,
    draw_by_word,
    draw_machines,
    draw_teacher_forcing,
    tint,
)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def cells(ax):
    return [to_rgb(patch.get_facecolor()) for patch in ax.patches]


def test_the_target_sees_all_of_the_source_and_the_source_nothing_of_it():
    encoder, decoder, both = draw_machines(["a", "b"], ["x", "y"]).axes
    self_, causal, cross = (pytest.approx(tint(PALETTE[i])) for i in range(3))
    no = pytest.approx(to_rgb(BLANK))
    assert cells(encoder) == [self_] * 4
    assert cells(decoder) == [causal, no, causal, causal]
    assert cells(both) == [
        *[self_, self_, no, no],
        *[self_, self_, no, no],
        *[cross, cross, causal, no],
        *[cross, cross, causal, causal],
    ]


def test_in_training_the_decoder_reads_one_letter_late():
    training, writing, unshifted = draw_teacher_forcing(["b", "a", "END"]).axes

    def boxes(ax, height):
        return [t.get_text() for t in ax.texts if t.get_position()[1] == height]

    assert boxes(training, 0) == ["START", "b", "a"]
    assert boxes(training, 1.5) == ["b", "a", "END"]
    assert boxes(writing, 0) == ["START", "?", "?"]
    assert boxes(unshifted, 0) == boxes(unshifted, 1.5) == ["b", "a", "END"]


def test_each_line_goes_through_its_shares_and_is_named():
    curves = {"left": torch.tensor([0.5, 1.0]), "both": torch.tensor([1.0, 1.0])}
    (ax,) = draw_by_word(curves, ["a", "b"], "t", "y", {"left": (0, 3, 4)}).axes
    assert [list(line.get_ydata()) for line in ax.lines] == [[0.5, 1.0], [1.0, 1.0]]
    assert [text.get_text() for text in ax.texts] == ["left", "both"]
    assert ax.texts[0].xy == (0, 0.5)
