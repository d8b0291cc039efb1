"""Pictures show the numbers that they are given."""

import math
import re

import pytest
import torch

from bookkit.widgets import bars, clocks, grid, line_chart, side_by_side


def window(n, width):
    return torch.ones(n, n).tril().triu(1 - width).bool()


def attributes(name, picture):
    svg = picture.svg()
    return [float(number) for number in re.findall(rf" {name}='([-\d.]+)'", svg)]


def test_a_grid_has_a_cell_for_each_entry_as_strong_as_its_value():
    matrix = torch.tensor([[0.0, 0.25], [1.0, 0.5]])
    picture = grid(matrix, "ab", "wx", "title")
    assert attributes("opacity", picture) == [0.0, 0.25, 1.0, 0.5]
    assert all(f">{label}<" in picture.body for label in [*"abwx", "title"])


def test_a_grid_whose_labels_do_not_fit_is_refused():
    with pytest.raises(
        ValueError, match=r"matrix is \(4, 4\), its labels say \(3, 4\)"
    ):
        grid(window(4, 2), range(3), range(4))


def test_a_clock_turns_against_the_sun_and_may_go_around():
    dials = clocks([0.0, math.pi / 2, 4 * math.pi], ["a", "b", "c"])
    turned = re.findall(r"rotate\(([-\d.]+)\)", dials.svg())
    assert [float(turn) for turn in turned] == [0, -90, -720]


def test_clocks_whose_names_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="1 angles, but 2 names"):
        clocks([0.1], ["a", "b"])


def test_a_bar_is_as_long_as_its_number_and_nothing_is_a_dash():
    picture = bars([0.5, 0.25, 0.0], ["cat", "dog", "hen"], "next")
    _, *lengths = attributes("width", picture)  # the picture's own comes first
    assert lengths[0] == 2 * lengths[1] > lengths[2] == 0
    said = [f">{text}<" in picture.body for text in ("cat", "0.500", "0.250", "–")]
    assert said == [True] * 4


def test_a_bar_never_leaves_its_picture():
    picture = bars([3.0], ["a"], per=0.5)
    assert attributes("width", picture)[1] < picture.width


def test_bars_whose_names_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 values, but 1 names"):
        bars([0.1, 0.9], ["a"])


def points(picture, curve):
    path = re.findall(r"<path d='M([^']*L[^']*)'", picture.body)[curve]
    return [tuple(map(float, point.split())) for point in path.split("L")]


def test_on_a_logarithmic_axis_equal_factors_are_equal_steps():
    lines = {"halves": [1.0, 0.1, 0.01], "nothing": [1.0, 0.0, 0.0]}
    chart = line_chart(
        lines, [0, 5, 10], labels=("x", "y"), y_range=(0.01, 1), log=True
    )
    (x_0, top), (x_1, middle), (x_2, bottom) = points(chart, 0)
    assert (x_1 - x_0, middle - top) == (x_2 - x_1, bottom - middle)
    assert middle > top == 0
    assert points(chart, 1)[1][1] > bottom  # cut off below, and still a number
    assert all(f">{said}<" in chart.body for said in ("10⁻²", "halves", "x", "y"))


def test_pictures_side_by_side_keep_their_panels_and_words():
    one, two = clocks([0.0], ["a"], words="One."), bars([0.5], ["b"], words="Two.")
    both = side_by_side(one, two)
    assert both.width == one.width + two.width + 28
    assert both.svg().count("<svg") == 2
    assert both.words == "One. Two."
    assert side_by_side(one, two, words="Both.").words == "Both."


def test_labels_are_escaped():
    assert "<b>" not in grid(window(1, 1), ["<b>"], ["&"], "<b>").svg()
