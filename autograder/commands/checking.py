"""`check` and `watch`: one learner's answers, judged in the terminal."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import watchfiles

from autograder import chapters, workbook
from autograder.commands.screen import console, counted, show
from autograder.commands.values import Answers, ExerciseId, Wrong, wrong
from autograder.source import SourceFile, Submission, UnreadableError, read_file
from autograder.verdict import Verdict

if TYPE_CHECKING:
    from autograder.definition import Exercise
    from autograder.sandbox import Server


@click.command()
@click.argument("path", metavar="PATH", type=Answers())
@click.option(
    "--exercise", metavar="ID", type=ExerciseId(), help="Check this exercise only."
)
def check(path: Path, exercise: "Exercise | None") -> None:
    """Grade a notebook or a .py file, and name the mistakes.

    In a workbook, progress is noted and what is right becomes your part.
    """
    with Checker() as checker:
        try:
            checker.check(path, exercise)
        except UnreadableError as error:
            wrong(f"can't read {path}: {error}")


@click.command()
@click.argument("path", metavar="PATH", type=Answers())
def watch(path: Path) -> None:
    """Grade a notebook or a .py file each time it is saved."""
    with contextlib.suppress(KeyboardInterrupt), Checker() as checker:
        seen = _stamp(path)  # before the check, so that no save is missed meanwhile
        _once(checker, path)
        for _ in saves(path, seen):
            click.echo(f"\n── saved at {time.strftime('%H:%M:%S')} ──")
            _once(checker, path)
    click.echo("\nStopped watching.")


def _once(checker: "Checker", path: Path) -> None:
    """Check a file that may be half written, or gone for a moment."""
    try:
        checker.check(path)
    except UnreadableError as error:
        click.echo(f"Can't read {path}: {error}.")
    except Wrong as error:
        click.echo(f"{error.message}.")
    click.echo(f"Watching {path}: save it to check again, Ctrl-C to stop.")


def saves(path: Path, seen: tuple[int, int] | None) -> Iterator[None]:
    """Once after each save since it was `seen`, also one made while a check ran.

    Editors replace a file as they save it, so its folder is watched. Where the file
    system reports nothing, the regular waking up finds the save all the same.
    """
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


class Checker(contextlib.ExitStack):
    """Checks files, all in one sandbox; its server starts when first needed."""

    _server: "Server | None" = None

    def check(self, path: Path, exercise: "Exercise | None" = None) -> None:
        """Judge a file's answers, show the verdicts, keep what a workbook keeps."""
        path = path.resolve()
        file = read_file(path)  # before torch loads: most complaints come from here
        with console().status("checking …"):
            verdicts = self._verdicts(file, exercise)
        if not verdicts:
            what = exercise.id if exercise else "exercise"
            wrong(f"{path.name} holds no {what}; 'autograder list' shows what there is")
        book = workbook.current(path.parent)
        if book is not None:
            verdicts = [_kept(book, verdict, file.cells) for verdict in verdicts]
        _show_all(verdicts)
        for line in _closing(path, book, verdicts):
            click.echo(line)

    def _verdicts(self, file: SourceFile, exercise: "Exercise | None") -> list[Verdict]:
        from autograder.sandbox import SandboxError, Server

        if self._server is None:
            self._server = self.enter_context(contextlib.closing(Server()))
            self._server.begin()
        from autograder.grading import Options, grade_submission

        handed_in = Submission(file.path.stem, file.path, (file,))
        only = exercise.id if exercise else None
        try:
            return grade_submission(self._server, handed_in, Options(), only)
        except SandboxError as error:
            raise click.ClickException(str(error)) from error


def _show_all(verdicts: Sequence[Verdict]) -> None:
    """Show verdicts, an empty line around each that says more than one line."""
    from autograder.registry import EXERCISES

    short = True
    for verdict in verdicts:
        was_short, short = short, not (verdict.checks or verdict.diagnosis)
        if verdict is not verdicts[0] and not (was_short and short):
            click.echo()
        show(verdict, EXERCISES[verdict.exercise].hints)


def _closing(
    path: Path, book: Path | None, verdicts: Sequence[Verdict]
) -> Iterator[str]:
    """What all the verdicts together say, and how to go on."""
    from autograder import keeping

    yield f"\n{summary(verdicts)}"
    if book is not None:
        for chapter in sorted({one.chapter for one in verdicts}):
            yield keeping.far(book, chapter)
    if path.is_relative_to(chapters.PUBLISHED):
        yield "This is a published chapter: 'autograder start' lays a copy to work in."


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
