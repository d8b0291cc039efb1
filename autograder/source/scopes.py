"""Which names a piece of code reads from around it, and which it binds.

Everything here walks syntax trees; nothing is executed.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

Function = ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


BINDERS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
    *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
)


@dataclass(frozen=True)
class Reads:
    """Names that code reads as it runs (now), and when what it defines is called."""

    now: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)


# Fields that hold names, numbers or operators, and no code that reads or binds.
LEAVES = frozenset(
    """arg asname attr conversion ctx id is_async kind level lineno module n op ops
    rest s simple tag type_comment""".split()
)


@cache
def _inner(fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(field for field in fields if field not in LEAVES)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below: ast.iter_child_nodes without the leaves, and faster."""
    found: list[ast.AST] = []
    for name in _inner(node._fields):
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
    return found


def outer_expressions(node: ast.AST) -> list[ast.AST]:
    """Of a function, lambda or class: what is evaluated outside its own scope."""
    outer: list[ast.AST] = []
    if isinstance(node, ast.ClassDef):
        outer += [*node.decorator_list, *node.bases, *node.keywords]
    elif isinstance(node, Function | ast.Lambda):
        spec = node.args
        outer += [*spec.defaults, *(d for d in spec.kw_defaults if d is not None)]
        every = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
        every += [arg for arg in (spec.vararg, spec.kwarg) if arg is not None]
        outer += [arg.annotation for arg in every if arg.annotation is not None]
        if not isinstance(node, ast.Lambda):
            outer += [*node.decorator_list, *([node.returns] if node.returns else [])]
    return outer


def running(roots: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes that run in the scope of `roots`: no body of a function or class.

    Of a comprehension's target nothing is given, since it is bound inside.
    """
    stack = list(roots)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, SCOPES):
            stack += outer_expressions(node)
        elif isinstance(node, ast.comprehension):
            stack += [node.iter, *node.ifs]
        else:
            stack += children(node)


def bound_by(node: ast.AST) -> list[str]:
    """The names that one running node binds in its scope."""
    if isinstance(node, ast.Name):  # by far the most frequent
        return [node.id] if isinstance(node.ctx, ast.Store) else []
    if not isinstance(node, BINDERS):
        return []
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return [name]
        case ast.ClassDef(name=name):
            return [name]
        case ast.Import() | ast.ImportFrom():
            return [bound_by_import(alias) for alias in node.names]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return [name]
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return [name]
    return []


def bound_by_import(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def certainly_bound(body: Sequence[ast.stmt]) -> set[str]:
    """The names bound whichever way the statements run, unless one raises."""
    return set().union(*map(_certain, body))


def _certain(node: ast.stmt) -> set[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.ImportFrom():
            return set(bound_by(node))
        case ast.Import():  # `import a.b` adds to what `import a.c` bound
            return {alias.asname for alias in node.names if alias.asname}
        case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.Expr():
            return {name for part in running([node]) for name in bound_by(part)}
        case ast.With() | ast.AsyncWith():
            return _stored(node.items) | certainly_bound(node.body)
        case ast.If():
            return certainly_bound(node.body) & certainly_bound(node.orelse)
        case ast.Try() | ast.TryStar():
            ways = [[*node.body, *node.orelse], *(h.body for h in node.handlers)]
            return set.intersection(*map(certainly_bound, ways)) | certainly_bound(
                node.finalbody
            )
    return set()


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    return {name for node in running(nodes) for name in bound_by(node)}


def reads_of(body: Sequence[ast.stmt]) -> Reads:
    """What statements read from outside themselves, in the order they run."""
    reads = Reads()
    _read_block(body, set(), reads)
    return reads


def _read_block(body: Sequence[ast.stmt], bound: set[str], reads: Reads) -> None:
    """Add what `body` reads beyond `bound`, then add to `bound` what it binds."""
    for node in body:
        match node:
            case ast.For() | ast.AsyncFor():
                _read(node.iter, bound, reads)
                _read(node.target, bound, reads)
                _read_block(node.body, bound | _stored([node.target]), reads)
                _read_block(node.orelse, set(bound), reads)
            case ast.While() | ast.If():
                _read(node.test, bound, reads)
                _read_block(node.body, set(bound), reads)
                _read_block(node.orelse, set(bound), reads)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    _read(item, bound, reads)
                _read_block(node.body, bound | _stored(node.items), reads)
            case ast.Try() | ast.TryStar():
                _read_block([*node.body, *node.orelse], set(bound), reads)
                for handler in node.handlers:
                    _read(handler.type, bound, reads)
                    caught = {handler.name} if handler.name else set()
                    _read_block(handler.body, bound | caught, reads)
                _read_block(node.finalbody, set(bound), reads)
            case ast.Match():
                _read(node.subject, bound, reads)
                for case in node.cases:
                    inside = bound | _stored([case.pattern])
                    _read(case.pattern, bound, reads)
                    _read(case.guard, inside, reads)
                    _read_block(case.body, inside, reads)
            case _:
                _read(node, bound, reads)
        bound |= _certain(node)


def _read(node: ast.AST | None, bound: set[str], reads: Reads) -> None:
    """Add what an expression or a simple statement reads beyond `bound`."""
    if node is None:
        return
    inner = Reads()
    _collect([node], inner)
    reads.now.update(inner.now - bound)
    reads.later.update(inner.later)


def _collect(roots: Iterable[ast.AST], reads: Reads) -> None:
    """Add every name that running `roots` reads, those it binds itself included."""
    stack = list(roots)
    while stack:
        node = stack.pop()
        match node:
            case ast.Name(ctx=ast.Load() | ast.Del()):
                reads.now.add(node.id)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                reads.now.add(name)
                stack.append(value)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                reads.later.update(_read_when_called(node.args, node.body))
                stack += outer_expressions(node)
            case ast.Lambda():  # sorted(key=lambda …) calls it at once
                inside = _read_when_called(node.args, [node.body])
                reads.now.update(inside)
                reads.later.update(inside)
                stack += outer_expressions(node)
            case ast.ClassDef():
                _read_block(node.body, set(), reads)
                stack += outer_expressions(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                _collect_comprehension(node, reads)
                stack.append(node.generators[0].iter)
            case _:
                stack += children(node)


def _collect_comprehension(node: Comprehension, reads: Reads) -> None:
    inner = Reads()
    if isinstance(node, ast.DictComp):
        results = [node.key, node.value]
    else:
        results = [node.elt]
    first, *others = node.generators
    _collect([*results, first.target, *first.ifs, *others], inner)
    own = _stored(generator.target for generator in node.generators)
    reads.now.update(inner.now - own)
    reads.later.update(inner.later - own)


def _read_when_called(args: ast.arguments, body: Sequence[ast.AST]) -> set[str]:
    """What a function with these arguments and this body reads from around it."""
    inner = Reads()
    _collect(body, inner)
    return (inner.now | inner.later) - own_names(args, body)


def declared_global(body: Sequence[ast.AST]) -> set[str]:
    declared = [node for node in running(body) if isinstance(node, ast.Global)]
    return {name for node in declared for name in node.names}


def own_names(args: ast.arguments, body: Sequence[ast.AST]) -> set[str]:
    """The names that are a function's own: its parameters and what it assigns."""
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every += [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return {arg.arg for arg in every} | (_stored(body) - declared_global(body))
