"""A grader that is really killed, at several moments, has lost nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.classroom.processes import Processes
from autograder.classroom.workers import Died
from tests.grading.handed_in import PROJECT, SCORES, script
from tests.grading.here import grade
from tests.grading.pretended import files
from tests.sandbox.conftest import processes_of

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def eventually(condition, grader=None):
    """Wait for it, as long as it may take on a busy machine."""
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline, "it didn't come about"
        assert grader is None or grader.poll() is None, grader.communicate()
        time.sleep(0.01)


class Killing:
    """Runs the same command again and again, and ends it at some moment."""

    def __init__(self, folder):
        self.out, self.temporary = folder / "out", folder / "temporary"
        self.temporary.mkdir()
        self.command = [sys.executable, "-m", "autograder", "grade"]
        self.command += [str(folder / "class"), "--out", str(self.out), "--jobs", "1"]

    def start(self):
        """The grader, which leads a process group as from a shell."""
        more = {"PYTHONPATH": str(ROOT), "TMPDIR": str(self.temporary)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            self.command,
            env=os.environ | more,
            start_new_session=True,
            encoding="utf-8",
            **pipes,
        )

    def until(self, moment):
        grader = self.start()
        eventually(moment, grader)
        return grader

    def kill(self, grader):
        """As `kill -9` does, and see that nothing goes on."""
        grader.kill()
        grader.communicate()
        eventually(lambda: not processes_of(str(self.temporary)))

    def records(self):
        return {path.name: path.stat().st_ino for path in self._records()}

    def _records(self):
        return (self.out / "submissions").glob("*.json")


def test_killed_at_any_moment_it_goes_on_to_the_same_bytes(tmp_path):
    (tmp_path / "class").mkdir()
    for name in ("ada", "ben", "chen", "dora"):
        script(tmp_path / "class", name, SCORES, PROJECT)
    run = Killing(tmp_path)

    # as its worker begins
    run.kill(run.until(lambda: list(run.temporary.glob("autograder-*"))))
    assert not run.records()

    # by Ctrl-C, once something is graded
    grader = run.until(run.records)
    os.killpg(grader.pid, signal.SIGINT)
    told, complaint = grader.communicate()
    assert (told, grader.returncode) == ("", 130)
    assert complaint.startswith("autograder: stopped; ")
    assert complaint.count("\n") == 1
    eventually(lambda: not processes_of(str(run.temporary)))
    assert not list(run.temporary.iterdir())
    kept = run.records()

    # in the middle, its worker first
    if len(kept) < 3:
        grader = run.until(lambda: len(run.records()) > len(kept))
        for pid in processes_of(str(run.temporary)):
            if pid != grader.pid:
                os.kill(pid, signal.SIGKILL)
        run.kill(grader)
        assert kept.items() <= run.records().items()
        kept = run.records()

    told, complaint = (grader := run.start()).communicate()
    assert (complaint, grader.returncode) == ("", 0)
    assert f"4 submissions graded, {len(kept)} of them before" in told
    assert kept.items() <= run.records().items()  # not written anew
    assert not list(run.temporary.iterdir())

    grade([tmp_path / "class"], tmp_path / "whole")
    assert files(run.out) == files(tmp_path / "whole")


def test_a_process_that_is_killed_costs_what_it_was_at(tmp_path):
    with Processes(2, str(tmp_path)) as workers:
        first = workers.submit(os.getpid).result()
        with pytest.raises(Died, match="killed"):
            workers.submit(os.kill, 0, signal.SIGKILL).result()
        with pytest.raises(ZeroDivisionError):
            workers.submit(divmod, 1, 0).result()
        assert workers.submit(abs, -1).result() == 1
        last = workers.submit(os.getpid).result()
    assert first != last
    for pid in (first, last):
        assert not Path(f"/proc/{pid}").exists()
