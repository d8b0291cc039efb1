"""Which answers of a class are nearly the same source, for a human to judge.

`answers` cuts them out of submissions, `tokens` and `fingerprints` make them
comparable, `pairs` finds the ones that are alike, `page` shows them side by side.
Submissions are parsed, never executed.
"""

from collections.abc import Iterable
from pathlib import Path

from autograder.similarity.answers import Progress, read_answers
from autograder.similarity.page import similarity_page
from autograder.similarity.pairs import alike
from autograder.workbook import write as write_whole

__all__ = ["compare"]


def compare(
    paths: Iterable[str | Path], to: Path, progress: Progress = lambda done, total: None
) -> int:
    """Compare the submissions at the paths, write the page, return how many pairs.

    Raises UsageError where a path can't be used.
    """
    read = read_answers(paths, progress)
    found = alike(read.answers)
    write_whole(to, similarity_page(read, found))
    return len(found.pairs)
