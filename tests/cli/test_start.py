"""`start` lays what is new and never touches what the learner wrote."""

import json

import pytest

from autograder import chapters
from tests.cli.conftest import ANSWER, STUB, write

ATTENTION = "02_attention.ipynb"
MULTIHEAD = "03_multihead.ipynb"


def text(path):
    return path.read_text("utf-8")


def edit(path, change):
    """Change a notebook's data and save it, as Jupyter would."""
    data = json.loads(text(path))
    change(data)
    path.write_text(json.dumps(data), "utf-8")


def answer(data):
    data["cells"][1]["source"] = ANSWER


def ran(data):
    data["cells"][0]["execution_count"] = 3
    data["metadata"]["language_info"] = {"name": "python", "version": "3.12.1"}


def test_the_chapters_are_laid_fresh_and_say_how_to_begin(run, here, published):
    said = run("start").stdout
    assert f"  {ATTENTION}  new\n  {MULTIHEAD}  new\n" in said
    assert "Next:\n  cd workbook\n" in said
    assert said.endswith(("jupyter lab\n", "jupyter-lab\n"))
    laid = json.loads(text(here / "workbook" / ATTENTION))
    assert [one["outputs"] for one in laid["cells"]] == [[], []]
    assert [one["execution_count"] for one in laid["cells"]] == [None, None]
    assert laid["metadata"]["kernelspec"]["name"] == "python3"
    assert laid["metadata"]["autograder"] == {"chapter": 2}
    assert (here / "workbook" / ".autograder").is_dir()


def test_started_again_there_is_nothing_to_do(run, published):
    run("start")
    assert run("start").stdout.startswith("Workbook workbook: every chapter is up to")


def test_an_update_brings_what_is_new_and_leaves_the_learners_work(
    run, here, published
):
    run("start")
    mine = here / "workbook" / ATTENTION
    edit(mine, answer)
    before = text(mine)
    write(published / ATTENTION, "from autograder import exercise", "# newer", STUB)
    write(published / MULTIHEAD, "print('more heads')", chapter=3)
    write(published / "04_positions.ipynb", "print('where')", chapter=4)
    said = run("start").stdout
    assert text(mine) == before
    assert "more heads" in text(here / "workbook" / MULTIHEAD)
    assert [line.split(maxsplit=1) for line in said.splitlines()[1:4]] == [
        [ATTENTION, "has your work; left alone, though a newer one is published"],
        [MULTIHEAD, "brought up to date"],
        ["04_positions.ipynb", "new"],
    ]
    assert "rename yours and start again" in said


def test_work_in_a_chapter_that_was_not_updated_is_left_alone_quietly(
    run, here, published
):
    run("start")
    edit(here / "workbook" / ATTENTION, answer)
    said = run("start").stdout
    assert f"{ATTENTION}  has your work; left alone\n" in said
    assert "newer" not in said


def test_a_chapter_that_was_only_run_is_brought_up_to_date(run, here, published):
    run("start")
    edit(here / "workbook" / ATTENTION, ran)
    write(published / ATTENTION, "from autograder import exercise", "# newer", STUB)
    assert "brought up to date" in run("start").stdout
    assert "# newer" in text(here / "workbook" / ATTENTION)


@pytest.mark.parametrize("wreck", ["", "{", "[]", '{"cells": 3}'])
def test_a_chapter_that_is_no_notebook_any_more_is_left_alone(
    run, here, published, wreck
):
    run("start")
    (here / "workbook" / ATTENTION).write_text(wreck)
    assert "has your work; left alone" in run("start").stdout
    assert text(here / "workbook" / ATTENTION) == wreck


def test_a_file_that_was_there_before_the_workbook_is_left_alone(run, here, published):
    (here / "workbook").mkdir()
    (here / "workbook" / ATTENTION).write_text("mine")
    run("start")
    assert text(here / "workbook" / ATTENTION) == "mine"


def test_a_lost_record_costs_no_work(run, here, published):
    run("start")
    edit(here / "workbook" / ATTENTION, answer)
    (here / "workbook" / ".autograder" / "laid.json").write_text("{")
    write(published / ATTENTION, "# newer", STUB)
    run("start")
    assert (
        ANSWER in json.loads(text(here / "workbook" / ATTENTION))["cells"][1]["source"]
    )


def test_a_chapter_that_was_removed_is_laid_again(run, here, published):
    run("start")
    (here / "workbook" / ATTENTION).unlink()
    assert f"{ATTENTION}  new" in run("start").stdout


def test_inside_a_workbook_it_is_this_one(run, here, published, monkeypatch):
    run("start mine")
    monkeypatch.chdir(here / "mine")
    said = run("start").stdout
    assert said.startswith("This workbook: every chapter is up to date.\nNext:\n  ")
    assert said.endswith(("jupyter lab\n", "jupyter-lab\n"))


@pytest.mark.parametrize(
    ("found", "says"), [("/bin/jupyter-lab", "jupyter lab"), (None, "/bin/jupyter-lab")]
)
def test_jupyter_is_named_so_that_the_shell_finds_it(
    run, here, published, monkeypatch, found, says
):
    monkeypatch.setattr("shutil.which", lambda name: found)
    monkeypatch.setattr("pathlib.Path.exists", lambda self: True)
    monkeypatch.setattr("sys.executable", "/bin/python")
    assert run("start mine").stdout.endswith(f"  {says}\n")


def test_a_second_start_makes_no_workbook_within(run, here, published, monkeypatch):
    run("start mine")
    monkeypatch.chdir(here / "mine")
    run("start")
    assert not (here / "mine" / "workbook").exists()


def test_a_workbook_within_a_workbook_is_refused(run, here, published, monkeypatch):
    run("start mine")
    monkeypatch.chdir(here / "mine")
    said = run("start other", code=2).stderr
    assert f"other lies in the workbook {here / 'mine'}; run 'autograder start'" in said


@pytest.mark.parametrize("folder", [".", "chapters", "chapters/mine"])
def test_the_published_chapters_do_not_become_a_workbook(
    run, published, monkeypatch, folder
):
    monkeypatch.chdir(published.parent)
    said = run(f"start {folder}", code=2).stderr
    assert f"{folder} holds the published chapters, which stay as they are" in said
    assert not (published.parent / ".autograder").exists()


def test_without_the_chapters_it_says_where_to_get_them(run, tmp_path, monkeypatch):
    monkeypatch.setattr(chapters, "PUBLISHED", tmp_path / "nothing")
    assert "clone the project" in run("start", code=2).stderr
