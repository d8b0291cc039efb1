"""Pictures of positions: tables and biases, turned vectors, and what lengths do."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from torch import Tensor

from bookkit.figures import AMOUNT, MUTED, PALETTE, SIGNED, heatmap
from bookkit.lengths import COLOURS, QUESTIONS

SEEN = "#e9ecef"  # the background of lengths seen in training


def draw_field(
    matrix: Tensor, title: str = "", *, ax: Axes | None = None, limit: float = 0.0
) -> Axes:
    """Draw a large matrix (n, m) by colours alone: orange below 0, blue above.

    `limit` is the value of the darkest colour (default: the largest magnitude).
    """
    values = matrix.detach().float()
    if ax is None:
        _, ax = plt.subplots()
    top = limit or float(values.abs().max()) or 1.0
    signed = bool(values.min() < 0)
    colours, low = (SIGNED, -top) if signed else (AMOUNT, 0.0)
    ax.imshow(values.numpy(), cmap=colours, vmin=low, vmax=top, interpolation="nearest")
    ax.set(title=title, aspect="auto" if len(values) != values.shape[1] else "equal")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax


def draw_arrows(arrows: Mapping[str, Tensor], title: str, ax: Axes) -> Axes:
    """Draw named vectors (2,) of length 1 or so from the middle of a circle."""
    ax.add_patch(Circle((0, 0), 1, fill=False, ec="#d5dade"))
    for (name, vector), colour in zip(arrows.items(), PALETTE, strict=False):
        x, y = vector.tolist()
        style = {"arrowstyle": "-|>", "color": colour, "lw": 2, "shrinkA": 0}
        ax.annotate("", xy=(x, y), xytext=(0, 0), arrowprops=style)
        ax.text(1.28 * x, 1.2 * y, name, color=colour, ha="center", va="center")
    ax.set(xlim=(-1.7, 1.7), ylim=(-1.4, 1.4), aspect="equal", title=title)
    ax.axis("off")
    return ax


def draw_answered(curves: Mapping[str, Tensor], trained: int, title: str) -> Figure:
    """Draw, for each of up to six watchers, the share of right answers by position.

    curves: names and shares (length, questions). Up to `trained` positions the
    background is grey: so far the watcher was trained.
    """
    fig, axes = plt.subplots(2, 3, figsize=(7.5, 4.4), sharex=True, sharey=True)
    for ax, (name, shares) in zip(axes.flat, curves.items(), strict=False):
        ax.axvspan(0, trained, color=SEEN, zorder=0)
        ax.axhline(1 / COLOURS, color=MUTED, ls=":", lw=1)
        for share, colour in zip(smooth(shares).T, PALETTE, strict=False):
            ax.plot(share, color=colour)
        ax.set(title=name, ylim=(0, 1.05), xlim=(0, len(shares)))
        ax.set_xticks([0, *(trained * n for n in (1, 2, 4))])
    first, right = axes[0, 0], 0.98 * len(shares)
    for text, y, colour in zip(QUESTIONS, (0.85, 0.7), PALETTE, strict=False):
        first.text(right, y, text, color=colour, ha="right", fontweight="bold")
    first.text(right, 0.02, "by chance", color=MUTED, ha="right", fontsize=8)
    for ax in axes[:, 0]:
        ax.set_ylabel("right answers")
    for ax in axes[-1]:
        ax.set_xlabel("position")
    _headline(fig, title)
    return fig


def draw_shares(table: Mapping[str, Sequence[float]], title: str) -> Figure:
    """Draw a table of right answers: a row a watcher, 1×, 2× and 4× a question."""
    fig, axes = plt.subplots(1, 2, figsize=(7.5, 0.95 + 0.34 * len(table)))
    values = torch.tensor(list(table.values())).view(-1, 2, 3)
    columns = ["up to 1×", "to 2×", "to 4×"]
    for i, (ax, question) in enumerate(zip(axes, QUESTIONS, strict=True)):
        rows = list(table) if i == 0 else [""] * len(table)
        heatmap(values[:, i], rows, columns, question, ax=ax, limit=1.0)
        ax.set_aspect("auto")
    _headline(fig, title)
    return fig


def smooth(shares: Tensor, window: int = 5) -> Tensor:
    """Average each position with its neighbours, leaving out nan: (length, any)."""
    around = F.pad(shares.T, (window // 2, window // 2), value=torch.nan)
    return around.unfold(-1, window, 1).nanmean(dim=-1).T


def _headline(fig: Figure, title: str) -> None:
    fig.suptitle(title, x=0.02, ha="left", fontsize=11, fontweight="bold")
