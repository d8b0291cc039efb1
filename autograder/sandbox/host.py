"""The grader's end: a `Server` is started, asked for workers, and started again."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from . import control, scratch
from .control import ServerDied
from .job import Job, Limits, SandboxError
from .rpc import Worker

ROOT = Path(__file__).parents[2]
START, ANSWER = 120.0, 30.0  # seconds to import torch, and to fork or end a worker
KEPT = ["PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT"]
FIXED = {
    "CUDA_VISIBLE_DEVICES": "",
    "LOGNAME": "learner",  # torch may ask who one is, and the user have no name
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}


class Server:
    """A process that forks workers, one at a time. Each job slot has one of its own.

    `hide` are folders that no worker may see, beside the project's own. `plain` does
    without what only Linux has. `isolation` says what was achieved.
    """

    def __init__(self, hide: Sequence[Path] = (), plain: bool = False) -> None:
        self.hide = [*hide, *project_folders()]
        self.plain = plain
        self.isolation: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._base = ""

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def worker(self, job: Job, limits: Limits | None = None) -> Iterator[Worker]:
        """A worker that has loaded the job. Raises Stopped where it can't."""
        worker = Worker(self, job, limits or Limits())
        try:
            worker.start()
            yield worker
        finally:
            worker.close()

    def fork(self, limits: Limits, fds: list[int]) -> None:
        """Have a worker forked that holds these descriptors: its line, its output."""
        for again in (False, True):
            try:
                if self._line is None:
                    self._start()
                self._ask({"fork": asdict(limits)}, fds)
                return
            except ServerDied as error:  # a learner's code has taken it down: once more
                if again:
                    raise SandboxError(f"the sandbox doesn't run: {error}") from error

    def end_worker(self, grace: float) -> dict[str, Any]:
        """End the worker and its like; how it ended. Raises ServerDied."""
        return self._ask({"stop": grace})

    def close(self) -> None:
        """End the server and whatever it has started."""
        if self._line is not None:
            self._line.close()  # by which the server learns that it is to end
            self._line = None
        if self._process is not None:
            try:
                self._process.wait(ANSWER)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._base:
            scratch.remove(self._base)
            self._base = ""

    def _ask(
        self, message: dict[str, Any], fds: Sequence[int] = (), seconds: float = ANSWER
    ) -> dict[str, Any]:
        if self._line is None:
            raise ServerDied("it isn't running")
        try:
            self._line.settimeout(seconds)
            control.write(self._line, message, fds)
            return control.read(self._line)[0]
        except (EOFError, OSError, ValueError) as error:
            self.close()
            raise ServerDied(str(error)) from error

    def _start(self) -> None:
        if not hasattr(os, "fork"):
            raise SandboxError("workers need a system that can fork a process")
        hidden = [str(folder.resolve()) for folder in self.hide]
        self._base = tempfile.mkdtemp(prefix="autograder-")
        setup = {"plain": self.plain, "hidden": hidden, "base": self._base}
        with tempfile.TemporaryFile() as errors:
            try:
                self._launch(errors)
                answer = self._ask(setup, seconds=START)
            except (ServerDied, OSError) as error:
                errors.seek(0)
                printed = errors.read()[-2000:].decode(errors="replace").strip()
                answer = {"failed": printed or str(error)}
        if "failed" in answer:
            self.close()
            raise SandboxError(f"the sandbox doesn't start: {answer['failed']}")
        self.isolation = answer["isolation"]

    def _launch(self, errors: IO[bytes]) -> None:
        self._line, line = socket.socketpair()
        with line:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __package__, str(line.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd=self._base,
                env=_environment(self._base),
                pass_fds=[line.fileno()],
                start_new_session=True,
            )


def _environment(base: str) -> dict[str, str]:
    """Little of the grader's own: no tokens, no paths of its projects."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | FIXED | {"HOME": base, "PYTHONPATH": str(ROOT)}


def project_folders() -> list[Path]:
    """Where solutions and definitions are: the checkout, or the installed packages."""
    if (ROOT / "pyproject.toml").exists():
        return [ROOT]
    return [ROOT / name for name in ("autograder", "solutions", "bookkit", "minigpt")]
