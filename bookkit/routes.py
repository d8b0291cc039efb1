"""The way from one word to another, through a recurrent network and by attention."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from bookkit.figures import INK, MUTED, PALETTE
from bookkit.widgets import Picture
from bookkit.widgets.pictures import text

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


def routes_picture(
    words: Sequence[str], start: int, end: int, steps: Mapping[str, int]
) -> Picture:
    """Draw words below each other and the way from one to another, by each network.

    steps: how many the "RNN" and "attention" take, as counted by the reader.
    """
    line, middle = 25, 164
    body = text(middle - 60, 14, "hand to hand", HUES["RNN"], bold=True, anchor="end")
    body += text(middle + 60, 14, "straight", HUES["attention"], bold=True)
    for i, word in enumerate(words):
        y = 44 + i * line
        on_way = start <= i <= end
        colour = INK if i in (start, end) else MUTED
        style = f" font-weight='{700 if i in (start, end) else 400}' font-size='14'"
        style += f" data-pick='0 {i}'" if i < end else ""
        body += text(middle, y, word, colour, anchor="middle", more=style)
        hop = f"M{middle - 44} {y - 4}c-22 3 -22 {line - 3} 0 {line}"
        if i < end:
            body += (
                f"<path d='{hop}' fill='none' stroke='{HUES['RNN']}' "
                f"stroke-width='2.5' opacity='{int(on_way)}'/>"
            )
    y, far = 40 + start * line, 40 + end * line
    reach = 30 + 9 * (end - start)
    body += (
        f"<path d='M{middle + 44} {y}C{middle + 44 + reach} {y} {middle + 44 + reach} "
        f"{far} {middle + 44} {far}' fill='none' stroke='{HUES['attention']}' "
        "stroke-width='2.5'/>"
    )
    for name, x, anchor in [("RNN", middle - 74, "end"), ("attention", 318, "start")]:
        count = f"{steps[name]} step{'s' * (steps[name] != 1)}"
        where = f" transform='translate(0 {(y + far) / 2:.0f})'"
        body += text(x, 4, count, HUES[name], bold=True, anchor=anchor, more=where)
    said = f"From {words[start]} to {words[end]}: {steps['RNN']} from word to word, "
    said += f"{steps['attention']} by attention. If each step keeps 90 per cent, "
    said += f"{0.9 ** steps['RNN']:.0%} and {0.9 ** steps['attention']:.0%} arrive."
    return Picture(body, 370, 44 + line * len(words), said)


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
