"""Pictures of attention at work: a lookup in the plane, and a product of matrices."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bookkit.figures import INK, MUTED, PALETTE, heatmap
from bookkit.widgets import Picture, bars, side_by_side
from bookkit.widgets.pictures import text
from bookkit.widgets.theme import EMPTY, PLATE


def draw_lookup(
    query: torch.Tensor,
    keys: torch.Tensor,
    weights: torch.Tensor,
    names: Sequence[str],
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a query and its keys as arrows in the plane, a heavier key's arrow thicker.

    query (2,), keys (m, 2), weights (m,), m names. The longest key sets the picture's
    size; a query much longer than it leaves the picture.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(3.2, 3.2))
    for (x, y), weight, name in zip(
        keys.tolist(), weights.tolist(), names, strict=True
    ):
        _arrow(ax, x, y, PALETTE[0], width=1 + 6 * weight)
        label = f"{name}\n{weight:.2f}"
        ax.text(1.35 * x, 1.35 * y, label, ha="center", va="center")
    x, y = query.tolist()
    _arrow(ax, x, y, PALETTE[1], width=2)
    side = "left" if x >= 0 else "right"
    ax.text(1.08 * x, 1.08 * y, " query ", color=PALETTE[1], ha=side, va="center")
    reach = 1.6 * keys.norm(dim=-1).max().item()
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=title)
    ax.axis("off")
    return ax


def _arrow(ax: Axes, x: float, y: float, colour: str, width: float) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0}
    ax.annotate("", xy=(x, y), xytext=(0, 0), arrowprops=style)


def lookup_picture(
    query: torch.Tensor,
    keys: torch.Tensor,
    weights: torch.Tensor,
    values: torch.Tensor,
    names: Sequence[str],
    answer: float,
) -> Picture:
    """Draw a query among keys of length 2 in the plane, and beside it their weights.

    query (2,), keys (m, 2), weights (m,), values (m,), m names.
    """
    middle, unit = 130, 40
    circle = f"<circle cx='{middle}' cy='{middle}' r='{2 * unit}' "
    body = f"{circle}fill='{PLATE}' stroke='{EMPTY}'/>"
    for key, weight, name in zip(keys.tolist(), weights.tolist(), names, strict=True):
        x, y = middle + unit * key[0], middle - unit * key[1]
        body += (
            f"<path d='M{middle} {middle}L{x:g} {y:g}' stroke='{PALETTE[0]}' "
            f"stroke-width='{1 + 11 * weight:.1f}'/>"
        )
        at = middle + 1.4 * (x - middle), middle + 1.25 * (y - middle) + 4
        body += text(*at, name, INK, anchor="middle")
    length = unit * query.norm().item()
    turn = -torch.rad2deg(torch.atan2(query[1], query[0])).item()
    tip = f"<path d='M{length:.1f} 0l-9 -6v12z' fill='{PALETTE[1]}'/>"
    body += (
        f"<g transform='translate({middle} {middle})'>"
        f"<g transform='rotate({turn:.0f})'>"
        f"<path d='M0 0L{length:.1f} 0' stroke='{PALETTE[1]}' stroke-width='4'/>"
        f"{tip}</g></g>"
    )
    body += text(0, 14, "query", PALETTE[1], bold=True)
    body += text(44, 14, "and keys", MUTED)
    sums = [f"{n} ({v:g})" for n, v in zip(names, values.tolist(), strict=True)]
    parts = [
        f"{w:.2f} of {v:g}"
        for w, v in zip(weights.tolist(), values.tolist(), strict=True)
    ]
    said = f"The answer is {answer:.1f}: {', '.join(parts)}."
    plane = Picture(body, 2 * middle, 2 * middle - 16)
    return side_by_side(plane, bars(weights, sums, f"answer {answer:.1f}"), words=said)


def draw_product(
    Q: torch.Tensor,
    K: torch.Tensor,
    tokens: Sequence[str],
    features: Sequence[str],
    query: int,
    key: int,
) -> Figure:
    """Lay Q left of Q Kᵀ, and Kᵀ above; frame a query, a key and their dot product.

    Q (n, d_k), K (n, d_k), n tokens, d_k features.
    """
    n, d_k = Q.shape
    fig, grid = plt.subplots(
        2,
        2,
        figsize=(1.6 + 0.62 * (n + d_k), 1.5 + 0.42 * (n + d_k)),
        width_ratios=[d_k, n],
        height_ratios=[d_k, n],
    )
    grid[0, 0].axis("off")
    top = max(Q.abs().max(), K.abs().max(), (Q @ K.mT).abs().max()).item()
    for ax, matrix, rows, cols, title in (
        (grid[0, 1], K.mT, features, tokens, "Kᵀ: what each token is"),
        (grid[1, 0], Q, tokens, features, "Q: what it looks for"),
        (grid[1, 1], Q @ K.mT, tokens, tokens, "Q Kᵀ: how well they fit"),
    ):
        heatmap(matrix, rows, cols, title, ax=ax, fmt="{:.0f}", limit=top)
        ax.set_aspect("auto")
    _frame(grid[0, 1], key, 0, 1, d_k)
    _frame(grid[1, 0], 0, query, d_k, 1)
    _frame(grid[1, 1], key, query, 1, 1)
    return fig


def _frame(ax: Axes, x: float, y: float, width: float, height: float) -> None:
    ax.add_patch(
        Rectangle(
            (x, y), width, height, fill=False, ec=PALETTE[1], lw=2.5, clip_on=False
        )
    )
