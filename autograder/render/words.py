"""The words that every rendering of a verdict shares."""

from collections.abc import Sequence

from autograder.verdict import Verdict

#: status: the sign, and the words that say the same
SAID = {
    "passed": ("✓", "right"),
    "failed": ("✗", "not right yet"),
    "not_attempted": ("○", "not attempted"),
    "missing": ("○", "not in the submission"),
    "error": ("✗", "stops with an error"),
    "timeout": ("✗", "takes too long"),
    "out_of_memory": ("✗", "takes too much memory"),
    "crashed": ("✗", "ended its process"),
    "forbidden": ("✗", "uses a built-in that is the exercise"),
}


def points(verdict: Verdict) -> str:
    """`2 of 3 points`; an optional exercise carries none."""
    if not verdict.max_points:
        return "optional"
    plural = "" if verdict.max_points == 1 else "s"
    return f"{verdict.points:g} of {verdict.max_points:g} point{plural}"


def headline(verdict: Verdict) -> str:
    sign, words = SAID[verdict.status]
    return f"{sign} {verdict.exercise} · {words}"


def tally(verdict: Verdict) -> str:
    """How many checks hold, and which don't."""
    failed = [check.name for check in verdict.checks if not check.passed]
    count = len(verdict.checks)
    if not failed:
        names = ", ".join(check.name for check in verdict.checks)
        return f"all {count} checks hold: {names}"
    return f"{count - len(failed)} of {count} checks hold; not: {', '.join(failed)}"


def hint_lines(hints: Sequence[str]) -> list[tuple[str, str]]:
    """Each hint with its number: `hint 1 of 3`."""
    return [
        (f"hint {i} of {len(hints)}", text) for i, text in enumerate(hints, start=1)
    ]


def clean(text: str) -> str:
    """Without control characters, which a learner's message may carry."""
    return "".join(c for c in text if c == "\n" or (c.isprintable() and c != "\x7f"))
