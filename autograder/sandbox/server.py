"""Inside the process that a `Server` starts: the keeper, and the server that it forks.

The server holds torch, einops and the probes, but nothing that a learner may not find:
what a parent holds its forked children can read. Jobs go from the grader to the worker
past it.
"""

import gc
import os
import resource
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from . import cgroup, control, layers
from .job import Limits
from .layers import Setup
from .scratch import Scratch, remove

OPEN_FILES = 256


def main(fd: int) -> None:
    """Keep the server: fork it, wait for its end, and clear away what it leaves."""
    line = socket.socket(fileno=fd)
    config, _ = control.read(line)
    setup = Setup(**config, number=os.getpid())
    os.umask(0o022)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A namespace's first process is immune to signals that it doesn't handle.
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    if setup.may_have("cgroup"):
        setup.group = cgroup.make(f"autograder-{setup.number}")
        setup.layers += [cgroup.LAYER] if setup.group else []
    if setup.may_have("namespaces"):
        setup.layers += layers.enter_namespaces()
    layers.adopt_orphans()
    with suppress(OSError):  # so that the system takes these first if memory runs out
        Path("/proc/self/oom_score_adj").write_text("500")
    pid = os.fork()
    if pid == 0:
        _serve(line, setup)
    line.close()
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGKILL))
    os.waitpid(pid, 0)
    kill_children()
    if setup.group is not None:
        setup.group.remove()
    remove(setup.base)


def _serve(line: socket.socket, setup: Setup) -> NoReturn:
    try:
        control.write(line, {"isolation": _prepare(setup)})
    except Exception as error:
        control.write(line, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(1)
    nursery = Nursery(setup)
    while True:
        try:
            message, fds = control.read(line)
        except (EOFError, OSError):  # the grader is done, or gone
            nursery.clear()
            os._exit(0)
        alive = None
        try:
            answer, alive = nursery.answer(message, fds)
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        control.write(line, answer, [] if alive is None else [alive])
        if alive is not None:
            os.close(alive)


def _prepare(setup: Setup) -> list[str]:
    """Load what workers need, settle in, and give the layers that they will have."""
    with suppress(OSError):
        layers.die_with_parent()
    setup.layers += layers.adopt_orphans()  # a fork doesn't inherit it
    from . import worker  # torch takes seconds, and must not be there before the fork

    files = worker.warm_up()
    layers.settle(setup, files)
    confined = _rehearsed(setup, files)
    gc.collect()
    gc.freeze()  # the collector would copy pages that are shared with the workers
    return [*confined, *setup.layers]


def _rehearsed(setup: Setup, files: list[str]) -> list[str]:
    """The workers' layers, but for rules of the kernel that Python can't live with."""
    from . import worker

    offered = setup.without
    for more in ([], [layers.SECCOMP], [layers.LANDLOCK], [*layers.RULES]):
        setup.without = [*offered, *more]
        confined = layers.rehearse(lambda: worker.try_out(setup, files))
        if confined is not None:
            return list(confined)
    raise OSError("a worker can't be given limits here")


@dataclass
class Nursery:
    """Forks workers, one at a time, and sees that nothing is left of them."""

    setup: Setup
    pid: int | None = None
    folder: str = ""

    def __post_init__(self) -> None:
        own_view = self.setup.has("own view of the files")
        self.scratch = Scratch(None if own_view else self.setup.base)

    def answer(
        self, message: dict[str, Any], fds: list[int]
    ) -> tuple[dict[str, Any], int | None]:
        """The answer, and a descriptor by which a worker's end is seen."""
        if "fork" in message:
            answer = self.fork(Limits(**message["fork"]), fds)
            return answer, _seen_to_end(answer["pid"])
        return self.stop(message["stop"]), None

    def fork(self, limits: Limits, fds: list[int]) -> dict[str, Any]:
        from . import worker

        self.folder = self.scratch.make(4 * limits.file_size, self.setup.uid)
        for name in ("HOME", "TMPDIR"):
            os.environ[name] = self.folder
        self.pid = os.fork()
        if self.pid == 0:
            worker.main(self.setup, limits, self.folder, *fds)
        if self.setup.group is not None:  # before the job comes
            self.setup.group.hold(self.pid, limits.memory + cgroup.MORE)
        for fd in fds:
            os.close(fd)
        return {"pid": self.pid}

    def stop(self, grace: float) -> dict[str, Any]:
        """End the worker and all that it started; say how it ended."""
        end: dict[str, Any] = {}
        if self.pid is not None:
            end = _end(self.pid, grace)
            if self.setup.group is not None:
                end["overflowed"] = self.setup.group.has_overflowed()
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self.pid = None
        self.clear()
        return end

    def clear(self) -> None:
        if self.setup.has("process namespace") and os.getpid() == 1:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # everything in the namespace but itself
        kill_children()
        if self.folder:
            self.scratch.remove(self.folder)
            self.folder = ""


def _seen_to_end(pid: int) -> int | None:
    """A descriptor that is ready once the process has ended; None where there is no
    such thing."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None


def _end(pid: int, grace: float) -> dict[str, Any]:
    """Kill the child, unless it ends by itself within the grace; how it ended."""
    deadline = time.monotonic() + grace
    ended, status, usage = os.wait4(pid, os.WNOHANG)
    while not ended and time.monotonic() < deadline:
        time.sleep(0.001)
        ended, status, usage = os.wait4(pid, os.WNOHANG)
    if not ended:
        os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    return {"by_itself": bool(ended), "code": code, "cpu": cpu}


def kill_children() -> None:
    """Kill and reap children until none is left: orphans come to this process."""
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for pid in layers.children():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.0005)
