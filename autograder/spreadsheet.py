"""Tables that spreadsheets read: CSV, whoever filled in the cells."""

import csv
import io
from collections.abc import Iterable, Sequence

#: What makes a spreadsheet take a cell for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return "'" + cell if cell.startswith(FORMULA) else cell


def as_csv(rows: Iterable[Sequence[str]]) -> str:
    """The rows as CSV, each cell harmless."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerows([harmless(cell) for cell in row] for row in rows)
    return text.getvalue()
