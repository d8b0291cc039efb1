"""A verdict as plain text: for screen readers, for nbval, for a log."""

import textwrap
from collections.abc import Sequence

from autograder.render.words import clean, headline, hint_lines, points, tally
from autograder.verdict import Example, Row, Verdict

WIDTH = 80
LABEL = 16


def as_text(verdict: Verdict, hints: Sequence[str] = ()) -> str:
    """Headline, diagnosis, example, the first hint, and how to go on."""
    head = headline(verdict)
    worth = points(verdict)
    lines = [f"{head}{worth:>{max(WIDTH - len(head), len(worth) + 2)}}"]
    for found in verdict.diagnosis:
        lines += ["", *_entry("", clean(found.message))]
    if verdict.example is not None:
        lines += ["", *_example(verdict.example)]
    if verdict.checks:
        lines += ["", *_entry("checks", tally(verdict))]
    if hints and verdict.diagnosis:
        label, text = hint_lines(hints)[0]
        lines += ["", *_entry(label, text)]
    for note in verdict.notes:
        lines += ["", *_entry("", note)]
    return "\n".join(line.rstrip() for line in lines)


def _entry(label: str, text: str) -> list[str]:
    """A paragraph, wrapped, its label in a column of its own where it has one."""
    first = f"  {label:<{LABEL}}" if label else "  "
    wrapped: list[str] = []
    for paragraph in text.splitlines() or [""]:
        wrapped += textwrap.wrap(paragraph, WIDTH - len(first)) or [""]
    rest = " " * len(first)
    return [(first if i == 0 else rest) + line for i, line in enumerate(wrapped)]


def _example(example: Example) -> list[str]:
    lines = _entry("", f"the smallest input that shows it: {example.title}")
    for name, text in example.inputs:
        lines += _block(name, [text])
    lines += _block("", ["expected", "yours"], _width(example.rows))
    for row in example.rows:
        lines += _block(row.label, [row.expected, row.yours], _width(example.rows))
    return lines


def _width(rows: Sequence[Row]) -> int:
    widths = [len(line) for row in rows for line in row.expected.splitlines()]
    return max([16, *widths]) + 3


def _block(label: str, columns: list[str], width: int = 0) -> list[str]:
    """Columns of several lines each, side by side."""
    split = [clean(column).splitlines() or [""] for column in columns]
    height = max(len(column) for column in split)
    lines = []
    for i in range(height):
        cells = [column[i] if i < len(column) else "" for column in split]
        start = f"    {label if i == 0 else '':<{LABEL - 3}} "
        lines.append(start + "".join(f"{cell:<{width}}" for cell in cells))
    return lines
