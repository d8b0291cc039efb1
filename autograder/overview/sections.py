"""Where in the book an exercise stands, so that a teacher knows the page to open."""

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from autograder import chapters
from autograder.registry import CHAPTER_OF, CHAPTERS

HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$", re.MULTILINE)
STUB = re.compile(r"\s*@exercise\n(?:def|class) (\w+)")


@dataclass(frozen=True)
class Place:
    """A chapter, the section in which the exercise stands, and its page in the book."""

    chapter: int
    title: str
    section: str
    page: str

    def __str__(self) -> str:
        section = f", “{self.section}”" if self.section else ""
        return f"chapter {self.chapter}{section}"

    def address(self, book: str) -> str:
        """The exercise's own place in a book published at that address."""
        return f"{book.rstrip('/')}/{self.page}"


@cache
def place(exercise: str) -> Place | None:
    """Where an exercise stands; None for one that the book doesn't have.

    Without the chapters beside the autograder, the chapter alone is known.
    """
    chapter = CHAPTERS.get(CHAPTER_OF.get(exercise, -1))
    if chapter is None:
        return None
    section, heading = _headings(chapter.notebook).get(exercise, ("", ""))
    page = f"chapters/{chapter.notebook}.html"
    at = f"{page}#{_anchor(heading)}" if heading else page
    return Place(chapter.number, chapter.title, section, at)


def _anchor(heading: str) -> str:
    """The name that the book's page gives a heading, to link to."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


@cache
def _headings(notebook: str) -> dict[str, tuple[str, str]]:
    """For each exercise's stub the section it stands in, and the heading above it."""
    path = chapters.PUBLISHED / f"{notebook}.ipynb"
    try:
        cells = json.loads(path.read_text("utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return {}
    found: dict[str, tuple[str, str]] = {}
    section = heading = ""
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            for marks, heading in HEADING.findall(source):
                section = heading if len(marks) == 2 else section
        elif stub := STUB.match(source):
            found[stub[1]] = section, heading
    return found
