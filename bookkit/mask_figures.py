"""Pictures for the chapter on masks: texts with their impossible words, and blocks."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from einops import reduce, repeat
from matplotlib.axes import Axes
from torch import Tensor

from bookkit.figures import INK, PALETTE

SIZE = 9  # points, of the monospaced letters
LETTER = 0.602 * SIZE / 72  # inches, a letter's width
LINE = 0.24  # inches, from one line to the next


def draw_writing(
    texts: Mapping[str, Sequence[Sequence[str]]],
    possible: Mapping[str, Sequence[Sequence[bool]]],
) -> Axes:
    """Set texts line by line under their authors; words that can't stand are orange.

    texts: by author, some lines of words; possible: for each word, whether it may be.
    """
    lines = [line for by in texts.values() for line in by]
    columns = max(sum(len(word) + 1 for word in line) for line in lines)
    rows = len(lines) + 1.6 * len(texts)
    _, ax = plt.subplots(figsize=(columns * LETTER + 0.2, rows * LINE))
    y = 0.0
    for author, by in texts.items():
        ax.text(0, y, author, fontweight="bold", color=INK, va="top")
        y += 1
        for line, rights in zip(by, possible[author], strict=True):
            _set_line(ax, y, line, rights)
            y += 1
        y += 0.6
    ax.set(xlim=(0, columns), ylim=(rows, 0))
    ax.axis("off")
    return ax


def _set_line(ax: Axes, y: float, line: Sequence[str], rights: Sequence[bool]) -> None:
    x = 0
    for word, right in zip(line, rights, strict=True):
        ax.text(
            x,
            y,
            word,
            family="monospace",
            fontsize=SIZE,
            va="top",
            color=INK if right else PALETTE[1],
            fontweight="normal" if right else "bold",
        )
        x += len(word) + 1


def tiles(mask: Tensor, block: int) -> Tensor:
    """What a kernel does that computes a block of scores whole, or not at all.

    mask (n, n), True = may attend -> (n, n): 1 is computed and used, 0.4 computed and
    thrown away, 0 skipped. block divides n.
    """
    n = len(mask)
    if n % block != 0:
        raise ValueError(f"n = {n} can't be cut into blocks of {block}")
    needed = reduce(mask, "(i a) (j b) -> i j", "any", a=block, b=block)
    computed = repeat(needed, "i j -> (i a) (j b)", a=block, b=block)
    return torch.where(mask, 1.0, torch.where(computed, 0.4, 0.0))
