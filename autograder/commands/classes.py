"""`grade`: a class's submissions."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from autograder.commands.screen import counted
from autograder.commands.values import (
    INTERRUPTED,
    Answers,
    Count,
    made_folder,
    secret_in,
    wrong,
)
from autograder.isolation import isolation_sentence
from autograder.render.words import clean
from autograder.source import UsageError

if TYPE_CHECKING:
    from autograder.classroom import Summary, Workers


@click.command()
@click.argument(
    "paths", metavar="PATH...", type=Answers(folders=True), nargs=-1, required=True
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    required=True,
    help="Where results.json, grades.csv and the feedback pages go.",
)
@click.option(
    "--jobs",
    metavar="N",
    type=Count(),
    help="How many submissions to grade at once; by default, up to one a processor.",
)
@click.option(
    "--key",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A secret of yours: the inputs are drawn from it, so nobody knows them.",
)
@click.option("--partial", is_flag=True, help="Give points by the share of checks.")
@click.option(
    "--regrade",
    metavar="ID",
    multiple=True,
    help="An exercise or a submission to grade anew, all else being kept; repeatable.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Grade on the Dask cluster whose scheduler is there, as tcp://host:8786.",
)
def grade(
    paths: tuple[Path, ...],
    out: Path,
    jobs: int | None,
    key: Path | None,
    partial: bool,
    regrade: tuple[str, ...],
    scheduler: str | None,
) -> None:
    """Grade a class: notebooks, .py files, or folders of them.

    A wrong or hostile submission is a result; the command itself still succeeds. Each
    result is written as it is there: stopped or killed, the same command goes on.
    What was graded before and hasn't changed is kept.
    """
    for path in paths:
        for folder in (out, out / "submissions"):
            if folder.resolve().is_relative_to(path.resolve()):
                wrong(
                    f"--out {out} writes to {folder}, among what is graded in {path}; "
                    "choose another"
                )
    if scheduler is not None and jobs is not None:
        wrong("--jobs is for this machine; leave it out with --scheduler")
    secret = secret_in(key)
    made_folder(out)
    summary = _graded(paths, out, jobs, secret, partial, regrade, scheduler)
    for line in summary.lost:
        click.echo(f"autograder: {clean(line)}; run the same command again", err=True)
    if summary.isolation:
        click.echo(isolation_sentence(summary.isolation))
    click.echo(f"{_told(summary)}: results.json, grades.csv, feedback in {out}")


def _told(summary: "Summary") -> str:
    graded = f"{counted(summary.submissions, 'submission')} graded"
    before = f", {summary.kept} of them before" if summary.kept else ""
    could_not = f", {summary.errors} of them could not be" if summary.errors else ""
    return graded + before + could_not


def _graded(
    paths: tuple[Path, ...],
    out: Path,
    jobs: int | None,
    key: bytes | None,
    partial: bool,
    regrade: tuple[str, ...],
    scheduler: str | None,
) -> "Summary":
    """Grade, with a bar on a terminal that shows how far."""
    from autograder import classroom
    from autograder.grading import Options

    with Bar() as bar:
        try:
            with _workers(scheduler) as workers:
                return classroom.grade(
                    paths,
                    out,
                    jobs,
                    Options(key, partial),
                    bar.show,
                    regrade,
                    workers,
                )
        except UsageError as error:
            wrong(str(error))
        except (classroom.CannotGrade, classroom.CannotWrite) as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            bar.stop()
            click.echo(f"autograder: {bar.stopped()}", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None


@contextmanager
def _workers(scheduler: str | None) -> "Iterator[Workers | None]":
    """Those of the cluster; None for this machine's own, made when it is known how many
    there is work for."""
    if scheduler is None:
        yield None
        return
    from autograder.classroom.cluster import Cluster

    with Cluster(scheduler) as cluster:
        if not cluster.threads:
            click.echo(
                f"No worker has joined {scheduler} yet; grading begins when one does.",
                err=True,
            )
        yield cluster


class Bar:
    """How far the grading is, on a terminal; nothing in a pipe."""

    def __init__(self) -> None:
        screen = Console(stderr=True)
        self._progress = Progress(
            TextColumn("grading"),
            BarColumn(),
            MofNCompleteColumn(),
            Rate(),
            TimeRemainingColumn(),
            console=screen,
            disable=not screen.is_terminal,
            transient=True,
        )
        self._task = self._progress.add_task("grading", total=None)
        self._known: tuple[int, int] | None = None

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def show(self, done: int, total: int) -> None:
        """So many are done of so many; the first ones before this run began."""
        if self._known is None:
            self._progress.reset(self._task, total=total, completed=done)
        self._known = done, total
        self._progress.update(self._task, completed=done)

    def stop(self) -> None:
        self._progress.stop()

    def stopped(self) -> str:
        """What to say when somebody has stopped it."""
        far = "{:,} of {:,} submissions are graded and kept".format(
            *self._known or (0, 0)
        )
        return f"stopped; {far if self._known else 'nothing was graded yet'}. " + (
            "The same command goes on from there."
        )


class Rate(ProgressColumn):
    """How many submissions a second, or how many seconds a submission."""

    def render(self, task: Task) -> Text:
        speed = task.speed
        if not speed:
            return Text("")
        return Text(f"{speed:.1f}/s" if speed >= 1 else f"{1 / speed:.1f} s each")
