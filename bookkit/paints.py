"""A box of colours that answers with mixtures: the pictures of the warm-up chapter.

A colour is three numbers: its red, green and blue, each from -1 (none) to 1 (all).
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from torch import Tensor

from bookkit.figures import INK, MUTED
from bookkit.widgets import Picture
from bookkit.widgets.pictures import text


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


def mix_picture(
    order: Tensor, shares: Tensor, mixture: Tensor, box: Mapping[str, Sequence[float]]
) -> Picture:
    """Draw a box's colours as bars of their shares, the order, and the mixture.

    order (3,), shares (m,), mixture (3,), a box of m colours.
    """
    body = text(0, 14, "shares", MUTED)
    for row, (name, colour) in enumerate(box.items()):
        y, share = 24 + row * 26, shares[row].item()
        body += text(52, y + 15, name, anchor="end")
        body += _patch(60, y, round(104 * share, 1), 20, torch.tensor(colour))
        slide = f" transform='translate({104 * share:.1f})'"
        body += text(66, y + 15, f"{share:.0%}", MUTED, more=slide)
    for name, x, colour in [("ordered", 212, order), ("mixed", 280, mixture)]:
        body += text(x + 32, 14, name, MUTED, anchor="middle")
        body += _patch(x, 24, 64, 20 + 26 * (len(box) - 1), colour)
    best = max(zip(shares.tolist(), box, strict=True))
    distance = (order - mixture).norm().item()
    said = f"{best[1]} has the largest share, {best[0]:.0%}. "
    said += f"The mixture is {distance:.2f} away from the order."
    return Picture(body, 346, 24 + 26 * len(box), said)


def _patch(x: float, y: float, width: float, height: float, colour: Tensor) -> str:
    return (
        f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='3' "
        f"fill='{to_hex(_rgb(colour))}' stroke='{MUTED}'/>"
    )


def _swatch(ax: Axes, left: float, row: int, colour: Tensor) -> None:
    ax.barh(row, 0.14, 0.6, left, color=_rgb(colour), edgecolor=MUTED, lw=0.6)


def _rgb(colour: Tensor) -> list[float]:
    """From -1 … 1 to matplotlib's 0 … 1, a little softened for the eye."""
    return (0.52 + 0.42 * colour.clamp(-1, 1)).tolist()


def _ink_on(colour: Tensor) -> str:
    red, green, blue = _rgb(colour)
    return INK if 0.3 * red + 0.59 * green + 0.11 * blue > 0.45 else "white"
