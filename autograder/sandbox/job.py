"""What is to be run, within which limits, and how it can end."""

from dataclasses import dataclass, field
from typing import Literal

Status = Literal["timeout", "out_of_memory", "crashed", "error"]
TOLD = ("out_of_memory", "crashed", "error")  # by the worker itself; no other could be
BROKEN = 110  # the exit status of a worker that can't do its work any more
LINE_LOST = 111  # the exit status of a worker that can't reach the grader any more


@dataclass(frozen=True)
class Limits:
    """What one worker may use, all of its requests together."""

    # Twice the processor time: where others are at work too, it has to wait its turn.
    wall: float = 20.0  # seconds of waiting for its answers
    cpu: int = 10  # seconds of processor time, of each process
    memory: int = 1 << 30  # bytes of address space above what the server has
    processes: int = 8  # processes and threads
    file_size: int = 16 << 20  # bytes a file; four times that for all files
    output: int = 4 << 20  # bytes printed; a tensor in every call is no flood
    reply: int = 64 << 20  # bytes a reply
    replies: int = 128 << 20  # bytes of all replies together, as they lie in memory


@dataclass(frozen=True)
class Job:
    """A learner's answer to one exercise.

    `source` is all of their code that the answer needs, and defines `name`. `parts` are
    the sources of what `from autograder.parts import …` offers, `modules` those of the
    other files of the same submission, which it may import by name. `forbids` are the
    families of built-ins that are not to be had.
    """

    name: str
    source: str
    parts: dict[str, str] = field(default_factory=dict)
    filename: str = "answer.py"
    modules: dict[str, str] = field(default_factory=dict)
    forbids: tuple[str, ...] = ()


class Stopped(Exception):
    """The worker ended, or was ended, before it gave an answer."""

    def __init__(self, status: Status, message: str, output: str = "") -> None:
        super().__init__(status, message)
        self.status: Status = status
        self.message = message  # one or more whole sentences, or an exception's text
        self.output = output  # the end of what it printed

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"


class SandboxError(Exception):
    """The sandbox itself can't be set up; no learner's code is to blame."""
