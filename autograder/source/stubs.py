"""Whether an exercise is still what its chapter gave: a stub, or code to be mended."""

import ast
from collections import deque

from .program import Program
from .scopes import Function, running

Definition = Function | ast.ClassDef


def ends_as_stub(program: Program, name: str) -> bool:
    """Whether the last that happens to `name` is a definition that does nothing."""
    definitions = _last_definitions(program, name)
    return bool(definitions) and all(map(_is_empty, definitions))


def ends_as_given(program: Program, name: str, given: str) -> bool:
    """Whether the last that happens to `name` is its definition in the source `given`.

    Decorators, docstrings, comments and layout make no difference.
    """
    wanted = [
        _form(node)
        for node in ast.parse(given).body
        if isinstance(node, Definition) and node.name == name
    ]
    return [_form(node) for node in _last_definitions(program, name)] == wanted


def _last_definitions(program: Program, name: str) -> list[Definition]:
    """The definitions in the last statement that happens to `name`."""
    history = program.history(name)
    nodes = running([history.statements[-1].node]) if history else []
    return [
        node for node in nodes if isinstance(node, Definition) and node.name == name
    ]


def _form(top: Definition) -> list[object]:
    """What a definition does, level by level, so that no depth of code is too deep; the
    same for those that differ in decorators, docstrings and layout alone."""
    form: list[object] = []
    waiting: deque[ast.AST] = deque([top])
    while waiting:
        node = waiting.popleft()
        form.append(type(node).__name__)
        for name, value in ast.iter_fields(node):
            if node is top and name == "decorator_list":
                continue
            parts = value if isinstance(value, list) else [value]
            parts = [part for part in parts if not _is_text(part)]
            below = [part for part in parts if isinstance(part, ast.AST)]
            plain = [part for part in parts if not isinstance(part, ast.AST)]
            form.append((name, len(below), [(type(one), one) for one in plain]))
            waiting.extend(below)
    return form


def _is_text(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


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
