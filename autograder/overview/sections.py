"""Where in the book an exercise stands, so that a teacher knows the page to open."""

import json
import re
from dataclasses import dataclass
from functools import cache

from autograder import chapters
from autograder.registry import CHAPTER_OF, CHAPTERS

HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$", re.MULTILINE)


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
    anchor = re.sub(r"[^a-z0-9]+", "-", f"exercise {exercise}".lower()).strip("-")
    page = f"chapters/{chapter.notebook}.html#{anchor}"
    section = _sections(chapter.notebook).get(exercise, "")
    return Place(chapter.number, chapter.title, section, page)


@cache
def _sections(notebook: str) -> dict[str, str]:
    """For each exercise that a chapter announces, the title of the section around."""
    path = chapters.PUBLISHED / f"{notebook}.ipynb"
    try:
        cells = json.loads(path.read_text("utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return {}
    found: dict[str, str] = {}
    section = ""
    for cell in cells:
        if cell["cell_type"] != "markdown":
            continue
        for marks, title in HEADING.findall("".join(cell["source"])):
            name = title.removeprefix("Exercise:").strip(" `★")
            if title.startswith("Exercise:"):
                found[name] = section
            elif len(marks) == 2:
                section = title
    return found
