"""What `grade` writes: results.json, grades.csv, a feedback page a submission."""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from autograder.registry import CHAPTERS, EXERCISES
from autograder.render.page import STYLE, as_html
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
    for one, name in zip(results, page_names(results), strict=True):
        write(out / name, feedback(one))


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


def page_names(results: Sequence[Result]) -> list[str]:
    """A file name for each feedback page: safe on every system, and none twice."""
    names: list[str] = []
    taken: set[str] = {"results.json", "grades.csv"}
    for one in results:
        base = re.sub(r"[^\w.()-]+", "_", one.submission)[:100].strip(".") or "_"
        name, number = f"{base}.html", 2
        while name.lower() in taken:
            name, number = f"{base}_{number}.html", number + 1
        taken.add(name.lower())
        names.append(name)
    return names


def feedback(result: Result) -> str:
    """A page for whoever handed it in: self-contained, everything of theirs escaped."""
    name = escape(clean(result.submission))
    body = [f"<h1>{name}</h1>"]
    if result.error is not None:
        body.append(f"<p>Not graded: {escape(clean(result.error))}</p>")
    else:
        body.append(f"<p>{result.points:g} of {result.max_points:g} points</p>")
    body += [f"<p>{escape(clean(note))}</p>" for note in result.notes]
    chapter = None
    for verdict in result.verdicts:
        if verdict.chapter != chapter:
            chapter = verdict.chapter
            title = CHAPTERS[chapter].title if chapter in CHAPTERS else ""
            body.append(f"<h2>Chapter {chapter} · {escape(title)}</h2>")
        hints = EXERCISES[verdict.exercise].hints
        body.append(as_html(verdict, hints, style=False))
    return _PAGE.format(title=name, style=STYLE, body="\n".join(body))


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>Feedback: {title}</title>
{style}
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 54em; margin: 2em auto;
padding: 0 1em; }}
@media print {{ details {{ display: none }} }}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""  # noqa: E501
