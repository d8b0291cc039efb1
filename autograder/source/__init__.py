"""How learners' code is read: from files into cells, from cells into slices.

Nothing of it is executed here.
"""

from .broken import BrokenCell
from .files import SourceFile, UnreadableError, read_file
from .folders import (
    Contents,
    Found,
    Submission,
    UsageError,
    collect,
    contents_of,
    find,
    submission_from,
)
from .parsing import parsed
from .program import forget_programs
from .slicing import Slice, defined_names, is_given, is_stub, slice_for

__all__ = [
    "BrokenCell",
    "Contents",
    "Found",
    "Slice",
    "SourceFile",
    "Submission",
    "UnreadableError",
    "UsageError",
    "collect",
    "contents_of",
    "defined_names",
    "find",
    "forget_programs",
    "is_given",
    "is_stub",
    "parsed",
    "read_file",
    "slice_for",
    "submission_from",
]
