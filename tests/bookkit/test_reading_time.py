"""How long a chapter is said to take."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookkit.reading_time import exercises_in, minutes_to_read, told

PROSE = "word " * 400


def minutes(*cells):
    return minutes_to_read(new_notebook(cells=list(cells)))


def test_prose_is_read_at_two_hundred_words_a_minute():
    assert minutes(new_markdown_cell(PROSE)) == pytest.approx(2)


def test_code_and_formulas_take_longer_than_their_words_say():
    assert minutes(new_code_cell("a = 1\n" * 19 + "a")) == pytest.approx(1)
    formula = "$$\n\\frac{a}{b} = c\n$$"
    assert minutes(new_markdown_cell("\n\n".join([formula] * 4))) == pytest.approx(1)


def test_folded_answers_and_hidden_cells_are_not_counted():
    folded = new_markdown_cell(f":::{{dropdown}} Answer\n{PROSE}\n:::")
    hidden = new_code_cell("a\n" * 100, metadata={"tags": ["remove-input"]})
    drawn = new_markdown_cell(f"```{{raw}} html\n<svg>{PROSE}</svg>\n```")
    assert minutes(folded, hidden, drawn) == pytest.approx(0, abs=0.01)


def test_markup_is_no_word():
    table = new_markdown_cell("| a | b |\n|---|---|\n| c | {cite}`one2020two` |")
    assert minutes(table) == pytest.approx(3 / 200)


def test_exercises_are_found_by_their_decorator():
    stub = new_code_cell("@exercise\ndef gelu(x):\n    raise NotImplementedError")
    assert exercises_in(new_notebook(cells=[stub, new_code_cell("x")])) == ["gelu"]


@pytest.mark.parametrize(
    ("reading", "exercises", "said"),
    [
        (21, 0, "About 25 minutes to read."),
        (21, 20, "About 25 minutes to read, 45 minutes with the exercises."),
        (35, 51, "About 35 minutes to read, 1 ½ hours with the exercises."),
        (54, 110, "About 55 minutes to read, 2 ¾ hours with the exercises."),
        (60, 60, "About 60 minutes to read, 2 hours with the exercises."),
        (1, 0, "About 5 minutes to read."),
    ],
)
def test_durations_are_rounded_up_and_told_in_words(reading, exercises, said):
    assert told(reading, exercises) == said
