"""What a check found, as data. Everything that shows a verdict starts from here."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

STATUSES = (
    "passed",
    "failed",
    "not_attempted",
    "missing",
    "error",
    "timeout",
    "out_of_memory",
    "crashed",
    "forbidden",
)


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; its name is a sentence or names the case."""

    name: str
    passed: bool


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong: the mistake's id where it is a known one, and the message."""

    mistake: str | None
    message: str


@dataclass(frozen=True)
class Row:
    """One line of the example: what it shows, and the numbers on either side."""

    label: str
    expected: str
    yours: str


@dataclass(frozen=True)
class Example:
    """The smallest input found that shows the mistake, and what comes out."""

    title: str
    inputs: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Verdict:
    """The outcome of one exercise."""

    exercise: str
    chapter: int
    status: str
    points: float
    max_points: float
    checks: tuple[Check, ...] = ()
    diagnosis: tuple[Diagnosis, ...] = ()
    example: Example | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    @property
    def mistake(self) -> str | None:
        """The id of the known mistake, where one was recognised."""
        return self.diagnosis[0].mistake if self.diagnosis else None

    @property
    def message(self) -> str:
        return "\n".join(found.message for found in self.diagnosis)

    def as_json(self) -> dict[str, Any]:
        """The exercise's entry in `results.json`."""
        return {
            "id": self.exercise,
            "chapter": self.chapter,
            "status": self.status,
            "points": self.points,
            "max_points": self.max_points,
            "checks": [asdict(check) for check in self.checks],
            "diagnosis": [asdict(found) for found in self.diagnosis],
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """The verdict from its entry with `example` and `notes` beside the rest.

        LookupError, TypeError where it isn't one.
        """
        shown = record["example"]
        example = shown and Example(
            shown["title"],
            tuple((name, value) for name, value in shown["inputs"]),
            tuple(Row(**row) for row in shown["rows"]),
        )
        return cls(
            record["id"],
            record["chapter"],
            record["status"],
            record["points"],
            record["max_points"],
            tuple(Check(**check) for check in record["checks"]),
            tuple(Diagnosis(**found) for found in record["diagnosis"]),
            example,
            tuple(record["notes"]),
        )
