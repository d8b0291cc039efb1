"""A roster in many forms, and whose a submission is."""

import pytest

from autograder.exports.errors import ExportError
from autograder.exports.handed_in import handed_in
from autograder.exports.moments import zone_named
from autograder.exports.roster import roster_of
from autograder.exports.tables import read_csv

BERLIN = zone_named("Europe/Berlin")


@pytest.fixture
def read(tmp_path):
    """A roster from the text of its file."""

    def read(text, encoding="utf-8"):
        path = tmp_path / "students.csv"
        path.write_bytes(text.encode(encoding))
        return roster_of(read_csv(path), BERLIN)

    return read


PLAIN = "student id,name,email\n1,Ada Okafor,ada@x.org\n2,Ben Lindqvist,ben@x.org\n"
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,HW 1 (77)\n"
    ",,,,,Manual Posting\n"
    "    Points Possible,,,,,10\n"
    '"Okafor, Ada",501,1,ada,Monday,\n'
    '"Lindqvist, Ben",502,2,ben,Monday,\n'
    '"Student, Test",503,,abcdef,Monday,\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,"
    "Grade can be changed,Last modified (submission),Last modified (grade),"
    "Feedback comments\n"
    "Participant 9001,Ada Okafor,ada@x.org,Submitted,,10.00,Yes,"
    '"Thursday, 26 November 2026, 4:20 PM",-,\n'
    "Participant 9002,Ben Lindqvist,ben@x.org,No submission,,10.00,Yes,-,-,\n"
)
GRADESCOPE = (
    "First Name,Last Name,SID,Email,Sections\n"
    "Ada,Okafor,1,ada@x.org,Monday\nBen,Lindqvist,2,ben@x.org,\n"
)


@pytest.mark.parametrize("text", [PLAIN, CANVAS, MOODLE, GRADESCOPE])
def test_every_form_holds_its_two_students(read, text):
    roster = read(text)
    assert len(roster.students) == 2
    assert roster.owner("Ada Okafor") == 0
    assert roster.owner("ben_lindqvist") == 1


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + PLAIN,
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("student id", " Student-ID ").replace("email", "E-Mail Address"),
        PLAIN.replace("student id", "id"),
        PLAIN.replace("\n", "\n\n") + ",,\n",
    ],
)
def test_a_table_may_look_otherwise(read, text):
    one, two = read(text).students
    assert (one.number, one.name, one.email) == ("1", "Ada Okafor", "ada@x.org")
    assert two.number == "2"


def test_a_gradebook_keeps_canvas_ids_apart_from_the_schools(read):
    ada = read(CANVAS).students[0]
    assert (ada.canvas_id, ada.number, ada.login) == ("501", "1", "ada")


@pytest.mark.parametrize(
    ("text", "submission", "place"),
    [
        (PLAIN, "1", 0),
        (PLAIN, "ADA", 0),
        (PLAIN, "ada@x.org", 0),
        (PLAIN, "ada-2", 0),
        (PLAIN, "ada (2)", 0),
        (PLAIN, "ben_v3", 1),
        (PLAIN, "week2/ada.ipynb", 0),
        (PLAIN, "ben/answers.py", 1),
        (PLAIN, "12", None),
        (PLAIN, "adam", None),
        (PLAIN, "ada.ben", None),
        (CANVAS, "okaforada_501_90210_02_attention", 0),
        (CANVAS, "lindqvistben_LATE_502_90211_02_attention-1", 1),
        (CANVAS, "okaforada_999_90210_02_attention", None),
        (MOODLE, "Ada Okafor_9001_assignsubmission_file_", 0),
        (MOODLE, "Ben Lindqvist_9002_assignsubmission_file_/a.ipynb", 1),
        (PLAIN, "Ben Lindqvist_9002_assignsubmission_file", 1),
    ],
)
def test_a_submissions_name_tells_whose_it_is(read, text, submission, place):
    assert read(text).owner(submission) == place


def test_the_table_itself_may_say_whose_a_submission_is(read):
    roster = read("name,submission\nAda,team-7\nBen,ada\n")
    assert (roster.owner("team-7"), roster.owner("ada")) == (0, 1)


def test_one_submission_said_to_be_two_students_is_nobodys(read):
    roster = read("name,submission\nAda,team-7\nBen,Team 7\n")
    assert roster.owner("team-7") is None


def test_two_of_the_same_name_are_told_apart_or_not_at_all(read):
    roster = read("name,email\nKim Lee,kim@x.org\nKim Lee,lee@x.org\n")
    assert roster.owner("Kim Lee") is None
    assert roster.owner("lee") == 1


def test_own_deadlines_and_times_are_read(read):
    text = "login,submitted,due\nada,2026-11-26 10:00,2026-11-27 23:59\n"
    ada = read(text).students[0]
    assert ada.submitted.isoformat() == "2026-11-26T10:00:00+01:00"
    assert ada.due.isoformat() == "2026-11-27T23:59:00+01:00"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "students.csv is empty; its first line names the columns"),
        ("name,email\n", "students.csv names no student; it has a header only"),
        (
            "colour,size\nred,3\n",
            "students.csv has no column that tells a student; "
            "name one 'student id', 'email', 'login' or 'name'",
        ),
        (
            "email,E-Mail,name\na,b,c\n",
            "students.csv has two columns for the e-mail address, "
            "'email' and 'E-Mail'; remove one",
        ),
        (
            "name,email\nAda,a@x.org\nBen,b@x.org\nAda,A@x.org\n",
            "students.csv, lines 2 and 4, have the same e-mail address 'A@x.org'; "
            "a student has one line",
        ),
        (
            "name,section\nAda,1\n,2\n",
            "students.csv, line 3, names no student; fill it in or remove it",
        ),
        (
            "name,email\nOkafor, Ada,a@x.org\n",
            "students.csv, line 2, has more cells than the header; "
            "a cell with a comma in it needs quotes",
        ),
        (
            "name,submitted\nAda,yesterday 10:00\n",
            "students.csv, line 2: 'yesterday 10:00' is no time; write it like "
            "2026-11-30 23:59 or 2026-11-30T23:59:00+01:00",
        ),
    ],
)
def test_what_is_wrong_with_a_roster_is_one_line(read, text, said):
    with pytest.raises(ExportError) as error:
        read(text)
    assert str(error.value) == said


def test_another_encoding_is_said(read):
    with pytest.raises(ExportError, match="isn't text in UTF-8; save it as 'CSV"):
        read("name\nZoë\n", "latin-1")


@pytest.fixture
def times(tmp_path):
    def times(text):
        path = tmp_path / "times.csv"
        path.write_text(text, "utf-8")
        return handed_in(read_csv(path), BERLIN)

    return times


def test_times_name_submissions_and_perhaps_students(times):
    found = times("Submission,Submitted At,Student\n'=1,2026-11-26 10:00,ada\nben,,\n")
    assert found["=1"].submitted.isoformat() == "2026-11-26T10:00:00+01:00"
    assert found["=1"].student == "ada"
    assert found["ben"].submitted is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("submission\nada\n", "times.csv has no column 'submitted'; name one so"),
        (
            "submission,time\nada,2026-11-26 10:00\nada,2026-11-26 11:00\n",
            "times.csv, line 3, names 'ada' again; remove the line",
        ),
        (
            "submission,time\n,2026-11-26 10:00\n",
            "times.csv, line 2, names no submission; remove the line",
        ),
        ("submission,time\nada,noon\n", "times.csv, line 2: 'noon' names no time of"),
    ],
)
def test_what_is_wrong_with_times_is_one_line(times, text, said):
    with pytest.raises(ExportError) as error:
        times(text)
    assert str(error.value).startswith(said)
