"""The folder of results: one grader at a time, and a record for each submission.

A record is written the moment its submission is graded, whole or not at all, so that a
grader that was ended at any moment has lost nothing but what it was at.
"""

import json
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from autograder.sandbox.scratch import remove
from autograder.source import UsageError
from autograder.workbook import write

FOLDER = "submissions"
LOCK, TEMPORARY = ".lock", ".temporary"
PREFIX = "autograder-"


class CannotWrite(Exception):
    """The folder of results takes no more; one line that says what to do."""


class Records:
    """The records in a folder of results, and the feedback pages beside them."""

    def __init__(self, out: Path) -> None:
        self.out, self.folder = out, out / FOLDER

    def read(self, file: str) -> dict[str, Any] | None:
        """What was kept under that name; None where nothing whole is, page and all."""
        try:
            record = json.loads((self.folder / f"{file}.json").read_bytes())
            there = (self.out / f"{file}.html").stat().st_size > 0
        except (OSError, ValueError, RecursionError):
            return None
        return record if there and isinstance(record, dict) else None

    def write(self, file: str, record: dict[str, Any], page: str) -> None:
        """Keep a submission's page and record. Raises CannotWrite."""
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        with writing(self.out):
            write(self.out / f"{file}.html", page)
            write(self.folder / f"{file}.json", text + "\n")


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Say of what can't be written there how to go on."""
    try:
        yield
    except OSError as error:
        raise CannotWrite(
            f"can't write to {out} ({error.strerror or error}); all that was graded "
            "before is kept: make room, and run the same command again"
        ) from error


@contextmanager
def opened(out: Path) -> Iterator[Records]:
    """The records of a folder, which is made where it isn't there, for this process
    alone.

    Raises UsageError where it can't be written to or another grader is at work there.
    """
    records = Records(out)
    try:
        records.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(records.folder / LOCK, timeout=0)
        lock.acquire()
    except Timeout:
        raise UsageError(
            f"another grader is at work in {out}; wait for it to end, or choose "
            "another folder with --out"
        ) from None
    except OSError as error:
        raise UsageError(
            f"can't write to {out} ({error.strerror}); choose another folder with --out"
        ) from error
    with lock:
        lock.release()  # the first of two: `with` has locked it once more
        for folder in (out, records.folder):
            for left in folder.glob(".writing-*"):
                left.unlink(missing_ok=True)
        yield records


@contextmanager
def temporary(records: Records) -> Iterator[str]:
    """A temporary folder of this run, gone at its end.

    Its name is noted before it is made: what a run leaves that was killed is cleared
    away by the next one.
    """
    note = records.folder / TEMPORARY
    with suppress(OSError, ValueError):
        _clear(note.read_text("utf-8"))
    name = f"{PREFIX}{secrets.token_hex(8)}"
    folder = Path(tempfile.gettempdir(), name)
    with writing(records.out):
        write(note, name)
    try:
        folder.mkdir(mode=0o711)  # workers of another user must pass through it
        yield str(folder)
    finally:
        _clear(name)
        with suppress(OSError):
            note.unlink()


def _clear(name: str) -> None:
    """Remove a run's temporary folder, if it is one of ours."""
    folder = Path(tempfile.gettempdir(), Path(name).name)
    with suppress(OSError):
        found = folder.lstat()
        ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        if name.startswith(PREFIX) and stat.S_ISDIR(found.st_mode) and ours:
            remove(str(folder))
