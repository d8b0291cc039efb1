"""`list` and `progress`: what there is to do, and how far the learner is."""

from collections.abc import Mapping
from os.path import relpath
from typing import TYPE_CHECKING, Any

import click
from rich.table import Column, Table

from autograder import workbook
from autograder.commands.screen import console, counted
from autograder.commands.values import learners_workbook, needed_workbook

if TYPE_CHECKING:
    from autograder.definition import Chapter, Exercise

BAR = 20
SIGNS = {"passed": "[green]✓[/]", "tried": "[yellow]…[/]", "open": " "}


@click.command("list")
def list_exercises() -> None:
    """List the exercises, what they are worth and what is passed.

    In a pipe: one a line, its id first.
    """
    known = workbook.progress(learners_workbook())
    if console().is_terminal:
        _as_table(known)
    else:
        _as_lines(known)


def _as_table(known: Mapping[str, Any]) -> None:
    from autograder.registry import CHAPTERS, EXERCISES, of_chapter

    widest = max(map(len, EXERCISES), default=0) + 2  # ids stay whole when it is narrow
    names = Column("exercise", min_width=widest, overflow="fold")
    table = Table(names, "points", "minutes", "difficulty", box=None, pad_edge=False)
    for chapter in CHAPTERS.values():
        table.add_row()
        table.add_row(f"[bold]{chapter.number} · {chapter.title}[/]")
        for one in of_chapter(chapter.number):
            points = "★" if one.optional else f"{one.points:g}"
            filled = "●" * one.difficulty + "○" * (5 - one.difficulty)
            sign = SIGNS[_state(one, known)]
            table.add_row(f"{sign} {one.id}", points, str(one.minutes), filled)
    screen = console()
    screen.print(table)
    screen.print("\n✓ passed   … tried   ★ optional, no points", style="dim")


def _as_lines(known: Mapping[str, Any]) -> None:
    from autograder.registry import CHAPTER_OF, EXERCISES

    width = max((len(name) for name in EXERCISES), default=0)
    for name, one in EXERCISES.items():
        points = "★ optional" if one.optional else counted(one.points, "point")
        click.echo(
            f"{name:<{width}}  chapter {CHAPTER_OF[name]:<2}  {points:<10}  "
            f"{counted(one.minutes, 'minute'):<10}  difficulty {one.difficulty} of 5  "
            f"{_state(one, known)}"
        )


def _state(exercise: "Exercise", known: Mapping[str, Any]) -> str:
    """Passed, tried, or open."""
    status = known.get(exercise.id, {}).get("status")
    return "passed" if status == "passed" else "tried" if status else "open"


@click.command()
def progress() -> None:
    """Show how far you are in each chapter, and what is next."""
    from autograder.registry import CHAPTERS, EXERCISES

    book = needed_workbook()
    known = workbook.progress(book)
    width = max((len(chapter.title) for chapter in CHAPTERS.values()), default=0)
    for chapter in CHAPTERS.values():
        click.echo(_chapter_line(chapter, known, width))
    owed = [one for one in EXERCISES.values() if not one.optional]
    done = [one for one in owed if _state(one, known) == "passed"]
    points = sum(float(one.points) for one in done)
    of = counted(sum(float(one.points) for one in owed), "point")
    click.echo(f"\n{len(done)} of {len(owed)} exercises, {points:g} of {of}.")
    left = [one for one in EXERCISES.values() if _state(one, known) != "passed"]
    for one in sorted(left, key=lambda one: one.optional)[:1]:
        click.echo(_next_line(one, relpath(book)))


def _chapter_line(chapter: "Chapter", known: Mapping[str, Any], width: int) -> str:
    """A chapter's bar; each ★ stands for an optional exercise passed."""
    from autograder.registry import of_chapter

    all_of_it = of_chapter(chapter.number)
    passed = [one for one in all_of_it if _state(one, known) == "passed"]
    owed = sum(not one.optional for one in all_of_it)
    done = sum(not one.optional for one in passed)
    filled = BAR * done // owed if owed else BAR
    stars = "★" * (len(passed) - done)
    return (
        f"{chapter.number:>2}  {chapter.title:<{width}}  "
        f"{'█' * filled}{'░' * (BAR - filled)}  {done} of {owed} {stars}"
    ).rstrip()


def _next_line(exercise: "Exercise", folder: str) -> str:
    from autograder.registry import CHAPTERS, chapter_of

    notebook = f"{CHAPTERS[chapter_of(exercise)].notebook}.ipynb"
    path = notebook if folder == "." else f"{folder}/{notebook}"
    star = "★ " if exercise.optional else ""
    minutes = counted(exercise.minutes, "minute")
    return f"Next: {star}{exercise.id} in {path}, about {minutes}."
