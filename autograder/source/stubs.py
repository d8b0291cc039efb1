"""Whether an exercise is still the stub that its chapter gave."""

import ast
from collections.abc import Sequence

from .program import program_of
from .scopes import Function, running
from .slicing import Slice


def is_stub(code: Sequence[str] | Slice, name: str) -> bool:
    """Whether the last definition of `name` holds nothing but a stub.

    That is a docstring, `pass`, `...` or `raise NotImplementedError`; in a class, such
    methods, `super().__init__()` before the rest allowed.
    """
    cells = (code.source,) if isinstance(code, Slice) else tuple(code)
    history = program_of(cells).history(name)
    if not history:
        return False
    last = history.statements[-1]
    definitions = [
        node
        for node in running([last.node])
        if isinstance(node, Function | ast.ClassDef) and node.name == name
    ]
    return bool(definitions) and all(map(_is_empty, definitions))


def _is_empty(node: Function | ast.ClassDef) -> bool:
    if isinstance(node, Function):
        return all(map(_does_nothing, node.body))
    methods = [part for part in node.body if isinstance(part, Function)]
    others = [part for part in node.body if not isinstance(part, Function)]
    return all(map(_does_nothing, others)) and all(
        _is_super_init(part) or _does_nothing(part)
        for method in methods
        for part in method.body
    )


def _does_nothing(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id="NotImplementedError")):
            return True
        case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"))):
            return True
    return False


def _is_super_init(node: ast.stmt) -> bool:
    """Whether this is `super().__init__()`, which a module's stub begins with."""
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(
                    attr="__init__", value=ast.Call(func=ast.Name(id="super"))
                )
            )
        ):
            return True
    return False
