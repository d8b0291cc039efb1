"""Pictures of heads show the numbers and the sharing they are given."""

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_rgb

from bookkit.heads import draw_heads, draw_sharing, draw_tokens, hue


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def written(ax):
    return [text.get_text() for text in ax.texts]


def test_each_cell_shows_its_number_in_its_token_s_colour():
    x = torch.tensor([[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]])
    figure = draw_tokens({"x": x, "head 0": x[:, :1]})
    whole, head = figure.axes
    assert written(whole) == ["0.0", "0.1", "1.0", "1.1", "2.0", "2.1"]
    assert written(head) == ["0.0", "1.0", "2.0"]
    colours = [to_rgb(patch.get_facecolor()) for patch in head.patches]
    assert colours == [pytest.approx(hue(token)) for token in range(3)]
    assert len(set(colours)) == 3


def test_every_head_gets_a_map_of_its_own():
    figure = draw_heads(torch.eye(4).expand(3, 4, 4), "Three heads")
    assert [ax.get_xlabel() for ax in figure.axes] == ["head 0", "head 1", "head 2"]
    assert figure.get_suptitle() == "Three heads"


def test_a_query_head_s_line_ends_at_the_head_it_shares():
    (ax,) = draw_sharing(6, [2], d_k=10).axes
    ends = [line.get_xdata()[1] for line in ax.lines]
    assert ends == [1.5, 1.5, 1.5, 4.5, 4.5, 4.5]
    assert "2 × 2 × 10 = 40 numbers kept" in written(ax)
