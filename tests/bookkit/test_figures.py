"""The figures show the numbers that they are given."""

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.text import Annotation

from bookkit.attention_figures import draw_lookup, draw_product
from bookkit.figures import INK, PAPER, heatmap, use_style


@pytest.fixture(autouse=True)
def _drawing():
    matplotlib.use("agg")
    with matplotlib.rc_context():
        use_style()
        yield
    plt.close("all")


def written(ax):
    """The texts in an axes' cells, row by row."""
    return [text.get_text() for text in ax.texts]


def test_heatmap_writes_each_value_in_its_cell():
    ax = heatmap([[0.25, 0.75], [1.0, 0.0]], ["a", "b"], ["x", "y"], "Weights")
    assert written(ax) == ["0.25", "0.75", "1.00", "0.00"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x", "y"]
    assert ax.get_title(loc="left") == "Weights"


def test_heatmap_starts_at_its_top_left():
    ax = heatmap(torch.eye(3), "abc", "xyz")
    low, high = ax.get_ylim()
    assert low > high
    assert (ax.texts[1].get_position()) == (1.5, 0.5)  # row 0, column 1


def test_heatmap_writes_light_on_dark_and_dark_on_light():
    ax = heatmap([[0.0, 1.0]], ["a"], ["x", "y"])
    assert [text.get_color() for text in ax.texts] == [INK, PAPER]


def test_heatmap_shows_a_blocked_score_in_grey():
    ax = heatmap([[1.0, -torch.inf]], ["a"], ["x", "y"])
    red, green, blue, _ = ax.collections[0].to_rgba(ax.collections[0].get_array())[0, 1]
    assert max(red, green, blue) - min(red, green, blue) < 0.06
    assert written(ax) == ["1.00", "-inf"]


def test_heatmap_refuses_labels_that_do_not_fit():
    with pytest.raises(
        ValueError, match=r"matrix is \(2, 3\), its labels say \(3, 2\)"
    ):
        heatmap(torch.zeros(2, 3), "abc", "xy")


def test_heavier_key_gets_a_thicker_arrow():
    keys, weights = torch.eye(2), torch.tensor([0.9, 0.1])
    ax = draw_lookup(torch.ones(2), keys, weights, ["east", "north"])
    arrows = [text.arrow_patch for text in ax.texts if isinstance(text, Annotation)]
    widths = [arrow.get_linewidth() for arrow in arrows]
    assert widths[0] > widths[1]
    assert "east\n0.90" in written(ax)


def test_product_shows_the_framed_dot_product():
    Q, K = (
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
        torch.tensor([[5.0, 6.0], [7.0, 8.0]]),
    )
    fig = draw_product(Q, K, ["a", "b"], ["f", "g"], query=1, key=0)
    product = fig.axes[3]
    assert written(product) == ["17", "23", "39", "53"]
    assert [patch.get_xy() for patch in product.patches] == [(0, 1)]  # row 1, column 0
