"""What a submission counts, by when it came: late days, and which of several.

Pure functions of points and times. A day late is a day on the deadline's own clock:
what was due on Saturday at 23:59 is one day late until Sunday at 23:59, also in the
night in which the clocks change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from autograder.exports.errors import ExportError

KEEP = ("best", "last", "first")
Keep = Literal["best", "last", "first"]


@dataclass(frozen=True)
class Policy:
    """How lateness and resubmission count.

    due        the deadline; exactly then is on time
    per_day    percent of the points reached that each day late costs, begun days whole
    days       how many days late a submission still counts; None for any number
    keep       which of a student's submissions counts: the best (after lateness), the
               last or the first
    """

    due: datetime | None = None
    per_day: float = 0.0
    days: int | None = None
    keep: Keep = "best"


@dataclass(frozen=True)
class Attempt:
    """A submission of a student: what it reached, and when it came if that is known."""

    submission: str
    points: float
    submitted: datetime | None = None
    error: str | None = None


@dataclass(frozen=True)
class Counted:
    """What an attempt counts, and why."""

    attempt: Attempt
    points: float
    why: str


def days_late(submitted: datetime, due: datetime) -> int:
    """How many days after the deadline; 0 until it, 1 from then on, and so forth."""
    late = submitted.astimezone(UTC) - due.astimezone(UTC)
    if late <= timedelta(0):
        return 0
    days = max(1, late // timedelta(days=1))  # by the deadline's clock it may be more
    while (due + timedelta(days=days)).astimezone(UTC) < submitted.astimezone(UTC):
        days += 1
    return days


def count(attempt: Attempt, policy: Policy) -> Counted:
    """What one attempt counts under the policy."""
    if attempt.error is not None:
        return Counted(attempt, 0.0, f"not graded: {attempt.error}")
    if policy.due is None:
        return Counted(attempt, attempt.points, "as graded")
    if attempt.submitted is None:
        return Counted(attempt, attempt.points, "no time known, taken as on time")
    days = days_late(attempt.submitted, policy.due)
    if days == 0:
        return Counted(attempt, attempt.points, "on time")
    late = f"{days} day{'' if days == 1 else 's'} late"
    if policy.days is not None and days > policy.days:
        return Counted(attempt, 0.0, f"{late}, too late to count")
    off = min(100.0, days * policy.per_day)
    points = round(attempt.points * (100 - off) / 100, 2)
    earned = f"{attempt.points:g} point{'' if attempt.points == 1 else 's'}"
    return Counted(attempt, points, f"{late}, {off:g}% off {earned}")


def settle(attempts: Sequence[Attempt], policy: Policy) -> Counted:
    """What counts of a student's attempts, of which there is at least one.

    Raises ExportError where the first or last is asked for and times are missing.
    """
    counted = [count(one, policy) for one in attempts]
    if len(counted) == 1:
        return counted[0]
    chosen = _chosen(counted, policy.keep)
    which = f"{policy.keep} of {len(counted)} submissions"
    return Counted(chosen.attempt, chosen.points, f"{which}: {chosen.why}")


def _chosen(counted: Sequence[Counted], keep: Keep) -> Counted:
    if keep == "best":
        return max(counted, key=lambda one: one.points)
    undated = [one for one in counted if one.attempt.submitted is None]
    if undated:
        name = undated[0].attempt.submission
        raise ExportError(
            f"--keep {keep} needs to know when {name!r} was handed in; "
            "say it with --times FILE, or keep the best"
        )
    pick = min if keep == "first" else max
    return pick(counted, key=lambda one: _when(one.attempt))


def _when(attempt: Attempt) -> datetime:
    assert attempt.submitted is not None
    return attempt.submitted.astimezone(UTC)
