"""`hint`, `solution` and `reset`: what a learner asks of one exercise."""

from typing import TYPE_CHECKING

import click

from autograder import chapters, workbook
from autograder.commands.screen import console, paragraph, show_source
from autograder.commands.values import Count, ExerciseId, needed_workbook, wrong

if TYPE_CHECKING:
    from autograder.definition import Exercise


@click.command()
@click.argument("exercise", metavar="ID", type=ExerciseId())
@click.argument("number", metavar="[N]", type=Count(), default=1)
def hint(exercise: "Exercise", number: int) -> None:
    """Show hint N: 1 is a nudge, the last one nearly the answer."""
    count = len(exercise.hints)
    if number > count:
        wrong(f"{exercise.id} has {count} hints; ask for 1 to {count}")
    paragraph(exercise.hints[number - 1])
    if console().is_terminal:
        further = f"autograder hint {exercise.id} {number + 1}"
        last = f"the next: '{further}'" if number < count else "the last one"
        click.secho(f"hint {number} of {count}; {last}", dim=True)


@click.command()
@click.argument("exercise", metavar="ID", type=ExerciseId())
def solution(exercise: "Exercise") -> None:
    """Print the reference of an exercise, from solutions/."""
    from autograder.printed import printed

    show_source(printed(exercise.reference))


@click.command()
@click.argument("exercise", metavar="ID", type=ExerciseId())
@click.option("--stub", is_flag=True, help="Print the exercise's stub as well.")
def reset(exercise: "Exercise", stub: bool) -> None:
    """Start an exercise anew: forget that you passed it.

    Your saved part goes too; your notebook stays as it is. With --stub, standard
    output holds the stub alone.
    """
    book, name = needed_workbook(), exercise.id
    known = name in workbook.progress(book)
    workbook.forget(book, name)
    dropped = workbook.drop_part(book, name)
    what = " and your part are" if dropped else " is"
    done = f"{name} is open again: its progress{what} forgotten."
    if not known and not dropped:
        done = f"{name} was open already."
    click.echo(done, err=stub)
    if not stub:
        click.echo(
            "The cell in your notebook stays as you wrote it. For the stub to paste "
            f"over it: autograder reset {name} --stub"
        )
        return
    show_source(_stub(exercise))


def _stub(exercise: "Exercise") -> str:
    from autograder.registry import CHAPTERS, chapter_of

    notebook = CHAPTERS[chapter_of(exercise)].notebook
    source = chapters.stub(notebook, exercise.id)
    if source is None:
        wrong(f"chapters/{notebook}.ipynb holds no stub of {exercise.id}; it was moved")
    return source
