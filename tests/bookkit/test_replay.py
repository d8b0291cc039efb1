"""nbval on what the book's own run gave: the same verdicts, and nothing is run."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from rich.progress import Progress

from bookkit.build import fill_cache
from bookkit.replay import executed

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "bookkit" / "jupyter"


def stored(path, first, said):
    """Write a notebook of two cells, the second one stored with this output."""
    printed = new_output("stream", name="stdout", text=said)
    cells = [
        new_code_cell(f"n = {first}", execution_count=1),
        new_code_cell("print(n)", execution_count=2, outputs=[printed]),
    ]
    path.parent.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=cells), path)
    return path


@pytest.fixture
def chapters(tmp_path):
    folder = tmp_path / "chapters"
    right, other = stored(folder / "0.ipynb", 1, "1\n"), folder / "1.ipynb"
    stored(other, 2, "3\n")
    with Progress(disable=True) as progress:
        assert not fill_cache(tmp_path, [right, other], progress)
    stored(folder / "2.ipynb", 5, "5\n")  # which the book has not run
    return folder


def test_outputs_are_compared_and_nothing_is_run(chapters):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--nbval",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, "--nbval-kernel-name", "replay", str(chapters)],
        env=os.environ | {"JUPYTER_PATH": str(KERNELS), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    told = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert len(told) == 3, done.stdout
    assert "1.ipynb::Cell 1" in told[0]  # another output than the stored one
    assert "3 passed" in done.stdout
    assert "2.ipynb wasn't run: make book" in done.stdout


def test_each_chapter_begins_with_a_cell_of_its_own():
    firsts = []
    for path in (ROOT / "chapters").glob("*.ipynb"):
        code = [c for c in nbformat.read(path, 4).cells if c.cell_type == "code"]
        firsts.append(code[0].source)
    assert len(set(firsts)) == len(firsts)


def test_an_unknown_cell_is_an_error(chapters):
    with pytest.raises(LookupError, match="no notebook here"):
        executed(chapters, "n = 7")
