"""What chapters 0 and 1 draw and measure with."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest
import torch

from bookkit.figures import label_line
from bookkit.measure import multiplications, seconds
from bookkit.paints import draw_mixes, look_up
from bookkit.routes import draw_routes
from bookkit.verdicts import show_verdict
from solutions.warmup import pairwise_dots, stable_softmax, weighted_sum


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_looking_up_is_what_the_chapters_three_exercises_do():
    order, colours = torch.randn(4, 3), torch.randn(6, 3)
    shares, mixture = look_up(order, colours)
    wanted = stable_softmax(pairwise_dots(order, colours))
    torch.testing.assert_close(shares, wanted)
    torch.testing.assert_close(mixture, weighted_sum(wanted, colours))


def test_each_row_of_a_mix_is_filled_by_its_shares():
    colours = torch.tensor([[1.0, -1, -1], [-1, -1, 1]])
    shares = torch.tensor([[0.75, 0.25], [0.95, 0.05]])
    ax = draw_mixes(["a", "b"], colours, shares, shares @ colours, colours, "Two rows")
    bars = [bar for bar in ax.patches if 0 <= bar.get_x() < 1]
    assert [round(bar.get_width(), 2) for bar in bars] == [0.75, 0.25, 0.95, 0.05]
    assert [round(bar.get_x(), 2) for bar in bars] == [0, 0.75, 0, 0.95]
    assert [text.get_text() for text in ax.texts] == ["75%", "25%", "95%"]


def test_routes_have_an_arrow_a_step_and_one_straight():
    ax = draw_routes(["a", "b", "c", "d"], 0, 3, "Three steps or one")
    assert len(ax.patches) == 3 + 1
    said = {text.get_text() for text in ax.texts}
    assert {"hand to hand: 3 steps", "straight: 1 step"} <= said


def test_a_label_stands_by_its_point_in_its_lines_colour():
    _, ax = plt.subplots()
    ax.plot([0, 1, 2], [5, 6, 7], color="green")
    label_line(ax, "growth", at=1)
    assert ax.texts[0].xy == (1, 6)
    assert ax.texts[0].get_color() == "green"


def test_multiplications_of_a_matrix_product_are_counted():
    a, b = torch.ones(2, 3), torch.ones(3, 5)
    assert multiplications(lambda: a @ b) == 2 * 3 * 5


def test_seconds_are_the_shortest_of_so_many_runs():
    runs = []
    assert seconds(lambda: runs.append(torch.is_grad_enabled()), repeats=3) >= 0
    assert runs == [False, False, False]


def test_a_verdict_is_shown_without_a_workbook(capsys):
    show_verdict("pairwise_dots", lambda x, y: torch.cdist(x, y))
    assert "These are distances" in capsys.readouterr().out
