"""Pictures of tokens: a text in pieces, a lesson, what models write, their curves."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bookkit.figures import INK, MUTED, PALETTE, PAPER, label_line
from bookkit.patients import Chart
from bookkit.recorded import recorded
from bookkit.widgets import Picture

LETTER, LINE = 9, 30  # units of a letter's width and of a line's height in `pieces`
COLUMNS = 42  # letters on a line
TINTS = ["#cfe6f4", "#f9dcc4", "#cdebdf", "#e8d9e4"]  # one after the other


def pieces(tokens: Sequence[str], words: str = "") -> Picture:
    """Set a text in one line after another, each token on a tint; spaces are dots."""
    paths: dict[str, str] = {}
    lines: list[str] = [""]
    for i, token in enumerate(tokens):
        if len(lines[-1]) + len(token) > COLUMNS:
            lines.append("")
        x, y = len(lines[-1]) * LETTER, (len(lines) - 1) * LINE
        path = f"M{x} {y}h{len(token) * LETTER - 1}v22h-{len(token) * LETTER - 1}z"
        hue = PALETTE[i % len(TINTS)]
        paths[hue] = paths.get(hue, "") + path
        lines[-1] += token.replace(" ", "·").replace("\n", "¶")
    body = "".join(
        f"<path fill='{hue}' fill-opacity='0.25' d='{d}'/>" for hue, d in paths.items()
    )
    for row, line in enumerate(lines):
        style = f"font-family='monospace' font-size='14' fill='{INK}'"
        width = len(line) * LETTER - 1
        body += f"<text x='0' y='{16 + row * LINE}' textLength='{width}' {style}>"
        body += f"{html.escape(line)}</text>"
    return Picture(body, COLUMNS * LETTER, len(lines) * LINE, words)


def draw_shift(text: Sequence[str]) -> Axes:
    """Draw a piece of T + 1 tokens, and below it the inputs and the targets.

    In each column of the two lower rows stand the token that is seen last and the one
    that is asked for.
    """
    T = len(text) - 1
    _, ax = plt.subplots(figsize=(min(0.55 * T + 1.6, 7), 2.3))
    rows = {"text": text, "inputs": text[:-1], "targets": text[1:]}
    for y, (name, row) in enumerate(rows.items()):
        ax.text(-0.3, y + 0.45, name, ha="right", va="center", color=MUTED)
        for t, token in enumerate(row):
            place = t + (name == "targets")  # where in the text it stands
            tint = TINTS[place % len(TINTS)]
            ax.add_patch(Rectangle((t, y), 0.92, 0.8, color=tint))
            shown = token.replace(" ", "␣")
            ax.text(t + 0.46, y + 0.4, shown, ha="center", va="center", color=INK)
    for t in range(T):
        style: dict[str, Any] = {"arrowstyle": "->", "color": MUTED, "lw": 1}
        ax.annotate("", (t + 0.46, 2.02), (t + 0.46, 1.78), arrowprops=style)
    ax.set(xlim=(-1.6, T + 1), ylim=(3, -0.1))
    ax.axis("off")
    return ax


def draw_samples(samples: Mapping[str, str], columns: int = 72, lines: int = 3) -> Axes:
    """Set what a model wrote in boxes, each under its name.

    Characters that can't be seen are dots.
    """
    _, ax = plt.subplots(
        figsize=((columns + 4) * 0.087, len(samples) * (lines + 1.1) * 0.19)
    )
    y = 0.0
    for name, text in samples.items():
        ax.text(0, y, name, fontweight="bold", color=INK, va="top")
        box = Rectangle((2, y - 0.15), columns + 1, lines + 0.5, color="#f3f6f9")
        ax.add_patch(box)
        for row, line in enumerate(_wrapped(text, columns)[:lines]):
            style: dict[str, Any] = {"family": "monospace", "fontsize": 9, "va": "top"}
            ax.text(2.6, y + row, line, color=INK, parse_math=False, **style)
        y += lines + 1.1
    ax.set(xlim=(0, columns + 3), ylim=(y, -0.4))
    ax.axis("off")
    return ax


def _wrapped(text: str, columns: int) -> list[str]:
    """Lines of at most so many characters, in which every character can be seen."""
    lines = []
    for line in text.split("\n"):
        shown = "".join(c if c.isascii() and c.isprintable() else "·" for c in line)
        starts = range(0, max(len(shown), 1), columns)
        lines += [shown[at : at + columns] for at in starts]
    return lines


def label_ends(ax: Axes, names: Sequence[str], gap: float) -> None:
    """Write each line's name behind its last point; names keep a gap upwards."""
    ends = [
        (*np.asarray(line.get_xydata(), dtype=float)[-1].tolist(), name, line)
        for name, line in zip(names, ax.lines, strict=True)
    ]
    free = -float("inf")
    for x, y, name, line in sorted(ends, key=lambda end: end[1]):
        free = max(y, free)
        style: dict[str, Any] = {"fontweight": "bold", "va": "center", "fontsize": 9}
        style |= {"color": line.get_color(), "textcoords": "offset points"}
        ax.annotate(name, (x, free), (8, 0), **style)
        free += gap


def draw_charts(charts: Mapping[str, Chart]) -> Figure:
    """Draw the curves of several runs, each under its name, on the same axes."""
    fig, axes = plt.subplots(2, 4, figsize=(7.6, 4), sharex=True, sharey=True)
    for ax, (name, chart) in zip(axes.flat, charts.items(), strict=False):
        ax.plot(range(1, len(chart.losses) + 1), chart.losses, lw=1.2)
        ax.plot(chart.checked, chart.unseen, color=PALETTE[1], marker="o", lw=1, ms=3)
        ax.set(ylim=(0, 6.2), title=name)
    for name, colour, y in [("batch", PALETTE[0], 0.88), ("unseen", PALETTE[1], 0.74)]:
        first = axes.flat[0]
        style: dict[str, Any] = {"fontweight": "bold", "fontsize": 9, "ha": "right"}
        first.text(0.97, y, name, color=colour, transform=first.transAxes, **style)
    fig.supxlabel("training step", color=INK, fontsize=10)
    fig.supylabel("loss a byte, in nats", color=INK, fontsize=10)
    fig.set_facecolor(PAPER)
    return fig


def draw_recorded(runs: Mapping[str, tuple[str, float | None]]) -> Figure:
    """Draw recorded runs side by side: by name a title, and a published loss or None.

    A run's batches are averaged from one check to the next.
    """
    fig, axes = plt.subplots(
        1, len(runs), figsize=(3.8 * len(runs), 3.2), sharey=True, squeeze=False
    )
    for ax, (name, (title, published)) in zip(axes.flat, runs.items(), strict=True):
        run = recorded(name)
        steps, batches, unseen = zip(*run["checks"], strict=True)
        ax.plot(steps, batches, lw=1.2)
        label_line(ax, "batches", at=2, dy=-26, dx=-12)
        ax.plot(steps, unseen, marker="o", ms=3, lw=1.2)
        label_line(ax, f"unseen text: {run['loss']:.2f}", at=-1, dy=26, dx=-38)
        if published is not None:
            ax.axhline(published, color=MUTED, ls="--", lw=1)
            place, style = (steps[0], published), {"color": MUTED, "va": "top"}
            said = f"published: {published:.2f}"
            ax.annotate(said, place, (0, -4), textcoords="offset points", **style)
        ax.set(title=title, xlabel="training step")
    axes[0][0].set_ylabel("loss a token, in nats")
    return fig
