"""`check` and `watch`: one learner's answers, judged in the terminal."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import watchfiles

from autograder import chapters, workbook
from autograder.commands.screen import console, counted, show
from autograder.commands.values import Answers, ExerciseId, wrong
from autograder.source import UnreadableError, read_file
from autograder.verdict import Verdict

if TYPE_CHECKING:
    from autograder.definition import Exercise


@click.command()
@click.argument("path", metavar="PATH", type=Answers())
@click.option(
    "--exercise", metavar="ID", type=ExerciseId(), help="Check this exercise only."
)
def check(path: Path, exercise: "Exercise | None") -> None:
    """Grade a notebook or a .py file, and name the mistakes.

    In a workbook, progress is noted and what is right becomes your part.
    """
    try:
        checked(path, exercise)
    except UnreadableError as error:
        wrong(f"can't read {path}: {error}")


@click.command()
@click.argument("path", metavar="PATH", type=Answers())
def watch(path: Path) -> None:
    """Grade a notebook or a .py file each time it is saved."""
    try:
        _once_more(path)
        click.echo(f"Watching {path}: save it to check again, Ctrl-C to stop.")
        for _ in saves(path):
            click.echo(f"\n── saved at {time.strftime('%H:%M:%S')} ──")
            _once_more(path)
            click.echo("Watching; Ctrl-C to stop.")
    except KeyboardInterrupt:
        click.echo("\nStopped watching.")


def _once_more(path: Path) -> None:
    """Check a file that may be half written, or gone for a moment."""
    try:
        checked(path)
    except UnreadableError as error:
        click.echo(f"Can't read {path}: {error}.")
    except click.UsageError as error:
        click.echo(f"{error.format_message()}.")


def saves(path: Path) -> Iterator[None]:
    """Once after each save, also one made while a check ran.

    Editors replace a file as they save it, so its folder is watched. Where the file
    system reports nothing, the regular waking up finds the save all the same.
    """
    seen = _stamp(path)
    place = path.resolve()
    for _ in watchfiles.watch(
        place.parent,
        watch_filter=lambda _, changed: Path(changed).name == place.name,
        recursive=False,
        yield_on_timeout=True,
    ):
        before, seen = seen, _stamp(path)
        if seen not in (None, before):
            yield


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes when a file is saved; None while there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def checked(path: Path, exercise: "Exercise | None" = None) -> None:
    """Judge the answers in a file, show the verdicts, keep what a workbook keeps."""
    path = path.resolve()
    cells = read_file(path).cells  # before torch loads: most complaints come from here
    with console().status("checking …"):
        from autograder.grading import check_submission
        from autograder.registry import EXERCISES

        verdicts = check_submission(path, exercise.id if exercise else None)
    if not verdicts:
        wrong(f"{path.name} defines no exercise; 'autograder list' shows their names")
    book = workbook.current(path.parent)
    if book is not None:
        verdicts = [_kept(book, verdict, cells) for verdict in verdicts]
    for before, verdict in zip([None, *verdicts], verdicts, strict=False):
        if before and (before.checks or verdict.checks):
            click.echo()
        show(verdict, EXERCISES[verdict.exercise].hints)
    click.echo(f"\n{summary(verdicts)}")
    if path.is_relative_to(chapters.PUBLISHED):
        click.echo("This is a published chapter: work in a copy, 'autograder start'.")


def _kept(book: Path, verdict: Verdict, cells: Sequence[str]) -> Verdict:
    """Note a try in the workbook, save what is right, and say so in the verdict."""
    from autograder import keeping

    if verdict.status in ("not_attempted", "missing"):
        return verdict
    said = keeping.keep(book, verdict, cells, tried=True)
    return replace(verdict, notes=(*verdict.notes, said)) if said else verdict


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many are right, and the points."""
    right = sum(verdict.passed for verdict in verdicts)
    points = sum(verdict.points for verdict in verdicts)
    of = counted(sum(verdict.max_points for verdict in verdicts), "point")
    exercises = counted(len(verdicts), "exercise")
    return f"{right} of {exercises} right, {points:g} of {of}."
