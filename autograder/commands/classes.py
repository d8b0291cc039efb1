"""`grade`: a class's submissions."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from autograder.commands.screen import counted
from autograder.commands.values import Answers, Count, made_folder, secret_in, wrong
from autograder.source import UsageError

if TYPE_CHECKING:
    from autograder.report import Result


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
    help="How many submissions to grade at once; by default, one a processor.",
)
@click.option(
    "--key",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A secret of yours: the inputs are drawn from it, so nobody knows them.",
)
@click.option("--partial", is_flag=True, help="Give points by the share of checks.")
def grade(
    paths: tuple[Path, ...],
    out: Path,
    jobs: int | None,
    key: Path | None,
    partial: bool,
) -> None:
    """Grade a class: notebooks, .py files, or folders of them.

    Each entry of a folder is a submission; a folder in it is one of several files.
    A wrong or hostile submission is a result; the command itself still succeeds.
    """
    for path in paths:
        if out.resolve().is_relative_to(path.resolve()):
            wrong(f"--out {out} lies in {path}, among what is graded; choose another")
    secret = secret_in(key)
    made_folder(out)
    results = _graded(paths, out, jobs or os.cpu_count() or 1, secret, partial)
    unread = sum(one.error is not None for one in results)
    could_not = f", {unread} of them could not be" if unread else ""
    graded = counted(len(results), "submission")
    click.echo(
        f"{graded} graded{could_not}: results.json, grades.csv, feedback in {out}"
    )


def _graded(
    paths: tuple[Path, ...], out: Path, jobs: int, key: bytes | None, partial: bool
) -> "list[Result]":
    """Grade, with a bar on a terminal that shows how far."""
    from autograder import classroom
    from autograder.grading import Options
    from autograder.sandbox import SandboxError

    screen = Console(stderr=True)
    columns = TextColumn("grading"), BarColumn(), MofNCompleteColumn()
    with Progress(
        *columns, console=screen, disable=not screen.is_terminal, transient=True
    ) as bar:
        task = bar.add_task("grading", total=None)
        try:
            return classroom.grade(
                paths,
                out,
                jobs,
                Options(key, partial),
                lambda done, total: bar.update(task, completed=done, total=total),
            )
        except UsageError as error:
            wrong(str(error))
        except SandboxError as error:
            raise click.ClickException(str(error)) from error
