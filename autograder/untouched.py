"""Whether an answer is still as its chapter gave it: not attempted."""

import inspect
import textwrap
from collections.abc import Sequence
from functools import cache

from autograder.registry import EXERCISES
from autograder.source import Slice, is_given, is_stub


def untouched(code: Sequence[str] | Slice, name: str) -> bool:
    """Whether the last definition of an exercise is a stub or, where something is to be
    mended, the broken code as it was given."""
    given = broken_source(name)
    return is_stub(code, name) or (given is not None and is_given(code, name, given))


@cache
def broken_source(name: str) -> str | None:
    """The code that a repair begins with; None for an exercise that is no repair."""
    broken = EXERCISES[name].broken if name in EXERCISES else None
    return textwrap.dedent(inspect.getsource(broken)) if broken else None
