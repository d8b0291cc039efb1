"""The answers of a class, read from submissions and cut out one by one."""

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from autograder.grading import asked_for, reference_source
from autograder.registry import EXERCISES
from autograder.similarity.fingerprints import Prints, fingerprints, runs
from autograder.similarity.tokens import tokens
from autograder.source import (
    Submission,
    contents_of,
    defined_names,
    find,
    slice_for,
    submission_from,
)
from autograder.untouched import broken_source, untouched

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: whose, to what, its source, and its fingerprints."""

    submission: str
    exercise: str
    source: str
    prints: Prints


@dataclass
class Read:
    """What was read of a class, and what could not be, in a line each."""

    submissions: int = 0
    answers: list[Answer] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)


def read_answers(paths: Iterable[str | Path], progress: Progress) -> Read:
    """Every answer at the paths that is more than a stub.

    Raises UsageError where a path can't be used.
    """
    found = find(paths)
    read = Read(len(found))
    progress(0, len(found))
    for done, one in enumerate(found, 1):  # one held at a time, in a class of any size
        _add(read, submission_from(one, contents_of(one.path)))
        progress(done, len(found))
    return read


def _add(read: Read, submission: Submission) -> None:
    name = submission.name
    read.unread += [(name, line) for line in submission.skipped]
    if submission.error is not None:
        read.unread.append((name, submission.error))
        return
    try:
        wanted = asked_for(submission)
    except Exception as error:  # nobody else's comparison may be lost
        read.unread.append((name, f"it can't be read ({type(error).__name__})"))
        return
    for exercise in wanted:
        try:
            read.answers += _answer(submission, exercise)
        except Exception as error:
            what = str(error) or type(error).__name__
            read.unread.append((name, f"{exercise}: {what}"))


def _answer(submission: Submission, exercise: str) -> Iterator[Answer]:
    """The answer to one exercise, without the other exercises it builds on."""
    others = EXERCISES.keys() - {exercise}
    for file in reversed(submission.files):
        if exercise not in defined_names(file.cells) or untouched(file.cells, exercise):
            continue
        cut = slice_for(file.cells, exercise, without=others)
        if cut is not None:
            yield Answer(
                submission.name, exercise, cut.source, prints_of(cut.source, exercise)
            )
            return


def prints_of(source: str, exercise: str) -> Prints:
    """The fingerprints of a source. Raises SyntaxError and TooLong."""
    return fingerprints(tokens(_parsed(source), exercise))


def _parsed(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in a string is the learner's business
        return ast.parse(source)


@cache
def of_reference(exercise: str) -> frozenset[int]:
    """Every run of tokens of the reference, and of the code that a repair begins with:
    the book prints them, so they are nobody's own."""
    sources = filter(None, [reference_source(exercise), broken_source(exercise)])
    return frozenset(
        run for source in sources for run in runs(tokens(_parsed(source), exercise))
    )
