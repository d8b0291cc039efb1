"""On a terminal the commands draw; nothing is cut off, and no meaning is colour's."""

import inspect
import re

import pytest

from autograder import grading, workbook
from autograder.commands import checking
from autograder.registry import EXERCISES
from autograder.verdict import Check, Diagnosis, Example, Row, Verdict

NAME = "attention_scores"


@pytest.fixture(autouse=True)
def narrow_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")


def uncoloured(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_list_is_a_table_by_chapter_with_signs_beside_the_colours(
    run, here, published, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "40")
    run("start")
    workbook.note(here / "workbook", NAME, "passed")
    text = uncoloured(run("list").stdout)
    assert "2 · Queries, keys," in text  # the rest of the title is on the next line
    assert f"\n✓ {NAME} " in text
    assert all(f"  {name} " in text for name in EXERCISES if name != NAME)
    assert "✓ passed" in text


def test_a_solution_is_not_cut_at_the_terminals_width(run):
    source = inspect.getsource(EXERCISES[NAME].reference).strip()
    assert max(map(len, source.splitlines())) > 60  # else this would show nothing
    assert uncoloured(run(f"solution {NAME}").stdout).strip() == source


def test_a_hint_says_how_to_get_the_next(run):
    text = uncoloured(run(f"hint {NAME} 2").stdout)
    assert f"hint 2 of 3; the next: 'autograder hint {NAME} 3'" in text
    assert "hint 3 of 3; the last one" in uncoloured(run(f"hint {NAME} 3").stdout)


def test_a_verdict_stands_with_its_example_under_one_line(run, here, monkeypatch):
    example = Example("one query", (("Q", "1.0"),), (Row("out [b]", "0.17", "0.09"),))
    found = (Diagnosis("unscaled-scores", "The scores are not divided by √d_k."),)
    checks = (Check("rows", False),)
    wrong = Verdict(NAME, 2, "failed", 0.0, 2.0, checks, found, example)
    monkeypatch.setattr(grading, "grade_submission", lambda *_: [wrong])
    (here / "answer.py").write_text("x = 1\n")
    lines = uncoloured(run("check answer.py").stdout).splitlines()
    lines = [line.strip() for line in lines]
    assert f"✗ {NAME} · not right yet · 0 of 2 points" in lines
    assert "the smallest input that shows it: one query" in lines
    assert any(line.split() == ["out", "[b]", "0.17", "0.09"] for line in lines)


@pytest.mark.parametrize(("points", "said"), [(1, "1 point"), (2.5, "2.5 points")])
def test_points_are_counted_in_words(points, said):
    verdict = Verdict(NAME, 2, "passed", points, points)
    assert (
        checking.summary([verdict]) == f"1 of 1 exercise right, {points:g} of {said}."
    )
