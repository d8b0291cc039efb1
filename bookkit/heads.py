"""Pictures of heads: whose features they hold, where they look, what they share."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from bookkit.figures import INK, MUTED, PALETTE, PAPER, bare, heatmap, tint

CELL = 0.42  # inches, a side


def hue(index: int) -> tuple[float, ...]:
    """A light colour of its own for each index, to write on in dark ink."""
    return tint(PALETTE[index % len(PALETTE)])


def draw_tokens(panels: Mapping[str, torch.Tensor], row: str = "token") -> Figure:
    """Draw tables side by side, each cell in the colour of the token it came from.

    panels: titles and tensors (rows, cols) whose entries read token.feature, so that
    2.5 is feature 5 of token 2. `row` is what the rows are.
    """
    widths = [table.shape[1] for table in panels.values()]
    rows = max(table.shape[0] for table in panels.values())
    size = (CELL * sum(widths) + 0.75 * len(panels), CELL * rows + 0.75)
    fig, _ = plt.subplots(1, len(panels), figsize=size, width_ratios=widths)
    for ax, (title, table) in zip(fig.axes, panels.items(), strict=True):
        for i, line in enumerate(table.tolist()):
            for j, value in enumerate(line):
                ax.add_patch(
                    plt.Rectangle((j, i), 1, 1, fc=hue(int(value)), ec=PAPER, lw=2)
                )
                ax.text(j + 0.5, i + 0.5, f"{value:.1f}", ha="center", va="center")
        ax.set(xlim=(0, table.shape[1]), ylim=(table.shape[0], 0), xticks=[])
        ax.set(yticks=[i + 0.5 for i in range(len(table))], aspect="equal", title=title)
        ax.set_yticklabels(range(len(table)))
        bare(ax)
    fig.axes[0].set_ylabel(row)
    return fig


def draw_heads(weights: torch.Tensor, title: str = "") -> Figure:
    """Draw where each head looks: a map of its weights, for each of (h, n, m)."""
    h, n, m = weights.shape
    fig, _ = plt.subplots(1, h, figsize=(0.6 + 2.0 * h, 2.8), squeeze=False)
    for head, (ax, table) in enumerate(zip(fig.axes, weights, strict=True)):
        heatmap(table, range(n), range(m), ax=ax, fmt="", limit=1.0)
        ax.set_xlabel(f"head {head}" if h > 1 else "the one head")
    fig.axes[0].set_ylabel("query")
    fig.suptitle(title, x=0.02, ha="left", fontsize=11, fontweight="bold")
    return fig


def draw_sharing(num_heads: int, choices: Sequence[int], d_k: int = 128) -> Figure:
    """Draw which query head reads which key/value head, for each number of the latter.

    Under each picture stands what a token leaves behind in a layer: keys and values.
    """
    size = (max(2.5, 0.42 * num_heads) * len(choices) + 0.5, 1.9)
    fig, _ = plt.subplots(1, len(choices), figsize=size, squeeze=False)
    for ax, kv_heads in zip(fig.axes, choices, strict=True):
        groups = num_heads // kv_heads
        for head in range(num_heads):
            shared = head // groups
            x = groups * (shared + 0.5)
            ax.plot([head + 0.5, x], [1.0, 0.3], color=hue(shared), lw=2, zorder=0)
            _box(ax, head + 0.5, 1.0, f"{head}", shared)
            if head % groups == 0:
                _box(ax, x, 0.3, f"{shared}", shared)
        ax.set(xlim=(-0.2, num_heads + 0.2), ylim=(-0.35, 1.25), xticks=[], yticks=[])
        kept = f"2 × {kv_heads} × {d_k} = {2 * kv_heads * d_k:,} numbers kept"
        ax.text(num_heads / 2, -0.2, kept, ha="center", va="center", color=MUTED)
        ax.set_title(f"{kv_heads} key/value head{'s' * (kv_heads > 1)}")
        bare(ax)
    fig.axes[0].set_yticks([0.3, 1.0], ["key/value", "query"])
    return fig


def _box(ax: Axes, x: float, y: float, text: str, colour: int) -> None:
    shape = FancyBboxPatch(
        (x - 0.3, y - 0.11), 0.6, 0.22, "round,pad=0.04", fc=hue(colour), ec=PAPER
    )
    ax.add_patch(shape)
    ax.text(x, y, text, ha="center", va="center", color=INK, fontsize=9)
