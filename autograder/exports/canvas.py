"""Grades as Canvas's gradebook imports them (Grades, Import).

Canvas takes the columns before the assignment for the student's, the last of them being
Section, and every further column for an assignment: so there is one, and no more.
"""

import re

from autograder.exports.gradebook import Gradebook, as_points
from autograder.spreadsheet import as_csv

STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
#: Columns with such names are Canvas's own totals; an import passes them over.
IGNORED = re.compile(
    r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)"
)


def canvas_csv(book: Gradebook, assignment: str) -> str:
    """The table: a line of the points possible, then a line a student.

    `assignment` is the column's name. Where Canvas knows the assignment already, it is
    what Canvas's own export calls it: its name and, in brackets, its number.
    """
    possible = ["    Points Possible", "", "", "", "", as_points(book.possible)]
    rows = [[*STUDENT, assignment], possible]
    for one in book.grades:
        who = one.student
        student = [who.name or who.shown, who.canvas_id, who.number, who.login]
        rows.append([*student, who.section, as_points(one.points)])
    return as_csv(rows)
