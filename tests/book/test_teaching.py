"""Every command on the instructors' pages is executed, in the order of the pages."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("class", "grades", "large", "results")
TEXTS = {page: (ROOT / "teaching" / f"{page}.md").read_text("utf-8") for page in PAGES}
BLOCKS = [
    (page, number, block)
    for page, text in TEXTS.items()
    for number, block in enumerate(re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S))
]
LONGEST = 300  # seconds that a block may take on a busy machine
PORT = "8786"  # Dask's; another test may have it


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


class Shell:
    """A folder like the project's own, and the blocks that were run in it."""

    def __init__(self, folder):
        self.folder = folder
        self.bin = folder.with_name("bin")
        self.bin.mkdir()
        for name, what in (("autograder", "-m autograder"), ("python", "")):
            path = self.bin / name
            path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {what} "$@"\n')
            path.chmod(0o755)
        self.port = free_port()
        self.done = {}

    def run(self, block):
        """What the block's last command came to; what it left running is ended."""
        beside = Path(sys.executable).parent
        environment = os.environ | {
            "PATH": f"{self.bin}{os.pathsep}{beside}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        }
        process = subprocess.Popen(
            ["bash", "-e", "-o", "pipefail", "-c", block.replace(PORT, self.port)],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=LONGEST)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return process.returncode, output

    def until(self, page, number):
        """The outcome of a block, after all that stand before it."""
        for one, place, block in BLOCKS:
            if (one, place) not in self.done:
                self.done[one, place] = self.run(block)
            if (one, place) == (page, number):
                return self.done[one, place]
        raise LookupError(page, number)


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    folder = tmp_path_factory.mktemp("teaching") / "project"
    folder.mkdir()
    shutil.copytree(ROOT / "examples", folder / "examples")
    return Shell(folder)


@pytest.mark.parametrize(
    ("page", "number", "block"), BLOCKS, ids=[f"{one[0]}-{one[1]}" for one in BLOCKS]
)
def test_commands_of_the_page_do_what_it_says(shell, page, number, block):
    code, output = shell.until(page, number)
    assert code == 0, output
    if "dask" not in block:  # whose programs complain when they are ended
        assert "Traceback" not in output


@pytest.mark.parametrize(
    ("page", "number", "left"),
    [
        ("class", 2, ["key.txt"]),
        ("class", 3, ["graded/results.json", "graded/grades.csv", "graded/ben.html"]),
        ("class", 7, ["graded/class.html"]),
        ("class", 8, ["similar.html"]),
        ("grades", 3, ["moodle.csv"]),
        ("grades", 4, ["canvas.csv", "why.csv"]),
        ("grades", 6, ["autograder.zip"]),
        ("grades", 7, ["gradescope/ben.json", "results.json"]),
        ("grades", 8, ["junit.xml"]),
        ("large", 0, ["by-cluster/results.json"]),
    ],
)
def test_commands_leave_the_files_that_the_page_names(shell, page, number, left):
    shell.until(page, number)
    assert [name for name in left if not (shell.folder / name).is_file()] == []


def test_the_reasons_are_those_of_the_policy_on_the_page(shell):
    _, output = shell.until("grades", 5)
    why = {line.split(",")[0]: line for line in output.splitlines()}
    assert why["Chen Wei"].endswith('3,2.7,"1 day late, 10% off 3 points"')
    assert why["Eli Marchetti"].endswith('"3 days late, too late to count"')
    assert why["Dora Haddad"].endswith("on time")  # by a deadline of her own
    assert why["Gwen Tanaka"].endswith("nothing handed in")


def test_grading_again_changes_nothing(shell):
    shell.until("class", 3)
    before = (shell.folder / "graded" / "results.json").read_bytes()
    shell.until("class", 6)
    assert (shell.folder / "graded" / "results.json").read_bytes() == before


def test_the_costs_are_what_the_formula_gives():
    rows = re.findall(r"^\| ([\d.]+) s \|(.*)\|$", TEXTS["large"], re.M)
    assert len(rows) == 3
    for seconds, cells in rows:
        hours = 100_000 * float(seconds) / 3600
        for cores, cell in zip((1, 2, 16, 64), cells.split("|"), strict=True):
            digits = len(cell.strip().partition(".")[2])
            assert cell.strip() == f"{hours / cores:.{digits}f}"


def test_the_pages_show_what_they_speak_of():
    assert "(results)" in TEXTS["class"]
    statuses = re.findall(r"^\| `(\w+)` \|", TEXTS["class"], re.M)
    from autograder.verdict import STATUSES

    assert set(statuses) == set(STATUSES)
