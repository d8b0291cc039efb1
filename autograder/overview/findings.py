"""What stands out in a class, in sentences: what to explain again tomorrow."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from autograder.overview.statistics import Asked, Slip, Statistics
from autograder.overview.wording import listed, num, times

MOST = 5
COMMON = 0.1  # a mistake is worth a word in class from this share of those who tried
LEFT = 1 / 3  # an exercise is, if this share left it out


@dataclass(frozen=True)
class Finding:
    """A sentence in three parts, and the exercise that it is about."""

    count: str
    exercise: str
    text: str


def opening(found: Statistics) -> str:
    """How many were graded, and how they did."""
    graded, unread = found.graded, found.unread
    text = times(len(found.rows), "submission")
    if unread:
        text += f", of which {num(len(unread))} could not be graded"
    if not graded:
        return text + "."
    full = sum(row.points >= row.max_points > 0 for row in graded)
    none = sum(row.points == 0 for row in graded)
    if len({row.max_points for row in graded}) == 1:
        middle = median(row.points for row in graded)
        had = f"{num(middle)} of {times(graded[0].max_points, 'point')}"
    else:
        middle = median(_share(row.points, row.max_points) for row in graded)
        had = f"{middle:.0%} of the points".replace("%", " %")
    if len(graded) == 1:
        return f"{text}: {had}."
    ends = [(full, "all points"), (none, "none")]
    said = [f"{num(n)} {'has' if n == 1 else 'have'} {what}" for n, what in ends if n]
    also = f"; {listed(said)}" if said else ""
    return f"{text}. The median is {had}{also}."


def _share(points: float, most: float) -> float:
    return points / most if most else 0.0


def findings(found: Statistics) -> list[Finding]:
    """The mistakes that many made, what holds up the rest, and what was left out."""
    asked = {one.id: one for one in found.asked}
    few = len(found.graded) < 3
    slips = [(one, asked[one.exercise]) for one in found.slips]
    told = [_of_slip(*each) for each in slips if few or _common(*each)][:MOST]
    return [*told, *_of_blockers(found), *_of_left_out(found)]


def _common(slip: Slip, asked: Asked) -> bool:
    return len(slip.who) > 1 and len(slip.who) >= COMMON * asked.tried


def _of_slip(slip: Slip, asked: Asked) -> Finding:
    count = f"{num(len(slip.who))} of {num(asked.tried)}" if asked.tried > 1 else ""
    text = f"for example: {slip.message}" if slip.differs else slip.message
    return Finding(count, slip.exercise, text)


def _of_blockers(found: Statistics) -> Iterator[Finding]:
    least = 1 if len(found.graded) < 3 else 2
    for one in [one for one in found.blockers if len(one.who) >= least][:2]:
        later = listed(f"`{name}`" for name in one.later)
        verb = "is" if len(one.later) == 1 else "are"
        many = len(found.graded) > 1
        text = f"Mistakes made here are the only reason why {later} {verb} wrong too."
        yield Finding(num(len(one.who)) if many else "", one.exercise, text)


def _of_left_out(found: Statistics) -> Iterator[Finding]:
    left = [one for one in found.asked if one.share("idle") >= LEFT and one.total > 1]
    for one in sorted(left, key=lambda one: -one.share("idle"))[:2]:
        count = f"{num(one.kinds['idle'])} of {num(one.total)}"
        yield Finding(count, one.id, "Not attempted.")
