"""What `grade` writes: results.json, grades.csv, feedback pages, a class report."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import overview
from autograder.overview.feedback import feedback, page_names
from autograder.registry import EXERCISES
from autograder.render.words import clean
from autograder.spreadsheet import harmless
from autograder.verdict import Verdict
from autograder.workbook import write

#: The longest message that a result keeps.
LONGEST = 20_000


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


def _exercise(verdict: Verdict) -> dict[str, Any]:
    entry = verdict.as_json()
    for found in entry["diagnosis"]:
        found["message"] = clean(found["message"])[:LONGEST]
    return entry


def write_all(
    out: Path, results: Sequence[Result], isolation: Sequence[str], keyed: bool
) -> None:
    """Write everything to the folder, each file whole or not at all."""
    head = {
        "version": 1,
        "isolation": list(isolation),
        "inputs": "drawn with a key" if keyed else "fixed, seed 0",
        "submissions": [one.as_json() for one in results],
    }
    write(out / "results.json", json.dumps(head, indent=1, ensure_ascii=False) + "\n")
    write(out / "grades.csv", grades(results))
    names = page_names([one.submission for one in results])
    for one, name in zip(results, names, strict=True):
        write(out / name, feedback(one))
    overview.write(out)


def grades(results: Sequence[Result]) -> str:
    """One line a submission, one column an exercise."""
    asked = {verdict.exercise for one in results for verdict in one.verdicts}
    ids = [name for name in EXERCISES if name in asked]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["submission", "points", "max_points", *ids, "error"])
    for one in results:
        points = {verdict.exercise: f"{verdict.points:g}" for verdict in one.verdicts}
        row = [one.submission, f"{one.points:g}", f"{one.max_points:g}"]
        row += [points.get(name, "") for name in ids]
        table.writerow([harmless(cell) for cell in [*row, clean(one.error or "")]])
    return text.getvalue()


