"""Where a learner's work is kept: a workbook, with parts and progress beside it.

A folder is a workbook when it has a `.autograder` folder. Outside one nothing is kept,
so the published chapters stay as they are, whoever runs them.
"""

import json
import os
from pathlib import Path
from typing import Any

MARK = ".autograder"


def current(start: Path | None = None) -> Path | None:
    """The workbook that a folder (by default the current one) is in, if any."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / MARK).is_dir():
            return folder
    return None


def save_part(book: Path, name: str, source: str) -> None:
    """Keep a passed answer's source as the learner's part."""
    write(book / MARK / "parts" / f"{name}.py", source)


def read_part(book: Path | None, name: str) -> str | None:
    """The source of a learner's part, if they have passed the exercise."""
    if book is None:
        return None
    try:
        return (book / MARK / "parts" / f"{name}.py").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def drop_part(book: Path, name: str) -> bool:
    """Forget a part; whether there was one."""
    path = book / MARK / "parts" / f"{name}.py"
    there = path.exists()
    path.unlink(missing_ok=True)
    return there


def progress(book: Path | None) -> dict[str, Any]:
    """What is known of each exercise: `{"id": {"status": …, "tries": …}}`."""
    if book is None:
        return {}
    try:
        found = json.loads((book / MARK / "progress.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    kept = found if isinstance(found, dict) else {}
    return {name: one for name, one in kept.items() if isinstance(one, dict)}


def note(book: Path, name: str, status: str) -> None:
    """Add a try to the progress; what was once passed stays so until it is reset."""
    kept = progress(book)
    before = kept.get(name, {})
    tries = before.get("tries", 0)
    kept[name] = {
        "status": "passed" if before.get("status") == "passed" else status,
        "tries": (tries if isinstance(tries, int) else 0) + 1,
    }
    write(book / MARK / "progress.json", json.dumps(kept, indent=1, sort_keys=True))


def forget(book: Path, name: str) -> None:
    """Take an exercise out of the progress."""
    kept = progress(book)
    kept.pop(name, None)
    write(book / MARK / "progress.json", json.dumps(kept, indent=1, sort_keys=True))


def write(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; text as UTF-8.

    A link stays one, and so does a pipe or a device, such as `/dev/stdout`: it gets the
    bytes. Raises OSError, which names the path.
    """
    data = content.encode() if isinstance(content, str) else content
    real = Path(os.path.realpath(path))
    writing = real.with_name(f".writing-{os.getpid()}-{real.name}")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not real.is_file():
            path.write_bytes(data)
            return
        try:
            writing.write_bytes(data)
            writing.replace(real)
        finally:
            writing.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
