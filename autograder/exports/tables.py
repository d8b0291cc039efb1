"""Tables that people made with a spreadsheet, read: CSV in its many forms."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from autograder.exports.errors import ExportError
from autograder.spreadsheet import FORMULA


@dataclass(frozen=True)
class Table:
    """A file's header, and its rows with the line in which each ends."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]


def read_csv(path: Path) -> Table:
    """Read a table: commas, semicolons or tabs; each row as long as the header.

    Raises ExportError where there is none to read.
    """
    text = _text(path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        lines = [
            (reader.line_num, tuple(map(_cell, row)))
            for row in reader
            if any(cell.strip() for cell in row)
        ]
    except csv.Error as error:
        raise ExportError(
            f"{path.name}, line {reader.line_num}, isn't CSV ({error}); save it anew"
        ) from None
    if not lines:
        raise ExportError(f"{path.name} is empty; its first line names the columns")
    columns = lines[0][1]
    width = len(columns)
    for line, row in lines:
        if any(row[width:]):
            raise ExportError(
                f"{path.name}, line {line}, has more cells than the header; "
                "a cell with a comma in it needs quotes"
            )
    padded = ((line, (*row, *[""] * width)[:width]) for line, row in lines[1:])
    return Table(path.name, columns, tuple(padded))


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ExportError(
            f"{path.name} isn't text in UTF-8; save it as 'CSV UTF-8'"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ExportError(f"can't read {path} ({reason})") from None


def _delimiter(text: str) -> str:
    """What separates the cells: whatever cuts the first line into most."""
    header = text.lstrip().partition("\n")[0]
    return max(",;\t", key=lambda sign: header.count(sign))


def _cell(cell: str) -> str:
    """A cell as it was meant: without the quote that made it harmless."""
    cell = cell.strip()
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA) else cell
