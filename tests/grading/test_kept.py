"""What was graded is kept: a run does what is left to do, and says what it can't."""

import errno
import json
from pathlib import Path

import pytest
from filelock import FileLock

from autograder import workbook
from autograder.classroom import CannotGrade, CannotWrite, grade, plan, records, work
from autograder.classroom.workers import Died
from autograder.grading import Options
from autograder.sandbox import Limits
from autograder.source import UsageError
from tests.grading.pretended import Pretended, asked, files

ALL = {"ada": "all", "ben": "all", "chen": "all"}


@pytest.fixture
def classes(tmp_path):
    """Three submissions, one of them a folder."""
    folder = tmp_path / "class"
    (folder / "chen").mkdir(parents=True)
    for name in ("ada.py", "ben.py", "chen/a.py", "chen/b.py"):
        (folder / name).write_text("x = 1\n")
    return folder


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def results(out):
    found = json.loads((out / "results.json").read_text("utf-8"))
    return {one["submission"]: one for one in found["submissions"]}


def test_what_is_graded_is_not_graded_again(classes, out):
    assert asked([classes], out) == ALL
    before = files(out)
    assert asked([classes], out) == {}
    assert files(out) == before


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda folder: (folder / "ada.py").write_text("x = 2\n"), "ada"),
        (lambda folder: (folder / "chen/b.py").write_text("x = 2\n"), "chen"),
        (lambda folder: (folder / "chen/b.py").rename(folder / "chen/c.py"), "chen"),
        (lambda folder: (folder / "chen/b.py").unlink(), "chen"),
        (lambda folder: (folder / "dora.py").write_text("x = 1\n"), "dora"),
        (lambda folder: (folder / "ada.py").touch(), None),
    ],
)
def test_a_changed_submission_alone_is_graded_again(classes, out, change, again):
    asked([classes], out)
    change(classes)
    assert asked([classes], out) == ({again: "all"} if again else {})


@pytest.mark.parametrize(
    "options",
    [Options(partial=True), Options(key=b"key"), Options(limits=Limits(cpu=5))],
)
def test_with_other_options_or_another_key_all_are_graded_again(classes, out, options):
    asked([classes], out)
    assert asked([classes], out, options=options) == ALL
    assert asked([classes], out, options=options) == {}


def test_another_grader_grades_all_again(classes, out, monkeypatch):
    asked([classes], out)
    monkeypatch.setattr(plan, "version", lambda: "another")
    assert asked([classes], out) == ALL


def test_regrading_keeps_the_rest_though_the_grader_has_changed(
    classes, out, monkeypatch
):
    asked([classes], out)
    monkeypatch.setattr(plan, "version", lambda: "another")
    assert asked([classes], out, regrade=["ben"]) == {"ben": "all"}
    some = dict.fromkeys(ALL, ("attention_scores",))
    assert asked([classes], out, regrade=["attention_scores"]) == some
    assert asked([classes], out, regrade=["pairwise_dots"]) == {}  # nobody has it
    assert asked([classes], out, regrade=["attention_scores", "ada"]) == {
        **some,
        "ada": "all",
    }


def test_regrading_what_nobody_knows_is_told(classes, out):
    with pytest.raises(UsageError, match=r"atention_scores.*'attention_scores'"):
        grade([classes], out, regrade=["atention_scores"])


@pytest.mark.parametrize("end", ["", "{", "[]", '{"submission": "ada"}'])
def test_a_damaged_record_is_graded_again(classes, out, end):
    asked([classes], out)
    before = files(out)
    (out / "submissions" / "ada.json").write_text(end)
    assert asked([classes], out) == {"ada": "all"}
    assert files(out) == before


def test_a_missing_page_is_made_again(classes, out):
    asked([classes], out)
    (out / "ada.html").unlink()
    assert asked([classes], out) == {"ada": "all"}


def test_the_order_is_that_of_the_submissions(classes, out):
    grade([classes / "ben.py"], out, workers=Pretended())
    asked([classes], out)
    assert list(results(out)) == ["ada", "ben", "chen"]


# --- workers that die ---------------------------------------------------------------


def test_a_worker_that_dies_once_costs_nothing(classes, out):
    summary = grade([classes], out, workers=Pretended(ben=[Died("killed")]))
    assert (summary.errors, summary.lost) == (0, ())


def test_a_worker_that_dies_again_costs_its_own_submission_only(classes, out):
    ends = [Died("it was killed"), Died("it was killed")]
    summary = grade([classes], out, workers=Pretended(ben=ends))
    assert summary.errors == 1
    assert summary.lost == ("ben: the process that graded it ended: it was killed",)
    assert [one["points"] for one in results(out).values()] == [2, 0, 2]
    assert "was killed" in results(out)["ben"]["error"]
    assert asked([classes], out) == {"ben": "all"}  # it may go well the next time
    assert results(out)["ben"]["points"] == 2


def test_a_grade_is_not_lost_by_grading_anew(classes, out):
    asked([classes], out)
    before = files(out)
    workers = Pretended(ben=[Died("killed"), Died("killed")])
    summary = grade([classes], out, workers=workers, regrade=["ben"])
    assert len(summary.lost) == 1
    assert files(out) == before


def test_workers_that_can_grade_nothing_end_the_run(classes, out):
    with pytest.raises(CannotGrade, match="no sandbox"):
        grade([classes], out, workers=Pretended(ben=[CannotGrade("no sandbox")]))
    assert asked([classes], out).keys() <= {"ben", "chen"}


def test_workers_of_another_version_are_refused():
    item = work.Item("ada", "ada.py", None, Options(), (), "older")
    with pytest.raises(CannotGrade, match="another version"):
        work.graded(item)


def test_nothing_secret_is_told_of_an_item():
    """A cluster's logs show what a task was called with."""
    text = repr(work.Item("ada", "ada.py", None, Options(b"sesame"), ("/home",), "v"))
    assert "sesame" not in text
    assert "/home" not in text
    assert "sesame" not in repr(Options(b"sesame"))


# --- the key ------------------------------------------------------------------------


def test_the_key_is_told_apart_but_never_written(classes, out):
    asked([classes], out, options=Options(key=b"open sesame"))
    marks = plan.fingerprint(b"open sesame"), plan.fingerprint(b"open sesame\n")
    assert marks[0] != marks[1]
    found = json.loads((out / "results.json").read_text("utf-8"))
    assert found["key_fingerprint"] == marks[0]
    everything = b"".join(files(out).values())
    assert b"sesame" not in everything
    assert b"open sesame".hex().encode() not in everything


def test_a_key_gives_each_submission_and_exercise_its_own_inputs_again():
    options = Options(key=b"key")
    seeds = [options.seed(*each) for each in [("ada", "x"), ("ben", "x"), ("ada", "y")]]
    assert len({*seeds, Options(key=b"other").seed("ada", "x")}) == 4
    assert seeds[0] == Options(key=b"key").seed("ada", "x")


# --- the folder ---------------------------------------------------------------------


def test_two_graders_do_not_write_to_one_folder(classes, out):
    asked([classes], out)
    with FileLock(out / "submissions" / records.LOCK):
        with pytest.raises(UsageError, match="another grader is at work"):
            grade([classes], out, workers=Pretended())
    assert asked([classes], out) == {}


def test_a_full_disk_is_told_and_what_was_done_is_kept(
    classes, out, tmp_path, monkeypatch
):
    written = []

    def until_full(path, text):
        written.append(path)
        if len(written) > 3:  # a note, a page, a record
            raise OSError(errno.ENOSPC, "No space left on device")
        workbook.write(path, text)

    with monkeypatch.context() as patch:
        patch.setattr(records, "write", until_full)
        with pytest.raises(CannotWrite, match=r"No space left.*the same command again"):
            grade([classes], out, workers=Pretended())
    (kept,) = (path.stem for path in (out / "submissions").glob("*.json"))
    assert asked([classes], out).keys() == ALL.keys() - {kept}
    asked([classes], tmp_path / "whole")
    assert files(out) == files(tmp_path / "whole")


def test_what_a_killed_run_has_left_is_cleared_away(
    classes, out, tmp_path, monkeypatch
):
    monkeypatch.setattr(records.tempfile, "tempdir", str(tmp_path))
    asked([classes], out)
    before = files(out)
    left, others = tmp_path / "autograder-left", tmp_path / "not-ours"
    for folder in (left, others):
        folder.mkdir()
        (folder / "file").write_text("x")
    (out / ".writing-1-ada.html").write_text("half")
    (out / "submissions" / ".writing-1-ada.json").write_text("half")
    for name in ("../not-ours", "not-ours", left.name):
        (out / "submissions" / records.TEMPORARY).write_text(name)
        assert asked([classes], out) == {}
    assert files(out) == before
    assert not left.exists()
    assert others.exists()


def test_names_that_few_file_systems_take_are_cut(tmp_path, out):
    folder = tmp_path / "class"
    folder.mkdir()
    for name in ("界" * 80, "class", "Ada", "ada", "results.json"):
        (folder / f"{name}.py").write_text("x = 1\n")
    asked([folder], out)
    assert len(results(out)) == 5
    assert asked([folder], out) == {}
    pages = {page.name for page in Path(out).glob("*.html")}
    assert len(pages - {"class.html"}) == 5
    assert "class_2.html" in pages  # class.html is the report on all of them
