"""An answer as tokens that renaming, comments, types and formatting leave the same.

The tokens follow the syntax tree. Names that the answer binds itself are told from
those it only uses, so that they can be compared by their role instead of spelling.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.source.scopes import bound_by_import

#: A longer answer isn't compared: a few thousand tokens are a long chapter's work.
MOST = 20_000

Function = ast.FunctionDef | ast.AsyncFunctionDef
SELF = ("self", "cls")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of an answer, its line, and whether it is a name of the answer's own."""

    text: str
    line: int
    chosen: bool = False


class TooLong(ValueError):
    """The answer has more tokens than are compared."""


def tokens(tree: ast.Module, exercise: str) -> list[Token]:
    """The tokens of an answer to an exercise, whose name is everybody's.

    Raises TooLong.
    """
    chosen, modules = _names(tree, exercise)
    found: list[Token] = []
    for token in _Walk(chosen, modules).walk(tree):
        found.append(token)
        if len(found) > MOST:
            raise TooLong(f"it has more than {MOST:,} tokens")
    return found


def _names(tree: ast.Module, exercise: str) -> tuple[set[str], dict[str, str]]:
    """The names that the code binds itself, and what its imports stand for."""
    chosen: set[str] = set()
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                chosen.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                chosen.add(name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name, ctx=ast.Store()):
                if owner in SELF:
                    chosen.add(name)
            case ast.Import() | ast.ImportFrom():
                inside = getattr(node, "module", None) or ""
                for alias in node.names:
                    full = f"{inside}.{alias.name}".strip(".")
                    whole = isinstance(node, ast.Import) and alias.asname is None
                    bound = bound_by_import(alias)
                    modules[bound] = bound if whole else full
    return chosen - {exercise, "__init__", "forward", *SELF} - modules.keys(), modules


class _Walk:
    """Writes a tree as tokens, in the order of the source and without recursion."""

    def __init__(self, chosen: set[str], modules: dict[str, str]) -> None:
        self.chosen, self.modules = chosen, modules

    def walk(self, tree: ast.AST) -> Iterator[Token]:
        stack: list[ast.AST] = [tree]
        line = 1
        while stack:
            node = stack.pop()
            line = getattr(node, "lineno", line)
            if said := self._said(node):
                yield Token(said, line, said in self.chosen)
            stack += reversed(_below(node))

    def _said(self, node: ast.AST) -> str:
        """The token of one node; none for what only holds others."""
        match node:
            case ast.Name(id=name):
                return self.modules.get(name, name)
            case ast.arg(arg=name) | ast.FunctionDef(name=name):
                return name
            case ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                return name
            case ast.Attribute(attr=name):
                return name if name in self.chosen else "." + name
            case ast.keyword(arg=str(name)):
                return name if name in self.chosen else name + "="
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return f"-{_literal(value)}"
            case ast.Constant(value=value):
                return _literal(value)
            case ast.AnnAssign() | ast.AugAssign():
                return "Assign"
            case ast.Module() | ast.arguments() | ast.Load() | ast.Store() | ast.Expr():
                return ""
            case ast.Import() | ast.ImportFrom():
                return ""
        return type(node).__name__


def _below(node: ast.AST) -> list[ast.AST]:
    """What is written of a node's children, without types, decorators, docstrings."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr():
            return []
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return []
        case ast.arg():
            return []
        case ast.AnnAssign(target=target, value=value):
            return [target] if value is None else [target, value]
        case ast.AugAssign(target=target, op=op, value=value):  # x += y is x = x + y
            return [target, ast.BinOp(target, op, value)]
        case ast.BinOp(left=left, op=op, right=right):
            return [op, left, right]
        case ast.Call(func=func, args=args, keywords=keywords):
            named = sorted(keywords, key=lambda one: one.arg or "")
            return [func, *args, *named]
    found: list[ast.AST] = []
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "returns", "type_comment", "type_params"):
            continue
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
    return [one for one in found if not _is_remark(one)]


def _is_remark(node: ast.AST) -> bool:
    """Whether a statement is a string or number alone: a docstring, `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _literal(value: object) -> str:
    """A literal by its value; text by its shape, an einsum's letters by their order."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if not isinstance(value, str):
        return repr(value)[:40]
    if "->" not in value:
        return "text"
    letters: dict[str, str] = {}
    return re.sub(
        r"[A-Za-z_]\w*|\w",
        lambda found: letters.setdefault(found[0], f"a{len(letters)}"),
        value.replace(" ", "") if "," in value and " " not in value else value,
    )[:200]
