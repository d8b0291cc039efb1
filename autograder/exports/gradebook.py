"""A grade for each student: the results, the roster and the policy put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from autograder.exports.assignment import Assignment
from autograder.exports.handed_in import HandedIn
from autograder.exports.policy import Attempt, Policy, settle
from autograder.exports.roster import Roster, Student
from autograder.results import Entry
from autograder.spreadsheet import as_csv

ABSENT = ("empty", "zero")  # the grade of who handed in nothing
NOTHING = "nothing handed in"
NOBODY = "the roster doesn't tell whose this is"


@dataclass(frozen=True)
class Grade:
    """What a student gets; no points where nothing came and none are to be entered."""

    student: Student
    points: float | None
    why: str
    entry: Entry | None = None
    submitted: datetime | None = None


@dataclass(frozen=True)
class Gradebook:
    """Everybody's grade, and what found no place.

    possible   the points of the whole assignment
    ownerless  submissions of which the roster doesn't tell whose they are
    ungraded   submissions that the table of times names and nobody graded
    """

    grades: tuple[Grade, ...]
    possible: float
    ownerless: tuple[str, ...] = ()
    ungraded: tuple[str, ...] = ()

    @property
    def absent(self) -> list[str]:
        """The students who handed in nothing."""
        return [one.student.shown for one in self.grades if one.entry is None]


def gradebook(
    entries: Sequence[Entry],
    assignment: Assignment,
    policy: Policy,
    roster: Roster | None = None,
    times: Mapping[str, HandedIn] | None = None,
    absent: str = "empty",
) -> Gradebook:
    """Who gets what. Without a roster each submission is a student with that login.

    Raises ExportError where the policy needs a time that isn't known.
    """
    times = times or {}
    counted = [assignment.of(one) for one in entries]
    names = [one["submission"] for one in counted]
    students, owners = _who(names, roster, times)
    theirs: list[list[Entry]] = [[] for _ in students]
    for entry, owner in zip(counted, owners, strict=True):
        if owner is not None:
            theirs[owner].append(entry)
    found = zip(names, owners, strict=True)
    return Gradebook(
        tuple(
            _grade(student, own, policy, times, absent)
            for student, own in zip(students, theirs, strict=True)
        ),
        assignment.possible(counted),
        ownerless=tuple(name for name, owner in found if owner is None),
        ungraded=tuple(sorted(times.keys() - set(names))),
    )


def _who(
    names: Sequence[str], roster: Roster | None, times: Mapping[str, HandedIn]
) -> tuple[Sequence[Student], list[int | None]]:
    """The students, and for each submission the place of the one whose it is."""
    if roster is None:
        students = [Student(login=name, submission=name) for name in names]
        return students, list(range(len(names)))
    said = {name: one.student for name, one in times.items() if one.student}
    return roster.students, [roster.owner(said.get(name, name)) for name in names]


def _grade(
    student: Student,
    entries: Sequence[Entry],
    policy: Policy,
    times: Mapping[str, HandedIn],
    absent: str,
) -> Grade:
    if not entries:
        return Grade(student, 0.0 if absent == "zero" else None, NOTHING)
    if policy.due is not None and student.due is not None:
        policy = replace(policy, due=student.due)
    attempts = [
        Attempt(
            one["submission"],
            float(one["points"]),
            _submitted(one["submission"], student, times, len(entries)),
            one.get("error"),
        )
        for one in entries
    ]
    settled = settle(attempts, policy)
    entry = entries[attempts.index(settled.attempt)]
    return Grade(student, settled.points, settled.why, entry, settled.attempt.submitted)


def _submitted(
    name: str, student: Student, times: Mapping[str, HandedIn], count: int
) -> datetime | None:
    """When it came; the roster's time is that of a student's only submission."""
    if name in times:
        return times[name].submitted
    return student.submitted if count == 1 else None


def as_points(points: float | None) -> str:
    """Points as a cell: as short as they are, empty where there are none."""
    return "" if points is None else f"{points:.2f}".rstrip("0").rstrip(".")


def reasons(book: Gradebook) -> str:
    """A table, as CSV, of what everybody gets and why."""
    rows = [["student", "email", "submission", "submitted", "graded", "points", "why"]]
    for one in book.grades:
        entry = one.entry or {}
        rows.append(
            [
                one.student.shown,
                one.student.email,
                entry.get("submission", ""),
                one.submitted.isoformat(" ") if one.submitted else "",
                as_points(entry.get("points")),
                as_points(one.points),
                one.why,
            ]
        )
    rows += [["", "", name, "", "", "", NOBODY] for name in book.ownerless]
    return as_csv(rows)
