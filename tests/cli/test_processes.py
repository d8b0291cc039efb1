"""The commands as they are run: real processes, real chapters, real answers."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from autograder.registry import EXERCISES
from tests.cli.conftest import ANSWER, write

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "autograder"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
NAME = "attention_scores"


def autograder(*words, cwd, code=0):
    """Run a command as a shell would; its standard output."""
    done = subprocess.run(
        [*COMMAND, *words],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def solve(path):
    """Write an answer into a chapter's stub, as a learner does."""
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if source.startswith("@exercise") and f"def {NAME}(" in source:
            cell["source"] = source.replace(
                "raise NotImplementedError", "return Q @ K.mT / K.shape[-1] ** 0.5"
            )
    path.write_text(json.dumps(notebook), "utf-8")


def test_a_learners_way_from_start_to_reset(tmp_path):
    autograder("start", cwd=tmp_path)
    book = tmp_path / "workbook"
    chapter = book / "02_attention.ipynb"
    solve(chapter)
    mine = chapter.read_bytes()
    checked = autograder("check", chapter.name, cwd=book)
    assert f"✓ {NAME} · right" in checked
    assert "Kept as your part" in checked
    assert "1 of" in autograder("progress", cwd=tmp_path)
    assert "has your work; left alone" in autograder("start", cwd=tmp_path)
    assert chapter.read_bytes() == mine
    autograder("reset", NAME, cwd=book)
    listed = autograder("list", cwd=book).splitlines()
    assert [line.split()[0] for line in listed] == list(EXERCISES)
    assert all(line.endswith("open") for line in listed)


def test_help_loads_no_torch(tmp_path):
    code = (
        "import sys; sys.argv = ['autograder', '--help']\n"
        "import autograder.cli as c\n"
        "try: c.main()\n"
        "except SystemExit: sys.exit('torch' in sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, check=True
    )


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    listing = subprocess.Popen(
        [*COMMAND, "list"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    listing.stdout.close()
    assert listing.stderr.read() == b""
    listing.wait()


@pytest.mark.skipif(os.name == "nt", reason="signals are sent to a process of its own")
def test_watch_sees_a_save_and_ends_with_ctrl_c(tmp_path):
    path = write(tmp_path / "mine.ipynb", "import torch")
    watching = subprocess.Popen(
        [*COMMAND, "watch", path.name],
        cwd=tmp_path,
        env=ENVIRONMENT | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    guard = threading.Timer(300, watching.kill)  # so that a fault is no endless wait
    guard.start()
    lines = iter(watching.stdout.readline, "")
    assert any("Watching mine.ipynb" in line for line in lines)
    write(path, "from autograder import exercise", ANSWER)
    assert any("── saved at" in line for line in lines)
    assert any(f"✓ {NAME} · right" in line for line in lines)
    watching.send_signal(signal.SIGINT)
    rest, errors = watching.communicate()
    guard.cancel()
    assert rest.endswith("Stopped watching.\n")
    assert (watching.returncode, errors) == (0, "")


def test_text_that_the_terminal_cannot_show_is_no_error(tmp_path):
    done = subprocess.run(
        [*COMMAND, "list"],
        cwd=tmp_path,
        env=ENVIRONMENT | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
