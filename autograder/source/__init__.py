"""How learners' code is read: from files into cells, from cells into slices.

Nothing of it is executed here.
"""

from .files import SourceFile, UnreadableError, read_file
from .folders import Submission, UsageError, collect
from .program import BrokenCell
from .slicing import Slice, defined_names, slice_for
from .stubs import is_stub

__all__ = [
    "BrokenCell",
    "Slice",
    "SourceFile",
    "Submission",
    "UnreadableError",
    "UsageError",
    "collect",
    "defined_names",
    "is_stub",
    "read_file",
    "slice_for",
]
