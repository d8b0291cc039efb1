"""`report`: a class's results on one page."""

from pathlib import Path

import click

from autograder.commands.values import wrong


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--book",
    metavar="URL",
    help="Where your class reads the book: sections become links to its pages.",
)
def report(folder: Path, book: str | None) -> None:
    """Show what to explain again: a page on a class graded into DIR.

    Reads DIR/results.json and writes DIR/class.html; nothing is graded anew.
    """
    from autograder import overview

    if book is not None and not book.startswith(("https://", "http://", "file://")):
        wrong(f"--book {book} is no address of a page; it begins with https://")
    try:
        page = overview.write(folder, book)
    except overview.ResultsError as error:
        wrong(str(error))
    click.echo(f"Class report: {page}")
