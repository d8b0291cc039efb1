"""What the commands take: exercises, submissions, folders. A wrong one ends here."""

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from autograder import workbook
from autograder.source.files import ENDINGS
from autograder.spelling import like

if TYPE_CHECKING:
    from autograder.definition import Exercise

INTERRUPTED = 130  # what a shell reports of a command that Ctrl-C ended


class Wrong(click.UsageError):
    """Wrong usage, in a sentence of ours that says what to do."""


def wrong(message: str) -> NoReturn:
    """End the command: it was used wrongly, and the message says what to do."""
    raise Wrong(message)


def learners_workbook() -> Path | None:
    """The workbook around the current folder, else the one named so in it."""
    return workbook.current() or workbook.current(Path("workbook"))


def needed_workbook() -> Path:
    """The learner's workbook; ends the command where there is none."""
    book = learners_workbook()
    if book is None:
        wrong("no workbook here; go to yours, or make one with 'autograder start'")
    return book


def spelled(param: click.Parameter) -> str:
    """A parameter as it is typed: `PATH`, `--out DIR`."""
    metavar = (param.metavar or param.human_readable_name).strip("[].")
    option = isinstance(param, click.Option)
    return f"{param.opts[0]} {metavar}" if option else metavar


class ExerciseId(click.ParamType["Exercise"]):
    """The id of an exercise, turned into its definition."""

    name = "id"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> "Exercise":
        from autograder.registry import EXERCISES

        name = str(value)
        if name not in EXERCISES:
            also = like(name, EXERCISES) or "'autograder list' shows them all"
            wrong(f"no exercise {name!r}; {also}")
        return EXERCISES[name]


class Count(click.ParamType[int]):
    """A whole number, at least 1."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        text = str(value)
        if not text.isdecimal() or not int(text):
            assert param is not None
            wrong(f"{spelled(param)} must be a whole number from 1 on, not {text!r}")
        return int(text)


class Number(click.ParamType[float]):
    """A number from `low` to `high`, a whole one unless it may have a fraction."""

    name = "number"

    def __init__(self, low: float, high: float = math.inf, whole: bool = True) -> None:
        self.low, self.high, self.whole = low, high, whole

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            found = int(str(value)) if self.whole else float(str(value))
        except ValueError:
            found = math.nan
        if not self.low <= found <= self.high:
            assert param is not None
            kind = "a whole number" if self.whole else "a number"
            until = f"to {self.high:g}" if math.isfinite(self.high) else "on"
            span = f"from {self.low:g} {until}"
            wrong(f"{spelled(param)} must be {kind} {span}, not {str(value)!r}")
        return found


class OneOf(click.ParamType[str]):
    """One of a few words."""

    name = "word"

    def __init__(self, *words: str) -> None:
        self.words = words

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        if value not in self.words:
            assert param is not None
            words = f"{', '.join(self.words[:-1])} or {self.words[-1]}"
            wrong(f"{spelled(param)} must be {words}, not {str(value)!r}")
        return str(value)


class Answers(click.ParamType[Path]):
    """A notebook or a `.py` file; a folder of them too, where that makes sense."""

    name = "path"

    def __init__(self, folders: bool = False) -> None:
        self.folders = folders

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        path = Path(str(value))
        try:
            there, folder, file = path.exists(), path.is_dir(), path.is_file()
        except (OSError, ValueError):  # too long a name, a null byte
            there = folder = file = False
        if not there:
            kind = "file or folder" if self.folders else "file"
            wrong(f"no {kind} {str(path)!r}; {_nearest_file(path)}")
        if folder and not self.folders:
            wrong(f"{path} is a folder; name one notebook or .py file in it")
        if not folder and path.suffix.lower() not in ENDINGS:
            wrong(
                f"{path} is neither a notebook (.ipynb) nor a .py file; name one of "
                f"these{' or a folder of them' if self.folders else ''}"
            )
        if not folder and not file:
            wrong(f"{path} is no regular file; name the notebook or .py file itself")
        return path


def _nearest_file(path: Path) -> str:
    """Where the file may be that doesn't exist as named."""
    book = learners_workbook()
    if book is not None and (book / path.name).is_file():
        return f"did you mean {os.path.relpath(book / path.name)!r}?"
    try:
        beside = sorted(path.parent.iterdir())
    except (OSError, ValueError):
        return f"there is no folder {str(path.parent)!r}"
    known = [str(one) for one in beside if one.suffix.lower() in ENDINGS]
    return like(str(path), known) or "name a notebook (.ipynb) or a .py file"


def secret_in(key: Path | None) -> bytes | None:
    """The key's bytes; ends the command where they can't be read or are none."""
    if key is None:
        return None
    try:
        secret = key.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        wrong(f"can't read --key {key} ({reason}); name a file with your secret")
    if not secret.strip():
        wrong(f"--key {key} is empty; put some random text into it")
    return secret


def made_folder(path: Path) -> Path:
    """The folder, made where it doesn't exist; ends the command if it can't be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied")
    except FileExistsError:
        wrong(f"{path} is a file; name a folder")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        wrong(f"can't write to {path} ({reason}); name another folder")
    return path
