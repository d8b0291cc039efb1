"""Read what a learner hands in: a notebook or a `.py` file, as it comes.

Nothing is trusted: not the ending, the size, the encoding, nor that a file is one.
"""

import io
import json
import os
import stat
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_BYTES = 20_000_000
MAX_CODE = 200_000  # characters of code: reading them takes a thousand times as much
ENDINGS = (".ipynb", ".py")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # its byte-order marks
ARCHIVES = (b"PK\3\4", b"\x1f\x8b", b"Rar!", b"7z\xbc\xaf")  # how they begin


class UnreadableError(ValueError):
    """A file that can't be graded; its message is one line and says what to do."""


@dataclass(frozen=True)
class SourceFile:
    """The code cells of a file, and its chapter where its metadata name one.

    A `.py` file is one cell.
    """

    path: Path
    cells: tuple[str, ...]
    chapter: int | None = None

    @property
    def length(self) -> int:
        """How many characters of code it holds."""
        return sum(map(len, self.cells))


def read_file(path: str | Path) -> SourceFile:
    """Read a notebook or `.py` file; UnreadableError says why it can't be."""
    path = Path(path)
    return parse_file(path, bytes_of(path))


def parse_file(path: Path, data: bytes) -> SourceFile:
    """The file that a path named, from its bytes; UnreadableError says why not."""
    if not data.strip():
        raise UnreadableError("the file is empty; save your work and hand it in again")
    if path.suffix.lower() == ".py":
        file = SourceFile(path, (_python_text(data),))
    elif path.suffix.lower() == ".ipynb":
        notebook = _notebook(data)
        file = SourceFile(path, tuple(_code_cells(notebook)), _chapter(notebook))
    else:
        raise UnreadableError("it is neither a notebook (.ipynb) nor a .py file")
    if file.length > MAX_CODE:
        raise UnreadableError(
            f"its code is longer than {MAX_CODE:,} characters; hand in what the "
            "exercises need, without data written into it"
        )
    return file


def bytes_of(path: Path) -> bytes:
    """What stands in a regular file; links, pipes and devices aren't opened.

    UnreadableError says why it can't be had.
    """
    try:
        refuse_special(path.lstat().st_mode)
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123
            refuse_special(os.fstat(file.fileno()).st_mode)
            data = file.read(MAX_BYTES + 1)
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise UnreadableError(f"the file can't be opened ({reason})") from None
    except UnreadableError:
        raise
    except ValueError:  # a null byte in the path
        raise UnreadableError("the file's name can't be used; rename it") from None
    if len(data) > MAX_BYTES:
        raise UnreadableError(
            f"the file is larger than {MAX_BYTES // 1_000_000} MB; "
            "clear the notebook's outputs and save it again"
        )
    return data


def refuse_special(mode: int) -> None:
    """Raise UnreadableError for all but a regular file, by its mode."""
    if stat.S_ISREG(mode):
        return
    kinds = {
        stat.S_IFLNK: "a link",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
    }
    kind = kinds.get(stat.S_IFMT(mode), "a device")
    raise UnreadableError(f"it is {kind}; hand in the file itself")


def _python_text(data: bytes) -> str:
    """Decode a `.py` file as Python does: by its first lines, else UTF-8."""
    _refuse_binary(data, "the source itself")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError):
        raise UnreadableError(
            "the file isn't text in the encoding that it claims; save it as UTF-8"
        ) from None
    return _clean(text)


def _clean(text: str) -> str:
    """Text with plain line ends and without half characters or a byte-order mark."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    return text.encode("utf-8", "replace").decode()


def _refuse_binary(data: bytes, wanted: str) -> None:
    without_mark = b"\0\0" in (data[:4:2], data[1:4:2]) and data[:4].count(0) == 2
    if data.startswith(UTF_16) or without_mark:
        raise UnreadableError("the file is text in UTF-16; save it as UTF-8")
    if data.startswith(ARCHIVES):
        raise UnreadableError(
            "the file is an archive, such as a zip; unpack it and hand in what is in it"
        )
    if b"\0" in data:
        raise UnreadableError(f"the file is binary, not text; hand in {wanted}")


def _notebook(data: bytes) -> dict[str, Any]:
    _refuse_binary(data, "the notebook itself")
    try:
        text = data.decode("utf-8-sig")
        notebook = json.loads(text)
    except UnicodeDecodeError:
        raise UnreadableError("the notebook isn't text in UTF-8; save it so") from None
    except (ValueError, RecursionError) as problem:
        raise UnreadableError(_why_no_json(text, problem)) from None
    if not isinstance(notebook, dict):
        raise UnreadableError("the file is JSON, but not a notebook")
    return notebook


def _why_no_json(text: str, problem: Exception) -> str:
    start = text.lstrip()
    if start.startswith("<<<<<<<") or "\n<<<<<<< " in text:
        return "the notebook holds an unfinished git merge; resolve it and save again"
    if start.startswith("<"):
        return "the file is a web page, not a notebook; download the notebook itself"
    if start.startswith("version https://git-lfs"):
        return "the file is a pointer of git-lfs; hand in the notebook itself"
    if not start.startswith("{"):
        return "the file isn't a notebook (no JSON); if it is Python, name it .py"
    if isinstance(problem, json.JSONDecodeError):
        ends = problem.pos >= len(text.rstrip()) or "Unterminated" in problem.msg
        what = "breaks off" if ends else "isn't valid JSON"
        return f"the notebook {what} at line {problem.lineno}; save it again in Jupyter"
    return "the notebook isn't one that Jupyter wrote; save it again in Jupyter"


def _code_cells(notebook: dict[str, Any]) -> Iterator[str]:
    """The source of each code cell of a notebook, format 3 or 4."""
    _refuse_other_language(notebook)
    sheets = [notebook]
    if "cells" not in notebook and isinstance(notebook.get("worksheets"), list):
        sheets = notebook["worksheets"]
    for sheet in sheets:
        cells = sheet.get("cells") if isinstance(sheet, dict) else None
        if not isinstance(cells, list):
            raise UnreadableError("the file is JSON, but not a notebook: no cells")
        for number, cell in enumerate(cells, 1):
            if not isinstance(cell, dict) or "cell_type" not in cell:
                raise UnreadableError(f"cell {number} of the notebook isn't a cell")
            if cell["cell_type"] == "code":
                yield _clean(_source(cell, number))


def _source(cell: dict[str, Any], number: int) -> str:
    source = cell.get("source", cell.get("input"))
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    raise UnreadableError(
        f"the source of cell {number} isn't text; save the notebook again in Jupyter"
    )


def _refuse_other_language(notebook: dict[str, Any]) -> None:
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        language = _at(notebook, "metadata", key, field)
        if isinstance(language, str) and "python" not in language.lower():
            raise UnreadableError(
                "the notebook isn't in Python; hand in one with a Python kernel"
            )


def _chapter(notebook: dict[str, Any]) -> int | None:
    chapter = _at(notebook, "metadata", "autograder", "chapter")
    return chapter if type(chapter) is int else None


def _at(data: Any, *keys: str) -> Any:
    """What stands at data[key][key]…, None where a step doesn't exist."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data
