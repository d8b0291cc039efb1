"""`export` and `gradescope-zip`: what an instructor types and reads."""

import csv
import errno
import json
import os
import zipfile
from pathlib import Path

import pytest

from autograder.registry import CHAPTERS
from tests.exports.classroom import a_class

STUDENTS = """student id,name,email
1,Ada,ada@x.org
2,Ben,ben@x.org
3,Gwen,gwen@x.org
"""
TIMES = """submission,submitted
ada,2026-11-26 23:59
ben,2026-11-27 00:00
"""


@pytest.fixture(autouse=True)
def graded(here):
    """A class's results, a roster and times."""
    folder = here / "graded"
    folder.mkdir()
    results = {"version": 1, "isolation": [], "inputs": "fixed, seed 0"}
    (folder / "results.json").write_text(
        json.dumps(results | {"submissions": a_class()}), "utf-8"
    )
    (here / "students.csv").write_text(STUDENTS, "utf-8")
    (here / "times.csv").write_text(TIMES, "utf-8")
    return folder


def grades(path):
    with path.open(encoding="utf-8", newline="") as file:
        return {row[0].strip(): row[-1] for row in csv.reader(file)}


LATE = [
    *("export", "canvas", "graded", "--to", "canvas.csv", "--roster", "students.csv"),
    *("--times", "times.csv", "--due", "2026-11-26 23:59", "--zone", "Europe/Berlin"),
    *("--late-per-day", "10", "--late-days", "3"),
]


def test_canvas_with_a_roster_and_a_late_policy(run, here):
    said = run([*LATE, "--name", "HW 2 (77)", "--why", "why.csv"])
    assert grades(here / "canvas.csv") == {
        "Student": "HW 2 (77)",
        "Points Possible": "3",
        "Ada": "3",
        "Ben": "0.9",
        "Gwen": "",
    }
    assert grades(here / "why.csv")["Ben"] == "1 day late, 10% off 1 point"
    assert said.stdout == "3 students, 3 points possible: canvas.csv\n"
    assert said.stderr == (
        "1 student handed in nothing; the grade is empty: Gwen\n"
        "2 submissions without a student in students.csv; "
        "say whose in a column 'submission' there: =2+3, finn\n"
    )


def test_an_absent_students_grade_may_be_zero(run, here):
    assert "the grade is 0: Gwen" in run([*LATE, "--absent", "zero"]).stderr
    assert grades(here / "canvas.csv")["Gwen"] == "0"


def test_many_names_are_counted(run, here):
    lines = [f"s{number},S{number}" for number in range(30)]
    (here / "students.csv").write_text("\n".join(["login,name", *lines]), "utf-8")
    said = run("export canvas graded --to c.csv --roster students.csv").stderr
    assert "30 students handed in nothing; the grade is empty: S0, " in said
    assert "S19 and 10 more\n" in said


def test_times_of_what_was_not_graded_are_said(run, here):
    (here / "times.csv").write_text(f"{TIMES}zoe,2026-11-26 10:00\n")
    said = run(LATE).stderr
    assert "1 submission in times.csv, but not in the results: zoe\n" in said


def test_moodle(run, here):
    run("export moodle graded --to moodle.csv --roster students.csv")
    assert grades(here / "moodle.csv")["Identifier"] == "Why"


def test_junit(run, here):
    assert run("export junit graded --to junit.xml").stdout == (
        "4 submissions in junit.xml\n"
    )
    assert (here / "junit.xml").read_text("utf-8").startswith("<?xml")


def test_a_pipe_and_a_link_are_written_through(run, here):
    """A table may go to another program; nothing but a file is ever replaced."""
    os.mkfifo(here / "pipe")
    (here / "link.xml").symlink_to("linked.xml")
    reader = os.open(here / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    run("export junit graded --to pipe")
    run("export junit graded --to link.xml")
    assert os.read(reader, 1 << 20) == (here / "linked.xml").read_bytes()
    os.close(reader)
    assert (here / "pipe").is_fifo()
    assert (here / "link.xml").is_symlink()


def test_where_it_cannot_be_written_the_file_asked_for_is_named(run, here, monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    end = run("export junit graded --to junit.xml", 1)
    assert end.stderr == "autograder: junit.xml: No space left on device\n"
    assert not list(here.glob("*.xml"))


def test_gradescope_writes_a_folder_or_one_file(run, here):
    run("export gradescope graded --to scores")
    names = sorted(path.name for path in (here / "scores").iterdir())
    assert names == ["_2_3.json", "ada.json", "ben.json", "finn.json"]
    run("export gradescope graded --to results.json --submission ben")
    text = (here / "results.json").read_text("utf-8")
    assert json.loads(text)["score"] == 1
    assert text == (here / "scores" / "ben.json").read_text("utf-8")


def test_chapters_are_the_assignment(run, here):
    run("export gradescope graded --to one.json --submission ada --chapter 3")
    found = json.loads((here / "one.json").read_text("utf-8"))
    assert found["score"] == 0
    assert {one["output"] for one in found["tests"]} == {"not in the submission"}


def test_the_zip_is_written_whole(run, here):
    said = run("gradescope-zip --to autograder.zip --chapter 2 --chapter 3").stdout
    assert said == "an autograder for Gradescope: autograder.zip\n"
    with zipfile.ZipFile(here / "autograder.zip") as archive:
        assert b"--chapter 2 --chapter 3" in archive.read("run_autograder")


CLASS = "is for canvas and moodle; leave it out for"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "export canvs graded --to a",
            "FORMAT must be canvas, moodle, gradescope or junit, not 'canvs'",
        ),
        (
            "export canvas graded",
            "'autograder export' needs --to FILE; see 'autograder export --help'",
        ),
        (
            "export junit nowhere --to a",
            "there is no nowhere/results.json; grade into that folder first: "
            "autograder grade PATH… --out nowhere",
        ),
        (
            "export junit broken --to a",
            "broken/results.json isn't what 'autograder grade' writes; name its DIR",
        ),
        (
            "export junit newer --to a",
            "newer/results.json is of version 2, this grader reads 1; grade again",
        ),
        ("export junit graded --to a --due now", f"--due TIME {CLASS} junit"),
        (
            "export gradescope graded --to a --roster students.csv",
            f"--roster FILE {CLASS} gradescope",
        ),
        (
            "export canvas graded --to a --submission ada",
            "--submission NAME is for gradescope; leave it out for canvas",
        ),
        (
            "export moodle graded --to a --name HW",
            "--name TEXT is for canvas; leave it out for moodle",
        ),
        (
            "export canvas graded --to students.csv --roster students.csv",
            "students.csv would be written over; choose another file",
        ),
        (
            "export canvas graded --to a --why times.csv --times times.csv",
            "times.csv would be written over; choose another file",
        ),
        (
            "export junit graded --to graded/results.json",
            "graded/results.json would be written over; choose another file",
        ),
        (
            "export canvas graded/results.json --to a --why graded/results.json",
            "graded/results.json would be written over; choose another file",
        ),
        (
            "export canvas graded --to a --why ./a",
            "--why a is --to as well; choose another file",
        ),
        (
            ["export", "canvas", "graded", "--to", "a", "--name", "Final Score"],
            "--name 'Final Score' is a column that Canvas passes over; choose another",
        ),
        (
            "export canvas graded --to a --roster nobody.csv",
            "can't read nobody.csv (No such file or directory)",
        ),
        (
            "export canvas graded --to a --late-per-day 10",
            "what is late depends on a deadline; give it with --due TIME",
        ),
        (
            "export canvas graded --to a --late-days two",
            "--late-days N must be a whole number from 0 on, not 'two'",
        ),
        (
            "export canvas graded --to a --late-per-day 200",
            "--late-per-day PERCENT must be a number from 0 to 100, not '200'",
        ),
        (
            "export canvas graded --to a --late-per-day nan",
            "--late-per-day PERCENT must be a number from 0 to 100, not 'nan'",
        ),
        (
            "export canvas graded --to a --keep newest",
            "--keep WHICH must be best, last or first, not 'newest'",
        ),
        (
            "export canvas graded --to a --due 2026-11-30",
            "'2026-11-30' names no time of day; write it like 2026-11-30 23:59 "
            "or 2026-11-30T23:59:00+01:00",
        ),
        (
            "export canvas graded --to a --zone Berlin",
            "no time zone 'Berlin'; write it like Europe/Berlin or UTC",
        ),
        (
            "export canvas graded --to a --roster twice.csv --keep last",
            "--keep last needs to know when 'ada' was handed in; "
            "say it with --times FILE, or keep the best",
        ),
        (
            "export canvas graded --to a --chapter 99",
            f"no chapter 99; the book has 0 to {max(CHAPTERS)}",
        ),
        (
            "export gradescope graded --to students.csv",
            "students.csv is a file; name a folder, or one submission with "
            "--submission",
        ),
        (
            "export gradescope graded --to a --submission zoe",
            "no submission 'zoe' in these results; see grades.csv",
        ),
        (
            "gradescope-zip --to a --chapter 99",
            f"no chapter 99; the book has 0 to {max(CHAPTERS)}",
        ),
        (
            "gradescope-zip --to a --key nowhere",
            "can't read --key nowhere (No such file or directory); "
            "name a file with your secret",
        ),
    ],
)
def test_wrong_usage_is_one_line_and_writes_nothing(run, here, line, said):
    newer = '{"version": 2, "submissions": []}'
    for name, text in (("broken", "[]"), ("newer", newer)):
        (here / name).mkdir()
        (here / name / "results.json").write_text(text, "utf-8")
    (here / "twice.csv").write_text("login,email\nada,ben@x.org\n", "utf-8")
    before = {path: path.read_bytes() for path in here.glob("*.csv")}
    result = run(line, code=2)
    assert result.stderr == f"autograder: {said}\n"
    assert result.stdout == ""
    assert not (here / "a").exists()
    assert {path: path.read_bytes() for path in here.glob("*.csv")} == before
