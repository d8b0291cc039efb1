"""A class is graded: everybody gets what is theirs, in files that can be handed on."""

import csv
import json
import math

import pytest

from autograder import classroom
from autograder.classroom.run import jobs_for
from autograder.grading import Options
from autograder.render.words import SAID
from autograder.source import UsageError
from autograder.verdict import STATUSES
from tests.grading.handed_in import ATTENTION, PROJECT, SCORES, notebook, script
from tests.grading.here import grade

WRONG = ATTENTION.replace("softmax(-1)", "softmax(-2)")


def graded(paths, out, **how):
    grade(paths, out, **how)
    return json.loads((out / "results.json").read_text("utf-8"))


def statuses(entry):
    return {one["id"]: one["status"] for one in entry["exercises"]}


@pytest.fixture(scope="module")
def a_class(tmp_path_factory):
    """One folder with all kinds of submissions, graded once by two jobs."""
    folder = tmp_path_factory.mktemp("class")
    notebook(folder, "ada", "import torch", PROJECT, SCORES, ATTENTION)
    notebook(folder, "ben", "import torch", SCORES, WRONG)
    stub = "def project_qkv(x, W_q, W_k, W_v):\n    raise NotImplementedError"
    notebook(folder, "chen", stub, SCORES + "\nprint('<script>alert(1)</script>')")
    (folder / "dora.ipynb").write_text('{"cells": [', "utf-8")
    (folder / "notes.txt").write_text("not code", "utf-8")
    (folder / ".hidden.py").write_text("x = 1", "utf-8")
    (folder / "=2+3.py").write_text(SCORES, "utf-8")
    both = folder / "eli"
    both.mkdir()
    script(both, "first", SCORES)
    notebook(both, "second", ATTENTION, chapter=None)
    out = tmp_path_factory.mktemp("results")
    classroom.grade([folder], out, jobs=2)
    return json.loads((out / "results.json").read_text("utf-8")), out


@pytest.mark.parametrize(
    ("processors", "submissions", "jobs"),
    [(8, 1, 1), (8, 7, 1), (8, 20, 3), (8, 500, 8), (None, 500, 1)],
)
def test_few_submissions_are_graded_by_few_processes(
    monkeypatch, processors, submissions, jobs
):
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    assert jobs_for(submissions) == jobs


def entry(a_class, name):
    return next(one for one in a_class[0]["submissions"] if one["submission"] == name)


def test_every_submission_has_its_result_in_order(a_class):
    names = [one["submission"] for one in a_class[0]["submissions"]]
    assert names == ["=2+3", "ada", "ben", "chen", "dora", "eli", "notes"]


def test_a_right_submission_has_all_points(a_class):
    ada = entry(a_class, "ada")
    for name in ("project_qkv", "attention_scores", "scaled_dot_product_attention"):
        assert statuses(ada)[name] == "passed"
    assert ada["points"] == 6


def test_a_wrong_answer_is_told_its_mistake(a_class):
    ben = entry(a_class, "ben")
    assert statuses(ben)["scaled_dot_product_attention"] == "failed"
    assert statuses(ben)["project_qkv"] == "missing"
    wrong = next(one for one in ben["exercises"] if one["status"] == "failed")
    assert "softmax" in wrong["diagnosis"][0]["message"]


def test_a_stub_is_not_attempted(a_class):
    chen = statuses(entry(a_class, "chen"))
    assert chen["project_qkv"] == "not_attempted"
    assert chen["attention_scores"] == "passed"


@pytest.mark.parametrize("name", ["dora", "notes"])
def test_what_cannot_be_read_says_so_in_one_line(a_class, name):
    broken = entry(a_class, name)
    assert broken["exercises"] == []
    assert broken["points"] == 0
    assert broken["error"]
    assert "\n" not in broken["error"]


def test_a_folder_inside_is_one_submission_of_several_files(a_class):
    assert statuses(entry(a_class, "eli")) == {
        "attention_scores": "passed",
        "scaled_dot_product_attention": "passed",
    }


def test_results_keep_to_their_form(a_class):
    results, _ = a_class
    assert results["version"] == 1
    for one in results["submissions"]:
        total = sum(exercise["points"] for exercise in one["exercises"])
        assert one["points"] == pytest.approx(total)
        assert math.isfinite(one["points"])
        for exercise in one["exercises"]:
            assert exercise["status"] in STATUSES
            full = exercise["points"] == exercise["max_points"]
            assert full == (exercise["status"] == "passed")
            if exercise["status"] not in ("passed", "missing", "not_attempted"):
                assert exercise["diagnosis"]
            for found in exercise["diagnosis"]:
                assert found["message"].isprintable() or "\n" in found["message"]


def test_the_isolation_is_recorded(a_class):
    assert a_class[0]["isolation"]


def test_grades_are_safe_in_a_spreadsheet(a_class):
    with (a_class[1] / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["submission"] == "'=2+3"
    ada = next(row for row in rows if row["submission"] == "ada")
    assert float(ada["points"]) == 6


def test_every_submission_has_a_feedback_page(a_class):
    pages = sorted(path.name for path in a_class[1].glob("*.html"))
    assert len(pages) == 7 + 1  # and the class report
    ben = (a_class[1] / "ben.html").read_text("utf-8")
    assert "scaled_dot_product_attention" in ben
    assert "hint 1 of 3" in ben


def test_grading_writes_to_its_folder_only(a_class):
    out = {path.name for path in a_class[1].iterdir()}
    assert {"results.json", "grades.csv", "submissions"} <= out
    assert not [name for name in out if name.startswith(".")]
    assert not list((a_class[1] / "submissions").glob(".writing-*"))


def test_the_same_class_gives_the_same_bytes(tmp_path):
    notebook(tmp_path, "ben", "import torch", SCORES, WRONG)
    graded([tmp_path / "ben.ipynb"], tmp_path / "one")
    graded([tmp_path / "ben.ipynb"], tmp_path / "two")
    for name in ("results.json", "grades.csv", "ben.html", "submissions/ben.json"):
        one, two = (tmp_path / folder / name for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_a_key_draws_other_inputs_and_grades_alike(tmp_path):
    script(tmp_path, "ada", SCORES)
    script(tmp_path, "ben", SCORES.replace("** 0.5", ""))
    keyed = graded(
        [tmp_path / "ada.py", tmp_path / "ben.py"],
        tmp_path / "out",
        options=Options(key=b"secret"),
    )
    found = [statuses(one)["attention_scores"] for one in keyed["submissions"]]
    assert found == ["passed", "failed"]
    assert keyed["inputs"] == "drawn with a key"


def test_partial_gives_the_share_of_checks_passed(tmp_path):
    path = script(tmp_path, "ada", SCORES.replace("Q @", "Q.detach() @"))
    none = graded([path], tmp_path / "none")["submissions"][0]
    part = graded([path], tmp_path / "part", options=Options(partial=True))
    assert none["points"] == 0
    assert 0 < part["submissions"][0]["points"] < none["max_points"]


def test_a_right_answer_on_a_wrong_part_is_told_where_the_mistake_is(tmp_path):
    path = script(tmp_path, "ada", SCORES.replace("** 0.5", "** 0"), ATTENTION)
    found = graded([path], tmp_path / "out")["submissions"][0]["exercises"][1]
    assert found["status"] == "failed"
    assert "`attention_scores`" in found["diagnosis"][-1]["message"]


def test_a_part_that_ends_the_process_costs_its_own_exercise_only(tmp_path):
    part = "def attention_scores(Q, K):\n    __import__('os')._exit(1)"
    path = script(tmp_path, "ada", part, ATTENTION)
    found = graded([path], tmp_path / "out")["submissions"][0]
    assert statuses(found) == {
        "attention_scores": "crashed",
        "scaled_dot_product_attention": "passed",
    }


def test_what_holds_no_exercise_is_told_so(tmp_path):
    path = script(tmp_path, "ada", "x = 1")
    found = graded([path], tmp_path / "out")["submissions"][0]
    assert found["exercises"] == []
    assert "no exercise" in found["error"]


def test_an_answer_that_uses_a_stub_gets_the_reference_in_its_place(tmp_path):
    stub = "def attention_scores(Q, K):\n    raise NotImplementedError"
    found = graded([script(tmp_path, "ada", stub, ATTENTION)], tmp_path / "out")
    assert statuses(found["submissions"][0]) == {
        "attention_scores": "not_attempted",
        "scaled_dot_product_attention": "passed",
    }


@pytest.mark.parametrize(
    "answer",
    [
        "from autograder.parts import attention_scores",
        "from autograder.parts import attention_scores as part\n"
        "def attention_scores(Q, K):\n    return part(Q, K)",
        "import autograder.parts\nattention_scores = autograder.parts.attention_scores",
        "from autograder import reference\n"
        "attention_scores = reference('attention_scores')",
        "from solutions.attention import attention_scores",
    ],
)
def test_a_part_as_the_answer_to_its_own_exercise_is_forbidden(tmp_path, answer):
    path = tmp_path / "ada.py"
    path.write_text(answer, "utf-8")
    found = graded([path], tmp_path / "out")["submissions"][0]
    assert statuses(found)["attention_scores"] == "forbidden"


def test_a_file_may_import_another_of_its_folder(tmp_path):
    folder = tmp_path / "all" / "ada"
    folder.mkdir(parents=True)
    script(folder, "helpers", "def root(n):\n    return n**0.5")
    answer = SCORES.replace("Q.shape[-1] ** 0.5", "root(Q.shape[-1])")
    script(folder, "answer", "from helpers import root", answer)
    found = graded([tmp_path / "all"], tmp_path / "out")["submissions"][0]
    assert statuses(found) == {"attention_scores": "passed"}


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path):
    (tmp_path / "file").write_text("", "utf-8")
    path = script(tmp_path, "ada", SCORES)
    with pytest.raises(UsageError, match="--out"):
        grade([path], tmp_path / "file" / "out")


def test_every_status_has_its_words():
    assert set(SAID) == set(STATUSES)
