"""What a worker does: an item, which is data, becomes a graded one, which is data.

A worker is any process that can import this; it keeps a sandbox for each thread.
"""

import hashlib
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch

from autograder.classroom.workers import CannotGrade
from autograder.diagnosis import GRADER_FAULT
from autograder.grading import Options, grade_submission
from autograder.overview.feedback import feedback
from autograder.report import Result
from autograder.sandbox import SandboxError, Server
from autograder.source import Contents, Found, Submission, submission_from

ROOT = Path(__file__).parents[2]
NOTHING = "holds no exercise of the book, under the names that the book gives them"


@dataclass(frozen=True)
class Item:
    """A submission to grade, with all that this needs but the grader itself.

    With `kept`, a record of the same submission, only the exercises in `only` are
    graded, and the others taken from there. `hide` are folders that learners' code may
    not see; `version` is that of the grader that asks.
    """

    submission: str
    file: str  # its own name
    contents: Contents = field(repr=False)
    options: Options = field(repr=False)
    hide: tuple[str, ...] = field(repr=False)
    version: str = field(repr=False)
    only: tuple[str, ...] = ()
    kept: dict[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Graded:
    """The record of a submission, and its feedback page.

    `lost` says why it could not be graded though nothing may be wrong with it.
    """

    record: dict[str, Any]
    page: str
    lost: str | None = None


def graded(item: Item) -> Graded:
    """Grade one submission; whatever goes wrong with it stays its own.

    Raises CannotGrade where none can be graded here.
    """
    if item.version != version():
        raise CannotGrade(
            "the workers have another version of the autograder, of PyTorch or of "
            "Python; install the same on them"
        )
    try:
        return _graded(item)
    except CannotGrade:
        raise
    except Exception as error:
        _mine(item.hide).close()
        text = f"could not be graded ({type(error).__name__}: {error})"
        return lost(item.submission, text)


def lost(submission: str, why: str) -> Graded:
    """What is kept of a submission that could not be graded: that, and why."""
    return finished(Result(submission, error=why), [], lost=why)


def _graded(item: Item) -> Graded:
    found = Found(item.submission, Path(item.file))
    submission = submission_from(found, item.contents)
    if submission.error is not None:
        return finished(Result(submission.name, error=submission.error), [])
    sandbox = _mine(item.hide)
    with sandbox.busy:
        result = _result(sandbox.server(), submission, item)
    isolation = sandbox.isolation
    if item.kept is not None:  # what all of its exercises had
        isolation = [layer for layer in item.kept["isolation"] if layer in isolation]
    return finished(result, isolation, _faults(result))


def _result(server: Server, submission: Submission, item: Item) -> Result:
    name, notes = submission.name, submission.skipped
    if item.kept is None:
        verdicts = grade_submission(server, submission, item.options)
    else:
        verdicts = list(Result.from_record(item.kept).verdicts)
        for only in item.only:
            anew = grade_submission(server, submission, item.options, only)
            verdicts = [
                next((one for one in anew if one.exercise == old.exercise), old)
                for old in verdicts
            ]
    error = None if verdicts else NOTHING
    return Result(name, tuple(verdicts), error, notes)


def _faults(result: Result) -> str | None:
    """What the grader itself has failed at, None where at nothing."""
    told = [
        f"{one.exercise}: {one.message.rstrip('.')}"
        for one in result.verdicts
        if one.mistake == GRADER_FAULT
    ]
    return f"{'; '.join(told)}; please report it" if told else None


def finished(
    result: Result, isolation: Sequence[str], lost: str | None = None
) -> Graded:
    """The record, and the page that can be made from it alone."""
    record = result.as_record() | {"isolation": list(isolation)}
    return Graded(record, feedback(Result.from_record(record)), lost)


# --- a worker's sandboxes -----------------------------------------------------------


class Sandbox:
    """A server that is started when it is first asked for, and again after trouble."""

    def __init__(self, hide: tuple[str, ...]) -> None:
        self.hide = hide
        self.isolation: list[str] = []
        self.busy = threading.Lock()
        self._server: Server | None = None

    def server(self) -> Server:
        """The server, running. Raises CannotGrade where it doesn't start."""
        if self._server is None:
            torch.set_num_threads(1)
            server = Server(hide=[Path(folder) for folder in self.hide])
            try:
                with _starting:  # one at a time: each start imports torch
                    server.__enter__()
            except (SandboxError, OSError) as error:
                raise CannotGrade(str(error)) from error
            self._server, self.isolation = server, server.isolation
        return self._server

    def close(self) -> None:
        """End the server, unless a submission is being graded in it."""
        if self._server is not None and self.busy.acquire(blocking=False):
            self._server.close()
            self._server = None
            self.busy.release()


_own = threading.local()
_all: list[Sandbox] = []
_starting = threading.Lock()


def _mine(hide: tuple[str, ...]) -> Sandbox:
    """This thread's sandbox."""
    sandbox: Sandbox | None = getattr(_own, "sandbox", None)
    if sandbox is None or sandbox.hide != hide:
        if sandbox is not None:
            sandbox.close()
            _all.remove(sandbox)
        _own.sandbox = sandbox = Sandbox(hide)
        _all.append(sandbox)
    return sandbox


def close() -> None:
    """Close every sandbox of this process that isn't in use."""
    for sandbox in _all:
        sandbox.close()


@cache
def version() -> str:
    """What results depend on beside the submission: the grader's code, what runs it."""
    digest = hashlib.sha256()
    for package in ("autograder", "solutions"):
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    digest.update(f"{sys.version_info[:2]} {torch.__version__}".encode())
    return digest.hexdigest()
