"""The figure of broadcasting agrees with torch on what fits and what comes out."""

import itertools
import re

import pytest
import torch

from bookkit.widgets.shapes import STEPS, broadcast

SHAPES = [(), (3,), (1,), (6, 3), (6, 1), (4, 6, 3), (4, 1, 1), (6,)]


def boxes(picture):
    """The sizes that can be seen, row by row."""
    drawn = re.findall(r"<g opacity='(.)'>.*?>([^<>]*)</text></g>", picture.body)
    return [size for seen, size in drawn if seen == "1"]


@pytest.mark.parametrize(("x", "y"), list(itertools.product(SHAPES, SHAPES)))
def test_result_is_torchs(x, y):
    picture = broadcast(x, y, "repeat")
    try:
        result = tuple(torch.broadcast_shapes(x, y))
    except RuntimeError:
        assert "✗" in boxes(picture)
        assert "don't fit" in picture.words
    else:
        shown = boxes(picture)
        assert shown[len(shown) - len(result) :] == [str(size) for size in result]
        assert picture.words.endswith(f"the result is {result}.")


def test_missing_axes_are_filled_in_at_the_second_step():
    first, second, third = (broadcast((4, 6, 3), (3,), step) for step in STEPS)
    assert boxes(first) == ["4", "6", "3", "3"]
    assert boxes(second) == ["4", "6", "3", "1", "1", "3"]
    assert "y has 2 axes less" in second.words
    assert boxes(third) == ["4", "6", "3", "1 → 4", "1 → 6", "3", "4", "6", "3"]


def test_the_sizes_that_do_not_fit_are_named():
    assert broadcast((6, 3), (6,), "repeat").words.startswith("3 meets 6")


def test_a_fourth_axis_is_refused():
    with pytest.raises(ValueError, match="three axes at most"):
        broadcast((2, 2, 2, 2), (1,), "align")
