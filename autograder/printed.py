"""A reference as it is printed: with the helpers of its module that it needs."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.registry import EXERCISES


def printed(reference: Callable[..., Any]) -> str:
    """The source of a reference, below the helpers and constants that it uses.

    Imports and other exercises are left out: those are printed on their own.
    """
    file = inspect.getsourcefile(inspect.unwrap(reference))  # past its decorators
    text = Path(file or "").read_text("utf-8")
    lines, tree = text.splitlines(), ast.parse(text)
    defined = {name: node for node in tree.body for name in _names(node)}
    needed, left = set[str](), [reference.__name__]
    while left:
        name = left.pop()
        if name not in needed:
            needed.add(name)
            used = {n.id for n in ast.walk(defined[name]) if isinstance(n, ast.Name)}
            left += (used & defined.keys()) - EXERCISES.keys()
    nodes = sorted(
        {id(defined[name]): defined[name] for name in needed}.values(),
        key=lambda node: (node is defined[reference.__name__], node.lineno),
    )
    return "\n\n\n".join("\n".join(_with_comment(node, lines)) for node in nodes)


def _names(node: ast.stmt) -> list[str]:
    """What a statement defines, if it is a helper or a constant."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [one.id for one in node.targets if isinstance(one, ast.Name)]
    return []


def _with_comment(node: ast.stmt, lines: list[str]) -> list[str]:
    """A statement's lines, with the comment that stands directly above it."""
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(one.lineno for one in decorators)]) - 1
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return lines[start : node.end_lineno]
