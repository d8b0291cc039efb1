"""What chapter 5 draws: where the norms stand, and quantities along a deep stack."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from bookkit.figures import INK, MUTED, PALETTE, PAPER

#: One colour for each place of the norm, in every figure of the chapter.
HUES = {"post-norm": PALETTE[1], "pre-norm": PALETTE[0]}

#: The boxes on the branch, and those on the stream after the sum.
Boxes = tuple[Sequence[str], Sequence[str]]


def draw_placements(designs: Mapping[str, Boxes]) -> Figure:
    """Draw one picture a design: the stream from left to right, the branch above it."""
    fig, axes = plt.subplots(
        1, len(designs), figsize=(3.75 * len(designs), 2.2), squeeze=False
    )
    for ax, (title, (branch, stream)) in zip(axes.flat, designs.items(), strict=True):
        _draw_placement(ax, title, branch, stream)
    return fig


def _draw_placement(
    ax: Axes, title: str, branch: Sequence[str], stream: Sequence[str]
) -> None:
    split, join, end = 0.6, 6.8, 9.0
    ax.plot([0, end], [0, 0], color=PALETTE[0], lw=5, solid_capstyle="butt", zorder=1)
    ax.plot(end, 0, ">", color=PALETTE[0], ms=13)
    ax.plot([split, split, join], [0, 1.5, 1.5], color=MUTED, lw=2, zorder=1)
    down = {"arrowstyle": "-|>", "color": MUTED, "lw": 2, "shrinkA": 0}
    ax.annotate("", (join, 0.3), (join, 1.52), arrowprops=down)
    ax.plot(join, 0, "o", ms=17, mfc=PAPER, mec=INK, mew=1.5)
    ax.text(join, -0.02, "+", ha="center", va="center", fontsize=13)
    gap = (join - split - sum(map(_width, branch))) / (len(branch) + 1)
    left = split
    for text in branch:
        _box(ax, left + gap + _width(text) / 2, 1.5, text)
        left += gap + _width(text)
    for text in stream:
        _box(ax, (join + end) / 2, 0, text)
    ax.text(0, -0.55, "x", ha="left", va="center", fontstyle="italic", fontsize=12)
    ax.set(xlim=(-0.2, 9.4), ylim=(-0.9, 2.2), title=title)
    ax.axis("off")


def _width(text: str) -> float:
    return 1.2 if text == "norm" else 1.75


def _box(ax: Axes, x: float, y: float, text: str) -> None:
    width = _width(text)
    colour = PALETTE[5] if text == "norm" else "#e4e7ea"
    ax.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - 0.33),
            width,
            0.66,
            boxstyle="round,pad=0.05",
            facecolor=colour,
            edgecolor=INK,
            zorder=2,
        )
    )
    ax.text(x, y, text, ha="center", va="center", zorder=3)


def shade(hue: str, i: int, count: int) -> str:
    """The i-th of `count` shades of a colour, from light to the colour itself."""
    share = 0.35 + 0.65 * i / max(count - 1, 1)
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(hue))
    return to_hex((red, green, blue))


def draw_by_depth(
    panels: Mapping[str, Mapping[int, Sequence[float]]], ylabel: str
) -> Figure:
    """Draw a panel a design and in it a line a depth, each named at its end.

    All lines run from the first layer to the last, at 0 and 1, however many there are.
    """
    fig, axes = plt.subplots(1, len(panels), figsize=(7.5, 3.2), sharey=True)
    top = max(max(values) for lines in panels.values() for values in lines.values())
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        heights = spread([float(values[-1]) for values in lines.values()], top / 14)
        for i, (depth, values) in enumerate(lines.items()):
            places = [k / (len(values) - 1) for k in range(len(values))]
            colour = shade(HUES[title], i, len(lines))
            ax.plot(places, values, color=colour)
            style = {"color": colour, "va": "center", "fontsize": 9}
            ax.text(1.03, heights[i], str(depth), **style)
        ax.set(title=title, xlabel="place in the stack", xlim=(0, 1.14))
        ax.set_xticks([0, 0.5, 1], ["first layer", "", "last"])
        ax.set_ylim(0, top * 1.05)
    axes[0].set_ylabel(ylabel)
    return fig


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Move labels up until no two are closer than `gap`, keeping their order."""
    moved = list(heights)
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    for below, above in pairwise(order):
        moved[above] = max(moved[above], moved[below] + gap)
    return moved


def draw_training(
    runs: Mapping[tuple[str, int, int], Sequence[float]], chance: float
) -> Figure:
    """Draw the losses of runs keyed by (name, depth, warm-up steps).

    A column a depth, a row a warm-up, a line a name; dotted: the loss of guessing.
    """
    depths = sorted({depth for _, depth, _ in runs})
    warmups = sorted({warmup for _, _, warmup in runs})
    fig, axes = plt.subplots(
        len(warmups),
        len(depths),
        figsize=(7.5, 4.4),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for (name, depth, warmup), losses in runs.items():
        ax = axes[warmups.index(warmup)][depths.index(depth)]
        ax.plot(losses, color=HUES[name], label=name)
    for row, warmup in zip(axes, warmups, strict=True):
        row[0].set_ylabel(
            f"warm-up: {warmup} steps\nloss" if warmup else "no warm-up\nloss"
        )
        for ax in row:
            ax.axhline(chance, color=MUTED, ls=":", lw=1)
    for ax, depth in zip(axes[0], depths, strict=True):
        ax.set_title(f"{depth} layers")
    for ax in axes[-1]:
        ax.set_xlabel("step")
    for i, (name, hue) in enumerate(HUES.items()):
        axes[0][0].text(
            0.97,
            0.66 - 0.13 * i,
            name,
            color=hue,
            fontweight="bold",
            ha="right",
            transform=axes[0][0].transAxes,
        )
    return fig
