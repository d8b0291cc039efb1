"""What every definition owes, whoever wrote it."""

import ast
import inspect
import math
from itertools import combinations

import nbformat
import pytest

from autograder import compare
from autograder.definition import Exercise, Mistake
from autograder.judge import check, judge_of
from autograder.registry import CHAPTERS, EXERCISES, of_chapter
from autograder.trials import Local

ALL = list(EXERCISES.values())
ROWS = [(one, mistake) for one in ALL for mistake in one.mistakes]
TWINS = [one for one in ALL if one.twin is not None]


def named(value):
    return value.id


def pytest_id(value):
    return value.id if isinstance(value, (Exercise, Mistake)) else None


@pytest.mark.parametrize("exercise", ALL, ids=named)
def test_the_reference_passes(exercise):
    verdict = check(exercise, exercise.reference)
    assert verdict.status == "passed", verdict.message
    assert verdict.points == (0 if exercise.optional else exercise.points)


@pytest.mark.parametrize("exercise", TWINS, ids=named)
def test_the_twin_without_switches_is_right(exercise):
    mistake = Mistake("none", "", none=None)
    object.__setattr__(mistake, "switches", {})
    verdict = check(exercise, exercise.answer([mistake]))
    assert verdict.status == "passed", verdict.message


@pytest.mark.parametrize(("exercise", "mistake"), ROWS, ids=pytest_id)
def test_every_known_mistake_is_caught_and_named(exercise, mistake):
    verdict = check(exercise, exercise.answer([mistake]))
    assert verdict.status in ("failed", "error")
    assert verdict.mistake == mistake.id


@pytest.mark.parametrize("exercise", TWINS, ids=named)
def test_two_mistakes_at_once_are_caught(exercise):
    switched = [one for one in exercise.mistakes if one.switches]
    pairs = [
        pair
        for pair in combinations(switched, 2)
        if not pair[0].switches.keys() & pair[1].switches.keys()
    ]
    judge = judge_of(exercise)
    for pair in pairs[:: max(1, len(pairs) // 6)]:
        assert not judge.passes(Local(exercise.answer(pair), exercise.parts))


def apart(exercise, mistake):
    """How far a mistake is from the right answer on the inputs tried, in tolerances;
    the trials end with the first in which it is 100 away."""
    judge = judge_of(exercise)
    wrong = Local(exercise.answer([mistake]), {})
    most = 0.0
    for trial in judge.trials:
        seen = judge.look(trial, wrong.run(exercise.probe, trial.x))
        if any(fault.kind != "value" for fault in seen.faults):
            return math.inf
        if seen.gradient_faults:
            return math.inf
        if trial.stage == "device":
            continue  # meta tensors hold no numbers
        wanted = compare.outputs(seen.expected)
        for key, value in compare.outputs(seen.actual).items():
            most = max(most, compare.value_off(wanted[key], value, seen.tol))
        if most >= 100:
            break
    return most


@pytest.mark.parametrize(("exercise", "mistake"), ROWS, ids=pytest_id)
def test_every_known_mistake_is_100_tolerances_away(exercise, mistake):
    assert apart(exercise, mistake) >= 100


@pytest.mark.parametrize("exercise", ALL, ids=named)
def test_a_definition_is_complete(exercise):
    assert len(exercise.hints) == 3
    assert len(set(exercise.hints)) == 3
    assert 1 <= exercise.difficulty <= 5
    assert exercise.minutes >= 1
    ids = [one.id for one in exercise.mistakes]
    assert len(ids) == len(set(ids))
    assert all(one.message.endswith((".", "?")) for one in exercise.mistakes)


@pytest.mark.parametrize("exercise", ALL, ids=named)
def test_the_same_answer_gets_the_same_verdict_twice(exercise):
    wrong = exercise.answer(exercise.mistakes[:1])
    assert check(exercise, wrong) == check(exercise, wrong)


@pytest.mark.parametrize("chapter", CHAPTERS.values(), ids=lambda one: one.notebook)
def test_stub_and_reference_say_the_same(chapter):
    notebook = nbformat.read(f"chapters/{chapter.notebook}.ipynb", 4)
    assert notebook.metadata["autograder"]["chapter"] == chapter.number
    stubs = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.startswith("@exercise"):
            node = ast.parse(cell.source).body[0]
            stubs[node.name] = node
    assert list(stubs) == [one.id for one in of_chapter(chapter.number)]
    for one in of_chapter(chapter.number):
        reference = ast.parse(inspect.getsource(one.reference)).body[0]
        assert contract(stubs[one.id]) == contract(reference), one.id


def contract(node):
    """The name, the docstring, and every method's (or the function's) signature."""
    methods = [
        (part.name, ast.dump(part.args))
        for part in ast.walk(node)
        if isinstance(part, ast.FunctionDef)
    ]
    return node.name, ast.get_docstring(node), methods


def test_ids_are_unique_across_the_book():
    ids = [one.id for number in CHAPTERS for one in of_chapter(number)]
    assert len(ids) == len(set(ids))
