"""What is said of a submission, in the results and in its record."""

from dataclasses import asdict, dataclass
from typing import Any, Self

from autograder.render.words import clean
from autograder.verdict import Verdict

#: The longest message that a result keeps.
LONGEST = 20_000

#: The keys of a submission in `results.json`, in their order.
ENTRY = ("submission", "points", "max_points", "exercises", "error", "notes")


@dataclass(frozen=True)
class Result:
    """A submission graded, or the reason why it could not be."""

    submission: str
    verdicts: tuple[Verdict, ...] = ()
    error: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return round(sum((one.points for one in self.verdicts), 0.0), 2)

    @property
    def max_points(self) -> float:
        return round(sum((one.max_points for one in self.verdicts), 0.0), 2)

    def as_json(self) -> dict[str, Any]:
        """The submission's entry in `results.json`."""
        entry: dict[str, Any] = {
            "submission": self.submission,
            "points": self.points,
            "max_points": self.max_points,
            "exercises": [_exercise(one) for one in self.verdicts],
        }
        if self.error is not None:
            entry["error"] = " ".join(clean(self.error).split())
        if self.notes:
            entry["notes"] = [" ".join(clean(note).split()) for note in self.notes]
        return entry

    def as_record(self) -> dict[str, Any]:
        """The entry, and what the page shows beside it: all that there is to keep."""
        entry = self.as_json()
        for exercise, verdict in zip(entry["exercises"], self.verdicts, strict=True):
            shown = verdict.example
            exercise["example"] = None if shown is None else _cleaned(asdict(shown))
            exercise["notes"] = _cleaned(list(verdict.notes))
        return entry

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """The result from its record. LookupError, TypeError where it isn't one."""
        verdicts = tuple(Verdict.from_record(one) for one in record["exercises"])
        notes = tuple(record.get("notes", ()))
        return cls(record["submission"], verdicts, record.get("error"), notes)


def entry_of(record: dict[str, Any]) -> dict[str, Any]:
    """What of a record stands in `results.json`."""
    entry = {name: record[name] for name in ENTRY if name in record}
    entry["exercises"] = [
        {name: one[name] for name in one if name not in ("example", "notes")}
        for one in record["exercises"]
    ]
    return entry


def _cleaned(value: Any) -> Any:
    """The value with every text in it clean: half a character can't be written."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: _cleaned(one) for name, one in value.items()}
    return (
        [_cleaned(one) for one in value] if isinstance(value, list | tuple) else value
    )


def _exercise(verdict: Verdict) -> dict[str, Any]:
    entry = verdict.as_json()
    for found in entry["diagnosis"]:
        found["message"] = clean(found["message"])[:LONGEST]
    return entry
