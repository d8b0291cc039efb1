"""The grader's end: a `Server` is started, asked for workers, and started again."""

import os
import signal
import site
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

from . import control, scratch
from .control import ServerDied
from .job import Job, Limits, SandboxError

if TYPE_CHECKING:
    from .rpc import Worker

ROOT = Path(__file__).parents[2]
START, FORK, STOP = 180.0, 60.0, 20.0  # seconds that the server has for these
#: What only Linux has: without these it is as on macOS.
PLAIN = (
    "namespaces",
    "own view of the files",
    "own user",
    "landlock",
    "seccomp",
    "cgroup",
)
KILLED = "it was ended twice as it started; see that there is memory enough for it"
KEPT = ["PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"]
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

    `hide` are folders that no worker may see, beside the project's own. `isolation`
    says which layers were achieved; `without` leaves out some that Linux has.
    """

    def __init__(
        self, hide: Sequence[Path] = (), without: Collection[str] = ()
    ) -> None:
        self.hide = [*hide, *project_folders()]
        self.without = without
        self.isolation: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._ready = False  # whether it has said that it can work
        self._errors: IO[bytes] | None = None
        self._complaint = ""  # the last line that it wrote to these before its end
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

    def begin(self) -> None:
        """Start it and don't wait: it loads torch while the caller does the same.

        Where it doesn't start, the next that needs it is told.
        """
        try:
            self._begin()
        except (ServerDied, SandboxError, OSError):
            self.close()

    @contextmanager
    def worker(self, job: Job, limits: Limits | None = None) -> Iterator["Worker"]:
        """A worker that has loaded the job. Raises Stopped where it can't."""
        # It loads torch, without which the server's first process is small and quick.
        from .rpc import Worker

        worker = Worker(self, job, limits or Limits())
        try:
            worker.start()
            yield worker
        finally:
            worker.close()

    def fork(self, limits: Limits, fds: list[int]) -> int | None:
        """Have a worker forked that holds these descriptors: its line, its output.

        A descriptor that is ready once the worker has ended, where the system has such.
        """
        for again in (False, True):
            try:
                if not self._ready:
                    self._start()
                answer, alive = self._ask({"fork": asdict(limits)}, fds, FORK)
                break
            except ServerDied as error:  # a learner's code has taken it down: once more
                if again:
                    raise SandboxError(f"the sandbox doesn't run: {error}") from error
        if "failed" in answer:
            raise SandboxError(f"the sandbox makes no worker: {answer['failed']}")
        return alive[0] if alive else None

    def end_worker(self, grace: float) -> dict[str, Any]:
        """End the worker and its like; how it ended. Raises ServerDied."""
        return self._ask({"stop": grace}, (), STOP)[0]

    def close(self) -> None:
        """End the server and whatever it has started."""
        self._ready = False
        if self._line is not None:
            self._line.close()  # by which the server learns that it is to end
            self._line = None
        if self._process is not None:
            for number in (0, signal.SIGTERM, signal.SIGKILL):  # 0 is none
                self._process.send_signal(number)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(STOP)
                    break
            self._process = None
        if self._base:
            scratch.remove(self._base)
            self._base = ""
        if self._errors is not None:
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
            self._complaint = lines[-1] if lines else ""
            self._errors.close()
            self._errors = None

    def _ask(
        self, message: dict[str, Any], fds: Sequence[int], seconds: float
    ) -> tuple[dict[str, Any], list[int]]:
        with self._speaking(seconds) as line:
            control.write(line, message, fds)
            return control.read(line)

    @contextmanager
    def _speaking(self, seconds: float) -> Iterator[socket.socket]:
        """The line to it. Raises ServerDied, and ends it, where it doesn't answer."""
        if self._line is None:
            raise ServerDied("it isn't running")
        try:
            self._line.settimeout(seconds)
            yield self._line
        except (EOFError, OSError, ValueError) as error:
            self.close()
            raise ServerDied(str(error)) from error

    def _start(self) -> None:
        """Start it; once more where it was killed as it started, and only there: what
        says why it can't, or takes too long, would do so again. Raises SandboxError."""
        answer = self._begun() or self._begun() or {"failed": KILLED}
        if "failed" in answer:
            self.close()
            raise SandboxError(f"the sandbox doesn't start: {answer['failed']}")
        self.isolation, self._ready = answer["isolation"], True

    def _begun(self) -> dict[str, Any] | None:
        """What a new process says first; None where it ended without a word."""
        try:
            if self._line is None:
                self._begin()
            with self._speaking(START) as line:
                return control.read(line)[0]
        except (ServerDied, OSError) as error:
            self.close()
            slow = isinstance(error.__cause__, TimeoutError)
            if not self._complaint and isinstance(error, ServerDied) and not slow:
                return None
            return {"failed": self._complaint or str(error)}
        except BaseException:  # Ctrl-C while torch loads
            self.close()
            raise

    def _begin(self) -> None:
        """Raises SandboxError, ServerDied, OSError."""
        if not hasattr(os, "fork"):
            raise SandboxError("workers need a system that can fork a process")
        self._base = tempfile.mkdtemp(prefix="autograder-")
        self._errors = tempfile.TemporaryFile()
        self._launch(self._errors)
        hidden = [str(folder.resolve()) for folder in self.hide]
        setup = {"without": [*self.without], "hidden": hidden, "base": self._base}
        with self._speaking(START) as line:
            control.write(line, setup)

    def _launch(self, errors: IO[bytes]) -> None:
        self._line, line = socket.socketpair()
        with line:
            self._process = subprocess.Popen(
                self._command(line.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd=self._base,
                env=_environment(self._base),
                pass_fds=[line.fileno()],
                start_new_session=True,
            )

    def _command(self, fd: int) -> list[str]:
        return [sys.executable, "-P", "-m", str(__package__), str(fd)]


def _environment(base: str) -> dict[str, str]:
    """Little of the grader's own: no tokens, no paths of its projects."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    found = {"HOME": base, "PYTHONUSERBASE": site.getuserbase()}
    return kept | FIXED | found | {"PYTHONPATH": os.pathsep.join(_import_path())}


def _import_path() -> list[str]:
    """The project, and where torch and einops are if Python wouldn't find them."""
    usual = {*site.getsitepackages(), site.getusersitepackages()}
    found = filter(None, map(find_spec, ("torch", "einops")))
    folders = {str(Path(str(one.origin)).parents[1]) for one in found}
    return [str(ROOT), *sorted(folders - usual)]


def project_folders() -> list[Path]:
    """Where solutions and definitions are: the checkout, or the installed packages."""
    if (ROOT / "pyproject.toml").exists():
        return [ROOT]
    return [ROOT / name for name in ("autograder", "solutions", "bookkit", "minigpt")]
