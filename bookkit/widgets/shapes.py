"""Two shapes written under each other, and what they broadcast to."""

from collections.abc import Sequence

import torch

from bookkit.figures import INK, MUTED, PALETTE
from bookkit.widgets.pictures import Picture, text
from bookkit.widgets.theme import PLATE

STEPS = ("align", "fill in", "repeat")
BOX, GAP, LABEL = 62, 6, 64  # units of an axis's box, between boxes, of a row's name
ROW = 52
BLUE, ORANGE = PALETTE[:2]


def broadcast(x: Sequence[int], y: Sequence[int], step: str) -> Picture:
    """Draw shapes x and y aligned at the right, of at most three axes each.

    step "align": as they are; "fill in": with 1 for a missing axis; "repeat": with the
    result, and the axis that doesn't fit, if one doesn't.
    """
    if max(len(x), len(y)) > 3:
        raise ValueError(f"{tuple(x)} and {tuple(y)}: three axes at most")
    at = STEPS.index(step)
    rows = {"x": x, "y": y}
    filled = [(1,) * (3 - len(shape)) + tuple(shape) for shape in rows.values()]
    pairs = list(zip(*filled, strict=True))
    longest = max(len(x), len(y))
    fits = [a == b or 1 in (a, b) for a, b in pairs]
    body = ""
    for row, (name, shape) in enumerate(rows.items()):
        body += text(0, row * ROW + 28, f"{name} {tuple(shape)}", INK, bold=True)
        for axis, pair in enumerate(pairs):
            missing, other = axis < 3 - len(shape), pair[1 - row]
            there = not missing or (at >= 1 and axis >= 3 - longest)
            size = str(pair[row])
            if at == 2 and fits[axis] and pair[row] == 1 != other:
                size = f"1 → {other}"
            colour = ORANGE if at == 2 and not fits[axis] else INK
            dash = 4 if missing else 0
            body += _box(axis, row, size, colour, there, dash)
    for axis, (pair, fit) in enumerate(zip(pairs, fits, strict=True)):
        there = at == 2 and axis >= 3 - longest
        said = str(max(pair)) if fit else "✗"
        body += _box(axis, 2, said, BLUE if fit else ORANGE, there, 0)
    body += text(0, 2 * ROW + 28, "x + y", MUTED, bold=True)
    line = LABEL + 3 * (BOX + GAP)
    body += f"<path d='M{LABEL + 16} {2 * ROW - 4}H{line + 16}' stroke='{MUTED}'/>"
    return Picture(body, line + 20, 3 * ROW, _words(x, y, at, pairs, fits))


def _box(axis: int, row: int, said: str, colour: str, there: bool, dash: int) -> str:
    x, y = LABEL + 16 + axis * (BOX + GAP), row * ROW + 4
    large = " font-size='15'"
    size = text(x + BOX / 2, y + 25, said, colour, anchor="middle", more=large)
    return (
        f"<g opacity='{int(there)}'><rect x='{x}' y='{y}' width='{BOX}' height='38' "
        f"rx='6' fill='{PLATE}' stroke='{colour}' stroke-width='1.5' "
        f"stroke-dasharray='{dash}'/>{size}</g>"
    )


def _words(
    x: Sequence[int],
    y: Sequence[int],
    at: int,
    pairs: Sequence[tuple[int, int]],
    fits: Sequence[bool],
) -> str:
    if at == 0:
        return f"{tuple(y)} under {tuple(x)}, aligned at the right."
    if at == 1 and len(x) == len(y):
        return "Both have as many axes: there is nothing to fill in."
    if at == 1:
        short, less = "x" if len(x) < len(y) else "y", abs(len(x) - len(y))
        axes = "one axis" if less == 1 else f"{less} axes"
        return f"{short} has {axes} less; a missing axis counts as 1."
    if not all(fits):
        a, b = pairs[fits.index(False)]
        return f"{a} meets {b}, and neither is 1: the two don't fit."
    result = tuple(torch.broadcast_shapes(tuple(x), tuple(y)))
    return f"In each pair sizes are equal, or a 1 is repeated: the result is {result}."
