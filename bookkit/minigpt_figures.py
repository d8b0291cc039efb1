"""What chapter 9 draws: where parameters are, texts, and predictions by depth."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import Tensor

from bookkit.figures import AMOUNT, INK, PALETTE, PAPER

LETTER, LINE, SIZE = 0.602 * 9 / 72, 0.185, 9  # inches, inches, points


def draw_parameters(counts: Mapping[str, Mapping[str, int]], title: str) -> Axes:
    """A bar for each model, cut into its parts; lengths are shares of the whole.

    counts: by model, how many parameters each part holds. Beside a bar stands the sum.
    """
    _, ax = plt.subplots(figsize=(7, 0.62 * len(counts) + 1.1))
    for row, parts in enumerate(counts.values()):
        total, left = sum(parts.values()), 0.0
        for (part, count), colour in zip(parts.items(), PALETTE, strict=False):
            share = count / total
            ax.barh(row, share, left=left, color=colour, edgecolor=PAPER, height=0.72)
            middle = left + share / 2
            if share > 0.045:
                ax.text(
                    middle, row, f"{share:.0%}", ha="center", va="center", color=PAPER
                )
            if row == 0 and share > 0.045:
                ax.text(middle, -0.5, part, ha="center", va="bottom", color=colour)
            left += share
        ax.text(1.01, row, f"{total / 1e6:,.1f} M", va="center", color=INK)
    ax.set_yticks(range(len(counts)), list(counts))
    ax.set(xlim=(0, 1.13), ylim=(len(counts) - 0.5, -0.95), xticks=[], title=title)
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax


def draw_texts(texts: Mapping[str, str], columns: int = 60, rows: int = 9) -> Axes:
    """Set texts under their names, letter by letter, cut to columns and rows."""
    lines = {name: _wrapped(text, columns)[:rows] for name, text in texts.items()}
    height = sum(len(some) + 2.4 for some in lines.values())
    _, ax = plt.subplots(figsize=(columns * LETTER + 0.2, height * LINE))
    y = 0.0
    for name, some in lines.items():
        ax.text(0, y, name, fontweight="bold", color=PALETTE[0], va="top")
        y += 1.3
        style: dict[str, Any] = {"family": "monospace", "fontsize": SIZE, "va": "top"}
        for line in some:
            ax.text(0, y, line.replace("$", r"\$"), color=INK, **style)
            y += 1
        y += 1.1
    ax.set(xlim=(0, columns), ylim=(height, 0))
    ax.axis("off")
    return ax


def _wrapped(text: str, columns: int) -> list[str]:
    return [
        line[start : start + columns]
        for line in text.split("\n")
        for start in range(0, max(len(line), 1), columns)
    ]


def draw_lens(
    guesses: Sequence[Sequence[str]],
    chances: Tensor,
    text: Sequence[str],
    rows: Sequence[str],
    title: str,
) -> Axes:
    """Each depth's favourite at each place; the bluer, the likelier the right one.

    guesses (depths, T) of characters, chances (depths, T) that each depth gives to
    the character that came next; text: the T characters that were read.
    """
    depths, T = chances.shape
    _, ax = plt.subplots(figsize=(0.27 * T + 1.5, 0.34 * depths + 1.0))
    ax.pcolormesh(chances.numpy(), cmap=AMOUNT, vmin=0, vmax=1, edgecolor=PAPER, lw=1)
    for i, row in enumerate(guesses):
        for j, guess in enumerate(row):
            ink = PAPER if chances[i, j] > 0.6 else INK
            style: dict[str, Any] = {"family": "monospace", "fontsize": SIZE}
            style |= {"ha": "center", "va": "center", "color": ink}
            ax.text(j + 0.5, i + 0.5, guess.replace("$", r"\$"), **style)
    ax.set_xticks(torch.arange(T) + 0.5, [c.replace("$", r"\$") for c in text])
    for label in ax.get_xticklabels():
        label.set_fontfamily("monospace")
    ax.set_yticks(torch.arange(depths) + 0.5, rows)
    ax.invert_yaxis()
    ax.tick_params(length=0, labeltop=True, labelbottom=False)
    ax.set_title(title)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax
