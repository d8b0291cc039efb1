"""Grades as Moodle takes them: the grading worksheet of an assignment.

An assignment with the feedback type "Offline grading worksheet" reads the columns
Identifier, Grade, Last modified (grade) and Feedback comments. The gradebook's own
import of CSV files reads the same table; there the e-mail address tells the student.
"""

from html import escape

from autograder.exports.gradebook import Grade, Gradebook, as_points
from autograder.exports.words import score, summary
from autograder.spreadsheet import as_csv

COLUMNS = (
    "Identifier",
    "Full name",
    "Email address",
    "ID number",
    "Grade",
    "Maximum Grade",
    "Last modified (grade)",
    "Feedback comments",
    "Why",
)


def moodle_csv(book: Gradebook) -> str:
    """The worksheet, a line a student. Comments are HTML, all of it escaped text."""
    rows = [list(COLUMNS)]
    for one in book.grades:
        who = one.student
        rows.append(
            [
                who.identifier,
                who.name or who.shown,
                who.email,
                who.number or who.login,
                as_points(one.points),
                as_points(book.possible),
                who.modified,
                _comments(one, book.possible),
                one.why,
            ]
        )
    return as_csv(rows)


def _comments(grade: Grade, possible: float) -> str:
    """What the student reads in Moodle; nothing where nothing was handed in."""
    if grade.entry is None:
        return ""
    lines = [f"{score(grade.points or 0, possible)} ({grade.why})"]
    lines += [summary(one) for one in grade.entry["exercises"]]
    return "<br>".join(escape(line) for line in lines)
