"""An answer cut out of its cells, so that it runs by itself."""

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace

from autograder.registry import EXERCISES
from autograder.source import Slice, defined_names, parsed, slice_for
from autograder.untouched import untouched


def cut_out(
    cells: Sequence[str], name: str, instead: Collection[str] = ()
) -> Slice | None:
    """What an answer needs of its cells; None where nothing there defines it.

    Parts take the place of untouched exercises that it uses, and of those in `instead`.
    Raises BrokenCell where the answer stands in a cell that can't be read.
    """
    stubs = {
        one
        for one in EXERCISES.keys() & set(defined_names(cells))
        if one != name and untouched(cells, one)
    }
    apart = sorted(stubs | set(instead))
    cut = slice_for(cells, name, apart)
    if cut is None:
        return None
    nodes = ast.walk(parsed(cut.source))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    needed = [one for one in apart if one in used]
    if not needed:
        return cut
    imports = f"from autograder.parts import {', '.join(needed)}\n"
    return replace(cut, source=_after_future(cut.source, imports))


def _after_future(source: str, line: str) -> str:
    """A line put before all others but `from __future__` imports."""
    lines = source.splitlines(keepends=True)
    at = 0
    while at < len(lines) and lines[at].startswith("from __future__"):
        at += 1
    return "".join([*lines[:at], line, *lines[at:]])
