"""`check` and `watch` show verdicts and keep what a workbook keeps."""

import contextlib
import os

import pytest
import watchfiles

from autograder import grading, workbook
from autograder.verdict import Check, Diagnosis, Verdict
from tests.cli.conftest import ANSWER, STUB, write

NAME = "attention_scores"
RIGHT = Verdict(NAME, 2, "passed", 2.0, 2.0, (Check("rows", True),))
WRONG = Verdict(
    "scaled_dot_product_attention",
    2,
    "failed",
    0.0,
    3.0,
    (Check("rows", False),),
    (Diagnosis("softmax-over-queries", "The softmax runs over the queries."),),
)
OPEN = Verdict(NAME, 2, "not_attempted", 0.0, 2.0)


@pytest.fixture
def judged(monkeypatch):
    """What is found in the next files checked, one list of verdicts after another."""
    results = []

    def found(server, submission, options, only=None):
        verdicts = results.pop(0)
        return [one for one in verdicts if only in (None, one.exercise)]

    monkeypatch.setattr(grading, "grade_submission", found)
    return results


@pytest.fixture
def book(run, here, published):
    run("start")
    write(here / "workbook" / "02_attention.ipynb", "import torch", ANSWER)
    return here / "workbook"


def test_a_wrong_answer_is_a_result_with_its_mistake_and_hint(run, here, judged):
    (here / "answer.py").write_text(ANSWER)
    judged.append([RIGHT, WRONG])
    text = run("check answer.py").stdout
    assert "✓ attention_scores · right" in text
    assert "✗ scaled_dot_product_attention · not right yet" in text
    assert "The softmax runs over the queries." in text
    assert "hint 1 of 3" in text
    assert text.endswith("\n1 of 2 exercises right, 2 of 5 points.\n")


def test_one_exercise_alone(run, here, judged):
    (here / "answer.py").write_text(ANSWER)
    judged.append([RIGHT, WRONG])
    text = run(f"check answer.py --exercise {NAME}").stdout
    assert text.endswith("1 of 1 exercise right, 2 of 2 points.\n")


@pytest.mark.parametrize(
    ("line", "what"),
    [("check a.py", "exercise"), (f"check a.py --exercise {NAME}", NAME)],
)
def test_a_file_without_an_exercise_is_said(run, here, judged, line, what):
    (here / "a.py").write_text("x = 1\n")
    judged.append([])
    said = run(line, code=2).stderr
    assert f"a.py holds no {what}; 'autograder list' shows what there is" in said


def test_in_a_workbook_what_is_right_is_kept(run, book, judged):
    judged.append([RIGHT, WRONG])
    text = run("check workbook/02_attention.ipynb").stdout
    assert "Kept as your part: later chapters build on it." in text
    assert "Chapter 2: 1 of" in text
    assert ANSWER in workbook.read_part(book, NAME)
    statuses = {name: one["status"] for name, one in workbook.progress(book).items()}
    assert statuses == {NAME: "passed", WRONG.exercise: "failed"}


def test_what_was_not_attempted_is_no_try(run, book, judged):
    judged.append([OPEN])
    run("check workbook/02_attention.ipynb")
    assert workbook.progress(book) == {}


def test_outside_a_workbook_nothing_is_kept(run, here, judged):
    write(here / "mine.ipynb", ANSWER)
    judged.append([RIGHT])
    assert "Kept" not in run("check mine.ipynb").stdout
    assert [one.name for one in here.iterdir()] == ["mine.ipynb"]


def test_in_the_published_chapters_it_says_where_to_work(run, published, judged):
    judged.append([OPEN])
    text = run(["check", str(published / "02_attention.ipynb")]).stdout
    assert "'autograder start' lays a copy to work in." in text


def test_a_file_of_the_workbook_is_found_from_above_it(run, book):
    said = run("check 02_attention.ipynb", code=2).stderr
    assert said.endswith("did you mean 'workbook/02_attention.ipynb'?\n")


def test_watch_checks_at_once_and_after_each_save(run, here, judged, monkeypatch):
    path = here / "answer.py"
    path.write_text(STUB)

    def saves(folder, **how):
        assert os.fspath(folder) == os.fspath(here.resolve())
        yield set()  # woken up, and nothing was saved
        path.write_text(ANSWER)
        yield {("modified", str(path))}
        path.write_text("")
        yield {("modified", str(path))}
        path.unlink()
        yield {("deleted", str(path))}
        raise KeyboardInterrupt

    monkeypatch.setattr(watchfiles, "watch", saves)
    judged += [[OPEN], [RIGHT]]
    text = run("watch answer.py").stdout
    assert text.index("not attempted") < text.index("── saved at")
    assert text.count("── saved at") == 2
    assert "✓ attention_scores · right" in text
    assert "Can't read answer.py: the file is empty" in text
    assert (
        text.count("Watching answer.py: save it to check again, Ctrl-C to stop.") == 3
    )
    assert text.endswith("Stopped watching.\n")


def test_only_the_watched_file_counts(run, here, judged, monkeypatch):
    path = here / "answer.py"
    path.write_text(STUB)
    filters = []

    def saves(folder, *, watch_filter, **how):
        filters.append(watch_filter)
        return iter(())

    monkeypatch.setattr(watchfiles, "watch", saves)
    judged.append([OPEN])
    with contextlib.suppress(StopIteration):
        run("watch answer.py")
    assert filters[0](None, str(here / "answer.py"))
    assert not filters[0](None, str(here / "other.py"))
