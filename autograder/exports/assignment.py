"""What of a submission's results an assignment counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.exports.errors import ExportError
from autograder.results import Entry


@dataclass(frozen=True)
class Assignment:
    """Which exercises count: id, chapter and points of each; None for whatever came."""

    exercises: Sequence[tuple[str, int, float]] | None = None

    def of(self, entry: Entry) -> Entry:
        """A submission's entry with the exercises that count, missing ones at 0."""
        if self.exercises is None or "error" in entry:
            return entry
        graded = {one["id"]: one for one in entry["exercises"]}
        counted = [
            graded.get(name) or _missing(name, chapter, points)
            for name, chapter, points in self.exercises
        ]
        return entry | {
            "exercises": counted,
            "points": round(sum(one["points"] for one in counted), 2),
            "max_points": self.possible([]),
        }

    def possible(self, entries: Sequence[Entry]) -> float:
        """The points of the whole assignment: of its exercises, else the most asked."""
        if self.exercises is None:
            return max((float(one["max_points"]) for one in entries), default=0.0)
        return round(sum(points for _, _, points in self.exercises), 2)


def chapters(numbers: Sequence[int]) -> Assignment:
    """The assignment of these chapters; of what came where none is named.

    Raises ExportError for a chapter that the book doesn't have.
    """
    if not numbers:
        return Assignment()
    from autograder.registry import CHAPTERS, of_chapter

    for number in numbers:
        if number not in CHAPTERS:
            there = f"{min(CHAPTERS)} to {max(CHAPTERS)}"
            raise ExportError(f"no chapter {number}; the book has {there}")
    return Assignment(
        [
            (one.id, number, 0.0 if one.optional else float(one.points))
            for number in sorted(set(numbers))
            for one in of_chapter(number)
        ]
    )


def _missing(name: str, chapter: int, points: float) -> Entry:
    return {
        "id": name,
        "chapter": chapter,
        "status": "missing",
        "points": 0.0,
        "max_points": points,
        "checks": [],
        "diagnosis": [],
    }
