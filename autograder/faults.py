"""What is said of a fault of the grader's own, for a report to its makers."""

import traceback
from pathlib import Path


def place_of(error: Exception) -> str:
    """The exception's class, and where it was raised: `KeyError in a.py, line 3`."""
    raised = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{type(error).__name__} in {Path(raised.filename).name}, line {raised.lineno}"
    )
