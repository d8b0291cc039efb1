"""Workers that are processes of this machine, each with a sandbox of its own.

Threads would share one interpreter, which does one thing at a time. A process reads
from its standard input what to call, and writes to its standard output what came of it;
it ends when the input does, and so never outlives the grader, however that ends.
"""

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

from autograder.classroom.workers import Died, P, T, Workers

ROOT = Path(__file__).parents[2]
STOP = 30.0  # seconds in which a process that is told to end does so
BROKEN = (EOFError, OSError, pickle.UnpicklingError)


class Processes(Workers):
    """As many processes as jobs. One that dies is replaced, and costs its own item."""

    def __init__(self, jobs: int, temporary: str | None = None) -> None:
        self._jobs, self._temporary = jobs, temporary
        self._threads = ThreadPoolExecutor(jobs)
        self._all: list[Process] = []
        self._idle: list[Process] = []

    @property
    def room(self) -> int:
        return self._jobs

    def submit(
        self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[T]:
        """Call it in a process. What it raises comes back; Died, where that ended."""
        return self._threads.submit(self._call, (fn, args, kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for process in self._all:
            process.close()

    def stop(self) -> None:
        """End the processes, whatever they are at."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            process.kill()
        self.shutdown()

    def _call(self, call: Any) -> Any:
        try:
            process = self._idle.pop()
        except IndexError:
            process = Process(self._temporary)
            self._all.append(process)
        try:
            fine, answer = process.call(call)
        except Died:
            self._all.remove(process)
            raise
        self._idle.append(process)
        if fine:
            return answer
        raise answer


class Process:
    """One of them, seen from here."""

    def __init__(self, temporary: str | None = None) -> None:
        path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
        if temporary is not None:
            environment["TMPDIR"] = temporary
        self._errors = tempfile.TemporaryFile(dir=temporary)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the grader to see
        )

    def call(self, call: Any) -> tuple[bool, Any]:
        """What came of a call there, and whether that is an answer. Raises Died."""
        try:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            pickle.dump(call, self._process.stdin)
            self._process.stdin.flush()
            answer: tuple[bool, Any] = pickle.load(self._process.stdout)
            return answer
        except BROKEN:
            raise Died(self._end()) from None

    def close(self) -> None:
        """Let it end in its own time, and wait for that."""
        with contextlib.suppress(*BROKEN):
            assert self._process.stdin is not None
            pickle.dump(None, self._process.stdin)
            self._process.stdin.close()
        try:
            self._process.wait(STOP)
        except subprocess.TimeoutExpired:
            self.kill()
        self._forget()

    def kill(self) -> None:
        self._process.kill()

    def _end(self) -> str:
        """How it ended, for somebody who wants to know why."""
        self.kill()
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        self._forget()
        if code == -signal.SIGKILL:
            return "it was killed, as the system does when memory runs out"
        if code < 0:
            return f"it was ended by {signal.Signals(-code).name}"
        return lines[-1] if lines else f"it ended with exit status {code}"

    def _forget(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                assert stream is not None
                stream.close()


# --- within the process -------------------------------------------------------------


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Do what is asked for until None is."""
    asked: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, asked), daemon=True).start()
    while (call := asked.get()) is not None:
        function, args, kwargs = call
        try:
            answer = pickle.dumps((True, function(*args, **kwargs)))
        except Exception as error:
            answer = _failure(error)
        answers.write(answer)
        answers.flush()
    from autograder.classroom import work

    work.close()


def _read(requests: IO[bytes], asked: "queue.SimpleQueue[Any]") -> None:
    """Take in requests; end this process, whatever it is at, when the asker is gone."""
    while True:
        try:
            call = pickle.load(requests)
        except Exception:
            os._exit(1)
        asked.put(call)
        if call is None:
            return


def _failure(error: Exception) -> bytes:
    try:
        return pickle.dumps((False, error))
    except Exception:
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


def main() -> None:
    """Serve the grader that has started this process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the answers
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin.buffer, answers)
    os._exit(0)  # all is closed; to free what torch holds, piece by piece, takes long


if __name__ == "__main__":
    main()
