"""A submission's cells, read into statements and indexed by the names they change."""

import ast
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .magics import FOREIGN, parse
from .scopes import Function
from .statements import Statement, changed_by_call, is_main_block, pieces_of

# What ast.parse and compile raise for text that isn't Python, or is nested too deeply.
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
SEEMINGLY_DEFINED = re.compile(
    r"^ {0,3}(?:(?:async +)?(?:def|class) +(\w+)|(\w+) *(?::[^=\n]*)?=(?!=))",
    re.MULTILINE,
)


class BrokenCell(Exception):
    """What an exercise needs stands only in a cell that isn't Python.

    Numbers of the code cell and of the line in it, both from 1; the line; what is
    wrong there.
    """

    def __init__(self, cell: int, line: int, text: str, message: str) -> None:
        super().__init__(cell, line, text, message)
        self.cell, self.line, self.text, self.message = cell, line, text, message

    def __str__(self) -> str:
        shown = f": {self.text}" if self.text else ""
        return f"code cell {self.cell}, line {self.line}: {self.message}{shown}"


def broken_cell(
    problem: BaseException, source: str, cell: int, line: int | None = None
) -> BrokenCell:
    """Say what is wrong with `source`, whose fault stands at a line of a cell."""
    lines = source.split("\n")
    at = min(max(1, getattr(problem, "lineno", None) or 1), len(lines))
    if "\0" in source:
        message = "a null byte stands in the code"
    elif isinstance(problem, SyntaxError):
        message = problem.msg
    elif isinstance(problem, ValueError):
        message = "it holds characters that no encoding has"
    else:
        message = "it is nested too deeply to be read"
    text = "".join(char if char.isprintable() else " " for char in lines[at - 1])
    return BrokenCell(cell, line or at, text.strip()[:200], message)


@dataclass(frozen=True)
class Unread:
    """A cell that isn't Python: its text, and why."""

    text: str
    problem: BrokenCell

    def seemingly_defined(self) -> list[str]:
        found = SEEMINGLY_DEFINED.finditer(self.text)
        return [match[1] or match[2] for match in found]


class History:
    """What happens to one name: the statements that bind or change it, in order.

    Changes that stand before the first binding, in a notebook whose cells were moved,
    come after it here.
    """

    def __init__(self, name: str, touching: Sequence[Statement]) -> None:
        self.name = name
        binders = (n for n, each in enumerate(touching) if name in each.touch.binds)
        first = next(binders, None)
        self.bound_at = None if first is None else touching[first].index
        self.statements = list(touching)
        if first:
            early, binder = self.statements[:first], self.statements[first]
            self.statements[: first + 1] = [binder, *early]
        self.position = {each.index: n for n, each in enumerate(self.statements)}

    def __bool__(self) -> bool:
        return bool(self.statements)

    def reaching(self, at: int) -> list[Statement]:
        """The statements that make the name what it is just before statement `at`.

        Where it is bound only further down, what it is in the end: cells move.
        """
        made: list[Statement] = []
        for position in reversed(range(self._known(at))):
            made.append(self.statements[position])
            if made[-1].settles(self.name):
                break
        return made

    def _known(self, at: int) -> int:
        if at in self.position:  # one of ours asks what came before it
            return self.position[at]
        if self.bound_at is not None and self.bound_at > at:
            return len(self.statements)
        return bisect_left(self.statements, at, key=lambda each: each.index)


class Program:
    """The statements of some cells, and the history of every name in them."""

    def __init__(self, cells: Iterable[str]) -> None:
        self.statements: list[Statement] = []
        self.futures: list[Statement] = []
        self.broken: list[Unread] = []
        for number, cell in enumerate(cells, 1):
            self._add(cell.replace("\r\n", "\n").replace("\r", "\n"), number)
        self.stars = [each for each in self.statements if each.touch.star]
        touching: dict[str, list[Statement]] = defaultdict(list)
        for statement, names in self._touched_names():
            for name in names:
                touching[name].append(statement)
        self._histories = {name: History(name, by) for name, by in touching.items()}

    def history(self, name: str) -> History:
        return self._histories.get(name) or History(name, [])

    def refuse_broken(self, names: Iterable[str]) -> None:
        """Raise BrokenCell if one of the names seems to be defined in such a cell."""
        wanted = set(names)
        for unread in self.broken:
            if wanted.intersection(unread.seemingly_defined()):
                raise unread.problem

    def _add(self, cell: str, number: int, line: int | None = None) -> None:
        """Add the statements of a cell, or of a text that stands at a line of it."""
        try:
            tree, lines = parse(cell)
            pieces = list(pieces_of(tree.body, lines))
        except UNPARSABLE as problem:
            unread = Unread(cell, broken_cell(problem, cell, number, line))
            self.broken.append(unread)
            return
        for node, text, first in pieces:
            if (body := body_of_cell_magic(node)) is not None:
                self._add(body, number, line or first)
            elif not is_main_block(node):
                places = [(number, line or first + n) for n in range(len(text))]
                future = (
                    isinstance(node, ast.ImportFrom) and node.module == "__future__"
                )
                kept = self.futures if future else self.statements
                kept.append(Statement(len(kept), node, text, tuple(places)))

    def _touched_names(self) -> Iterator[tuple[Statement, set[str]]]:
        """Each statement with the names that it binds or changes.

        Calling a method of an imported module (`torch.manual_seed(0)`) changes nothing.
        """
        touches = [statement.touch for statement in self.statements]
        imported = set().union(*(touch.imports for touch in touches))
        imported -= set().union(*(touch.binds - touch.imports for touch in touches))
        nodes = [statement.node for statement in self.statements]
        functions = {node.name: node for node in nodes if isinstance(node, Function)}
        for statement, touch in zip(self.statements, touches, strict=True):
            names = touch.binds | touch.stores | (touch.methods - imported)
            for call in touch.calls:
                function = functions.get(getattr(call.func, "id", ""))
                if function is not None:
                    names |= changed_by_call(call, function)
            yield statement, names


@lru_cache(maxsize=4)
def program_of(cells: tuple[str, ...]) -> Program:
    return Program(cells)


def body_of_cell_magic(node: ast.stmt) -> str | None:
    """The cell in `get_ipython().run_cell_magic("time", "", cell)`.

    nbconvert and IPython's history write a cell magic so. None for other statements.
    """
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(attr="run_cell_magic"),
                args=[ast.Constant(value=magic), _, ast.Constant(value=str(body))],
            )
        ):
            return "" if magic in FOREIGN else body
    return None
