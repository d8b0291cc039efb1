"""A class at a glance: `class.html`, made from `results.json` alone.

`statistics` counts, `findings` says in words what stands out, and
`page` draws it with `charts`. Nothing is graded here and nothing is executed.
"""

from pathlib import Path

from autograder.overview.page import class_page
from autograder.overview.statistics import statistics
from autograder.results import ResultsError, read
from autograder.workbook import write as write_whole

__all__ = ["PAGE", "ResultsError", "write"]

PAGE = "class.html"


def write(out: Path, book: str | None = None) -> Path:
    """Write `class.html` beside the `results.json` of a folder, and return its path.

    `book` is the address at which the class reads the book; with it, sections are
    links. Raises ResultsError where there are no results to read.
    """
    path = out / PAGE
    write_whole(path, class_page(statistics(read(out)), book))
    return path
