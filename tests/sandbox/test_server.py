"""The server: what it reports, how it starts, and that it goes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import SandboxError, Server, host

from .conftest import eventually, processes_of

ROOT = Path(__file__).parents[2]

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_what_every_unix_has_is_there(lab):
    assert {"session", "time limit", "file size limit"} <= set(lab.server.isolation)


def test_plain_does_without_namespaces_and_another_user(lab):
    more = {"own user", "own view of the files", "process namespace"}
    assert not lab.server.plain or not more & set(lab.server.isolation)


def test_the_full_one_reports_each_layer_once(lab):
    assert len(set(lab.server.isolation)) == len(lab.server.isolation)


def test_it_cannot_start_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(SandboxError, match=r"doesn't start: .*No such file") as info:
        Server().__enter__()
    assert "\n" not in str(info.value)


def test_a_python_without_torch_is_said(monkeypatch):
    monkeypatch.setitem(host.FIXED, "PYTHONHOME", "/nowhere")
    with pytest.raises(SandboxError, match="doesn't start"):
        Server().__enter__()


def test_a_failed_start_leaves_no_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(SandboxError):
        Server().__enter__()
    assert list(tmp_path.iterdir()) == []


KILLED = """
from autograder.sandbox import *
source = "import os, time\\nif not os.fork(): time.sleep(60)\\ndef f(): time.sleep(60)"
with Server(plain={plain}) as server, server.worker(Job("f", source)) as worker:
    print(server._base, flush=True)
    worker.run("call", {{"args": {{}}}})
"""


@linux
@pytest.mark.parametrize("plain", [False, True])
def test_a_grader_that_is_killed_leaves_nothing_running(plain):
    grader = subprocess.Popen(
        [sys.executable, "-c", KILLED.format(plain=plain)],
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
job = Job("f", "import os\\ndef f(): return os.getuid(), os.listdir()")
with Server() as server, server.worker(job) as worker:
    assert worker.run("call", {"args": {}})["out"] == (os.getuid(), []), worker.output
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
