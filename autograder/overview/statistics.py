"""What a class did, counted: by exercise, by mistake, by submission."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from autograder.overview.feedback import page_names
from autograder.overview.wording import BLAME, blamed
from autograder.registry import EXERCISES
from autograder.results import Entry

#: What a class is told apart by, and the statuses that count as each.
KINDS = {
    "passed": ("passed",),
    "failed": ("failed",),
    "idle": ("not_attempted", "missing"),
    "stopped": ("error", "timeout", "out_of_memory", "crashed", "forbidden"),
}
KIND = {status: kind for kind, statuses in KINDS.items() for status in statuses}

#: Statuses that a person should look at: more than a slip may be behind them.
LOOK = ("crashed", "forbidden", "timeout", "out_of_memory")

LONGEST = 300


@dataclass(frozen=True)
class Row:
    """One submission, with its feedback page and what it has left to do."""

    name: str
    page: str
    points: float
    max_points: float
    error: str | None
    kinds: Counter[str]
    open: tuple[tuple[str, str, str | None], ...]  # exercise, its status, the mistake


@dataclass
class Slip:
    """One mistake in one exercise, and the submissions that made it."""

    exercise: str
    mistake: str | None
    messages: Counter[str] = field(default_factory=Counter)
    who: list[Row] = field(default_factory=list)

    @property
    def message(self) -> str:
        """The definition's words for it, else those most often said."""
        known = _known(self.exercise).get(self.mistake or "")
        return known or self.messages.most_common(1)[0][0]

    @property
    def differs(self) -> bool:
        """Whether the message is one of several, and so an example only."""
        known = self.mistake in _known(self.exercise)
        return not known and len(self.messages) > 1


@dataclass
class Asked:
    """One exercise, over all the submissions that were graded for it."""

    id: str
    chapter: int
    kinds: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    blocked: int = 0  # wrong only because of an earlier part
    slips: list[Slip] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.kinds.total()

    @property
    def tried(self) -> int:
        return self.total - self.kinds["idle"]

    def share(self, kind: str) -> float:
        return self.kinds[kind] / self.total


@dataclass
class Blocker:
    """An exercise whose mistakes make later ones wrong."""

    exercise: str
    who: list[Row] = field(default_factory=list)
    later: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Look:
    """An answer that somebody should look at, and why."""

    row: Row
    exercise: str
    status: str
    message: str


@dataclass(frozen=True)
class Statistics:
    """A class: its submissions in their order, the rest by what matters most."""

    rows: tuple[Row, ...]
    asked: tuple[Asked, ...]  # in the book's order
    slips: tuple[Slip, ...]  # the most frequent first
    blockers: tuple[Blocker, ...]
    looks: tuple[Look, ...]

    @property
    def graded(self) -> list[Row]:
        return [row for row in self.rows if row.error is None]

    @property
    def unread(self) -> list[Row]:
        return [row for row in self.rows if row.error is not None]


def statistics(submissions: Sequence[Entry]) -> Statistics:
    """Count what stands in the submissions of a `results.json`."""
    pages = page_names([one["submission"] for one in submissions])
    asked: dict[str, Asked] = {}
    slips: dict[tuple[str, str], Slip] = {}
    blockers: dict[str, Blocker] = {}
    looks: list[Look] = []
    rows: list[Row] = []
    for entry, page in zip(submissions, pages, strict=True):
        row = _row(entry, page)
        rows.append(row)
        for one in entry["exercises"]:
            name, status = one["id"], one["status"]
            exercise = asked.setdefault(name, Asked(name, one["chapter"]))
            exercise.kinds[KIND[status]] += 1
            exercise.statuses[status] += 1
            if status in LOOK:
                looks.append(Look(row, name, status, _said(one["diagnosis"])))
            guilty = _blamed(one["diagnosis"])
            exercise.blocked += bool(guilty)
            for part in guilty:
                blocker = blockers.setdefault(part, Blocker(part))
                if not blocker.who or blocker.who[-1] is not row:
                    blocker.who.append(row)
                blocker.later[name] += 1
            if not guilty:
                _count_slips(slips, row, one)
    for slip in slips.values():
        asked[slip.exercise].slips.append(slip)
    for exercise in asked.values():
        exercise.slips.sort(key=_frequent)
    return Statistics(
        tuple(rows),
        tuple(sorted(asked.values(), key=lambda one: _place(one.id))),
        tuple(sorted(slips.values(), key=_frequent)),
        tuple(
            sorted(blockers.values(), key=lambda b: (-len(b.who), _place(b.exercise)))
        ),
        tuple(sorted(looks, key=lambda one: LOOK.index(one.status))),
    )


def _row(entry: Entry, page: str) -> Row:
    done = entry["exercises"]
    return Row(
        entry["submission"],
        page,
        entry["points"],
        entry["max_points"],
        entry.get("error"),
        Counter(KIND[one["status"]] for one in done),
        tuple(
            (one["id"], one["status"], _mistake(one["diagnosis"]))
            for one in done
            if one["status"] != "passed"
        ),
    )


def _mistake(diagnosis: Sequence[Entry]) -> str | None:
    """The mistake an answer is known by: where it comes from, else the first named."""
    named = [one["mistake"] for one in diagnosis if one["mistake"]]
    return BLAME if BLAME in named else next(iter(named), None)


def _blamed(diagnosis: Iterable[Entry]) -> list[str]:
    named = blamed((found["mistake"], found["message"]) for found in diagnosis)
    return [name for name in named if name in EXERCISES]


def _count_slips(slips: dict[tuple[str, str], Slip], row: Row, one: Entry) -> None:
    """Count each mistake of an answer once."""
    for key, found in {_key(each): each for each in one["diagnosis"]}.items():
        slip = slips.setdefault((one["id"], key), Slip(one["id"], found["mistake"]))
        slip.messages[_short(found["message"])] += 1
        slip.who.append(row)


def _key(found: Entry) -> str:
    """What makes two diagnoses the same: the id, else the words without the values."""
    if found["mistake"] is not None:
        return str(found["mistake"])
    return re.sub(r"“[^”]*”|'[^']*'|\d[\d.,]*", "…", _short(found["message"]))


def _said(diagnosis: Sequence[Entry]) -> str:
    return _short(diagnosis[0]["message"]) if diagnosis else ""


def _short(message: str) -> str:
    """A message as one line, cut where it gets long."""
    line = " ".join(message.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"


def _frequent(slip: Slip) -> tuple[int, int, str]:
    return -len(slip.who), _place(slip.exercise)[0], slip.mistake or "~" + slip.message


def _place(exercise: str) -> tuple[int, str]:
    """Where an exercise stands in the book; one that isn't there comes last."""
    order = _order()
    return order.get(exercise, len(order)), exercise


@cache
def _order() -> dict[str, int]:
    return {name: number for number, name in enumerate(EXERCISES)}


@cache
def _known(exercise: str) -> dict[str, str]:
    """The mistakes of an exercise's definition, by id."""
    if exercise not in EXERCISES:
        return {}
    return {one.id: one.message for one in EXERCISES[exercise].mistakes}
