"""`export` and `gradescope-zip`: results as other programs read them."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from autograder import workbook
from autograder.commands.screen import counted
from autograder.commands.values import Number, OneOf, secret_in, spelled, wrong
from autograder.exports.assignment import Assignment, chapters
from autograder.exports.canvas import IGNORED, canvas_csv
from autograder.exports.errors import ExportError
from autograder.exports.gradebook import ABSENT, Gradebook, gradebook, reasons
from autograder.exports.gradescope import gradescope_json
from autograder.exports.gradescope_zip import gradescope_zip
from autograder.exports.handed_in import handed_in
from autograder.exports.junit import junit_xml
from autograder.exports.moments import moment, zone_named
from autograder.exports.moodle import moodle_csv
from autograder.exports.policy import KEEP, Policy
from autograder.exports.roster import roster_of
from autograder.exports.tables import read_csv
from autograder.filenames import safe_names
from autograder.render.words import clean
from autograder.results import Entry, ResultsError, read, results_file

GRADEBOOKS = ("canvas", "moodle")
FORMATS = (*GRADEBOOKS, "gradescope", "junit")
MOST = 20  # names in a line of them
#: option: the formats that it makes sense for, where not for all
ONLY = {
    "submission": ("gradescope",),
    "name": ("canvas",),
    **dict.fromkeys(
        (
            *("roster", "times", "absent", "why"),
            *("due", "zone", "late_per_day", "late_days", "keep"),
        ),
        GRADEBOOKS,
    ),
}

PATH = click.Path(path_type=Path)
CHAPTER = click.option(
    "--chapter",
    "numbers",
    metavar="N",
    type=Number(0),
    multiple=True,
    help="The assignment is this chapter; may be given several times.",
)


def _file(name: str, text: str) -> Callable[[Any], Any]:
    return click.option(name, metavar="FILE", type=PATH, help=text)


@click.command()
@click.argument(
    "form", metavar="FORMAT", type=OneOf(*GRADEBOOKS, "gradescope", "junit")
)
@click.argument("folder", metavar="DIR", type=PATH)
@click.option("--to", metavar="FILE", type=PATH, required=True, help="What to write.")
@CHAPTER
@_file("--roster", "The students: a CSV file, such as the gradebook's own export.")
@click.option(
    "--absent",
    metavar="GRADE",
    type=OneOf(*ABSENT),
    default="empty",
    help="The grade of who handed in nothing: empty, or zero.",
)
@click.option("--due", metavar="TIME", help="The deadline, like '2026-11-30 23:59'.")
@click.option("--zone", metavar="NAME", help="Of times without one: Europe/Berlin.")
@_file("--times", "When each was handed in: columns submission and submitted.")
@click.option(
    "--late-per-day",
    metavar="PERCENT",
    type=Number(0, 100, whole=False),
    default=0,
    help="Points that each day late costs.",
)
@click.option(
    "--late-days",
    metavar="N",
    type=Number(0),
    help="What is later than this many days counts 0.",
)
@click.option(
    "--keep",
    metavar="WHICH",
    type=OneOf(*KEEP),
    default="best",
    help="Of a student's submissions: best, last or first.",
)
@_file("--why", "A table beside it: what everybody gets, and why.")
@click.option(
    "--name",
    metavar="TEXT",
    default="Transformer by Hand",
    help="Canvas: the assignment's column.",
)
@click.option("--submission", metavar="NAME", help="Gradescope: this one alone.")
@click.pass_context
def export(
    ctx: click.Context,
    /,
    form: str,
    folder: Path,
    to: Path,
    numbers: Sequence[int],
    submission: str | None,
    name: str,
    **given: Any,
) -> None:
    """Hand grades on to Canvas, Moodle, Gradescope or CI.

    FORMAT is canvas, moodle, gradescope or junit; DIR is what 'autograder grade' wrote
    to. Canvas and Moodle get a file that their gradebooks import, with a late policy if
    you give a deadline; Gradescope a folder with its results.json for each submission;
    CI systems JUnit's XML.
    """
    _refuse_others(ctx, form)
    why: Path | None = given["why"]
    _refuse_overwriting([results_file(folder)], filter(None, (to, why)))
    try:
        assignment = chapters(numbers)
        entries = read(folder)
        if form in GRADEBOOKS:
            _export_grades(form, to, name, entries, assignment, **given)
        elif form == "junit":
            workbook.write(to, junit_xml([assignment.of(one) for one in entries]))
            click.echo(f"{counted(len(entries), 'submission')} in {to}")
        else:
            _export_gradescope(to, submission, entries, assignment)
    except (ExportError, ResultsError) as error:
        wrong(str(error))


def _refuse_others(ctx: click.Context, form: str) -> None:
    """End the command where an option is given that says nothing in this format."""
    for param in ctx.command.params:
        name = param.name or ""
        source = ctx.get_parameter_source(name)
        if source is not click.core.ParameterSource.COMMANDLINE or name not in ONLY:
            continue
        if form not in ONLY[name]:
            formats = " and ".join(ONLY[name])
            wrong(f"{spelled(param)} is for {formats}; leave it out for {form}")


def _refuse_overwriting(read: Iterable[Path], written: Iterable[Path]) -> None:
    """End the command where a file that it reads would be lost."""
    kept = [one.resolve() for one in read]
    for path in written:
        if path.resolve() in kept:
            wrong(f"{path} would be written over; choose another file")


def _export_grades(
    form: str,
    to: Path,
    name: str,
    entries: Sequence[Entry],
    assignment: Assignment,
    roster: Path | None,
    times: Path | None,
    why: Path | None,
    absent: str,
    zone: str | None,
    **late: Any,
) -> None:
    """Write the gradebook, and say who is not in it as one might expect."""
    _refuse_overwriting(filter(None, (roster, times)), filter(None, (to, why)))
    if why is not None and why.resolve() == to.resolve():
        wrong(f"--why {why} is --to as well; choose another file")
    if IGNORED.search(name):
        wrong(f"--name {name!r} is a column that Canvas passes over; choose another")
    clock = zone_named(zone) if zone else None
    book = gradebook(
        entries,
        assignment,
        _policy(clock, **late),
        roster_of(read_csv(roster), clock) if roster else None,
        handed_in(read_csv(times), clock) if times else None,
        absent,
    )
    workbook.write(to, canvas_csv(book, name) if form == "canvas" else moodle_csv(book))
    if why is not None:
        workbook.write(why, reasons(book))
    _say_who_is_missing(book, roster, times, absent)
    students = counted(len(book.grades), "student")
    click.echo(f"{students}, {counted(book.possible, 'point')} possible: {to}")


def _policy(
    zone: Any,
    due: str | None,
    late_per_day: float,
    late_days: int | None,
    keep: Any,
) -> Policy:
    if due is None and (late_per_day or late_days is not None):
        wrong("what is late depends on a deadline; give it with --due TIME")
    until = moment(due, zone, deadline=True) if due else None
    return Policy(until, late_per_day, late_days, keep)


def _say_who_is_missing(
    book: Gradebook, roster: Path | None, times: Path | None, absent: str
) -> None:
    """On stderr: who handed in nothing, and which submissions found no place."""
    instead = "empty" if absent == "empty" else "0"
    _tell(book.absent, "student", f"handed in nothing; the grade is {instead}")
    whose = "say whose in a column 'submission' there"
    _tell(book.ownerless, "submission", f"without a student in {roster}; {whose}")
    _tell(book.ungraded, "submission", f"in {times}, but not in the results")


def _tell(names: Sequence[str], noun: str, what: str) -> None:
    """A line about so many of them, if there are any; the table of reasons has all."""
    if names:
        shown = [clean(name) for name in names[:MOST]]
        more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
        head = counted(len(names), noun)
        click.echo(f"{head} {what}: {', '.join(shown)}{more}", err=True)


def _export_gradescope(
    to: Path,
    submission: str | None,
    entries: Sequence[Entry],
    assignment: Assignment,
) -> None:
    """One submission's file, or a folder with a file for each."""
    if submission is not None:
        found = [one for one in entries if one["submission"] == submission]
        if not found:
            wrong(f"no submission {submission!r} in these results; see grades.csv")
        workbook.write(to, gradescope_json(assignment.of(found[0])))
        click.echo(f"{submission}: {to}")
        return
    if to.is_file():
        wrong(f"{to} is a file; name a folder, or one submission with --submission")
    names = safe_names([one["submission"] for one in entries], ".json")
    for entry, name in zip(entries, names, strict=True):
        workbook.write(to / name, gradescope_json(assignment.of(entry)))
    click.echo(f"{counted(len(entries), 'submission')}, a file each, in {to}")


@click.command("gradescope-zip")
@click.option("--to", metavar="FILE", type=PATH, required=True, help="The zip file.")
@CHAPTER
@_file("--key", "A secret of yours: the inputs are drawn from it.")
def gradescope_autograder(to: Path, numbers: Sequence[int], key: Path | None) -> None:
    """Make an autograder to upload to Gradescope.

    It installs this project there and grades each submission with it.
    """
    try:
        chapters(numbers)  # ends here if there is no such chapter
        packed = gradescope_zip(numbers, secret_in(key))
    except (ExportError, ResultsError) as error:
        wrong(str(error))
    workbook.write(to, packed)
    click.echo(f"an autograder for Gradescope: {to}")
