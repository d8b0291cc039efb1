"""Grade many submissions, and lose none of what was graded.

`run` goes through the submissions and hands each as an `Item` to workers: processes of
this machine (`processes`) or those of a cluster (`cluster`). What comes back is written
at once (`records`), and put together at the end (`results`).
"""

from .records import CannotWrite
from .run import Summary, grade
from .workers import CannotGrade, Workers

__all__ = ["CannotGrade", "CannotWrite", "Summary", "Workers", "grade"]
