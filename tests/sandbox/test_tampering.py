"""What a learner's code does to its surroundings touches nobody else."""

import os
import socket
import tempfile
import threading
from pathlib import Path

import pytest
import torch

from autograder import wire
from autograder.sandbox import Job, Stopped, scratch

from .conftest import QUICK, eventually, processes_of

# --- processes --------------------------------------------------------------------

LEFTOVERS = {
    "a child": "if not os.fork(): time.sleep(60)",
    "a child that comes back from the call": "os.fork()",
    "a daemon, forked twice in a session of its own": (
        "if not os.fork():\n"
        "        os.setsid()\n"
        "        if not os.fork(): time.sleep(60)\n"
        "        os._exit(0)"
    ),
    "a chain of orphans": (
        "\n    for _ in range(5):\n"
        "        if os.fork(): break\n"
        "        os.setsid()\n"
        "    else: time.sleep(60)\n"
        "    if os.getpid() != first: time.sleep(0.05); os._exit(0)"
    ),
    "another program": (
        "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)"
    ),
    "a thread": (
        "import threading; threading.Thread(target=time.sleep, args=[60]).start()"
    ),
    "children that ignore every signal": (
        "\n    for number in range(1, 32):\n"
        "        if number not in (9, 19): signal.signal(number, signal.SIG_IGN)\n"
        "    if not os.fork(): time.sleep(60)"
    ),
}


@pytest.mark.parametrize("body", LEFTOVERS.values(), ids=LEFTOVERS)
def test_what_is_left_running_is_ended(lab, body):
    source = f"""
import os, signal, time
first = os.getpid()
def f():
    {body}
    return 1
"""
    assert lab.out(source, calls=3) == 1


def test_a_bomb_of_processes_goes_off_in_its_own_corner(lab):
    source = """
import os, time
def f():
    for _ in range(6):  # 64 of them at most
        try: os.fork()
        except OSError: break
    time.sleep(60)
"""
    assert lab.end(source, wall=0.5).status == "timeout"


def test_the_number_of_processes_is_limited(full):
    source = """
import os, time
def f():
    for number in range(100):
        try:
            if not os.fork(): time.sleep(60)
        except OSError:
            return number
"""
    assert full.out(source, processes=16) < 20


def test_killing_the_parent_ends_at_most_this_exercise(lab):
    source = "import os\ndef f():\n    os.kill(os.getppid(), 9)\n    return 1\n"
    end = lab.end(source)
    assert end.status in {None, "raised", "crashed"}
    if lab.has("process namespace"):
        assert end.status != "crashed"


# Only where the worker sees for itself that it is in a namespace of its own: anywhere
# else this would end every process on the machine.
KILL_ALL = """
import os
def f():
    own = os.readlink("/proc/self/ns/pid")
    if os.getppid() == 1 and own != {outside!r}:
        os.kill(-1, 9)
        return "it was sent"
    return "it was not safe"
"""


def test_killing_everybody_reaches_nobody(full):
    assert full.has("process namespace")
    outside = str(Path("/proc/self/ns/pid").readlink())
    end = full.end(KILL_ALL.format(outside=outside))
    assert end.message.startswith("ProcessLookupError")  # nobody else was there
    assert full.server._process.poll() is None


def test_no_process_outside_is_seen(full):
    source = """
import os
def f():
    return sorted(name for name in os.listdir("/proc") if name.isdigit()), os.getpid()
"""
    seen, own = full.out(source)
    assert seen == ["1", str(own)]


# --- the line ---------------------------------------------------------------------

NO_ANSWERS = {
    "garbage on every descriptor": (
        "\n    for fd in range(20):\n"
        "        try: os.write(fd, b'x' * 100)\n"
        "        except OSError: pass"
    ),
    "a pickle": "import pickle; os.write(3, pickle.dumps(print))",
    "half a frame, then the end": "os.write(3, frame[:10]); os.close(3)",
    "a frame with another number": "os.write(3, frame)",
    "a frame that announces 256 GiB": (
        "os.write(3, struct.pack('<4sIQ', b'TbH1', 10, 1 << 38) + b'1234567890')"
    ),
    "a status that isn't one": "os.write(3, passed)",
}


@pytest.mark.parametrize("body", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_a_forged_answer_is_none(lab, body):
    frame = wire.pack({"id": 77, "reply": {"out": 1}})
    passed = wire.pack({"id": 2, "stopped": ("passed", "well done")})
    source = f"""
import os, struct
frame, passed = {frame!r}, {passed!r}
def f():
    {body}
    return 1
"""
    end = lab.end(source, calls=2)
    assert end.status == "crashed"
    assert end.message == "It sent something that is no answer."


def test_a_forged_frame_is_worth_what_it_says_and_no_more(lab):
    """With the right number it counts as their answer, and the next one is late."""
    forged = wire.pack({"id": 2, "reply": {"out": "forged"}})
    source = f"import os\ndef f():\n    os.write(3, {forged!r})\n    return 1\n"
    assert lab.out(source) == "forged"
    assert lab.end(source, calls=2).status == "crashed"


def test_a_flood_on_the_line_does_not_fill_memory(lab):
    source = """
import os, struct
def f():
    os.write(3, struct.pack("<4sIQ", b"TbH1", 2, 1 << 25) + b"{}")
    while True: os.write(3, bytes(1 << 20))
"""
    assert lab.end(source).status == "crashed"


# --- what is printed --------------------------------------------------------------

FLOODS = {
    "print": "while True: print('x' * 100)",
    "errors": "import sys\n    while True: sys.stderr.write('x' * 100)",
    "raw": "import os\n    while True: os.write(1, bytes(1 << 16))",
    "another program": "import os; os.system('while :; do echo xxxxxxxx; done')",
}


@pytest.mark.parametrize("body", FLOODS.values(), ids=FLOODS)
def test_a_flood_of_output_is_stopped(lab, body):
    end = lab.end(f"def f():\n    {body}\n", output=1 << 16)
    assert end.status == "crashed"
    assert end.message == "It printed more than 65,536 bytes."
    assert 0 < len(end.output) <= 4096


def test_much_output_within_the_limit_blocks_nothing(lab):
    source = "def f():\n    print('x' * 60_000)\n    return 1\n"
    assert lab.out(source) == 1


def test_output_is_kept_and_never_taken_for_an_answer(lab):
    frame = wire.pack({"id": 2, "reply": {"out": "forged"}})
    source = f"""
import os, sys
print("loading")
def f():
    sys.stdout.buffer.write({frame!r})
    print("in the call \\x1b[31m")
    print("a warning", file=sys.stderr)
    return 1
"""
    end = lab.end(source)
    assert end.out == 1
    assert end.output.startswith("loading\n")
    assert end.output.endswith("in the call \N{REPLACEMENT CHARACTER}[31m\na warning\n")


def test_output_before_an_error_comes_with_it(lab):
    end = lab.end("print('so far')\n1 / 0\n")
    assert (end.status, end.output) == ("error", "so far\n")


# --- torch, Python, the inputs ----------------------------------------------------


def test_a_patched_torch_is_patched_for_them_alone(lab):
    source = """
import torch
def yes(*args, **kwargs): return True
torch.allclose = torch.equal = torch.testing.assert_close = yes
torch.Tensor.__eq__ = torch.Tensor.allclose = torch.Tensor.equal = yes
def f(x):
    return x + 1
"""
    out = lab.out(source, args={"x": torch.zeros(2)})
    assert not torch.equal(out, torch.zeros(2))
    assert lab.out("import torch\ndef f():\n    return torch.ones(2)").tolist() == [
        1,
        1,
    ]


def test_inputs_that_they_zero_are_theirs(lab):
    x = torch.ones(3)
    assert lab.out("def f(x):\n    return x.zero_()\n", args={"x": x}).sum() == 0
    assert x.tolist() == [1, 1, 1]


PATCHES = {
    "modules": "import sys; sys.modules.clear()",
    "torch": "import sys; sys.modules['torch'] = sys.modules['json'] = None",
    "builtins": "import builtins; builtins.len = builtins.isinstance = None",
    "json": "import json; json.dumps = lambda *a, **k: '{}'",
    "os": "import os; os.write = os.read = os.getpid = lambda *a: 0",
    "views": "import torch; torch.Tensor.view = lambda *a: 1",
    "frames": "import sys; sys._getframe(1).f_globals.clear()",
    "hooks": "import sys; sys.settrace(lambda *a: 1 / 0); sys.excepthook = None",
    "standard streams": "import sys; sys.stdout = sys.stderr = sys.stdin = None",
}


@pytest.mark.parametrize("body", PATCHES.values(), ids=PATCHES)
def test_a_patched_interpreter_costs_at_most_this_exercise(lab, body):
    import torch

    end = lab.end(f"{body}\ndef f(x):\n    return x\n", args={"x": torch.ones(1)})
    assert end.status in {None, "crashed", "error", "raised"}


def test_what_runs_at_the_end_of_a_process_does_not_run(lab):
    source = """
import atexit, os, sys, time
class Sticky:
    def __del__(self): time.sleep(60)
kept = Sticky()
kept.itself = kept
atexit.register(time.sleep, 60)
os.register_at_fork(after_in_child=lambda: time.sleep(60))
def f():
    return 1
"""
    assert lab.out(source) == 1


@pytest.mark.parametrize("kind", ["CPU", "AS", "FSIZE", "CORE", "NOFILE"])
def test_limits_cannot_be_lifted(lab, kind):
    source = f"""
import resource
def f():
    kind = resource.RLIMIT_{kind}
    resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""
    end = lab.end(source)
    assert end.status == "raised"
    assert end.message.startswith("ValueError: not allowed to raise maximum limit")


# --- files and network ------------------------------------------------------------


def test_the_folder_is_empty_writable_and_gone_afterwards(lab):
    source = """
import os, pathlib, tempfile
def f():
    before = os.listdir()
    pathlib.Path("note").write_text("left behind")
    pathlib.Path("closed/deeper").mkdir(parents=True)
    os.chmod("closed", 0)
    with tempfile.NamedTemporaryFile(delete=False) as file:
        inside = os.path.dirname(file.name) == os.getcwd()
    return before, inside, os.getcwd()
"""
    for _ in range(2):
        before, inside, folder = lab.out(source)
        assert (before, inside) == ([], True)
        assert not Path(folder, "note").exists()


def test_folders_nested_beyond_recursion_are_removed(tmp_path):
    base = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else tmp_path
    top = here = Path(tempfile.mkdtemp(dir=base))
    for _ in range(1200):
        here = here / "d"
        here.mkdir()
    here.parents[600].chmod(0)
    top.chmod(0)
    scratch.remove(str(top))
    assert not top.exists()


def test_a_large_file_is_refused(lab):
    source = """
def f():
    with open("large", "wb") as file:
        file.write(bytes(2 << 20))
"""
    end = lab.end(source, file_size=1 << 20)
    assert end.message.startswith("OSError: [Errno 27] File too large")


@pytest.mark.parametrize("path", ["/outside", "/usr/outside", "/etc/outside"])
def test_everything_outside_the_folder_is_read_only(full, path):
    end = full.end(f"def f():\n    open({path!r}, 'a')\n")
    assert end.message.startswith("OSError: [Errno 30] Read-only file system")


@pytest.mark.parametrize("path", ["/tmp/outside", "/etc/passwd", "/proc/1/mem"])
def test_what_is_not_theirs_cannot_be_written(full, path):
    end = full.end(f"def f():\n    open({path!r}, 'a')\n")
    assert end.status == "raised"


def test_there_is_no_network(full):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        end = full.end(
            f"import socket\ndef f():\n"
            f"    socket.create_connection(('127.0.0.1', {port}), timeout=1)\n"
        )
    assert end.message.startswith("PermissionError: [Errno 1] Operation not permitted")


# --- a server that dies -----------------------------------------------------------


def test_a_server_that_dies_costs_one_exercise(lab):
    job = Job("f", "import time\ndef f():\n    time.sleep(60)\n")
    first = lab.server._process
    with lab.server.worker(job, QUICK) as worker:
        killer = threading.Timer(0.2, first.kill)
        killer.start()
        with pytest.raises(Stopped) as info:
            worker.run("raw", {})
    assert info.value.status == "crashed"
    assert info.value.message == "It took down the process that had started it."
    lab.check_all_is_well()
    assert lab.server._process is not first


def test_a_server_that_is_stopped_costs_one_exercise(lab, monkeypatch):
    monkeypatch.setattr("autograder.sandbox.host.STOP", 0.5)
    if lab.has("own user"):
        pytest.skip("the worker can't reach the server")
    source = "import os, signal\ndef f():\n    os.kill(os.getppid(), signal.SIGSTOP)\n"
    assert lab.end(source).status in {None, "crashed"}
    monkeypatch.undo()


def test_a_server_that_died_between_exercises_costs_none(full):
    base = full.server._base
    full.server._process.kill()
    eventually(lambda: not processes_of(base))
    full.check_all_is_well()
