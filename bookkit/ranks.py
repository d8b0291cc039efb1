"""Several processes that work together, started from a chapter and ended with it.

A job is a function of the chapter: its source is sent to every process, where
`torch.distributed` is ready, as `dist`, with gloo. Whatever happens, no process stays:
a job that fails or takes too long ends all of them, and each of them ends by itself
where the process that started them is gone.
"""

import inspect
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from bookkit.rank import read_frame, write_frame

ROOT = Path(__file__).resolve().parents[1]

#: How long to wait, once a rank has failed, for what the others say of it.
GRACE = 2.0


class RankError(RuntimeError):
    """A rank failed, or the ranks took too long; none of them runs any more."""


class _Failed(Exception):
    """What one rank says of its end, and when it came; 0 where it said nothing."""

    def __init__(self, rank: int, said: str, at: float) -> None:
        super().__init__(said)
        self.rank, self.at = rank, at


class Ranks:
    """Some processes, joined by gloo. They start with the first job.

    `traffic` holds, for each rank, what it sent in the last job: (operation, bytes).
    """

    def __init__(self, world_size: int) -> None:
        self.world_size = world_size
        self.traffic: list[list[tuple[str, int]]] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._finalizer: weakref.finalize | None = None

    def run(
        self,
        job: Callable[..., Any],
        *given: Any,
        uses: Sequence[Callable[..., Any]] = (),
        timeout: float = 120,
    ) -> list[Any]:
        """What `job(rank, *given)` returns on each rank.

        What is given and returned are tensors and plain values, in lists and dicts.
        `uses` are functions that the job calls. Raises RankError, in one line, if a
        rank fails or the job takes more than `timeout` seconds.
        """
        sources = [textwrap.dedent(inspect.getsource(one)) for one in (*uses, job)]
        frame = {
            "name": job.__name__,
            "source": "\n\n".join(reversed(sources)),  # a line counts from the job's
            "given": list(given),
        }
        if not self._processes:
            self._start()
        try:
            replies = self._replies(frame, timeout)
        except BaseException:  # an interrupt too
            self.end()
            raise
        self.traffic = [reply["traffic"] for reply in replies]
        return [reply["result"] for reply in replies]

    def end(self) -> None:
        """End all processes. A later job starts new ones."""
        if self._finalizer is not None:
            self._finalizer()
        self._processes = []

    def _start(self) -> None:
        folder = tempfile.mkdtemp(prefix="ranks-")
        environment = {"OMP_NUM_THREADS": "1"} | dict(os.environ)
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        if (
            sys.platform != "win32"
        ):  # no name to look up, and nothing leaves the machine
            loopback = "lo0" if sys.platform == "darwin" else "lo"
            environment["GLOO_SOCKET_IFNAME"] = loopback
        self._finalizer = weakref.finalize(self, _end, self._processes, folder)
        for rank in range(self.world_size):
            command = [sys.executable, "-m", "bookkit.rank", str(rank)]
            with (Path(folder) / f"said-{rank}").open("wb") as said:
                self._processes.append(
                    subprocess.Popen(
                        [*command, str(self.world_size), str(Path(folder) / "meeting")],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=said,
                        env=environment,
                        start_new_session=True,  # an interrupt comes through us
                    )
                )

    def _replies(self, frame: dict[str, Any], timeout: float) -> list[dict[str, Any]]:
        with ThreadPoolExecutor(self.world_size) as pool:
            asked = [
                pool.submit(_ask, rank, process, frame)
                for rank, process in enumerate(self._processes)
            ]
            try:
                wait(asked, timeout, FIRST_EXCEPTION)
                if any(one.done() and one.exception() for one in asked):
                    wait(asked, GRACE)
                self._check(asked, timeout)
            except BaseException:
                self.end()  # else the threads would wait for ever
                raise
        return [one.result() for one in asked]

    def _check(self, asked: list[Future[dict[str, Any]]], timeout: float) -> None:
        failed = [
            error
            for one in asked
            if one.done() and isinstance(error := one.exception(), _Failed)
        ]
        if failed:  # the first to fail; the others miss it
            first = min(failed, key=lambda one: one.at)
            raise RankError(f"rank {first.rank} of {self.world_size} {first}")
        waiting = [str(rank) for rank, one in enumerate(asked) if not one.done()]
        if waiting:
            who = f"rank{'s' * (len(waiting) > 1)} {' and '.join(waiting)}"
            raise RankError(
                f"{who} of {self.world_size} not done after {timeout:g} s: look for a "
                "call that the others don't make"
            )


def _ask(
    rank: int, process: "subprocess.Popen[bytes]", frame: dict[str, Any]
) -> dict[str, Any]:
    """A rank's reply. Raises _Failed."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        write_frame(process.stdin, frame)
        reply: dict[str, Any] = read_frame(process.stdout)
    except (OSError, EOFError, ValueError):
        code = process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise _Failed(rank, f"ended without a word ({how})", 0.0) from None
    if "error" in reply:
        raise _Failed(rank, f"raised {reply['error']}", reply["at"])
    return reply


def _end(processes: "list[subprocess.Popen[bytes]]", folder: str) -> None:
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except OSError:  # a broken pipe, flushed
                    pass
    shutil.rmtree(folder, ignore_errors=True)
