"""Real notebooks, mutated at random: each is read and cut, or refused in one line.

`AUTOGRADER_FUZZ=10000 pytest tests/source/test_fuzzed.py` tries that many of them.
"""

import json
import os
import random
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.borrowing import hands_in_the_part
from autograder.cutting import cut_out
from autograder.grading import asked_for
from autograder.source import (
    BrokenCell,
    Submission,
    UnreadableError,
    defined_names,
    is_stub,
    read_file,
)

ROOT = Path(__file__).parents[2]
MANY = settings(
    max_examples=int(os.environ.get("AUTOGRADER_FUZZ", "400")),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SEEDS = st.integers(0, 2**63)
#: What takes the place of a value in a notebook, whatever that was.
VALUES = (
    *(None, True, False, 0, -1, 1, 2, 3, 99, 10**400, 1e400, float("nan"), 0.5),
    *("", "x", "\0", "\ud800", "\ufeff", "code", "def f(:", "\\", "%%time\n", "!ls"),
    *([], {}, [[]], [{}], [None], ["x", 1], {"": ""}, {"cells": []}),
    *("x = " + "[" * 300, "(" * 90 + ")" * 90, "a." * 2000 + "a", "-" * 3000 + "1"),
    *("lambda: " * 200 + "0", "if 1:\n" * 3, "\tdef f(x):\n return x\n", "\x0c\x1c"),
)
PIECES = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"\\",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\r",
        b",",
    ),
    *(
        b"\\u0000",
        b"\\ud800",
        b"null",
        b"1e999",
        b"NaN",
        b"def ",
        b"\\n",
        b"    ",
        b"=",
    ),
    *(b"lambda ", b"class ", b"@", b"'''", b"\\t", b"%%", b"from x import *\\n", b":"),
)


@cache
def notebooks():
    """The chapters and the examples, without what they print."""
    paths = [*ROOT.glob("chapters/*.ipynb"), *ROOT.glob("examples/**/*.ipynb")]
    whole = [path for path in sorted(paths) if path.name != "finn.ipynb"]  # breaks off
    read = [json.loads(path.read_text("utf-8")) for path in whole]
    for notebook in read:
        for cell in notebook["cells"]:
            cell.get("outputs", []).clear()
    return read


def excerpt(draw):
    """A few cells of one of them that follow each other, those with code mostly."""
    notebook = draw.choice(notebooks())
    start = draw.randrange(len(notebook["cells"]))
    kept = [
        cell
        for cell in notebook["cells"][start : start + draw.randint(1, 20)]
        if cell["cell_type"] == "code" or draw.random() < 0.2
    ]
    return copied(notebook | {"cells": kept})


def copied(value):
    return json.loads(json.dumps(value))


def containers(node):
    """Every list and dictionary in a notebook that isn't empty."""
    inner = node.values() if isinstance(node, dict) else node
    found = [node] if inner else []
    for value in inner:
        if isinstance(value, dict | list):
            found += containers(value)
    return found


def restructured(notebook, draw):
    """Some of its values deleted, replaced, doubled or put somewhere else."""
    for _ in range(draw.randint(1, 5)):
        places = containers(notebook)
        if not places:
            break
        place = draw.choice(places)
        key = draw.choice(list(place) if isinstance(place, dict) else range(len(place)))
        match draw.randrange(4):
            case 0:
                del place[key]
            case 1:
                place[key] = copied(draw.choice(VALUES))
            case 2:
                place[key] = copied(draw.choice(places))
            case 3 if isinstance(place, list):
                place.insert(key, copied(place[key]))
            case _:
                place[key] = [place[key]]
    return notebook


def garbled(data, draw):
    """Some of its bytes cut out, doubled, moved or overwritten."""
    for _ in range(draw.randint(1, 6)):
        start = draw.randrange(len(data) + 1)
        stop = start + draw.choice([0, 1, 1, 4, 40, 400])
        piece = draw.choice([b"", draw.choice(PIECES), data[start:stop] * 2, None])
        if piece is None:
            piece = bytes([draw.randrange(256)])
        data = data[:start] + piece + data[stop:]
    return data if draw.random() < 0.9 else data[: draw.randrange(len(data) + 1)]


def is_one_line(problem):
    assert str(problem).isprintable()


def check(path):
    """Reading and cutting it raises nothing but what is said in one line."""
    try:
        file = read_file(path)
    except UnreadableError as problem:
        is_one_line(problem)
        return
    wanted = asked_for(Submission("fuzzed", path, (file,)))
    for name in [*wanted[:4], *defined_names(file.cells)[:4]]:
        is_stub(file.cells, name)
        try:
            cut = cut_out(file.cells, name)
        except BrokenCell as problem:
            is_one_line(problem)
        else:
            assert cut is None or isinstance(hands_in_the_part(cut.source, name), bool)


@MANY
@given(seed=SEEDS)
def test_notebook_with_other_structure_is_read_or_refused(seed, tmp_path):
    draw = random.Random(seed)
    path = tmp_path / "fuzzed.ipynb"
    path.write_text(json.dumps(restructured(excerpt(draw), draw)), "utf-8")
    check(path)


@MANY
@given(seed=SEEDS)
def test_notebook_with_other_bytes_is_read_or_refused(seed, tmp_path):
    draw = random.Random(seed)
    path = tmp_path / "fuzzed.ipynb"
    path.write_bytes(garbled(json.dumps(excerpt(draw)).encode(), draw))
    check(path)


@MANY
@given(seed=SEEDS)
def test_script_with_other_bytes_is_read_or_refused(seed, tmp_path):
    draw = random.Random(seed)
    cells = ["".join(cell["source"]) for cell in excerpt(draw)["cells"]]
    path = tmp_path / "fuzzed.py"
    path.write_bytes(garbled("\n".join(cells).encode(), draw))
    check(path)
