"""Pictures of positions show the numbers that they are given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest
import torch

from bookkit.figures import use_style
from bookkit.position_figures import (
    draw_answered,
    draw_arrows,
    draw_field,
    draw_shares,
    smooth,
)


@pytest.fixture(autouse=True)
def _closed():
    use_style()
    yield
    plt.close("all")


def test_a_field_is_coloured_around_zero_only_if_something_lies_below():
    up = draw_field(torch.tensor([[0.0, 2.0]])).images[0]
    both = draw_field(torch.tensor([[-1.0, 2.0]])).images[0]
    assert up.get_clim() == (0, 2)
    assert both.get_clim() == (-2, 2)
    assert up.cmap.name != both.cmap.name
    assert draw_field(torch.ones(2, 2), limit=5.0).images[0].get_clim() == (0, 5)


def test_arrows_end_where_their_vectors_do():
    _, ax = plt.subplots()
    draw_arrows({"query": torch.tensor([0.6, -0.8])}, "One", ax)
    arrow, name = ax.texts
    assert arrow.xy == pytest.approx((0.6, -0.8))
    assert name.get_text() == "query"


def test_each_watcher_gets_a_panel_with_both_questions():
    shares = torch.linspace(1, 0, 16)[:, None].expand(16, 2)
    fig = draw_answered({"one": shares, "two": shares}, 4, "Two")
    one, two = fig.axes[:2]
    assert [ax.get_title(loc="left") for ax in (one, two)] == ["one", "two"]
    drawn = [line.get_ydata() for line in two.lines if len(line.get_ydata()) == 16]
    assert len(drawn) == 2
    assert drawn[0] == pytest.approx(smooth(shares)[:, 0].numpy())


def test_a_table_has_a_row_a_watcher_and_three_lengths_a_question():
    fig = draw_shares({"one": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}, "A row")
    cells = [[text.get_text() for text in ax.texts] for ax in fig.axes]
    assert cells == [["0.10", "0.20", "0.30"], ["0.40", "0.50", "0.60"]]


def test_smoothing_leaves_out_what_was_not_asked():
    shares = torch.tensor([torch.nan, 1.0, 1.0, 4.0])[:, None]
    assert smooth(shares, window=3).flatten().tolist() == [1, 1, 2, 2.5]
