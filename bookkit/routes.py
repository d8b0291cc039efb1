"""The way from one word to another, through a recurrent network and by attention."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from bookkit.figures import INK, MUTED, PALETTE

#: One colour for each kind of network, in every figure of the chapter.
HUES = {"attention": PALETTE[0], "RNN": PALETTE[1], "LSTM": PALETTE[2]}


def draw_routes(words: Sequence[str], start: int, end: int, title: str) -> Axes:
    """Draw words in a row: below them the chain of hand-overs, above them the arc."""
    _, ax = plt.subplots(figsize=(8, 2.3))
    for i, word in enumerate(words):
        marked = i in (start, end)
        style = {"fontweight": "bold", "color": INK} if marked else {"color": MUTED}
        ax.text(i, 0, word, ha="center", va="center", **style)
    for i in range(start, end):
        _arrow(ax, (i, -0.5), (i + 1, -0.5), HUES["RNN"], bend=0.5)
    _arrow(ax, (start, 0.35), (end, 0.35), HUES["attention"], bend=-0.18)
    middle = (start + end) / 2
    ax.text(middle, -1.35, f"hand to hand: {end - start} steps", **_label(HUES["RNN"]))
    ax.text(middle, 1.85, "straight: 1 step", **_label(HUES["attention"]))
    ax.set(xlim=(-0.6, len(words) - 0.4), ylim=(-1.7, 2.1), title=title)
    ax.axis("off")
    return ax


def _arrow(
    ax: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str,
    bend: float,
) -> None:
    style = {"arrowstyle": "-|>", "mutation_scale": 10, "color": colour, "lw": 1.8}
    curve = f"arc3,rad={bend}"
    ax.add_patch(FancyArrowPatch(start, end, connectionstyle=curve, **style))


def _label(colour: str) -> dict[str, str]:
    return {"color": colour, "ha": "center", "va": "center"}
