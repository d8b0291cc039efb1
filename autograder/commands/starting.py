"""`autograder start`: the learner's workbook, made or brought up to date."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from autograder import chapters, workbook
from autograder.chapters import Laid
from autograder.commands.values import made_folder, wrong

SAID = {
    "new": "new",
    "updated": "brought up to date",
    "yours": "has your work; left alone",
    "behind": "has your work; left alone, though a newer one is published",
}


@click.command()
@click.argument(
    "folder", metavar="[DIR]", type=click.Path(path_type=Path), default=None
)
def start(folder: Path | None) -> None:
    """Lay the chapters into DIR, or bring them up to date.

    DIR is by default the workbook you are in, else ./workbook. What you wrote is
    never touched.
    """
    if not chapters.published():
        wrong(
            "the chapters are not beside the autograder; clone the project, "
            "run 'pip install -e .' in the clone and start from there"
        )
    book = _fitting(folder)
    made_folder(made_folder(book) / workbook.MARK)
    for line in said(book, chapters.lay(book)):
        click.echo(line)


def _fitting(folder: Path | None) -> Path:
    """The folder to lay into: by default the workbook we are in, else ./workbook."""
    if folder is None:
        around = workbook.current()
        return Path("workbook") if around is None else Path(os.path.relpath(around))
    around = workbook.current(folder)
    if around not in (None, folder.resolve()):
        wrong(
            f"{folder} lies in the workbook {around}; "
            "run 'autograder start' there, without DIR, to bring it up to date"
        )
    place, published = folder.resolve(), chapters.PUBLISHED
    if place.is_relative_to(published) or published.is_relative_to(place):
        wrong(
            f"{folder} holds the published chapters, which stay as they are; "
            "choose another folder, such as 'workbook'"
        )
    return folder


def said(book: Path, laid: Iterable[Laid]) -> Iterator[str]:
    """What was done, a line a chapter, and what to do next."""
    told = [one for one in laid if one.outcome in SAID]
    here = book.resolve() == Path.cwd()
    name = "This workbook" if here else f"Workbook {book}"
    yield f"{name}:" if told else f"{name}: every chapter is up to date."
    width = max((len(one.name) for one in told), default=0)
    for one in told:
        yield f"  {one.name:<{width}}  {SAID[one.outcome]}"
    if any(one.outcome == "behind" for one in told):
        yield "To get a newer one beside yours, rename yours and start again."
    yield "Next:"
    if not here:
        yield f"  cd {shlex.quote(str(book))}"
    here_too = Path(sys.executable).with_name("jupyter-lab")
    on_path = shutil.which("jupyter-lab") or not here_too.exists()
    yield "  jupyter lab" if on_path else f"  {shlex.quote(str(here_too))}"
