"""What a class's records come to: `results.json` and `grades.csv`.

Both are written from one record after the other, so that no class is too large.
"""

import csv
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from autograder.registry import EXERCISES
from autograder.render.words import clean
from autograder.report import entry_of
from autograder.spreadsheet import harmless


@dataclass
class Tally:
    """What must be known of all submissions before the first line is written."""

    exercises: set[str] = field(default_factory=set)
    isolation: list[str] | None = None
    errors: int = 0

    def add(self, record: dict[str, Any]) -> None:
        """Take in a record."""
        self.exercises |= {one["id"] for one in record["exercises"]}
        self.errors += "error" in record
        if record["isolation"]:  # the layers that every one of them had
            had = record["isolation"]
            known = had if self.isolation is None else self.isolation
            self.isolation = [layer for layer in known if layer in had]


def write_results(
    out: Path, records: Iterable[dict[str, Any]], tally: Tally, key: str | None
) -> None:
    """Write both files, each whole or not at all. `key` is the key's fingerprint."""
    head: dict[str, Any] = {
        "version": 1,
        "isolation": tally.isolation or [],
        "inputs": "fixed, seed 0" if key is None else "drawn with a key",
    }
    if key is not None:
        head["key_fingerprint"] = key
    ids = [name for name in EXERCISES if name in tally.exercises]
    with _whole(out / "results.json") as results, _whole(out / "grades.csv") as grades:
        table = csv.writer(grades, lineterminator="\n")
        table.writerow(["submission", "points", "max_points", *ids, "error"])
        results.write(_indented(head, 0).removesuffix("\n}"))
        results.write(',\n "submissions": [')
        comma = ""
        for record in records:
            results.write(f"{comma}\n  {_indented(entry_of(record), 2)}")
            table.writerow([harmless(cell) for cell in _row(record, ids)])
            comma = ","
        results.write("\n ]\n}\n")


def _row(record: dict[str, Any], ids: Iterable[str]) -> list[str]:
    points = {one["id"]: f"{one['points']:g}" for one in record["exercises"]}
    cells = [record["submission"], f"{record['points']:g}", f"{record['max_points']:g}"]
    cells += [points.get(name, "") for name in ids]
    return [*cells, clean(record.get("error", ""))]


def _indented(data: dict[str, Any], by: int) -> str:
    text = json.dumps(data, indent=1, ensure_ascii=False)
    return text.replace("\n", "\n" + " " * by)


@contextmanager
def _whole(path: Path) -> Iterator[IO[str]]:
    """A file that takes the place of the one there when it is complete."""
    writing = path.with_name(f".writing-{os.getpid()}-{path.name}")
    try:
        with writing.open("w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        writing.replace(path)
    finally:
        writing.unlink(missing_ok=True)
