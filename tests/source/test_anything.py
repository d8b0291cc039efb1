"""Whatever is handed in: a reading, or one of the two errors that say why not."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.source import (
    BrokenCell,
    UnreadableError,
    defined_names,
    is_stub,
    read_file,
    slice_for,
)

CELLS = [
    "import math, json\nfrom functools import partial as part\n%matplotlib inline",
    "class Base:\n    def run(self, x=1):\n        return [x for x in range(x)]\n",
    "@part(exercise)\ndef f(x, *rest, scale: int = 2, **words) -> 'text':\n"
    '    """Doc."""\n    global calls\n    calls += 1\n    return g(x) * scale',
    "class f(Base):\n    size = 3\n    run = lambda self: super().run(f'{size!r}')",
    "%%time\ntable = {}\nfor i in range(3):\n    table[i] = i\nelse:\n    del table[0]",
    "try:\n    g = math.sqrt\nexcept* (ValueError, OSError) as error:\n    raise\n",
    "match table:\n  case {0: f, **rest} if rest:\n    pass\n  case [g, *_]: 0",
    "with open('x') as file, file: f = (y := 3); f.x[0] += y; print(f)\n!ls",
    "async def g(): await f; return [z async for z in f]\nsetattr(f, 'x', g)\nf?",
]
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell}
            for cell in CELLS
        ],
        "metadata": {
            "autograder": {"chapter": 2},
            "kernelspec": {"language": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    },
    ensure_ascii=False,
)
OFTEN = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def mangled(draw, text):
    """The text with some stretches cut out, doubled, moved or overwritten."""
    pieces = "{}[]()\"\\'#:;,\n\t%!?=\0é\ud800 def class if else lambda f x 0 null ."
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 40)))
        middle = text[start:stop]
        new = draw(st.sampled_from(["", middle * 2, middle[::-1], None]))
        if new is None:
            new = draw(st.text(pieces, max_size=6))
        text = text[:start] + new + text[stop:]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


def is_one_line(message):
    assert message.isprintable()


def read_all(cells):
    """Read cells in every way; BrokenCell alone may come out."""
    names = defined_names(cells)
    assert len(names) == len(set(names))
    for name in ("f", "g", "table", "Base"):
        is_stub(cells, name)
        try:
            cut = slice_for(cells, name)
        except BrokenCell as broken:
            is_one_line(str(broken))
        else:
            assert cut is None or cut.source.count("\n") == len(cut.line_map)


@OFTEN
@given(text=mangled(NOTEBOOK))
def test_mangled_notebook_is_read_or_refused(text, tmp_path):
    path = tmp_path / "mangled.ipynb"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        file = read_file(path)
    except UnreadableError as problem:
        is_one_line(str(problem))
    else:
        read_all(file.cells)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "source", "metadata", "autograder", "chapter"]),
            inner,
        )
    ),
    max_leaves=6,
)


@OFTEN
@given(data=st.data())
def test_notebook_with_any_value_anywhere_is_read_or_refused(data, tmp_path):
    notebook = json.loads(NOTEBOOK)
    inner = [notebook, notebook["metadata"], notebook["metadata"]["autograder"]]
    target = data.draw(st.sampled_from([*inner, *notebook["cells"], notebook["cells"]]))
    keys = list(range(len(target)) if isinstance(target, list) else target)
    target[data.draw(st.sampled_from(keys))] = data.draw(JSON)
    path = tmp_path / "odd.ipynb"
    path.write_text(json.dumps(notebook))
    try:
        read_all(read_file(path).cells)
    except UnreadableError as problem:
        is_one_line(str(problem))


@OFTEN
@given(code=mangled("\n".join(CELLS)), number=st.integers(0, len(CELLS)))
def test_mangled_code_is_cut_or_refused(code, number):
    read_all([*CELLS[:number], code, *CELLS[number:]])


@OFTEN
@given(data=st.binary(max_size=60), ending=st.sampled_from([".py", ".ipynb"]))
def test_any_bytes_are_read_or_refused(data, ending, tmp_path):
    path = tmp_path / f"bytes{ending}"
    path.write_bytes(data)
    try:
        read_all(read_file(path).cells)
    except UnreadableError as problem:
        is_one_line(str(problem))


PROGRAM = [
    "import math",
    "from functools import reduce",
    "scale = 3",
    "def double(x):\n    return 2 * x",
    "table = {}",
    "for i in range(5):\n    table[i] = double(i)",
    "table.update({9: reduce(max, [1, 2])})",
    "class Base:\n    factor = double(scale)",
    "class Part(Base):\n  def __init__(self, n=scale):\n    self.n = n + helper()",
    "Part.total = lambda self: self.n + self.factor + table[4] + len(table)",
    "def helper():\n    return math.floor(offset + 0.5)",
    "offset = (lambda: 10)()",
    "def traced(function):\n    return lambda *args: function(*args) + 1",
    "@traced\ndef answer(extra=len(table)):\n    return Part().total() + extra",
]
SCRATCH = [
    "%matplotlib inline",
    "print(answer())\nraise RuntimeError('not needed')",
    "for step in range(3):\n    loss = answer() / 0",
    "def broken(:",
    "scale?",
    "x = [scale for scale in range(3)]",
]


def answer_of(cells):
    cut = slice_for(cells, "answer")
    namespace = {"__name__": "submission"}
    exec(compile(cut.source, "<slice>", "exec"), namespace)
    return namespace["answer"](6)


@OFTEN
@given(
    cells=st.permutations(PROGRAM),
    scratch=st.lists(st.tuples(st.sampled_from(SCRATCH), st.integers(0, 14))),
)
def test_cells_may_stand_in_any_order_with_scratch_between(cells, scratch):
    for cell, place in scratch:
        cells.insert(place, cell)
    assert answer_of(cells) == answer_of(PROGRAM) == 40


@OFTEN
@given(data=st.data())
def test_cells_may_be_joined_and_doubled(data):
    cells = list(PROGRAM)
    for _ in range(data.draw(st.integers(0, 8))):
        place = data.draw(st.integers(0, len(cells) - 2))
        cells[place : place + 2] = ["\n\n".join(cells[place : place + 2])]
        if len(cells) == 1:
            break
    cells += data.draw(st.sampled_from([[], cells, cells[-2:], cells[-1:]]))
    assert answer_of(cells) == 40


def test_one_cell_of_many_lines_is_the_same_as_many_cells():
    assert answer_of(["\n".join(PROGRAM)]) == 40


@pytest.mark.parametrize("missing", range(len(PROGRAM)))
def test_every_cell_of_the_program_is_needed(missing):
    """Else the tests above would show less than they seem to."""
    cells = PROGRAM[:missing] + PROGRAM[missing + 1 :]
    if missing == len(cells):
        assert slice_for(cells, "answer") is None
        return
    try:
        assert answer_of(cells) != 40
    except (NameError, AttributeError, KeyError):
        pass
