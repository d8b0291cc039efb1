"""The smallest top-level program that an exercise needs, cut out of a submission.

Nothing is executed: the cut follows names. It asks of each name which statements make
it what it is where it is read, then asks the same of the names that those read.
"""

import ast
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .broken import UNPARSABLE, broken_cell
from .program import program_of
from .reaching import needed_for
from .scopes import running
from .statements import Place, Statement
from .stubs import ends_as_given, ends_as_stub


@dataclass(frozen=True)
class Slice:
    """A program that defines `name`, in the learner's own lines.

    Line i of `source` stood at `line_map[i - 1]`: number of the code cell, and of the
    line in it, both from 1. `imports` are the modules that it imports, `defines` the
    names that it binds itself.
    """

    name: str
    source: str
    line_map: tuple[Place, ...]
    imports: tuple[str, ...]
    defines: tuple[str, ...]


def slice_for(
    cells: Sequence[str], name: str, without: Collection[str] = ()
) -> Slice | None:
    """What `name` needs of the cells; None where nothing there defines it.

    Names in `without` come from somewhere else: their definitions are left out.
    Raises BrokenCell where it, or something that it needs, is written only in a cell
    that isn't Python, and where such a cell holds what the stub was replaced by.
    """
    return _slice_for(tuple(cells), name, frozenset(without) - {name})


@lru_cache(maxsize=128)  # a submission's: asked for by each exercise that uses it
def _slice_for(
    cells: tuple[str, ...], name: str, without: frozenset[str]
) -> Slice | None:
    program = program_of(cells)
    history = program.history(name)
    if not history or ends_as_stub(program, name):
        program.refuse_broken([name])
    if not history:
        return None
    statements = needed_for(program, name, without)
    return _joined(name, [*program.futures, *statements])


def _joined(name: str, statements: Sequence[Statement]) -> Slice:
    lines: list[str] = []
    places: list[Place] = []
    for statement in statements:
        gap = 2 if lines and statement.is_definition else 0
        lines += [""] * gap + list(statement.lines)
        places += [statement.places[0]] * gap + list(statement.places)
    source = "\n".join(lines) + "\n"
    _refuse_uncompilable(source, places)
    nodes = [statement.node for statement in statements]
    binds = [statement.touch.binds for statement in statements]
    return Slice(
        name=name,
        source=source,
        line_map=tuple(places),
        imports=tuple(sorted(set(_imported_modules(nodes)))),
        defines=tuple(sorted(set().union(*binds) - {"*"})),
    )


def _refuse_uncompilable(source: str, places: Sequence[Place]) -> None:
    """Raise BrokenCell for what parses and yet isn't Python: a stray `return`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<slice>", "exec", dont_inherit=True)
    except UNPARSABLE as problem:
        at = getattr(problem, "lineno", None) or 1
        cell, line = places[min(at, len(places)) - 1]
        raise broken_cell(problem, source, cell, line) from None


def _imported_modules(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    """The modules that statements import as they run, each by its first name."""
    for node in running(nodes):
        match node:
            case ast.Import():
                yield from (alias.name.partition(".")[0] for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]


def defined_names(cells: Sequence[str]) -> list[str]:
    """The names that the cells define at top level, by more than an import.

    Cells that can't be read give the names that they seem to define.
    """
    program = program_of(tuple(cells))
    seeming = [name for each in program.broken for name in each.seemingly_defined()]
    return list(dict.fromkeys([*program.defined(), *seeming]))


def is_stub(code: Sequence[str] | Slice, name: str) -> bool:
    """Whether the last definition of `name` is still a stub: not attempted.

    That is a docstring, `pass`, `...` or `raise NotImplementedError`; in a class, such
    methods, `super().__init__()` before the rest allowed.
    """
    cells = (code.source,) if isinstance(code, Slice) else tuple(code)
    return ends_as_stub(program_of(cells), name)


def is_given(code: Sequence[str] | Slice, name: str, given: str) -> bool:
    """Whether the last definition of `name` is still the one in the source `given`.

    Decorators, docstrings, comments and layout make no difference.
    """
    cells = (code.source,) if isinstance(code, Slice) else tuple(code)
    return ends_as_given(program_of(cells), name, given)
