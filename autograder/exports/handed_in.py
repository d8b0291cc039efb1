"""When each submission was handed in, and by whom, where a table says so."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from autograder.exports.errors import ExportError
from autograder.exports.moments import moment
from autograder.exports.roster import COLUMNS, columns_of
from autograder.exports.tables import Table

WANTED = {
    "submission": COLUMNS["submission"],
    "submitted": COLUMNS["submitted"],
    "student": (
        "the student",
        "student, student id, email, login, username, name, sid",
    ),
}


@dataclass(frozen=True)
class HandedIn:
    """A line of the table: when it came, and whose it is where that is said."""

    submitted: datetime | None
    student: str


def handed_in(table: Table, zone: ZoneInfo | None = None) -> Mapping[str, HandedIn]:
    """What is known of each submission by its name; ExportError says what is wrong."""
    columns = columns_of(table, WANTED)
    for needed in ("submission", "submitted"):
        if needed not in columns:
            raise ExportError(f"{table.name} has no column {needed!r}; name one so")
    found: dict[str, HandedIn] = {}
    for line, row in table.rows:
        name, when = row[columns["submission"]], row[columns["submitted"]]
        if not name or name in found:
            what = f"names {name!r} again" if name else "names no submission"
            raise ExportError(f"{table.name}, line {line}, {what}; remove the line")
        try:
            submitted = moment(when, zone) if when else None
        except ExportError as error:
            raise ExportError(f"{table.name}, line {line}: {error}") from None
        student = row[columns["student"]] if "student" in columns else ""
        found[name] = HandedIn(submitted, student)
    return found
