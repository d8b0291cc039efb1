"""The server: what it reports, how it starts, and that it goes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import PLAIN, SandboxError, Server, host

from .conftest import Lab, RawServer, eventually, processes_of

ROOT = Path(__file__).parents[2]

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_what_every_unix_has_is_there(lab):
    assert {"session", "time limit", "file size limit"} <= set(lab.server.isolation)


def test_what_is_left_out_is_not_there(lab):
    more = {"own user", "own view of the files", "process namespace"}
    assert not lab.server.without or not more & set(lab.server.isolation)


@pytest.fixture
def user_only():
    """As root in an ordinary container: another user, but no namespaces."""
    with RawServer(without=["namespaces"]) as server:
        if "own user" not in server.isolation:
            pytest.skip("needs root, and a Python that others can read")
        yield Lab(server)


def test_another_user_alone_protects_the_server_and_files(user_only):
    source = """
import os, tempfile
def f():
    for kind, action in {
        "kill the server": lambda: os.kill(os.getppid(), 9),
        "write to /etc": lambda: open("/etc/passwd", "a"),
        "list the base": lambda: os.listdir(os.path.dirname(os.getcwd())),
    }.items():
        try:
            action()
        except PermissionError:
            continue
        return kind
    with tempfile.NamedTemporaryFile(delete=False) as file:
        return os.path.exists(file.name)
"""
    assert user_only.out(source) is True
    user_only.check_all_is_well()


def test_the_full_one_reports_each_layer_once(lab):
    assert len(set(lab.server.isolation)) == len(lab.server.isolation)


def test_it_cannot_start_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(SandboxError, match=r"doesn't start: .*No such file") as info:
        Server().__enter__()
    assert "\n" not in str(info.value)


def test_a_torch_that_does_not_load_is_said(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('no libtorch')")
    path = [str(tmp_path), str(ROOT)]
    monkeypatch.setattr(host, "_import_path", lambda: path)
    with pytest.raises(SandboxError, match="doesn't start: ImportError: no libtorch"):
        Server().__enter__()


def test_a_python_that_does_not_start_is_said(monkeypatch):
    monkeypatch.setitem(host.FIXED, "PYTHONHOME", "/nowhere")
    with pytest.raises(SandboxError, match="the sandbox doesn't start") as info:
        Server().__enter__()
    assert "\n" not in str(info.value)


class Ended(RawServer):
    """Some of the processes that it starts are killed before they have said a word."""

    def __init__(self, times):
        super().__init__()
        self.times, self.starts = times, 0

    def _launch(self, errors):
        super()._launch(errors)
        self.starts += 1
        if self.starts <= self.times:
            self._process.kill()


def test_one_that_is_killed_as_it_starts_is_started_again(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Ended(times=1) as server:
        Lab(server).check_all_is_well()
    assert server.starts == 2
    assert list(tmp_path.iterdir()) == []


def test_one_that_was_begun_is_waited_for_when_it_is_needed():
    server = Ended(times=0)
    server.begin()
    with server:
        Lab(server).check_all_is_well()
    assert server.starts == 1


def test_one_that_could_not_be_begun_is_told_when_it_is_needed(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    server = Server()
    server.begin()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SandboxError, match="/no/such/python"):
        server.__enter__()


def test_one_that_is_always_killed_is_started_twice(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    server = Ended(times=9)
    with pytest.raises(SandboxError, match="doesn't start: it was ended twice"):
        server.__enter__()
    assert server.starts == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise ImportError('no torch')", "no torch"),
        ("import time; time.sleep(60)", "timed out"),
    ],
    ids=["it says why not", "it takes too long"],
)
def test_one_that_would_fail_again_is_started_once(monkeypatch, program, why):
    monkeypatch.setattr(host, "START", 1.0)
    monkeypatch.setattr(host, "STOP", 0.1)
    server = Ended(times=0)
    monkeypatch.setattr(server, "_command", lambda fd: [sys.executable, "-c", program])
    with pytest.raises(SandboxError, match=why):
        server.__enter__()
    assert server.starts == 1


def test_a_failed_start_leaves_no_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(SandboxError):
        Server().__enter__()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_start_leaves_no_folder(monkeypatch, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(host.control, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Server().__enter__()
    assert list(tmp_path.iterdir()) == []


KILLED = """
from autograder.sandbox import *
from tests.sandbox.conftest import PROBES, RawServer
PROBES["raw"] = None
source = "import os, time\\nif not os.fork(): time.sleep(60)\\ndef f(): time.sleep(60)"
with RawServer(without={without}) as server, server.worker(Job("f", source)) as worker:
    print(server._base, flush=True)
    worker.run("raw", {{}})
"""


@linux
@pytest.mark.parametrize("without", [(), PLAIN], ids=["full", "plain"])
def test_a_grader_that_is_killed_leaves_nothing_running(without):
    grader = subprocess.Popen(
        [sys.executable, "-c", KILLED.format(without=without)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    base = grader.stdout.readline().strip()
    try:
        assert len(processes_of(base)) == 4  # keeper, server, worker and its child
    finally:
        grader.kill()
        grader.communicate()
    eventually(lambda: not processes_of(base) and not Path(base).exists())


TELL = """
import os
from autograder.sandbox import *
from tests.sandbox.conftest import PROBES, RawServer
PROBES["raw"] = None
job = Job("f", "import os\\ndef f(): return os.getuid(), os.listdir()")
with RawServer() as server, server.worker(job) as worker:
    assert worker.run("raw", {})["out"] == (os.getuid(), []), worker.output
    print(*server.isolation, sep="\\n")
"""
OPENED = """
mount --bind {python} /mnt && mount -t tmpfs -o mode=755 none {closed} &&
mkdir -p {python} && mount --bind /mnt {python} && umount /mnt && {then}
"""


def as_user(command):
    """The command as an ordinary user, who can also read a Python in root's home."""
    python = Path(sys.base_prefix)
    closed = [p for p in python.parents if not p.stat().st_mode & 0o001]
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    if not closed:
        return user
    opened = OPENED.format(python=python, closed=closed[-1], then='exec "$@"')
    return ["unshare", "--mount", "sh", "-c", opened, "sh", *user]


@linux
@pytest.mark.skipif(os.getuid() != 0, reason="every other test is by an ordinary user")
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs util-linux")
def test_an_ordinary_user_has_namespaces_too():
    told = subprocess.run(
        as_user([sys.executable, "-c", TELL]),
        capture_output=True,
        text=True,
        cwd="/",
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": "/tmp"},
    )
    if "user namespace" not in told.stdout:
        pytest.skip(f"not possible here: {told.stderr or told.stdout}")
    expected = {"process namespace", "own view of the files", "process limit"}
    assert expected <= set(told.stdout.splitlines())
