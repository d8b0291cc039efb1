"""A fault of the grader's own is told as one, and costs no other result."""

import json

import pytest

from autograder.judge import Judge
from tests.grading.handed_in import PROJECT, SCORES, script
from tests.grading.here import asked, grade


@pytest.fixture
def failing(monkeypatch):
    """A judge that can't weigh the answers to one exercise."""
    weigh = Judge.weigh

    def fails(self, *args):
        if self.exercise.id == "attention_scores":
            raise KeyError("no such trial")
        return weigh(self, *args)

    monkeypatch.setattr(Judge, "weigh", fails)
    return monkeypatch


def results(out):
    entries = json.loads((out / "results.json").read_text("utf-8"))["submissions"]
    return {
        one["submission"]: {each["id"]: each for each in one["exercises"]}
        for one in entries
    }


def test_it_is_told_to_whoever_grades_and_in_the_result(tmp_path, failing):
    script(tmp_path, "ada", SCORES, PROJECT)
    script(tmp_path, "ben", PROJECT)
    out = tmp_path.with_name("out")
    summary = grade([tmp_path], out)
    (line,) = summary.lost
    assert line.startswith("ada: attention_scores: The grader itself failed")
    assert "KeyError in test_fault.py, line" in line
    assert line.endswith("please report it")
    found = results(out)
    failed = found["ada"]["attention_scores"]
    assert (failed["status"], failed["points"]) == ("error", 0)
    assert failed["diagnosis"][0]["mistake"] == "grader-fault"
    assert "nothing is said about the answer" in failed["diagnosis"][0]["message"]
    assert found["ada"]["project_qkv"]["status"] == "passed"
    assert found["ben"]["project_qkv"]["status"] == "passed"


def test_it_is_judged_again_by_the_next_run(tmp_path, failing):
    script(tmp_path, "ada", SCORES, PROJECT)
    script(tmp_path, "ben", PROJECT)
    out = tmp_path.with_name("out")
    grade([tmp_path], out)
    failing.undo()
    assert asked([tmp_path], out) == {"ada": "all"}
    assert results(out)["ada"]["attention_scores"]["status"] == "passed"
