"""`grade` hands its options on and says what came out."""

import time

import pytest

from autograder import classroom
from autograder.report import Result
from autograder.sandbox import SandboxError
from autograder.source import UsageError


@pytest.fixture
def asked(monkeypatch):
    """What the grader was asked for."""
    calls = []

    def grade(paths, out, jobs, options, progress):
        calls.append((list(map(str, paths)), str(out), jobs, options))
        progress(1, 2)
        return [Result("ada"), Result("ben", error="no notebook")]

    monkeypatch.setattr(classroom, "grade", grade)
    return calls


@pytest.fixture(autouse=True)
def submissions(here):
    (here / "ada.py").write_text("x = 1\n")
    (here / "class").mkdir()
    (here / "key").write_text("secret")


def test_options_are_handed_on_and_the_end_is_one_line(run, asked):
    result = run("grade ada.py class --out out --jobs 3 --key key --partial")
    (paths, out, jobs, options) = asked[0]
    assert (paths, out, jobs) == (["ada.py", "class"], "out", 3)
    assert (options.key, options.partial) == (b"secret", True)
    assert result.output == (
        "2 submissions graded, 1 of them could not be: "
        "results.json, grades.csv, feedback in out\n"
    )


def test_by_default_the_key_is_none_and_points_are_whole(run, asked):
    run("grade class --out out")
    options = asked[0][3]
    assert (options.key, options.partial) == (None, False)


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageError("nothing to grade there"), 2), (SandboxError("it doesn't run"), 1)],
)
def test_what_stops_the_grader_is_one_line(run, monkeypatch, error, code):
    def grade(*args):
        raise error

    monkeypatch.setattr(classroom, "grade", grade)
    assert run("grade class --out out", code).stderr == f"autograder: {error}\n"


def test_after_ctrl_c_no_further_submission_is_begun(here, monkeypatch):
    begun = []

    def graded(slots, submission, options):
        begun.append(submission.name)
        time.sleep(0.2)
        return Result(submission.name)

    def interrupted(done, total):
        if done:
            raise KeyboardInterrupt

    for number in range(6):
        (here / "class" / f"s{number}.py").write_text("x = 1\n")
    monkeypatch.setattr(classroom, "graded", graded)
    with pytest.raises(KeyboardInterrupt):
        classroom.grade([here / "class"], here / "out", progress=interrupted)
    assert "s5" not in begun
