"""The pictures of the chapter on masks say what they are given."""

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_hex

from bookkit.figures import INK, PALETTE
from bookkit.mask_figures import draw_writing, tiles


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_impossible_words_are_orange():
    ax = draw_writing({"she": [["the", "the", "cat"]]}, {"she": [[True, False, True]]})
    shown = [(text.get_text(), to_hex(text.get_color())) for text in ax.texts]
    assert shown[1:] == [("the", INK), ("the", PALETTE[1]), ("cat", INK)]


def test_words_stand_behind_each_other_and_lines_below():
    ax = draw_writing(
        {"she": [["the", "cat"], ["old"]]}, {"she": [[True, True], [True]]}
    )
    places = {text.get_text(): text.get_position() for text in ax.texts}
    assert places["cat"][0] == places["the"][0] + 4
    assert places["old"][1] > places["the"][1]


@pytest.mark.parametrize("block", [1, 2, 4, 8])
def test_a_causal_triangle_in_tiles_costs_its_formula(block):
    work = tiles(torch.ones(8, 8).tril().bool(), block)
    assert (work > 0).sum() == 8 * (8 + block) / 2
    assert (work == 1).sum() == 36


def test_an_empty_tile_is_skipped_and_a_crossed_one_is_not():
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]])
    expected = [[1, 0.4, 0, 0], [1, 1, 0, 0], [0, 0, 0.4, 0.4], [0, 0, 0.4, 1]]
    torch.testing.assert_close(tiles(mask.bool(), 2), torch.tensor(expected))


def test_tiles_have_to_fit():
    with pytest.raises(ValueError, match="n = 8 can't be cut into blocks of 3"):
        tiles(torch.ones(8, 8).bool(), 3)
