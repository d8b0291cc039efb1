"""What a workbook keeps of an answer, and what to tell the learner of it."""

from collections.abc import Sequence
from pathlib import Path

from autograder import parts, workbook
from autograder.cutting import cut_out
from autograder.registry import of_chapter
from autograder.source import BrokenCell
from autograder.verdict import Verdict


def keep(
    book: Path, verdict: Verdict, cells: Sequence[str], tried: bool = False
) -> str | None:
    """Note a try and save a right answer as the learner's part; say so.

    `tried`: a worker has run the answer cut out of its cells. Otherwise it is run here
    before it is kept.
    """
    name = verdict.exercise
    workbook.note(book, name, verdict.status)
    if not verdict.passed:
        if workbook.read_part(book, name) is None:
            return None
        return "Your part is still the answer that passed before."
    try:
        found = cut_out(cells, name)
        if found is None:
            raise ValueError("its definition was not found among the cells")
        if not tried:
            parts.run(name, found.source)
    except (BrokenCell, Exception) as error:
        return f"Not kept as your part: alone it doesn't run ({error})."
    workbook.save_part(book, name, found.source)
    return "Kept as your part: later chapters build on it."


def far(book: Path, chapter: int) -> str:
    """How far a chapter is, and its next exercise."""
    known = workbook.progress(book)
    ids = [one.id for one in of_chapter(chapter) if not one.optional]
    left = [one for one in ids if known.get(one, {}).get("status") != "passed"]
    done = f"Chapter {chapter}: {len(ids) - len(left)} of {len(ids)} done"
    return f"{done}; next: {left[0]}." if left else f"{done}. The chapter is complete."
