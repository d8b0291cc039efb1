"""A submission's cells, read into statements and indexed by the names they change."""

import __future__

import ast
import gc
import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from .broken import UNPARSABLE, BrokenCell, broken_cell
from .magics import FOREIGN, parse
from .scopes import Function
from .statements import Effects, Statement, is_main_block, pieces_of

FUTURES = {*__future__.all_feature_names}
SEEMINGLY_DEFINED = re.compile(
    r"^ {0,3}(?:(?:async +)?(?:def|class) +(\w+)|(\w+) *(?::[^=\n]*)?=(?!=))",
    re.MULTILINE,
)


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

    def __init__(self, name: str) -> None:
        self.name = name
        self.statements: list[Statement] = []
        self.bound_at: int | None = None

    def add(self, statement: Statement, binds: bool) -> None:
        """Add the next statement of the submission that binds or changes the name."""
        if binds and self.bound_at is None:
            self.bound_at = statement.index
            self.statements.insert(0, statement)
        else:
            self.statements.append(statement)

    @cached_property
    def _position(self) -> dict[int, int]:
        return {each.index: n for n, each in enumerate(self.statements)}

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
        if at in self._position:  # one of ours asks what came before it
            return self._position[at]
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
        self._histories = self._histories_of_names()

    def history(self, name: str) -> History:
        return self._histories.get(name) or History(name)

    def defined(self) -> list[str]:
        """The names that are bound by more than an import, in order."""
        bound = [
            (each.bound_at, name)
            for name, each in self._histories.items()
            if each.bound_at is not None and name not in self._imported
        ]
        return [name for _, name in sorted(bound)]

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
                kept = self.statements
                if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                    if not {one.name for one in node.names} <= FUTURES:
                        continue  # Python has no such feature, so nothing needs it
                    kept = self.futures
                kept.append(Statement(len(kept), node, text, tuple(places)))

    def _histories_of_names(self) -> dict[str, History]:
        touches = [statement.touch for statement in self.statements]
        bound = set().union(*(touch.binds - touch.imports for touch in touches))
        self._imported = set().union(*(touch.imports for touch in touches)) - bound
        functions = self._functions()
        histories: dict[str, History] = {}
        for statement, touch in zip(self.statements, touches, strict=True):
            # A module's function (torch.manual_seed(0)) changes nothing of ours.
            changes = touch.stores | (touch.methods - self._imported)
            binds = touch.binds.copy()
            for function, call in touch.calls:
                if (does := functions.get(function)) is not None:
                    binds |= does.assigned - bound
                    if does.is_procedure:
                        changes |= does.changed_by(call) | does.assigned
            for name in binds | changes:
                history = histories.setdefault(name, History(name))
                history.add(statement, name in binds)
        return histories

    def _functions(self) -> dict[str, Effects]:
        """What each function that statements call does, the last of each name."""
        called = {name for each in self.statements for name, _ in each.touch.calls}
        nodes = [statement.node for statement in self.statements]
        functions = {node.name: node for node in nodes if isinstance(node, Function)}
        return {name: Effects(functions[name]) for name in called & functions.keys()}


@lru_cache(maxsize=128)  # a submission's files: each is asked for every exercise
def program_of(cells: tuple[str, ...]) -> Program:
    """Read the cells, once for all the exercises in them."""
    was_enabled = gc.isenabled()
    gc.disable()  # a syntax tree is all alive: collecting would only double the time
    try:
        return Program(cells)
    finally:
        if was_enabled:
            gc.enable()


def forget_programs() -> None:
    """Free what was kept of the cells that were read; the next ones are others."""
    program_of.cache_clear()


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
