"""`grade` hands its options on and says what came out."""

import sys
from types import SimpleNamespace

import pytest

from autograder import classroom
from autograder.classroom import CannotGrade, CannotWrite, Summary, cluster
from autograder.source import UsageError

NAMES = "paths out jobs options progress regrade workers"


@pytest.fixture
def asked(monkeypatch):
    """What the grader was asked for, and what it says that came of it."""
    known = SimpleNamespace(summary=Summary(2, 0, 1))

    def grade(*given):
        vars(known).update(zip(NAMES.split(), given, strict=True))
        known.progress(1, 2)
        return known.summary

    monkeypatch.setattr(classroom, "grade", grade)
    return known


@pytest.fixture(autouse=True)
def submissions(here):
    (here / "ada.py").write_text("x = 1\n")
    (here / "class").mkdir()
    (here / "key").write_text("secret")


def test_options_are_handed_on_and_the_end_is_one_line(run, asked):
    result = run(
        "grade ada.py class --out out --jobs 3 --key key --partial "
        "--regrade ada --regrade attention_scores"
    )
    assert [str(path) for path in asked.paths] == ["ada.py", "class"]
    assert (str(asked.out), asked.jobs) == ("out", 3)
    assert (asked.options.key, asked.options.partial) == (b"secret", True)
    assert asked.regrade == ("ada", "attention_scores")
    assert asked.workers is None
    assert result.output == (
        "2 submissions graded, 1 of them could not be: "
        "results.json, grades.csv, feedback in out\n"
    )


def test_by_default_the_key_is_none_and_points_are_whole(run, asked):
    run("grade class --out out")
    assert (asked.options.key, asked.options.partial) == (None, False)


def test_what_was_kept_and_what_was_lost_is_told(run, asked):
    asked.summary = Summary(500, 480, 1, ("ben: the process ended",))
    result = run("grade class --out out")
    assert result.stdout.startswith(
        "500 submissions graded, 480 of them before, 1 of them could not be:"
    )
    assert result.stderr == (
        "autograder: ben: the process ended; run the same command again\n"
    )


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("nothing to grade there"), 2),
        (CannotGrade("the sandbox doesn't run"), 1),
        (CannotWrite("can't write to out (No space left on device)"), 1),
    ],
)
def test_what_stops_the_grader_is_one_line(run, monkeypatch, error, code):
    def grade(*args):
        raise error

    monkeypatch.setattr(classroom, "grade", grade)
    assert run("grade class --out out", code).stderr == f"autograder: {error}\n"


def test_ctrl_c_ends_with_how_far_it_came_and_how_to_go_on(run, asked, monkeypatch):
    def grade(*given):
        given[4](1200, 5000)
        raise KeyboardInterrupt

    monkeypatch.setattr(classroom, "grade", grade)
    assert run("grade class --out out", 130).stderr == (
        "autograder: stopped; 1,200 of 5,000 submissions are graded and kept. "
        "The same command goes on from there.\n"
    )


def test_results_do_not_go_among_what_is_graded(run, here):
    (here / "submissions").mkdir()
    for line in ("class --out class/out", "submissions --out ."):
        assert "among what is graded" in run(f"grade {line}", 2).stderr


def test_the_scheduler_of_a_cluster_takes_no_jobs(run):
    told = run("grade class --out out --scheduler tcp://x:1 --jobs 2", 2).stderr
    assert told == (
        "autograder: --jobs is for this machine; leave it out with --scheduler\n"
    )


def test_without_dask_a_scheduler_is_one_line(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    told = run("grade class --out out --scheduler tcp://x:1", 1).stderr
    assert told.count("\n") == 1
    assert "pip install distributed" in told


def test_a_cluster_without_workers_is_told_of(run, asked, monkeypatch):
    class Empty(classroom.Workers):
        threads = room = 0

        def __init__(self, address):
            self.address = address

        def submit(self, fn, /, *args, **kwargs):
            raise AssertionError

        def shutdown(self, wait=True, *, cancel_futures=False):
            self.closed = True

    monkeypatch.setattr(cluster, "Cluster", Empty)
    told = run("grade class --out out --scheduler tcp://x:1").stderr
    assert told == (
        "No worker has joined tcp://x:1 yet; grading begins when one does.\n"
    )
    assert (asked.workers.address, asked.workers.closed) == ("tcp://x:1", True)
