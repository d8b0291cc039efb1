"""What is handed in that is no notebook, or has an odd name."""

import json
import os
import sys

import pytest

from autograder.classroom import grade
from tests.grading.handed_in import SCORES, as_notebook

GOOD = as_notebook(["import torch", SCORES], None)
CELL = GOOD["cells"][1]


def dumped(**changes):
    return json.dumps(GOOD | changes).encode()


def with_cell(**changes):
    return dumped(cells=[CELL | changes])


UNREADABLE = {
    "random": bytes(range(256)) * 8,
    "empty": b" \n",
    "breaks-off": dumped()[:-40],
    "list": b"[]",
    "number": b"1e999",
    "no-cells": b'{"nbformat": 4}',
    "cells-number": dumped(cells=5),
    "cells-null": dumped(cells=None),
    "cells-of-text": dumped(cells=["code", "x = 1"]),
    "cell-without-type": dumped(cells=[{"source": SCORES}]),
    "source-number": with_cell(source=5),
    "source-mixed": with_cell(source=["x = 1", 2]),
    "source-missing": dumped(cells=[{"cell_type": "code"}]),
    "format-1": b'{"nbformat": 1, "cells": {}}',
    "format-3": b'{"nbformat": 3, "worksheets": [null]}',
    "julia": dumped(metadata={"kernelspec": {"language": "julia"}}),
    "deep": b"[" * 200_000 + b"]" * 200_000,
    "deep-object": b'{"cells":' * 100_000 + b"1" + b"}" * 100_000,
    "nul": dumped().replace(b"import", b"im\0port"),
    "utf-16": json.dumps(GOOD).encode("utf-16"),
    "latin-1": dumped().replace(b"import", b"# caf\xe9"),
    "long-number": b'{"cells": ' + b"9" * 10_000 + b"}",
    "web-page": b"<!DOCTYPE html><script>alert(1)</script>",
    "merge": b"<<<<<<< HEAD\n" + dumped(),
}
READABLE = {
    "bom": b"\xef\xbb\xbf" + dumped(),
    "format-99": dumped(nbformat=99, nbformat_minor="x"),
    "same-ids": dumped(cells=[cell | {"id": "c"} for cell in GOOD["cells"]]),
    "outputs-wrong": with_cell(outputs={"a": 1}, execution_count=[]),
    "metadata-wrong": dumped(metadata=[1]),
    "<script>alert(1)</script>": dumped(),
    "a..": dumped(),
    "two\nlines\t\x1b[2J": dumped(),
    "long" * 50: dumped(),
    "\u202eright-to-left": dumped(),
    "=HYPERLINK(1)": dumped(),
    "-rf": dumped(),
}
SPECIAL = ("large", "folder", "pipe", "link", "loop", "device")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The results by submission, and the folder that they were written to."""
    folder, out = tmp_path_factory.mktemp("broken"), tmp_path_factory.mktemp("out")
    for name, data in (UNREADABLE | READABLE).items():
        with (folder / f"{name.replace('/', ':')}.ipynb").open("wb") as file:
            file.write(data)
    make_special(folder)
    grade([folder], out)
    found = json.loads((out / "results.json").read_text("utf-8"))["submissions"]
    return {one["submission"]: one for one in found}, out


def make_special(folder):
    with (folder / "large.ipynb").open("wb") as file:
        file.truncate(100_000_000)
    (folder / "folder.ipynb").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.ipynb")
    (folder / "link.ipynb").symlink_to("/etc/passwd")
    (folder / "loop.ipynb").symlink_to("loop.ipynb")
    (folder / "device.ipynb").symlink_to("/dev/zero")


@pytest.mark.parametrize("name", [*UNREADABLE, *SPECIAL])
def test_what_cannot_be_read_is_said_in_one_line(graded, name):
    results, _ = graded
    result = results.get(name) or results[f"{name}.ipynb"]
    assert (result["exercises"], result["points"]) == ([], 0)
    assert result["error"].isprintable()
    assert 10 < len(result["error"]) < 200


@pytest.mark.parametrize("name", READABLE)
def test_what_can_be_read_is_graded_whatever_it_is_called(graded, name):
    results, _ = graded
    shown = "".join(c if c.isprintable() else "_" for c in name.replace("/", ":"))
    (exercise,) = results[shown]["exercises"]
    assert (exercise["id"], exercise["status"]) == ("attention_scores", "passed")


def test_names_lead_nowhere_and_run_nothing(graded):
    results, out = graded
    pages = list(out.glob("*.html"))
    assert len(pages) >= len(results)
    assert all(page.parent == out and not page.is_symlink() for page in pages)
    assert all(len(page.name) <= 125 and page.name.isprintable() for page in pages)
    assert all("<script>alert" not in page.read_text("utf-8") for page in pages)
    cells = (out / "grades.csv").read_text("utf-8").splitlines()
    assert not [row for row in cells if row.startswith(("=", "-", "@", "+"))]


@pytest.mark.skipif(sys.platform == "win32", reason="a file's name there is tamer")
def test_every_entry_has_a_result(graded):
    results, _ = graded
    assert len(results) == len(UNREADABLE) + len(READABLE) + len(SPECIAL)
