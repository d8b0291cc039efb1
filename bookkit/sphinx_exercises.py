"""A Sphinx extension: hints and solution, folded away, under each exercise of a page.

A notebook's own source stays plain. As Sphinx reads it, a Markdown cell is put under
each cell that begins with `@exercise`, written from the exercise's definition and from
its reference in solutions/. Code cells stay as they are: the execution cache matches.
"""

import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from sphinx.application import Sphinx
from sphinx.util import logging

from bookkit.notebooks import exercise_cells

ROOT = Path(__file__).resolve().parents[1]
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def definitions() -> Mapping[str, Any]:
    """Every exercise's definition by its id."""
    from autograder.registry import EXERCISES

    return EXERCISES


def plain(text: str) -> str:
    """Text from a definition as MyST that shows it literally, `code` apart."""
    shown, end = [], 0
    for code in CODE.finditer(text):
        shown += [PUNCTUATION.sub(r"\\\1", text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*shown, PUNCTUATION.sub(r"\\\1", text[end:])])


def hint_body(text: str) -> str:
    """A hint as MyST: paragraphs, and indented ones as code."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text))
    return "\n\n".join(
        code_block(inspect.cleandoc("\n" + block))
        if block[:4].isspace()
        else plain(block)
        for block in blocks
    )


def code_block(source: str) -> str:
    """Python source in a fence that is longer than any inside it."""
    longest = max((len(ticks) for ticks in re.findall("`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{{code-block}} python\n{source.rstrip()}\n{fence}"


def dropdown(title: str, body: str, name: str, kind: str) -> str:
    """A folded box that the reader opens, and that a link can name."""
    options = f":name: {name}\n:class-container: {kind}"
    return f":::{{dropdown}} {title}\n{options}\n\n{body}\n:::"


def reference_file(reference: Any) -> Path:
    """The file that an exercise's reference stands in."""
    return Path(inspect.getsourcefile(reference) or "").resolve()


def effort(exercise: Any) -> str:
    """How hard an exercise is, how long it takes and what it is worth, in one line."""
    filled, minutes = exercise.difficulty, exercise.minutes
    worth = f"{exercise.points:g} point{'' if exercise.points == 1 else 's'}"
    return " · ".join(
        [
            f"Difficulty {filled} of 5 {'●' * filled}{'○' * (5 - filled)}",
            f"about {minutes} minute{'' if minutes == 1 else 's'}",
            "★ optional, no points" if exercise.optional else worth,
        ]
    )


def help_cell(exercise: Any) -> str:
    """What stands under an exercise, as MyST Markdown."""
    from autograder.printed import printed

    anchor = exercise.id.replace("_", "-").lower()
    count = len(exercise.hints)
    hints = [
        dropdown(f"Hint {i} of {count}", hint_body(hint), f"{anchor}-hint-{i}", "hint")
        for i, hint in enumerate(exercise.hints, start=1)
    ]
    path = reference_file(exercise.reference)
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
    source = code_block(printed(exercise.reference))
    body = f"From `{Path(shown).as_posix()}`:\n\n{source}"
    solution = dropdown("Solution", body, f"{anchor}-solution", "solution")
    parts = [effort(exercise), *hints, solution]
    return "::::{div} exercise-help\n" + "\n\n".join(parts) + "\n::::"


def with_help(text: str, exercises: Mapping[str, Any]) -> tuple[str, list[str]]:
    """A notebook's text with a help cell under each exercise, and the unknown ones."""
    notebook = nbformat.reads(text, as_version=4)
    unknown, added = [], 0
    for position, name in list(exercise_cells(notebook)):
        if name not in exercises:
            unknown.append(name)
            continue
        cell = nbformat.v4.new_markdown_cell(help_cell(exercises[name]))
        notebook.cells.insert(position + added + 1, cell)
        added += 1
    return json.dumps(notebook), unknown


def add_help(app: Sphinx, docname: str, content: list[str]) -> None:
    """Put the help cells into a notebook that Sphinx has just read."""
    if not str(app.env.doc2path(docname)).endswith(".ipynb"):
        return
    exercises = definitions()
    content[0], unknown = with_help(content[0], exercises)
    for name in unknown:
        logging.getLogger(__name__).warning(
            f"no exercise {name!r} in autograder/exercises", location=docname
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("source-read", add_help)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
