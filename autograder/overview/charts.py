"""The two drawings of a class report, as SVG that keeps its text's size at any width.

Each has its numbers as text beside it, so nothing hangs on seeing it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from autograder.overview.wording import num, times

#: Hatching tells "not right yet" from "right" where colours don't. Once a page.
PATTERNS = """<svg width="0" height="0" aria-hidden="true"><defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"
patternTransform="rotate(45)"><rect class="failed" width="6" height="6"/>
<rect class="gap" width="1.5" height="6"/></pattern></defs></svg>"""

TOP, HEIGHT, FOOT = 20, 150, 44


@dataclass(frozen=True)
class Bin:
    """Submissions whose points lie within the label."""

    label: str
    count: int


def bar(parts: Sequence[tuple[str, int, str]], words: str) -> str:
    """One bar, divided as the counts are: kind, count, and what the part is called."""
    total = sum(count for _, count, _ in parts)
    at, pieces = 0, []
    for kind, count, said in parts:
        if count:
            pieces.append(
                f'<rect class="{kind}" x="{100 * at / total:.2f}%" '
                f'width="{100 * count / total:.2f}%" height="100%">'
                f"<title>{count} {escape(said)}</title></rect>"
            )
        at += count
    label = escape(words, quote=True)
    return f'<svg class="bar" role="img" aria-label="{label}">{"".join(pieces)}</svg>'


def bins(points: Sequence[tuple[float, float]]) -> tuple[list[Bin], str]:
    """Points counted, and what the axis shows: points, or percent where the
    submissions had different numbers of points to reach."""
    highest = {most for _, most in points}
    if len(highest) == 1 and (most := highest.pop()):
        got = [one for one, _ in points]
        step = _step(most)
        whole = all(one == int(one) for one in got)
        return list(_binned(got, most, step, whole)), f"points, of {num(most)}"
    shares = [100 * one / most if most else 0.0 for one, most in points]
    return list(_binned(shares, 100, 10, False)), "percent of the points to be had"


def _step(most: float) -> int:
    """A round width of bins, so that there are at most 11."""
    steps = (base * int(10.0**power) for power in range(12) for base in (1, 2, 5))
    return next(step for step in steps if most / step <= 10)


def _binned(got: Sequence[float], most: float, step: int, whole: bool) -> Iterator[Bin]:
    """The bins from 0 to the most there is, which is a bin of its own."""
    last = math.ceil(most / step)
    counts = [0] * (last + 1)
    for one in got:
        counts[last if one >= most else min(int(one / step), last - 1)] += 1
    for number, count in enumerate(counts[:-1]):
        low, high = number * step, min((number + 1) * step, most)
        if whole:
            high = math.ceil(high) - 1
        yield Bin(num(low) if low == high else f"{num(low)}–{num(high)}", count)
    yield Bin(num(most), counts[-1])


def histogram(counted: Sequence[Bin], axis: str) -> str:
    """Bars with their counts on top and their points below."""
    tallest = max((one.count for one in counted), default=0) or 1
    width = 100 / len(counted)
    pieces = []
    for number, one in enumerate(counted):
        middle = (number + 0.5) * width
        high = round(HEIGHT * one.count / tallest, 1)
        top = TOP + HEIGHT - high
        pieces.append(
            f'<rect class="points" x="{number * width + width * 0.08:.2f}%" '
            f'y="{top:g}" width="{width * 0.84:.2f}%" height="{high:g}"/>'
        )
        if one.count:
            pieces.append(_text(middle, top - 5, num(one.count)))
        # On a phone there is room for every second one, the last among them.
        kind = "label between" if (len(counted) - number) % 2 == 0 else "label"
        pieces.append(_text(middle, TOP + HEIGHT + 16, one.label, kind))
    floor = TOP + HEIGHT
    pieces.append(f'<line class="axis" x1="0" x2="100%" y1="{floor}" y2="{floor}"/>')
    pieces.append(_text(50, floor + 37, axis))
    said = "; ".join(
        f"{one.label}: {times(one.count, 'submission')}" for one in counted if one.count
    )
    label = escape(f"Distribution of {axis}. {said}", quote=True)
    return (
        f'<svg class="histogram" role="img" aria-label="{label}" '
        f'height="{TOP + HEIGHT + FOOT}">{"".join(pieces)}</svg>'
    )


def _text(x: float, y: float, said: str, kind: str = "said") -> str:
    return f'<text class="{kind}" x="{x:.2f}%" y="{y:g}">{escape(said)}</text>'
