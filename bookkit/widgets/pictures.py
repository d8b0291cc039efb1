"""Pictures to move: an SVG's inside and its size, and those that chapters share."""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bookkit.figures import INK, MUTED, PALETTE
from bookkit.widgets.theme import EMPTY, PLATE

SCALE = 1.15  # pixels of a unit, where there is room
CELL = 24  # units of a grid's cell; the page scales a picture to its width
DIAL = 40  # units of a dial's radius
ROW = 15  # units of a bar's height
BAR = 190  # units of the longest bar
LEFT, TOP = 44, 44  # units beside and above curves
PLOT = (280, 150)  # units of their width and height


@dataclass(frozen=True)
class Picture:
    """A drawing: the inside of an SVG, its size, and in words what it shows.

    A picture of several panels has no body of its own; panels stand side by side, and
    below each other where a screen is narrow.
    """

    body: str
    width: int
    height: int
    words: str = ""
    panels: tuple["Picture", ...] = ()

    def svg(self) -> str:
        """The picture as HTML: an svg element, or one for each panel."""
        if self.panels:
            return "".join(panel.svg() for panel in self.panels)
        box = f"0 0 {self.width} {self.height}"
        width = round(SCALE * self.width)
        return f"<svg viewBox='{box}' width='{width}'>{self.body}</svg>"


def text(
    x: float,
    y: float,
    said: str,
    colour: str = INK,
    *,
    bold: bool = False,
    anchor: str = "start",
    more: str = "",
) -> str:
    """An SVG text, escaped; `more` holds further attributes."""
    weight = " font-weight='bold'" if bold else ""
    place = "" if anchor == "start" else f" text-anchor='{anchor}'"
    return (
        f"<text x='{x:g}' y='{y:g}' fill='{colour}'{weight}{place}{more}>"
        f"{html.escape(said)}</text>"
    )


def grid(
    matrix: Tensor,
    rows: Sequence[object],
    cols: Sequence[object],
    title: str = "",
    words: str = "",
) -> Picture:
    """Draw a matrix as a grid of cells: the larger a number, the bluer its cell.

    matrix (n, m), bool or numbers from 0 to 1; n row and m column labels.
    """
    values = matrix.detach().float()
    if values.shape != (len(rows), len(cols)):
        labels = (len(rows), len(cols))
        raise ValueError(f"matrix is {tuple(values.shape)}, its labels say {labels}")
    left = 12 + 7 * max(len(str(row)) for row in rows)
    top = 44 if title else 22
    side = f"h{CELL - 2}v{CELL - 2}h-{CELL - 2}z"
    ground, cells = "", ""
    for i, line in enumerate((values * 20).round().div(20).tolist()):
        for j, value in enumerate(line):
            path = f"M{left + j * CELL} {top + i * CELL}{side}"
            ground += path
            cells += f"<path d='{path}' opacity='{value:.2g}'/>"
    body = text(0, 14, title, bold=True) if title else ""
    body += f"<path fill='{EMPTY}' d='{ground}'/><g fill='{PALETTE[0]}'>{cells}</g>"
    for i, row in enumerate(rows):
        body += text(left - 6, top + i * CELL + 16, str(row), MUTED, anchor="end")
    for j, col in enumerate(cols):
        x = left + j * CELL + CELL / 2 - 1
        body += text(x, top - 7, str(col), MUTED, anchor="middle")
    width = max(left + CELL * len(cols), _width(title))
    return Picture(body, width, top + CELL * len(rows), words)


def clocks(
    angles: Sequence[float] | Tensor,
    names: Sequence[object],
    title: str = "",
    words: str = "",
) -> Picture:
    """Draw a dial for each angle: its hand starts at the right, turns to the left.

    angles in radians, as many names.
    """
    turned = torch.as_tensor(angles).tolist()
    if len(turned) != len(names):
        raise ValueError(f"{len(turned)} angles, but {len(names)} names")
    dials = []
    for i, (angle, name) in enumerate(zip(turned, names, strict=True)):
        x, y = DIAL + 14, DIAL + 28
        turn = -round(math.degrees(angle), 1)
        hand = (
            f"<circle cx='{x}' cy='{y}' r='{DIAL}' fill='{PLATE}' stroke='{EMPTY}'/>"
            f"<path d='M{x} {y}h{DIAL}' stroke='{MUTED}' stroke-dasharray='3'/>"
            f"<g transform='translate({x} {y})'><g transform='rotate({turn:g})' "
            f"fill='{PALETTE[0]}' stroke='{PALETTE[0]}'><path d='M0 0h{DIAL * 0.84:g}' "
            f"stroke-width='3'/><circle cx='{DIAL * 0.84:g}' cy='0' r='5'/></g></g>"
        )
        head = text(0, 14, title, bold=True) if title and i == 0 else ""
        label = text(x, y + DIAL + 17, str(name), anchor="middle")
        dials.append(Picture(head + hand + label, 2 * DIAL + 28, 2 * DIAL + 54))
    return side_by_side(*dials, words=words)


def bars(
    values: Sequence[float] | Tensor,
    names: Sequence[object],
    title: str = "",
    *,
    per: float = 1.0,
    words: str = "",
) -> Picture:
    """Draw a bar for each number from 0 to `per`, with its name and the number.

    values (n,), n names. A number that is exactly 0 is written as a dash.
    """
    sizes = torch.as_tensor(values).tolist()
    if len(sizes) != len(names):
        raise ValueError(f"{len(sizes)} values, but {len(names)} names")
    left = 12 + 7 * max(len(str(name)) for name in names)
    top = 26 if title else 4
    body = text(0, 14, title, bold=True) if title else ""
    for i, (size, name) in enumerate(zip(sizes, names, strict=True)):
        y, length = top + i * (ROW + 3), round(BAR * min(size / per, 1.0), 1)
        said = f"{size:.3f}" if size else "–"
        slide = f" transform='translate({length:g})'"
        body += text(
            left - 6, y + ROW - 4, str(name), INK if size else MUTED, anchor="end"
        )
        body += (
            f"<rect x='{left}' y='{y}' width='{length:g}' height='{ROW}' "
            f"fill='{PALETTE[0]}'/>"
        )
        body += text(left + 6, y + ROW - 4, said, MUTED, more=slide)
    width = max(left + BAR + 44, _width(title))
    return Picture(body, width, top + len(sizes) * (ROW + 3), words)


def line_chart(
    lines: Mapping[str, Sequence[float] | Tensor],
    x: Sequence[float] | Tensor,
    *,
    labels: tuple[str, str],
    y_range: tuple[float, float],
    title: str = "",
    log: bool = False,
    words: str = "",
) -> Picture:
    """Draw curves over common x, each in a colour of its own with its name at its end.

    lines: by name, (n,) each; x (n,), rising; labels of the two axes. With `log` the
    y axis is logarithmic. What lies outside y_range is cut off.
    """
    across = torch.as_tensor(x).double()
    scale = torch.log10 if log else torch.Tensor.double
    low, high = scale(torch.tensor(y_range, dtype=torch.float64)).tolist()
    up = PLOT[1] / (high - low)
    body = text(0, 14, title, bold=True) if title else ""
    body += text(LEFT, TOP - 8, labels[1], MUTED)
    step = max(1, round((high - low) / 4)) if log else (high - low) / 4
    for k in range(math.floor((high - low) / step + 1e-9) + 1):
        tick = low + k * step
        y = TOP + (high - tick) * up
        body += f"<path d='M{LEFT} {y:.1f}h{PLOT[0]}' stroke='{EMPTY}'/>"
        said = _power(round(tick)) if log else f"{tick:g}"
        body += text(LEFT - 6, y + 4, said, MUTED, anchor="end")
    below = TOP + PLOT[1] + 16
    for k in range(5):
        value = across[0] + k / 4 * (across[-1] - across[0])
        at = LEFT + k / 4 * PLOT[0]
        body += text(at, below, f"{value:g}", MUTED, anchor="middle")
    body += text(LEFT + PLOT[0], below + 17, labels[0], MUTED, anchor="end")
    inside, names = "", ""
    xs = (across - across[0]) / (across[-1] - across[0]) * PLOT[0]
    for (name, values), colour in zip(lines.items(), PALETTE, strict=False):
        plain = torch.as_tensor(values).double()
        heights = scale(plain.clamp(min=1e-300)) if log else plain
        ys = ((high - heights) * up).clamp(-9 * PLOT[1], 9 * PLOT[1])
        points = "L".join(f"{a:.0f} {b:.1f}" for a, b in zip(xs, ys, strict=True))
        inside += f"<path d='M{points}' stroke='{colour}'/>"
        end = TOP + ys[-1].clamp(0, PLOT[1]) + 4
        slide = f" transform='translate({LEFT + PLOT[0] + 6} {end:.1f})'"
        names += text(0, 0, name, colour, bold=True, more=slide)
    body += (
        f"<svg x='{LEFT}' y='{TOP}' width='{PLOT[0]}' height='{PLOT[1]}' fill='none' "
        f"overflow='hidden' stroke-width='2.5'>{inside}</svg>{names}"
    )
    room = 12 + 8 * max(len(name) for name in lines)
    width = max(LEFT + PLOT[0] + room, _width(title))
    return Picture(body, width, TOP + PLOT[1] + 38, words)


def _power(exponent: int) -> str:
    """A power of ten as one writes it: 0.1, 1, 10, else 10⁻³."""
    if abs(exponent) < 2:
        return f"{10**exponent:g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def side_by_side(*pictures: Picture, words: str = "") -> Picture:
    """Put pictures next to each other; their words follow each other."""
    panels = [part for one in pictures for part in (one.panels or (one,))]
    width = sum(one.width for one in panels) + 28 * (len(panels) - 1)
    said = words or " ".join(one.words for one in pictures if one.words)
    height = max(one.height for one in panels)
    return Picture("", width, height, said, tuple(panels))


def _width(title: str) -> int:
    return 8 * len(title)
