"""`list`, `progress`, `hint`, `solution` and `reset`."""

import inspect

import pytest

from autograder import workbook
from autograder.registry import EXERCISES
from tests.cli.conftest import STUB

NAME = "attention_scores"


@pytest.fixture
def book(run, here, published):
    """A workbook below the folder that the commands run in."""
    run("start")
    return here / "workbook"


def line_of(text, name):
    return next(line for line in text.splitlines() if line.startswith(name))


def test_list_in_a_pipe_gives_whole_ids_one_a_line(run):
    lines = run("list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(EXERCISES)


def test_list_says_what_an_exercise_is_and_how_it_stands(run, book):
    exercise = EXERCISES[NAME]
    workbook.note(book, NAME, "passed")
    workbook.note(book, "scaled_dot_product_attention", "failed")
    text = run("list").stdout
    shown = line_of(text, NAME)
    assert f"{exercise.points:g} point" in shown
    assert f"{exercise.minutes} minute" in shown
    assert f"difficulty {exercise.difficulty} of 5" in shown
    assert shown.endswith("passed")
    assert line_of(text, "scaled_dot_product_attention").endswith("tried")


def test_list_without_a_workbook_has_everything_open(run):
    assert all(line.endswith("open") for line in run("list").stdout.splitlines())


@pytest.mark.parametrize("inside", [True, False])
def test_progress_counts_and_says_what_is_next(run, book, monkeypatch, inside):
    if inside:
        monkeypatch.chdir(book)
    first, second = list(EXERCISES)[:2]
    workbook.note(book, first, "passed")
    text = run("progress").stdout
    of = sum(not one.optional for one in EXERCISES.values())
    assert f"1 of {of} exercises, {EXERCISES[first].points:g} of" in text
    path = "" if inside else "workbook/"
    assert f"Next: {second} in {path}" in text


def test_progress_of_a_finished_book_has_no_next(run, book):
    for name in EXERCISES:
        workbook.note(book, name, "passed")
    text = run("progress").stdout
    assert "Next" not in text
    assert "░" not in text


@pytest.mark.parametrize("number", [1, 2, 3])
def test_hints_come_one_by_one(run, number):
    hint = inspect.cleandoc(EXERCISES[NAME].hints[number - 1])
    assert run(f"hint {NAME} {number}").stdout == f"{hint}\n"


def test_without_a_number_the_hint_is_the_first(run):
    assert run(f"hint {NAME}").stdout == run(f"hint {NAME} 1").stdout


def test_the_solution_in_a_pipe_is_the_source(run):
    source = inspect.getsource(EXERCISES[NAME].reference)
    assert run(f"solution {NAME}").stdout.strip() == source.strip()


def test_a_solution_brings_the_helpers_that_it_needs(run):
    block = run("solution LlamaBlock").stdout
    assert block.startswith("class RotaryAttention(nn.Module):")
    assert "\n\n\nclass LlamaBlock(nn.Module):" in block
    assert "class MiniLMEncoder" not in block
    loading = run("solution load_encoder").stdout
    assert loading.startswith("#: What BERT's authors called the parts")
    assert loading.index("PUBLISHED = {") < loading.index("def published_name(name):")
    assert loading.index("def published_name") < loading.index("def load_encoder")
    assert "@torch.no_grad()" in run("solution generate").stdout


def test_reset_forgets_and_says_how_to_get_the_stub(run, book):
    workbook.note(book, NAME, "passed")
    workbook.save_part(book, NAME, "x = 1\n")
    said = run(f"reset {NAME}").stdout
    assert "its progress and your part are forgotten" in said
    assert "The cell in your notebook stays as you wrote it." in said
    assert f"autograder reset {NAME} --stub" in said
    assert workbook.read_part(book, NAME) is None
    assert NAME not in workbook.progress(book)
    assert f"{NAME} was open already." in run(f"reset {NAME}").stdout


def test_reset_with_stub_puts_the_stub_alone_on_standard_output(run, book):
    result = run(f"reset {NAME} --stub")
    assert result.stdout == f"{STUB}\n"
    assert "was open already" in result.stderr


def test_an_exercise_without_a_stub_in_its_chapter_is_said(run, book, published):
    (published / "02_attention.ipynb").unlink()
    said = run(f"reset {NAME} --stub", code=2).stderr
    assert "chapters/02_attention.ipynb holds no stub of attention_scores" in said
