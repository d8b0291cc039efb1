"""The top-level statements of a submission, and which names each of them changes."""

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .broken import BrokenCell, broken_cell
from .scopes import (
    Function,
    Reads,
    bound_by,
    certainly_bound,
    declared_global,
    own_names,
    reads_of,
    running,
)

BUILTINS = frozenset(dir(builtins)) | {"__file__", "__builtins__"}
Place = tuple[int, int]  # number of the code cell and of the line in it, both from 1

# Methods that change what they are called on, besides torch's `zero_()` and its kind.
CHANGERS = frozenset(
    """add append appendleft clear discard extend extendleft insert load_state_dict pop
    popitem popleft register_buffer register_forward_hook register_module
    register_parameter remove reverse setdefault sort update __setattr__
    __setitem__""".split()
)
# Functions that change their first argument.
WRITERS = frozenset(
    """setattr delattr shuffle copyto heapify heappop heappush heapreplace insort
    insort_left insort_right""".split()
)


@dataclass(frozen=True)
class Touch:
    """The names from outside that a piece of code binds or changes as it runs."""

    binds: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)  # those of `binds` that are imported
    stores: set[str] = field(default_factory=set)  # n.x = …, n[i] = …, setattr(n, …)
    methods: set[str] = field(default_factory=set)  # n.update(…)
    calls: list[tuple[str, ast.Call]] = field(default_factory=list)  # f(…)

    @property
    def star(self) -> bool:
        """Whether it imports everything from somewhere."""
        return "*" in self.imports


@dataclass(frozen=True, eq=False)
class Statement:
    """A top-level statement with the lines it stands on."""

    index: int
    node: ast.stmt
    lines: tuple[str, ...]
    places: tuple[Place, ...]

    @cached_property
    def touch(self) -> Touch:
        return touch_of([self.node])

    @cached_property
    def reads(self) -> Reads:
        """What it reads; BrokenCell where it is nested too deeply to tell."""
        try:
            return reads_of([self.node])
        except RecursionError as problem:
            source = "\n".join(self.lines)
            raise broken_cell(problem, source, *self.places[0]) from None

    def too_entangled(self) -> BrokenCell:
        """That what it needs is more than can be followed."""
        message = "too many statements change what they need of one another"
        return BrokenCell(*self.places[0], self.lines[0].strip()[:200], message)

    @cached_property
    def certain(self) -> set[str]:
        return certainly_bound([self.node])

    @property
    def is_definition(self) -> bool:
        return isinstance(self.node, Function | ast.ClassDef)

    def settles(self, name: str) -> bool:
        """Whether what `name` was before this statement no longer matters after it,
        or is asked for by the statement itself."""
        return name in self.reads.now or name in self.certain


def touch_of(body: Sequence[ast.AST]) -> Touch:
    touch = Touch()
    for node in running(body):
        touch.binds.update(bound_by(node))
        match node:
            case ast.Call():
                _touch_by_call(node, touch)
            case ast.Name(id=name, ctx=ast.Del()) if name in BUILTINS:
                touch.stores.add(name)  # the built-in is back; other names stay defined
            case ast.Attribute(ctx=ast.Store() | ast.Del(), value=value):
                touch.stores.update(root(value))
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=value):
                touch.stores.update(root(value))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value))):
                touch.methods.update(root(value))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for decorator in node.decorator_list:  # @f.register
                    touch.methods.update(_attribute_root(decorator))
            case ast.Import() | ast.ImportFrom():
                touch.imports.update(bound_by(node))
    return touch


def _touch_by_call(call: ast.Call, touch: Touch) -> None:
    """Note what a call changes by what it is named: n.pop(), zeros_(n), setattr(n)."""
    match call.func:
        case ast.Attribute(value=value, attr=name):
            if name in CHANGERS or _in_place(name):
                touch.methods.update(root(value))
        case ast.Name(id=name):
            touch.calls.append((name, call))
        case _:
            return
    if call.args and (name in WRITERS or _in_place(name)):
        touch.stores.update(root(call.args[0]))


def _in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__") and name != "_"


def root(node: ast.AST) -> list[str]:
    """The name at the root of n.a[0].b(…).c, if there is one."""
    while True:
        match node:
            case ast.Name(id=name):
                return [name]
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute() as inner):
                node = inner
            case _:
                return []


def _attribute_root(decorator: ast.expr) -> list[str]:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return root(function) if isinstance(function, ast.Attribute) else []


class Effects:
    """What calling a function of the submission does to names around it."""

    def __init__(self, function: Function) -> None:
        body, args = function.body, function.args
        touch = touch_of(body)
        self.assigned = touch.binds & declared_global(body)
        # One that returns something is called for its result: not a procedure.
        self.is_procedure = not any(map(_gives_result, running(body)))
        self._changed = touch.stores | touch.methods
        self._outer = self._changed - own_names(args, body)
        self._parameters = [arg.arg for arg in (*args.posonlyargs, *args.args)]

    def changed_by(self, call: ast.Call) -> set[str]:
        """The names that a call changes: of globals, and of what it is given."""
        given = dict(zip(self._parameters, call.args, strict=False))
        given |= {word.arg: word.value for word in call.keywords if word.arg}
        passed = (root(given[name]) for name in self._changed & given.keys())
        return self._outer.union(*passed)


def _gives_result(node: ast.AST) -> bool:
    match node:
        case ast.Return(value=ast.expr()) | ast.Yield() | ast.YieldFrom():
            return True
    return False


def is_main_block(node: ast.stmt) -> bool:
    """Whether this is `if __name__ == "__main__":`, which isn't run."""
    if not isinstance(node, ast.If) or node.orelse:
        return False
    parts = list(ast.walk(node.test))
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    texts = {part.value for part in parts if isinstance(part, ast.Constant)}
    return "__name__" in names and "__main__" in texts


def pieces_of(
    body: Sequence[ast.stmt], lines: Sequence[str]
) -> Iterator[tuple[ast.stmt, tuple[str, ...], int]]:
    """The statements of a cell, each with its own lines and the first one's number.

    `import a, b` gives one for each module: one may be needed, the other not be there.
    """
    spans = [(_first_line(node), node.end_lineno or node.lineno) for node in body]
    before = [0, *(last for _, last in spans)]
    after = [*(first for first, _ in spans[1:]), 0]
    for number, (node, (first, last)) in enumerate(zip(body, spans, strict=True)):
        if isinstance(node, ast.Import) and len(node.names) > 1:
            for alias in node.names:
                single = ast.copy_location(ast.Import([alias]), node)
                yield single, (ast.unparse(single),), first
            continue
        shared = before[number] == first or after[number] == last
        yield node, _own_text(node, lines[first - 1 : last], shared), first


def _first_line(node: ast.stmt) -> int:
    decorators: Iterable[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _own_text(node: ast.stmt, lines: Sequence[str], shared: bool) -> tuple[str, ...]:
    """The lines of a statement, without neighbours on them (`a = 1; b = 2`)."""
    own = list(lines)
    if shared or own[-1].rstrip().endswith("\\"):  # that would go on
        own[-1] = own[-1].encode()[: node.end_col_offset].decode()
    if shared:
        own[0] = own[0].encode()[node.col_offset :].decode()
    return tuple(own)
