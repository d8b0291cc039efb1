"""Whether an answer is the reference itself, taken from the parts or the solutions."""

import ast

from autograder.registry import EXERCISES, used_by
from autograder.source import SourceFile, defined_names, parsed


def handed_in_as_parts(file: SourceFile) -> set[str]:
    """Exercises whose only answer in a file is an import of the reference.

    What the file's own answers build on is imported for them, not handed in.
    """
    defined = set(defined_names(file.cells)) & EXERCISES.keys()
    built_on = {one.__name__ for name in defined for one in used_by(EXERCISES[name])}
    imported: set[str] = set()
    for cell in file.cells:
        try:
            tree = parsed(cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                ("autograder.parts", "solutions")
            ):
                imported |= {alias.asname or alias.name for alias in node.names}
    return (imported & EXERCISES.keys()) - defined - built_on


def hands_in_the_part(source: str, name: str) -> bool:
    """Whether code takes the very exercise it answers from the parts or solutions."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            taken = {alias.name for alias in node.names}
            if module == "autograder.parts" and taken & {name, "*"}:
                return True
            if module.partition(".")[0] == "solutions":
                return True
        elif isinstance(node, ast.Import):
            if any(alias.name.partition(".")[0] == "solutions" for alias in node.names):
                return True
        elif isinstance(node, ast.Attribute):
            if node.attr == name and _is_parts(node.value):
                return True
        elif isinstance(node, ast.Call) and _called_reference(node, name):
            return True
    return False


def _is_parts(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "parts":
        return isinstance(node.value, ast.Name) and node.value.id == "autograder"
    return isinstance(node, ast.Name) and node.id == "parts"


def _called_reference(node: ast.Call, name: str) -> bool:
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return called == "reference" and any(
        isinstance(arg, ast.Constant) and arg.value == name for arg in node.args
    )
