"""Who is in the class: a roster of students, and whose a submission is.

A roster is any table with a line a student: a gradebook's export from Canvas, a grading
worksheet from Moodle, a list of your own. Columns are known by many names; what isn't
known is ignored.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

from autograder.exports.errors import ExportError
from autograder.exports.moments import moment
from autograder.exports.tables import Table

#: field: what it is called in a message, and the names of its column
COLUMNS = {
    "name": ("the name", "name, full name, student, student name"),
    "first": ("the first name", "first name, firstname, given name"),
    "last": ("the last name", "last name, lastname, surname, family name"),
    "number": (
        "the student id",
        "student id, student number, id number, idnumber, sis user id, sis id, sid",
    ),
    "canvas_id": ("the id", "id"),  # a student id, where the table isn't Canvas's
    "login": (
        "the login",
        "sis login id, login, login id, username, user name, user, netid",
    ),
    "email": ("the e-mail address", "email, e mail, email address, e mail address"),
    "section": ("the section", "section, sections"),
    "identifier": ("Moodle's identifier", "identifier, participant"),
    "modified": ("Moodle's time of the grade", "last modified (grade)"),
    "submission": ("the submission", "submission, submission name, file, notebook"),
    "submitted": (
        "the time of submission",
        "submitted, submitted at, submission time, handed in, time",
    ),
    "due": ("the student's own deadline", "due, extension, extended until"),
}
KEYS = ("number", "canvas_id", "login", "email", "identifier", "submission")

#: Names that Canvas and Moodle give to what they let you download.
CANVAS = re.compile(r"[^_]+_(?:LATE_)?(?P<id>\d+)_\d+_")
MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_")
AGAIN = re.compile(r"(.*\w)(?:[-_. ]+(?:v|attempt)?[-_. ]*\d+| ?\(\d+\))")


@dataclass(frozen=True)
class Student:
    """A line of the roster."""

    name: str = ""
    number: str = ""
    canvas_id: str = ""
    login: str = ""
    email: str = ""
    section: str = ""
    identifier: str = ""
    modified: str = ""
    submission: str = ""
    submitted: datetime | None = None
    due: datetime | None = None

    @property
    def shown(self) -> str:
        """How a message names the student."""
        return self.name or self.login or self.email or self.number or self.identifier


@dataclass(frozen=True)
class Roster:
    """The students in the order of their table."""

    students: tuple[Student, ...]
    _known: Mapping[str, frozenset[int]] = field(default_factory=dict, repr=False)

    def owner(self, submission: str) -> int | None:
        """The place of the student whose it is; None for nobody or for several."""
        for key in _keys_of(submission):
            if found := self._known.get(key):
                return min(found) if len(found) == 1 else None
        return None


def roster_of(table: Table, zone: ZoneInfo | None = None) -> Roster:
    """The roster in a table; ExportError says what is missing or double."""
    columns = columns_of(table, COLUMNS)
    canvas = any(column.startswith("SIS ") for column in table.columns)
    if not ({*KEYS, "name", "last"} - {"submission"}) & columns.keys():
        raise ExportError(
            f"{table.name} has no column that tells a student; "
            "name one 'student id', 'email', 'login' or 'name'"
        )
    students = []
    for line, row in _people(table):
        cells = {name: row[place] for name, place in columns.items()}
        try:
            student = _student(cells, zone, canvas)
        except ExportError as error:
            raise ExportError(f"{table.name}, line {line}: {error}") from None
        if not student.shown:
            raise ExportError(
                f"{table.name}, line {line}, names no student; fill it in or remove it"
            )
        students.append((line, student))
    _refuse_doubles(table.name, students)
    if not students:
        raise ExportError(f"{table.name} names no student; it has a header only")
    everybody = tuple(student for _, student in students)
    return Roster(everybody, _index(everybody))


def columns_of(table: Table, wanted: Mapping[str, tuple[str, str]]) -> dict[str, int]:
    """Where each known column stands; ExportError for one that stands there twice."""
    found: dict[str, int] = {}
    by_name = {
        name.strip(): key
        for key, (_, names) in wanted.items()
        for name in names.split(",")
    }
    for place, column in enumerate(table.columns):
        key = by_name.get(" ".join(re.sub(r"[-_\s]+", " ", column.casefold()).split()))
        if key is None:
            continue
        if key in found:
            raise ExportError(
                f"{table.name} has two columns for {wanted[key][0]}, "
                f"{table.columns[found[key]]!r} and {column!r}; remove one"
            )
        found[key] = place
    return found


def _people(table: Table) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The rows that stand for students; a gradebook has others before them."""
    for line, row in table.rows:
        said = re.sub(r"Manual Posting|Muted|\W", "", "".join(row))
        if said and row[0] not in ("Points Possible", "Student, Test"):
            yield line, row


def _student(cells: Mapping[str, str], zone: ZoneInfo | None, canvas: bool) -> Student:
    """A student from the cells by their fields; `id` is Canvas's in its own table."""
    cell = {name: cells.get(name, "") for name in COLUMNS}
    return Student(
        name=cell["name"] or f"{cell['first']} {cell['last']}".strip(),
        number=cell["number"] or ("" if canvas else cell["canvas_id"]),
        canvas_id=cell["canvas_id"] if canvas else "",
        login=cell["login"],
        email=cell["email"],
        section=cell["section"],
        identifier=cell["identifier"],
        modified=cell["modified"],
        submission=cell["submission"],
        submitted=moment(cell["submitted"], zone) if cell["submitted"] else None,
        due=moment(cell["due"], zone, deadline=True) if cell["due"] else None,
    )


def _refuse_doubles(name: str, students: Iterable[tuple[int, Student]]) -> None:
    seen: dict[tuple[str, str], int] = {}
    for line, student in students:
        for key in KEYS:
            value = getattr(student, key)
            before = seen.setdefault((key, value.casefold()), line) if value else line
            if before != line:
                what = COLUMNS[key][0].removeprefix("the ")
                raise ExportError(
                    f"{name}, lines {before} and {line}, have the same {what} "
                    f"{value!r}; a student has one line"
                )


def _index(students: tuple[Student, ...]) -> dict[str, frozenset[int]]:
    """By what a submission may be called: whose it is."""
    found: dict[str, set[int]] = {}
    for place, student in enumerate(students):
        for key in _keys_for(student):
            found.setdefault(key, set()).add(place)
    said: dict[str, set[int]] = {}
    for place, student in enumerate(students):
        said.setdefault(_fold(student.submission), set()).add(place)
    said.pop("", None)
    # What the table says itself goes before what names suggest.
    return {key: frozenset(places) for key, places in (found | said).items() if key}


def _keys_for(student: Student) -> Iterator[str]:
    yield from map(_fold, (student.number, student.login, student.email, student.name))
    yield _fold(student.email.partition("@")[0])
    last, comma, first = student.name.partition(",")
    if comma:
        yield _fold(f"{first} {last}")
    if student.canvas_id:
        yield f"canvas {student.canvas_id}"
    if digits := "".join(filter(str.isdigit, student.identifier)):
        yield f"moodle {digits}"


def _keys_of(submission: str) -> Iterator[str]:
    """What may tell whose a submission is, the surest first."""
    yield _fold(submission)
    for part in reversed(PurePosixPath(submission).parts):
        part = re.sub(r"\.(ipynb|py)$", "", part, flags=re.IGNORECASE)
        if canvas := CANVAS.match(part):
            yield f"canvas {canvas['id']}"
        if moodle := MOODLE.match(part):
            yield f"moodle {moodle['number']}"
            yield _fold(moodle["name"])
        yield _fold(part)
        if again := AGAIN.fullmatch(part):
            yield _fold(again[1])


def _fold(text: str) -> str:
    """A name as it is compared: letters and digits, small ones."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    return " ".join(re.findall(r"\w+", plain))
