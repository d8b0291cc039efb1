"""The book's figures: one style, and the plots that several chapters draw."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib_inline.backend_inline import set_matplotlib_formats

INK = "#23282e"
MUTED = "#636b74"
PAPER = "#ffffff"

# Okabe and Ito's colours, which stay apart for every common kind of colour blindness.
# In grey some come close: curves carry their names, and cells their numbers.
PALETTE = ["#0072b2", "#d55e00", "#009e73", "#8c4b7e", "#56b4e9", "#e69f00", INK]

BLOCKED = "#c9ced4"  # a blocked score, -inf, is grey

# From nearly nothing to the palette's blue: more is darker.
AMOUNT = LinearSegmentedColormap.from_list(
    "amount", ["#f3f6f9", "#9cc8e3", PALETTE[0]]
).with_extremes(bad=BLOCKED)
# Orange below zero, nearly nothing at zero, blue above.
SIGNED = LinearSegmentedColormap.from_list(
    "signed", [PALETTE[1], "#f2b48c", "#f6f6f6", "#9cc8e3", PALETTE[0]]
).with_extremes(bad=BLOCKED)


def use_style() -> None:
    """Draw in the book's style: dark ink on a white card, for light and dark pages."""
    plt.rcParams.update(
        {
            "figure.facecolor": PAPER,
            "savefig.facecolor": PAPER,
            "axes.facecolor": PAPER,
            "figure.dpi": 100,
            "figure.figsize": (6, 3.2),
            "figure.constrained_layout.use": True,
            "font.size": 10,
            "axes.titlesize": 11,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.titlepad": 10,
            "axes.prop_cycle": cycler(color=PALETTE),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": "#e4e7ea",
            "grid.linewidth": 0.8,
            "axes.edgecolor": MUTED,
            "axes.labelcolor": INK,
            "axes.titlecolor": INK,
            "text.color": INK,
            "xtick.color": MUTED,
            "ytick.color": MUTED,
            "lines.linewidth": 2,
            "lines.markersize": 5,
            "legend.frameon": False,
        }
    )
    set_matplotlib_formats("retina")


def heatmap(
    matrix: torch.Tensor | Sequence[Sequence[float]],
    rows: Sequence[str],
    cols: Sequence[str],
    title: str = "",
    *,
    ax: Axes | None = None,
    fmt: str = "{:.2f}",
    limit: float | None = None,
) -> Axes:
    """Draw a matrix as a grid of cells, each with its value written in it.

    matrix (n, m), n row and m column labels. A matrix with a negative entry is coloured
    around zero, any other from zero up; `limit` is the value of the darkest colour
    (default: the largest magnitude); -inf is grey. `fmt=""` writes no values.
    """
    values = np.ma.masked_invalid(torch.as_tensor(matrix).detach().double().numpy())
    if values.shape != (len(rows), len(cols)):
        labels = (len(rows), len(cols))
        raise ValueError(f"matrix is {tuple(values.shape)}, its labels say {labels}")
    signed = bool(values.min() < 0)
    top = limit or float(abs(values).max()) or 1.0
    low = -top if signed else 0.0
    colours = SIGNED if signed else AMOUNT
    if ax is None:
        size = (1.3 + 0.62 * len(cols), 0.9 + 0.46 * len(rows))
        _, ax = plt.subplots(figsize=size)
    ax.pcolormesh(values, cmap=colours, vmin=low, vmax=top, edgecolor=PAPER, lw=2)
    ax.set(xticks=[j + 0.5 for j in range(len(cols))], xticklabels=cols)
    ax.set(yticks=[i + 0.5 for i in range(len(rows))], yticklabels=rows, title=title)
    ax.set_aspect("equal" if len(rows) == len(cols) else "auto")
    ax.invert_yaxis()
    ax.tick_params(labeltop=True, labelbottom=False)
    bare(ax)
    shades = colours((values - low) / (top - low)).tolist()
    for (i, j), value in np.ndenumerate(values.data):
        ink = _ink_on(shades[i][j])
        text = fmt.format(value) if fmt else ""
        ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", color=ink, fontsize=9)
    return ax


def tint(colour: str) -> tuple[float, ...]:
    """A light version of a colour, to write on in dark ink."""
    return tuple(1 - 0.45 * (1 - part) for part in to_rgb(colour))


def bare(ax: Axes) -> None:
    """Take away ticks, grid and frame; labels stay."""
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)


def _ink_on(background: Sequence[float]) -> str:
    """The ink, dark or light, that one can read on a background (r, g, b, alpha)."""
    red, green, blue, _ = background
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else PAPER


def label_line(ax: Axes, text: str, at: int = -1, dy: int = 6, dx: int = 0) -> None:
    """Write a name by point `at` of the line drawn last, in its colour, dy above it."""
    line = ax.lines[-1]
    point = (float(line.get_xdata()[at]), float(line.get_ydata()[at]))
    style = {"color": line.get_color(), "fontweight": "bold", "ha": "center"}
    ax.annotate(text, point, (dx, dy), textcoords="offset points", **style)
