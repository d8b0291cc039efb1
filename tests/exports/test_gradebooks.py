"""Grades as Canvas and Moodle import them, read again as they would read them."""

import csv
import io
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from autograder.exports.assignment import Assignment
from autograder.exports.canvas import canvas_csv
from autograder.exports.gradebook import gradebook, reasons
from autograder.exports.handed_in import HandedIn
from autograder.exports.moodle import moodle_csv
from autograder.exports.policy import Policy
from autograder.exports.roster import roster_of
from autograder.exports.tables import Table, read_csv
from autograder.spreadsheet import FORMULA
from tests.exports.classroom import a_class, submission, verdict

ROSTER = roster_of(
    Table(
        "students.csv",
        ("student id", "name", "email", "section", "identifier"),
        (
            (2, ("1", "Ada Okafor", "ada@x.org", "Monday", "Participant 91")),
            (3, ("2", '=cmd|"/c calc"', "ben@x.org", "", "Participant 92")),
            (4, ("3", "Finn O'Brien, jr.", "finn@x.org", "", "")),
            (5, ("4", "Gwen", "gwen@x.org", "", "")),
        ),
    )
)
TEN = datetime(2026, 11, 26, 10, tzinfo=ZoneInfo("Europe/Berlin"))


def book(entries=None, policy=None, roster=ROSTER, times=None, **how):
    entries, policy = entries or a_class(), policy or Policy()
    return gradebook(entries, Assignment(), policy, roster, times, **how)


def rows(text):
    return list(csv.reader(io.StringIO(text)))


def test_canvas_has_its_columns_the_points_possible_and_a_line_a_student():
    header, possible, *students = rows(canvas_csv(book(), "HW 1 (77)"))
    assert header == [
        *("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
        "HW 1 (77)",
    ]
    assert possible == ["    Points Possible", "", "", "", "", "3"]
    assert students[0] == ["Ada Okafor", "", "1", "", "Monday", "3"]
    assert [row[-1] for row in students] == ["3", "1", "0", ""]


def test_moodle_has_the_columns_of_its_worksheet():
    header, ada, _, finn, gwen = rows(moodle_csv(book()))
    assert header[:3] == ["Identifier", "Full name", "Email address"]
    assert {"Grade", "Last modified (grade)", "Feedback comments"} < set(header)
    cells = dict(zip(header, ada, strict=True))
    assert cells["Identifier"] == "Participant 91"
    assert (cells["Grade"], cells["Maximum Grade"]) == ("3", "3")
    assert cells["Feedback comments"].startswith(
        "3 of 3 points (as graded)<br>✓ project"
    )
    assert "breaks off at line 46" in dict(zip(header, finn, strict=True))["Why"]
    cells = dict(zip(header, gwen, strict=True))
    assert (cells["Grade"], cells["Feedback comments"]) == ("", "")


@pytest.mark.parametrize("absent", ["empty", "zero"])
def test_who_handed_in_nothing_is_listed_and_gets_what_was_chosen(absent):
    found = book(absent=absent)
    assert found.absent == ["Gwen"]
    assert found.grades[-1].points == (None if absent == "empty" else 0.0)
    assert found.grades[-1].why == "nothing handed in"


def test_a_submission_of_nobody_is_named_and_stands_among_the_reasons():
    found = book()
    assert found.ownerless == ("=2+3",)
    assert rows(reasons(found))[-1][2] == "'=2+3"


def test_times_for_what_was_not_graded_are_named():
    found = book(times={"ada": HandedIn(TEN, ""), "zoe": HandedIn(TEN, "")})
    assert found.ungraded == ("zoe",)


def test_a_table_of_times_may_say_whose_a_submission_is():
    times = {"=2+3": HandedIn(None, "gwen@x.org")}
    found = book(times=times)
    assert found.ownerless == ()
    assert found.grades[-1].entry["submission"] == "=2+3"


def test_resubmissions_are_one_grade():
    entries = [
        submission("ada", verdict("failed")),
        submission("ada-2", verdict("passed")),
        submission("ada (3)", error="the file is empty"),
    ]
    grade = book(entries).grades[0]
    assert (grade.points, grade.entry["submission"]) == (2.0, "ada-2")
    assert grade.why == "best of 3 submissions: as graded"


def test_a_student_may_have_a_deadline_of_their_own():
    table = Table(
        "students.csv",
        ("login", "submitted", "due"),
        (
            (2, ("ada", "2026-11-26 10:00", "")),
            (3, ("ben", "2026-11-26 10:00", "2026-11-26 10:00")),
        ),
    )
    roster = roster_of(table, ZoneInfo("Europe/Berlin"))
    policy = Policy(TEN.replace(hour=9), per_day=50)
    found = book(policy=policy, roster=roster)
    assert [one.why for one in found.grades] == [
        "1 day late, 50% off 3 points",
        "on time",
    ]
    assert all(one.why == "as graded" for one in book(roster=roster).grades)


def test_a_rosters_time_is_not_taken_for_several_submissions():
    table = Table(
        "students.csv",
        ("login", "submitted"),
        ((2, ("ada", "2026-11-26 10:00")),),
    )
    roster = roster_of(table, ZoneInfo("Europe/Berlin"))
    entries = [submission("ada", verdict("passed")), submission("ada-2")]
    grade = book(entries, Policy(TEN.replace(hour=9)), roster).grades[0]
    assert grade.why.endswith("no time known, taken as on time")


def test_without_a_roster_each_submission_is_a_login():
    students = rows(canvas_csv(book(roster=None), "HW"))[2:]
    assert [row[3] for row in students] == ["ada", "ben", "'=2+3", "finn"]
    assert [row[-1] for row in students] == ["3", "1", "0", "0"]


def test_an_assignment_counts_its_exercises_whatever_was_handed_in():
    asked = Assignment(
        [("project_qkv", 2, 1.0), ("attention_scores", 2, 2.0), ("split_heads", 3, 1.0)]
    )
    entries = [
        submission("ada", verdict("passed"), verdict("passed", "stable_softmax", 9.0)),
        submission("finn", error="the file is empty"),
    ]
    found = gradebook(entries, asked, Policy(), ROSTER)
    assert found.possible == 4
    assert found.grades[0].points == 2
    statuses = {one["id"]: one["status"] for one in found.grades[0].entry["exercises"]}
    assert statuses == {
        "project_qkv": "missing",
        "attention_scores": "passed",
        "split_heads": "missing",
    }
    assert found.grades[2].points == 0


@pytest.mark.parametrize("roster", [ROSTER, None])
def test_no_cell_is_a_formula_or_markup(roster):
    found = book(roster=roster)
    texts = canvas_csv(found, "@HW"), moodle_csv(found), reasons(found)
    for cell in (cell for text in texts for row in rows(text) for cell in row):
        assert not cell.startswith(FORMULA)
        assert "<script" not in cell


def test_a_table_of_ours_reads_back_as_it_was_meant(tmp_path):
    path = tmp_path / "why.csv"
    path.write_text(reasons(book()), "utf-8")
    names = [row[2] for _, row in read_csv(path).rows]
    assert names == ["ada", "ben", "finn", "", "=2+3"]
