"""What chapter 5 draws: where the norms stand, and quantities along a deep stack."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
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
    split, join, end = 0.7, 5.6, 7.4 + 0.6 * bool(stream)
    ax.plot([0, end], [0, 0], color=PALETTE[0], lw=5, solid_capstyle="butt", zorder=1)
    ax.annotate(
        "",
        (end + 0.5, 0),
        (end - 0.2, 0),
        arrowprops={"arrowstyle": "-|>", "color": PALETTE[0], "lw": 5},
    )
    ax.plot([split, split, join, join], [0, 1.5, 1.5, 0.3], color=MUTED, lw=2, zorder=1)
    ax.plot(join, 0, "o", ms=17, mfc=PAPER, mec=INK, mew=1.5)
    ax.text(join, -0.02, "+", ha="center", va="center", fontsize=13)
    step = (join - split) / (len(branch) + 1)
    for i, text in enumerate(branch):
        _box(ax, split + step * (i + 1), 1.5, text)
    for i, text in enumerate(stream):
        _box(ax, join + 1.35 + i, 0, text)
    ax.text(0, -0.55, "x", ha="left", va="center", fontstyle="italic", fontsize=12)
    ax.set(xlim=(-0.2, 8.7), ylim=(-0.9, 2.2), title=title)
    ax.axis("off")


def _box(ax: Axes, x: float, y: float, text: str) -> None:
    width = 1.2 if text == "norm" else 1.75
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
    red, green, blue = (int(hue[k : k + 2], 16) / 255 for k in (1, 3, 5))
    mixed = [1 - share * (1 - part) for part in (red, green, blue)]
    return to_hex(mixed)


def draw_by_depth(
    panels: Mapping[str, Mapping[int, Sequence[float]]],
    ylabel: str,
    *,
    xlabel: str = "place in the stack (0: first layer, 1: last)",
    yscale: str = "linear",
) -> Figure:
    """Draw a panel a design, a line a depth; lines of any depth run from 0 to 1."""
    fig, axes = plt.subplots(1, len(panels), figsize=(7.5, 3), sharey=True)
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        for i, (depth, values) in enumerate(lines.items()):
            places = [k / (len(values) - 1) for k in range(len(values))]
            colour = shade(HUES[title], i, len(lines))
            ax.plot(places, values, color=colour)
            ax.annotate(
                f" {depth}", (1, values[-1]), color=colour, va="center", fontsize=9
            )
        ax.set(title=title, xlabel=xlabel, yscale=yscale, xlim=(0, 1.12))
    axes[0].set_ylabel(ylabel)
    return fig


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
        row[0].set_ylabel(f"warm-up: {warmup} steps\nloss" if warmup else "no warm-up\nloss")
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
