"""The published chapters, and how they come into a learner's workbook.

They stand in `chapters/` beside this package, written for the book; a learner's copy
says the same in Markdown that every notebook reader shows. A workbook remembers of each
chapter what was laid, so that an update can tell what the learner wrote: that is never
touched.
"""

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import workbook
from autograder.plain_markdown import Work, bibliography, plain

PUBLISHED = Path(__file__).resolve().parents[1] / "chapters"


@dataclass(frozen=True)
class Laid:
    """What became of a chapter in the workbook.

    new       laid for the first time, or again after it was removed
    updated   still as it was laid, so the newer text took its place
    same      nothing to do
    yours     the learner has written in it; left alone
    behind    the same, and there is a newer text
    """

    name: str
    outcome: str


def published() -> list[Path]:
    """The notebooks of the book, in the order of its chapters."""
    return sorted(PUBLISHED.glob("*.ipynb"))


def lay(book: Path) -> list[Laid]:
    """Bring a workbook's chapters up to date, but for those with the learner's work."""
    record = book / workbook.MARK / "laid.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    known, works = _recorded(record), _works()
    laid = []
    for chapter in published():
        outcome = _lay_one(book / chapter.name, fresh(chapter, works), known)
        workbook.write(record, json.dumps(known, indent=1, sort_keys=True))
        laid.append(Laid(chapter.name, outcome))
    return laid


def _lay_one(path: Path, text: str, known: dict[str, Any]) -> str:
    """Lay one chapter, and note in `known` what its file now holds."""
    before, new = known.get(path.name), written(text)
    theirs = _written_in(path)
    if theirs != new:
        if path.exists() and (theirs is None or theirs != before):
            return "yours" if before == new else "behind"
        workbook.write(path, text)
    known[path.name] = new
    if theirs == new:
        return "same"
    return "updated" if theirs else "new"


def fresh(chapter: Path, works: Mapping[str, Work]) -> str:
    """A chapter's text as nobody has run it yet, for any reader, its works cited."""
    notebook = json.loads(chapter.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        elif cell["cell_type"] == "markdown":
            text = plain("".join(cell["source"]), works)
            cell["source"] = text.splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def written(text: str) -> str | None:
    """A fingerprint of what people write in a notebook; None where it is none.

    Outputs, counts and what Jupyter notes for itself don't change it.
    """
    try:
        cells = [
            [cell["cell_type"], "".join(cell["source"]), cell.get("attachments", {})]
            for cell in json.loads(text)["cells"]
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()


def _works() -> dict[str, Work]:
    """The works that the chapters cite; without their list, keys must do."""
    try:
        return bibliography((PUBLISHED.parent / "references.bib").read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return {}


def _written_in(path: Path) -> str | None:
    try:
        return written(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _recorded(record: Path) -> dict[str, Any]:
    try:
        known = json.loads(record.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def stub(notebook: str, name: str) -> str | None:
    """The cell in which a published chapter gives an exercise's stub."""
    path = PUBLISHED / f"{notebook}.ipynb"
    if path.is_file():
        for source in _exercise_cells(path):
            defined = ast.parse(source).body[0]
            if getattr(defined, "name", None) == name:
                return source
    return None


def _exercise_cells(path: Path) -> Iterator[str]:
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and source.lstrip().startswith("@exercise"):
            yield source.rstrip()
