"""A full and a plain sandbox, and what every test of them asks."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from autograder.probes import PROBES
from autograder.sandbox import PLAIN, Job, Limits, Server, Stopped

QUICK = Limits(wall=5, cpu=4, memory=256 << 20, processes=16)
HIDDEN = Path(torch.__file__).parent / "include"
GOOD = "def double(x):\n    return 2 * x\n"


PROBE = "lambda theirs, x, parts: {'out': theirs(**x)}"  # any value may come back
PROGRAM = f"""
from autograder.probes import PROBES
from autograder.sandbox.server import main
PROBES["raw"] = {PROBE}
main(FD)
"""


class RawServer(Server):
    """A server with one more probe: it calls, and hands over whatever comes."""

    def _command(self, fd):
        return [sys.executable, "-P", "-c", PROGRAM.replace("FD", str(fd))]


@dataclass
class Lab:
    """A server, and short ways to have it run something."""

    server: Server

    def has(self, layer):
        return layer in self.server.isolation

    def end(self, source, calls=1, parts=None, name="f", args=None, **limits):
        """How a job ended.

        The status is Stopped's, "raised" where a call raised what the probe reports, or
        None where each call was answered.
        """
        job = Job(name, source, parts or {})
        try:
            with self.server.worker(job, limited(**limits)) as worker:
                for _ in range(calls):
                    reply = worker.run("raw", args or {})
        except Stopped as end:
            return SimpleNamespace(**vars(end), out=None)
        error = reply.get("error")
        return SimpleNamespace(
            status="raised" if error else None,
            message="{type}: {message}".format(**error) if error else "",
            output=worker.output,
            out=reply.get("out"),
        )

    def out(self, source, **more):
        """The result of calling `f`, which must be one."""
        end = self.end(source, **more)
        assert end.status is None, (end.status, end.message, end.output)
        return end.out

    def check_all_is_well(self):
        """Another exercise is graded as usual, and nothing is left."""
        assert self.out(GOOD, name="double", args={"x": 21}) == 42
        self.check_nothing_is_left()

    def check_nothing_is_left(self):
        """No process and no file remains."""
        assert sys.platform != "linux" or len(self.processes()) == 2
        assert list(Path(self.server._base).iterdir()) == []

    def processes(self):
        """Keeper, server and what came of them: their environment names the base."""
        return processes_of(self.server._base)


def limited(**changes):
    return Limits(**(vars(QUICK) | changes))


def processes_of(base):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            living = "\nState:\tZ" not in (entry / "status").read_text()
            if living and base.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def eventually(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it didn't come about"
        time.sleep(0.01)


@pytest.fixture(scope="session", autouse=True)
def _raw_probe():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PROBES, "raw", None)  # the grader's side asks for its name only
        yield


@pytest.fixture(scope="session", params=["full", "plain"])
def _lab(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRADER_KEY", "a secret")
        without = PLAIN if request.param == "plain" else ()
        with RawServer(hide=[HIDDEN], without=without) as server:
            yield Lab(server)
            base = server._base
    assert processes_of(base) == []
    assert not Path(base).exists()


@pytest.fixture
def lab(_lab, request):
    """Each test leaves the sandbox as it found it, the hostile ones above all."""
    yield _lab
    if request.module.__name__.endswith(("endings", "tampering")):
        _lab.check_all_is_well()
    else:
        _lab.check_nothing_is_left()


@pytest.fixture
def full(lab):
    """For what only an own view of files and processes keeps from happening."""
    if not lab.has("own view of the files"):
        pytest.skip("needs namespaces")
    return lab
