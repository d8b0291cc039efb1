"""A repair: its cell holds broken code, and left as it is that is not attempted."""

from pathlib import Path

import pytest

import autograder
from autograder.cutting import cut_out
from autograder.definition import Exercise, Mistake
from autograder.grading import Grading, Options
from autograder.inputs import normal
from autograder.registry import EXERCISES
from autograder.source import SourceFile, Submission
from autograder.untouched import broken_source, untouched


def doubled(x):
    """Double what is given."""
    return x + x


def patient():
    def doubled(x):
        """Double what is given."""
        more = x + 1
        return more

    return doubled


REPAIR = Exercise(
    doubled,
    inputs={"a row": {"x": normal("n")}},
    hints=["one", "two", "three"],
    broken=patient(),
    mistakes=[Mistake("as-it-was", "It still adds 1.", wrong=patient())],
)

GIVEN = "def doubled(x):\n    more = x + 1\n    return more\n"
MENDED = GIVEN.replace("+ 1", "* 2")
TOUCHED = GIVEN.replace("return more", "return more * 1")


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(EXERCISES, "doubled", REPAIR)
    broken_source.cache_clear()
    yield
    broken_source.cache_clear()


def graded(*cells):
    """The verdict on cells that need no worker."""
    file = SourceFile(Path("answer.py"), cells)
    submission = Submission("answer", file.path, (file,))
    return Grading(None, submission, REPAIR, Options()).verdict()


def test_broken_code_is_not_attempted_until_it_is_touched():
    assert untouched([GIVEN], "doubled")
    assert untouched(["@exercise\n" + GIVEN], "doubled")
    assert not untouched([MENDED], "doubled")
    assert not untouched([TOUCHED], "doubled")
    assert not untouched([GIVEN.replace("doubled", "other")], "other")
    assert untouched(["def doubled(x): raise NotImplementedError"], "doubled")


def test_a_submission_with_the_broken_code_is_not_attempted():
    assert graded(GIVEN).status == "not_attempted"


def test_the_reference_stands_in_for_an_untouched_repair_in_what_uses_it():
    cells = [GIVEN, "def quadrupled(x):\n    return doubled(doubled(x))\n"]
    cut = cut_out(cells, "quadrupled")
    assert cut.source.startswith("from autograder.parts import doubled\n")
    assert "x + 1" not in cut.source


@pytest.mark.parametrize(
    ("source", "symbol", "words"),
    [
        (GIVEN, "○", "Until you mend it, the reference takes its place"),
        (TOUCHED, "✗", "It still adds 1."),
        (MENDED, "✓", "1 of 1 point"),
    ],
)
def test_the_decorator_tells_untouched_wrong_and_mended(
    source, symbol, words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "cell.py"
    path.write_text("@exercise\n" + source, "utf-8")
    names = {"exercise": autograder.exercise}
    exec(compile(path.read_text("utf-8"), path, "exec"), names)
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(f"{symbol} doubled")
    assert words in said
    assert (names["doubled"] is doubled) == (symbol == "○")
