"""From the paths of a command line to submissions, each under a name of its own.

Three steps, so that a class of any size need not be held at once: `find` names them,
`contents_of` takes one's bytes, `submission_from` reads these, here or elsewhere.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .files import (
    ENDINGS,
    SourceFile,
    UnreadableError,
    bytes_of,
    parse_file,
    refuse_special,
)

MAX_FILES = 100  # in one submission
MAX_DEPTH = 6
MAX_TOTAL = 50_000_000  # bytes of the files of one submission
MAX_TOTAL_CODE = 500_000  # characters of code in them; all chapters have half of it
NO_FILES = "it holds neither a notebook (.ipynb) nor a .py file; hand in one of these"


class UsageError(ValueError):
    """A path that can't be meant; its message is one line and says what to do."""


@dataclass(frozen=True)
class Found:
    """Where a submission lies, and the name that it goes by."""

    name: str
    path: Path


@dataclass(frozen=True)
class Contents:
    """The bytes of what somebody handed in, or the line that says why there are none.

    Those of a file, or of a folder's files by their paths within it.
    """

    file: bytes | None = None
    folder: tuple[tuple[str, bytes | str], ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Submission:
    """What one person handed in.

    `error` says in one line why there is nothing to grade; `skipped` holds such a line
    for each file of a folder that can't be read beside others that can.
    """

    name: str
    path: Path
    files: tuple[SourceFile, ...] = ()
    error: str | None = None
    skipped: tuple[str, ...] = ()


def collect(paths: Iterable[str | Path]) -> list[Submission]:
    """The submissions at the paths, all of them read. Raises UsageError as `find`."""
    return [submission_from(one, contents_of(one.path)) for one in find(paths)]


def find(paths: Iterable[str | Path]) -> list[Found]:
    """The submissions at the paths: a file is one, each entry of a folder is one.

    Raises UsageError for a path that doesn't exist or can't hold a submission.
    """
    entries: dict[Path, Path] = {}  # a file or folder, and the path that names it
    for path in paths:
        for entry in _entries(Path(path)):
            entries.setdefault(Path(os.path.realpath(entry.parent)) / entry.name, entry)
    if not entries:
        raise UsageError("nothing to grade there; name notebooks, .py files or folders")
    names = names_for(list(entries))
    return [Found(*each) for each in zip(names, entries, strict=True)]


def _entries(path: Path) -> list[Path]:
    """The submissions at one path of the command line, which may itself be a link."""
    shown = clean_name(str(path))
    try:
        path = path.resolve(strict=True) if path.is_symlink() else path
        if path.is_dir():
            return list(_listed(path))
        refuse_special(path.stat().st_mode)
    except FileNotFoundError:
        raise UsageError(f"there is no {shown!r}; name a file or a folder") from None
    except UnreadableError as problem:
        raise UsageError(f"{shown!r} can't be graded: {problem}") from None
    except (OSError, ValueError, RuntimeError) as problem:
        reason = getattr(problem, "strerror", None) or "no path of a file"
        raise UsageError(f"{shown!r} can't be opened ({reason})") from None
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"{shown!r} is neither a notebook (.ipynb) nor a .py file nor a folder; "
            "name one of these"
        )
    return [path]


def _listed(folder: Path) -> Iterator[Path]:
    """What stands in a folder, in one order everywhere, without what tools left."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if not path.name.startswith(".") and path.name != "__pycache__":
            yield path


def contents_of(path: Path) -> Contents:
    """What stands at a path that was found; nothing is raised for what can't be had."""
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            return Contents(folder=tuple(_folder_contents(path)))
        return Contents(bytes_of(path))
    except UnreadableError as problem:
        return Contents(error=str(problem))
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        return Contents(error=f"it can't be opened ({reason})")


def _folder_contents(folder: Path) -> Iterator[tuple[str, bytes | str]]:
    total = 0
    for count, path in enumerate(_files_below(folder, MAX_DEPTH)):
        if count == MAX_FILES:
            raise UnreadableError(
                f"the folder holds more than {MAX_FILES} files; hand in your own only"
            )
        name = path.relative_to(folder).as_posix()
        try:
            data = bytes_of(path)
        except UnreadableError as problem:
            yield name, str(problem)
            continue
        total += len(data)
        if total > MAX_TOTAL:
            raise UnreadableError(
                f"the folder's files are larger than {MAX_TOTAL // 1_000_000} MB; "
                "clear the notebooks' outputs and save them again"
            )
        yield name, data


def submission_from(found: Found, contents: Contents) -> Submission:
    """Read what somebody handed in, wherever its bytes have come to."""
    name, path = found.name, found.path
    if contents.error is not None:
        return Submission(name, path, error=contents.error)
    if contents.file is not None:
        try:
            return Submission(name, path, (parse_file(path, contents.file),))
        except UnreadableError as problem:
            return Submission(name, path, error=str(problem))
    files: list[SourceFile] = []
    skipped: list[str] = []
    for within, data in contents.folder:
        try:
            if isinstance(data, str):
                raise UnreadableError(data)
            files.append(parse_file(path / within, data))
        except UnreadableError as problem:
            skipped.append(f"{clean_name(within)}: {problem}")
    if sum(file.length for file in files) > MAX_TOTAL_CODE:
        long = f"the folder's code is longer than {MAX_TOTAL_CODE:,} characters"
        return Submission(name, path, error=f"{long}; hand in your own answers only")
    if not files:
        return Submission(name, path, error=skipped[0] if skipped else NO_FILES)
    return Submission(name, path, tuple(files), skipped=tuple(skipped))


def _files_below(folder: Path, depth: int) -> Iterator[Path]:
    """The notebooks and `.py` files of a folder and of those in it; links too."""
    for path in _listed(folder):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode) and depth > 0:
            yield from _files_below(path, depth - 1)
        elif stat.S_ISLNK(mode) or path.suffix.lower() in ENDINGS:
            yield path


def names_for(paths: Sequence[Path]) -> list[str]:
    """A name for each of some different paths: the file's, without its ending.

    Where names clash they grow: by the ending first, then by one folder after another.
    """
    parts = [0] * len(paths)  # how many parts of the path stand in the name
    while True:
        names = [_name(path, count) for path, count in zip(paths, parts, strict=True)]
        times = Counter(names)
        clashing = [
            number
            for number, (path, name) in enumerate(zip(paths, names, strict=True))
            if times[name] > 1 and parts[number] < len(path.parts)
        ]
        if not clashing:
            return _numbered([clean_name(name) for name in names])
        for number in clashing:
            parts[number] += 1


def _name(path: Path, parts: int) -> str:
    if parts == 0:
        has_ending = path.suffix and not path.is_dir()
        return path.stem if has_ending else path.name
    return Path(*path.parts[-parts:]).as_posix()


def _numbered(names: Sequence[str]) -> list[str]:
    """The names, with a number where cleaning has left two the same."""
    seen: Counter[str] = Counter()
    taken = set(names)
    unique = []
    for name in names:
        seen[name] += 1
        number, other = seen[name], name
        while number > 1 and other in taken:
            other = f"{name} ({number})"
            number += 1
        taken.add(other)
        unique.append(other)
    return unique


def clean_name(name: str) -> str:
    """A name with `_` for each character that is no character to print, and for each
    of a name that would be nothing to see."""
    shown = "".join(char if char.isprintable() else "_" for char in name)
    return shown if shown.strip() else "_" * len(name)
