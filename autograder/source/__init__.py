"""How learners' code is read: from files into cells, from cells into slices.

Nothing of it is executed here.
"""

from .broken import BrokenCell
from .files import SourceFile, UnreadableError, read_file
from .folders import Submission, UsageError, collect
from .parsing import parsed
from .slicing import Slice, defined_names, is_stub, slice_for

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
    "parsed",
    "read_file",
    "slice_for",
]
