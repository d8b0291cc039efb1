"""Grade many submissions: one sandbox server for each job, results in stable order."""

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import torch

from autograder.grading import Options, grade_submission
from autograder.report import Result, write_all
from autograder.sandbox import SandboxError, Server
from autograder.source import Submission, UsageError, collect

Progress = Callable[[int, int], None]


def grade(
    paths: Iterable[str | Path],
    out: Path,
    jobs: int = 1,
    options: Options | None = None,
    progress: Progress = lambda done, total: None,
) -> list[Result]:
    """Grade every submission and write the results to `out`.

    Raises UsageError where a path or the folder can't be used.
    """
    submissions = collect(paths)
    prepare(out)
    options = options or Options()
    torch.set_num_threads(1)
    with Slots([_folder(one) for one in submissions] + [out.resolve()]) as slots:
        with ThreadPoolExecutor(max(1, min(jobs, len(submissions) or 1))) as pool:
            running = {
                pool.submit(graded, slots, one, options): i
                for i, one in enumerate(submissions)
            }
            results: dict[int, Result] = {}
            try:
                progress(0, len(submissions))
                for done in as_completed(running):
                    results[running[done]] = done.result()
                    progress(len(results), len(submissions))
            finally:  # after Ctrl-C, those that have not begun don't begin
                pool.shutdown(cancel_futures=True)
        isolation = slots.isolation
    ordered = [results[i] for i in range(len(submissions))]
    write_all(out, ordered, isolation, options.key is not None)
    return ordered


def prepare(out: Path) -> None:
    """Make the output folder and see that it can be written to."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / f".writing-{os.getpid()}"
        probe.write_text("", "utf-8")
        probe.unlink()
    except OSError as error:
        raise UsageError(
            f"can't write to {out} ({error.strerror}); choose another folder with --out"
        ) from error


def _folder(submission: Submission) -> Path:
    return submission.path.parent.resolve()  # not where a link among them leads


class Slots:
    """A sandbox server for each thread that grades."""

    def __init__(self, hide: list[Path]) -> None:
        self.hide = sorted(set(hide))
        self.isolation: list[str] = []
        self._mine = threading.local()
        self._servers: list[Server] = []
        self._lock = threading.Lock()

    def __enter__(self) -> "Slots":
        return self

    def __exit__(self, *error: object) -> None:
        for server in self._servers:
            server.close()

    def server(self) -> Server:
        """This thread's server, started when it is first asked for."""
        if not hasattr(self._mine, "server"):
            with self._lock:  # one at a time: each start imports torch
                server = Server(hide=self.hide).__enter__()
                self._servers.append(server)
                self.isolation = server.isolation
            self._mine.server = server
        found: Server = self._mine.server
        return found


def graded(slots: Slots, submission: Submission, options: Options) -> Result:
    """Grade one submission; whatever goes wrong with it stays its own."""
    if submission.error is not None:
        return Result(submission.name, error=submission.error)
    try:
        verdicts = grade_submission(slots.server(), submission, options)
    except SandboxError:
        raise
    except Exception as error:  # nobody else's result may be lost
        text = f"could not be graded ({type(error).__name__}: {error})"
        return Result(submission.name, error=text, notes=submission.skipped)
    if not verdicts:
        text = "holds no exercise of the book, under the names that the book gives them"
        return Result(submission.name, error=text, notes=submission.skipped)
    return Result(submission.name, tuple(verdicts), notes=submission.skipped)
