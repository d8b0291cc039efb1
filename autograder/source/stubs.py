"""Whether an exercise is still the stub that its chapter gave."""

import ast

from .program import Program
from .scopes import Function, running


def ends_as_stub(program: Program, name: str) -> bool:
    """Whether the last that happens to `name` is a definition that does nothing."""
    history = program.history(name)
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
    if not methods and any(map(_is_at_work, node.bases)):
        return False
    return all(map(_does_nothing, others)) and all(
        _is_super_init(part) or _does_nothing(part)
        for method in methods
        for part in method.body
    )


def _is_at_work(base: ast.expr) -> bool:
    """Whether a base class brings methods that may be the answer."""
    name = base.attr if isinstance(base, ast.Attribute) else None
    name = base.id if isinstance(base, ast.Name) else name
    return name not in ("Module", "object")


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
    """Whether this is `super().__init__()`, which a module's stub begins with.

    With arguments it is at work: a subclass of nn.Sequential may be whole with it.
    """
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(
                    attr="__init__", value=ast.Call(func=ast.Name(id="super"))
                ),
                args=[],
                keywords=[],
            )
        ):
            return True
    return False
