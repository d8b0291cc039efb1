"""`report` and `similar`: a class on one page, and answers that are alike."""

from pathlib import Path

import click

from autograder.commands.screen import counted, counting
from autograder.commands.values import Answers, made_folder, wrong
from autograder.source import UsageError


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--book",
    metavar="URL",
    help="Where your class reads the book: sections become links to its pages.",
)
def report(folder: Path, book: str | None) -> None:
    """Show on a page what a class should hear again.

    Reads DIR/results.json, which 'autograder grade' wrote, and writes DIR/class.html;
    nothing is graded anew.
    """
    from autograder import overview

    if book is not None and not book.startswith(("https://", "http://", "file://")):
        wrong(f"--book {book} is no address of a page; it begins with https://")
    try:
        page = overview.write(folder, book)
    except overview.ResultsError as error:
        wrong(str(error))
    click.echo(f"Class report: {page}")


@click.command()
@click.argument(
    "paths", metavar="PATH...", type=Answers(folders=True), nargs=-1, required=True
)
@click.option(
    "--to",
    metavar="FILE.html",
    type=click.Path(path_type=Path),
    required=True,
    help="The page to write.",
)
def similar(paths: tuple[Path, ...], to: Path) -> None:
    """List answers that are nearly alike, for you to judge.

    PATHs are what 'autograder grade' takes. Renaming, comments, formatting and moved
    statements don't hide a likeness; what the book or many of the class have doesn't
    count. Submissions are parsed, never executed.
    """
    from autograder.similarity import compare

    if to.suffix.lower() not in (".html", ".htm") or to.is_dir():
        wrong(f"--to {to} is no web page; name a file that ends in .html")
    made_folder(to.parent)
    try:
        with counting("comparing") as progress:
            pairs = compare(paths, to, progress)
    except UsageError as error:
        wrong(str(error))
    click.echo(f"{counted(pairs, 'pair')} to look at: {to}")
