"""A verdict as rich text for the terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.render.words import SAID, clean, hint_lines, points, tally
from autograder.verdict import Example, Verdict

_COLOURS = {"passed": "green", "not_attempted": "blue", "missing": "blue"}


def as_rich(verdict: Verdict, hints: Sequence[str] = ()) -> RenderableType:
    """Headline, diagnosis, example, checks, the first hint."""
    sign, words = SAID[verdict.status]
    head = Text()
    head.append(sign, style=f"bold {_COLOURS.get(verdict.status, 'yellow')}")
    head.append(f" {verdict.exercise}", style="bold")
    head.append(f" · {words} · {points(verdict)}")
    body: list[RenderableType] = []
    for found in verdict.diagnosis:
        body.append(Text(clean(found.message)))
    if verdict.example is not None:
        title = f"the smallest input that shows it: {verdict.example.title}"
        body += [Text(title, style="italic"), _example(verdict.example)]
    if verdict.checks and verdict.status != "not_attempted":
        body.append(Text(tally(verdict), style="dim"))
    if hints and verdict.diagnosis:
        label, text = hint_lines(hints)[0]
        body.append(Text(f"{label}: {text}"))
    body += [Text(note, style="dim") for note in verdict.notes]
    return Group(head, *(Padding(one, (0, 0, 0, 2)) for one in body))


def _example(example: Example) -> Table:
    table = Table(
        "",
        "expected",
        "yours",
        box=None,
        pad_edge=False,
    )
    for name, text in example.inputs:
        table.add_row(Text(name), Text(clean(text)), "", style="dim")
    for row in example.rows:
        table.add_row(
            Text(row.label), Text(clean(row.expected)), Text(clean(row.yours))
        )
    return table
