"""The grader: says whether an answer is right and, when not, which mistake it was.

Importing this package loads nothing else, so that the process which runs learners' code
can import `autograder.probes` without ever holding a reference or an expected value.
"""

from typing import Any

__all__ = ["exercise"]


def __getattr__(name: str) -> Any:
    if name == "exercise":
        from autograder.notebook import exercise

        return exercise
    raise AttributeError(f"module 'autograder' has no attribute {name!r}")
