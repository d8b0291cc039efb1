"""A box of colours that answers with mixtures: the pictures of the warm-up chapter.

A colour is three numbers: its red, green and blue, each from -1 (none) to 1 (all).
"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from torch import Tensor

from bookkit.figures import INK, MUTED


def look_up(order: Tensor, colours: Tensor) -> tuple[Tensor, Tensor]:
    """Answer an order from the box: the shares (..., m) and their mixture (..., 3)."""
    shares = (order @ colours.mT).softmax(dim=-1)
    return shares, shares @ colours


def draw_mixes(
    labels: Sequence[str],
    orders: Tensor,
    shares: Tensor,
    mixes: Tensor,
    colours: Tensor,
    title: str,
) -> Axes:
    """Draw, a row each: the colour ordered, a bar of shares, the mixture.

    labels n, orders (n, 3), shares (n, m), mixes (n, 3), colours (m, 3).
    """
    _, ax = plt.subplots(figsize=(6.4, 0.9 + 0.62 * len(labels)))
    for row in range(len(labels)):
        _swatch(ax, -0.22, row, orders[row])
        _swatch(ax, 1.08, row, mixes[row])
        left = 0.0
        for share, colour in zip(shares[row].tolist(), colours, strict=True):
            ax.barh(row, share, 0.6, left, color=_rgb(colour), edgecolor=MUTED, lw=0.6)
            if share >= 0.1:
                text = {"ha": "center", "va": "center", "color": _ink_on(colour)}
                ax.text(left + share / 2, row, f"{share:.0%}", **text)
            left += share
    ax.set(yticks=range(len(labels)), yticklabels=labels, title=title)
    ax.set(xlim=(-0.25, 1.25), ylim=(len(labels) - 0.5, -0.5))
    ax.set(xticks=[-0.15, 0.5, 1.15], xticklabels=["ordered", "shares", "mixed"])
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax


def _swatch(ax: Axes, left: float, row: int, colour: Tensor) -> None:
    ax.barh(row, 0.14, 0.6, left, color=_rgb(colour), edgecolor=MUTED, lw=0.6)


def _rgb(colour: Tensor) -> list[float]:
    """From -1 … 1 to matplotlib's 0 … 1, a little softened for the eye."""
    return (0.52 + 0.42 * colour.clamp(-1, 1)).tolist()


def _ink_on(colour: Tensor) -> str:
    red, green, blue = _rgb(colour)
    return INK if 0.3 * red + 0.59 * green + 0.11 * blue > 0.45 else "white"
