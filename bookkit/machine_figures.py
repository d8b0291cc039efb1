"""Chapter 8's pictures: who sees whom, what the decoder reads, shares by word."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from bookkit.figures import INK, MUTED, PALETTE, PAPER, bare, label_line, tint

BLANK = "#eef1f4"


def draw_machines(source: Sequence[str], target: Sequence[str]) -> Figure:
    """Draw which token (column) each token (row) may look at, in three machines."""
    m, n = len(source), len(target)
    square = torch.ones(m, m).long()
    triangle = torch.ones(n, n).tril().long() * 2
    both = torch.zeros(m + n, m + n).long()
    both[:m, :m], both[m:, m:], both[m:, :m] = square, triangle, 3
    widths = [m, n, m + n]
    fig, axes = plt.subplots(1, 3, figsize=(7.5, 3.1), width_ratios=widths)
    names = ["Encoder", "Decoder", "Encoder-decoder"]
    labels = [list(source), list(target), [*source, *target]]
    for ax, name, table, texts in zip(
        axes, names, (square, triangle, both), labels, strict=True
    ):
        _cells(ax, table, texts)
        ax.set_title(name)
    axes[2].text(m / 2, m / 2, "self", ha="center", va="center")
    axes[2].text(m / 2, m + n / 2, "cross", ha="center", va="center")
    axes[2].text(m + n / 3, m + 0.66 * n, "self", ha="center", va="center")
    axes[0].set_ylabel("looks")
    return fig


def _cells(ax: Axes, table: torch.Tensor, labels: Sequence[str]) -> None:
    colours = [BLANK, *[tint(PALETTE[i]) for i in (0, 1, 2)]]
    for i, row in enumerate(table.tolist()):
        for j, kind in enumerate(row):
            ax.add_patch(Rectangle((j, i), 1, 1, fc=colours[kind], ec=PAPER, lw=2))
    size = len(labels)
    ax.set(xlim=(0, size), ylim=(size, 0), aspect="equal", anchor="N")
    ax.set_xticks([j + 0.5 for j in range(size)], labels, rotation=90)
    ax.set_yticks([i + 0.5 for i in range(size)], labels)
    ax.tick_params(labeltop=True, labelbottom=False)
    bare(ax)


def draw_teacher_forcing(answer: Sequence[str], start: str = "START") -> Figure:
    """Draw what a decoder reads and says: in training, in use, and without a shift."""
    n = len(answer)
    shifted = [start, *answer[:-1]]
    fig, axes = plt.subplots(1, 3, figsize=(8.4, 2.7))
    panels = [
        ("Training: the true letters", shifted, answer),
        ("Writing: its own letters", [start, *"?" * (n - 1)], ["?"] * n),
        ("No shift: it reads the answer", answer, answer),
    ]
    for ax, (title, inputs, outputs) in zip(axes, panels, strict=True):
        for i, (below, above) in enumerate(zip(inputs, outputs, strict=True)):
            _box(ax, i, 0, below, PALETTE[0])
            _box(ax, i, 1.5, above, PALETTE[1])
            _arrow(ax, (i, 0.3), (i, 1.2), MUTED)
        ax.set(xlim=(-0.6, n - 0.4), ylim=(-0.5, 2.0), title=title, xticks=[])
        ax.set_yticks([0, 1.5], ["reads", "says"] if ax is axes[0] else ["", ""])
        bare(ax)
    for i in range(n - 1):
        _arrow(axes[1], (i + 0.2, 1.2), (i + 0.85, 0.3), PALETTE[1])
    return fig


def draw_by_word(
    curves: Mapping[str, torch.Tensor],
    words: Sequence[str],
    title: str,
    ylabel: str,
    places: Mapping[str, tuple[int, int, int]] | None = None,
) -> Figure:
    """Draw a share for each word of a sentence, one line for each name.

    places: by which word a line's name stands, and how far right of it and above.
    """
    fig, ax = plt.subplots(figsize=(7, 3.2))
    for name, shares in curves.items():
        ax.plot(shares.tolist(), marker="o")
        at, dx, dy = (places or {}).get(name, (-1, 0, 7))
        label_line(ax, name, at=at, dx=dx, dy=dy)
    ax.set_xticks(range(len(words)), words, rotation=45, ha="right")
    ax.set(ylim=(0, 1.16), ylabel=ylabel, title=title)
    return fig


def _box(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    shape = FancyBboxPatch(
        (x - 0.36, y - 0.24), 0.72, 0.48, "round,pad=0.04", fc=tint(colour), ec=PAPER
    )
    ax.add_patch(shape)
    size = 9 if len(text) < 3 else 6.5
    ax.text(x, y, text, ha="center", va="center", color=INK, fontsize=size)


def _arrow(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], colour: str
) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.5}
    ax.annotate("", xy=end, xytext=start, arrowprops=style)
