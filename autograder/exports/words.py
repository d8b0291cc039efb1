"""An exercise's result in words, from its entry in results.json."""

from typing import Any

from autograder.render.words import headline, points, tally
from autograder.verdict import Check, Diagnosis, Verdict

LONGEST = 300  # of what a summary says was found


def score(points: float, possible: float) -> str:
    """`2.5 of 3 points`."""
    return f"{points:g} of {possible:g} point{'' if possible == 1 else 's'}"


def verdict_of(exercise: dict[str, Any]) -> Verdict:
    """The verdict that an entry was written from, as far as the entry tells."""
    return Verdict(
        exercise["id"],
        exercise["chapter"],
        exercise["status"],
        exercise["points"],
        exercise["max_points"],
        tuple(Check(one["name"], one["passed"]) for one in exercise["checks"]),
        tuple(
            Diagnosis(one["mistake"], one["message"]) for one in exercise["diagnosis"]
        ),
    )


def title(exercise: dict[str, Any]) -> str:
    """`✗ attention_scores · not right yet, 0 of 2 points`."""
    verdict = verdict_of(exercise)
    return f"{headline(verdict)}, {points(verdict)}"


def found(exercise: dict[str, Any]) -> str:
    """What was found, and how many checks hold: paragraphs."""
    verdict = verdict_of(exercise)
    checks = [tally(verdict)] if verdict.checks else []
    return "\n\n".join([one.message for one in verdict.diagnosis] + checks)


def summary(exercise: dict[str, Any]) -> str:
    """The title and the beginning of what was found to be wrong."""
    message = " ".join(verdict_of(exercise).message.split())
    if len(message) > LONGEST:
        message = message[: LONGEST - 1].rstrip() + "…"
    return f"{title(exercise)}. {message}" if message else title(exercise)
