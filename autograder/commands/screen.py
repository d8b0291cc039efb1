"""Where the commands write: colours and tables on a terminal, plain text in a pipe."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from autograder import render
from autograder.verdict import Verdict


def console() -> Console:
    """Standard output as it is now."""
    return Console(highlight=False, emoji=False)


def show(verdict: Verdict, hints: Sequence[str]) -> None:
    """A verdict, as it looks best where it is read."""
    screen = console()
    if screen.is_terminal:
        screen.print(render.as_rich(verdict, hints))
    else:
        click.echo(render.as_text(verdict, hints))


def show_source(source: str) -> None:
    """Python source, coloured on a terminal."""
    screen = console()
    if screen.is_terminal:
        from rich.syntax import Syntax

        # the terminal's own colours, and nothing cut or padded: it may be copied
        highlighted = Syntax("", "python", theme="ansi_dark").highlight(source.rstrip())
        screen.print(highlighted, soft_wrap=True)
    else:
        click.echo(source.rstrip())


def paragraph(text: str) -> None:
    """A text of ours, wrapped to the terminal; as it is in a pipe."""
    screen = console()
    text = inspect.cleandoc(text)
    if screen.is_terminal:
        screen.print(text, markup=False)
    else:
        click.echo(text)


def counted(number: float, noun: str) -> str:
    """`1 point`, `2.5 points`."""
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal that shows how far long work is: call it with done, total."""
    screen = Console(stderr=True)
    columns = TextColumn(what), BarColumn(), MofNCompleteColumn()
    with Progress(
        *columns, console=screen, disable=not screen.is_terminal, transient=True
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
