"""What is said of a submission: in the results, in its record, on its feedback page."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Self

from autograder.registry import CHAPTERS, EXERCISES
from autograder.render.page import STYLE, as_html
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
            exercise["example"] = None if shown is None else asdict(shown)
            exercise["notes"] = list(verdict.notes)
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


def _exercise(verdict: Verdict) -> dict[str, Any]:
    entry = verdict.as_json()
    for found in entry["diagnosis"]:
        found["message"] = clean(found["message"])[:LONGEST]
    return entry


def harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return "'" + cell if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


#: Names that are taken in the folder of results before any page is written.
TAKEN = ("results.json", "grades.csv", "class.html", "submissions")


def page_names(submissions: Sequence[str]) -> list[str]:
    """A file name for each feedback page: safe on every system, and none twice."""
    names: list[str] = []
    taken: set[str] = set(TAKEN)
    for one in submissions:
        base = re.sub(r"[^\w.()-]+", "_", one).encode()[:120].decode(errors="ignore")
        base = base.strip(".") or "_"
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
