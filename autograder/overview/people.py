"""The parts of a class report that name submissions, with links to their feedback."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from urllib.parse import quote

from autograder.overview.statistics import KIND, Row, Statistics
from autograder.overview.wording import num, times
from autograder.render.page import prose
from autograder.render.words import SAID, clean

NAMED = 40  # names in a list, before a number stands for the rest
LISTED = 100  # answers to look at, submissions that can't be read
OPEN = 60  # rows that a table shows unfolded
LONGEST = 10_000  # rows that a page can hold


def link(row: Row, exercise: str = "") -> str:
    """A submission's name, leading to its feedback, there to one exercise."""
    at = f"#{exercise}" if exercise else ""
    name = escape(clean(row.name))
    return f'<a href="{escape(quote(row.page) + at, quote=True)}">{name}</a>'


def names(who: Sequence[Row], exercise: str = "") -> str:
    """The names, the first ones in full."""
    shown = ", ".join(link(row, exercise) for row in who[:NAMED])
    more = len(who) - NAMED
    return f"{shown} and {num(more)} more" if more > 0 else shown


def to_look_at(found: Statistics) -> Iterator[str]:
    """Answers that ended their process, ran on, or used what is forbidden."""
    if not found.looks:
        return
    yield '<h2 id="look">Answers to look at yourself</h2>'
    yield "<p>Mostly slips; each cost its own exercise only.</p>"
    rows = "".join(
        f'<tr><th scope="row">{link(one.row, one.exercise)}</th>'
        f"<td><code>{escape(one.exercise)}</code></td><td>{SAID[one.status][1]}</td>"
        f"<td>{prose(one.message)}</td></tr>"
        for one in found.looks[:LISTED]
    )
    columns = ("submission", "exercise", "what happened", "what was said")
    yield _table(columns, rows, "Answers to look at yourself")
    yield _rest(len(found.looks), "answer")


def could_not_be_read(found: Statistics) -> Iterator[str]:
    """Submissions without a grade, and why."""
    if not found.unread:
        return
    yield '<h2 id="unread">Could not be graded</h2>'
    rows = "".join(
        f'<tr><th scope="row">{link(row)}</th>'
        f"<td>{escape(clean(row.error or ''))}</td></tr>"
        for row in found.unread[:LISTED]
    )
    yield _table(("submission", "why"), rows, "Submissions that could not be graded")
    yield _rest(len(found.unread), "submission")


def _rest(count: int, noun: str) -> str:
    more = count - LISTED
    return (
        f"<p>And {times(more, noun)} more, in the table below.</p>" if more > 0 else ""
    )


def everybody(found: Statistics) -> Iterator[str]:
    """All submissions in a table that the page's script can sort and filter."""
    yield '<h2 id="submissions">Submissions</h2>'
    if len(found.rows) > LONGEST:
        yield (
            f"<p>{num(len(found.rows))} are too many for a page: grades.csv has a line "
            "for each.</p>"
        )
        return
    rows = "".join(map(_row, found.rows))
    long = len(found.rows) > OPEN
    yield f'<details class="{"long" if long else "short"}"{"" if long else " open"}>'
    yield f"<summary>{times(len(found.rows), 'submission')}</summary>"
    columns = ("submission", "points", "of", "right", "not right")
    yield _table(columns, rows, "All submissions", "everybody")
    yield "</details>"


def _row(row: Row) -> str:
    counts = (num(row.points), num(row.max_points), num(row.kinds["passed"]))
    cells = "".join(f'<td class="count">{one}</td>' for one in counts)
    if row.error is not None:
        left = escape(clean(row.error))
    else:
        left = ", ".join(_left(row))
    return f'<tr><th scope="row">{link(row)}</th>{cells}<td>{left}</td></tr>\n'


def _left(row: Row) -> Iterator[str]:
    """What isn't right: each wrong exercise, those not attempted as a number."""
    for exercise, status, mistake in row.open:
        if KIND[status] != "idle":
            said = mistake or SAID[status][1]
            yield f"{escape(exercise)} ({escape(said)})"
    if idle := row.kinds["idle"]:
        yield f"{idle} not attempted"


def _table(columns: Iterable[str], rows: str, caption: str, ident: str = "") -> str:
    """A table that scrolls by itself where the page is narrow."""
    heads = "".join(f'<th scope="col">{one}</th>' for one in columns)
    at = f' id="{ident}"' if ident else ""
    return (
        f'<div class="wide" role="region" aria-label="{caption}" tabindex="0">'
        f"<table{at}><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
