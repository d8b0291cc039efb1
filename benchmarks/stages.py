"""Where the time of grading goes: each moment counts to one stage."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import torch

from autograder import grading
from autograder.classroom.records import opened
from autograder.classroom.work import finished
from autograder.grading import Grading, Options, grade_submission
from autograder.judge import Judge
from autograder.report import Result
from autograder.sandbox import Server
from autograder.sandbox.rpc import Worker
from autograder.source import Submission, read_file

READING = "reading and slicing"
STARTING = "starting and ending workers"
WAITING = "waiting for their answers"
JUDGING = "judging"
WRITING = "writing"

#: What counts to which stage; within another stage, the inner one counts.
STAGES: list[tuple[Any, str, str]] = [
    (grading, "asked_for", READING),
    (grading, "hands_in_the_part", READING),
    (Grading, "_file", READING),
    (Grading, "_slice", READING),
    (Grading, "_own_part", READING),
    (Worker, "start", STARTING),
    (Worker, "close", STARTING),
    (Worker, "_send", WAITING),
    (Worker, "_take", WAITING),
    (Judge, "verdict", JUDGING),
    (Judge, "passes", JUDGING),
]


class Clock:
    """Adds up the time of each stage, without what a stage within it takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._open: list[str] = []
        self._since = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._turn()
        # Loading the code is a part of the worker's start.
        inner = STARTING if STARTING in self._open else name
        self._open.append(inner)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def _turn(self) -> None:
        now = time.perf_counter()
        if self._open:
            stage = self._open[-1]
            self.seconds[stage] = self.seconds.get(stage, 0) + now - self._since
        self._since = now


def time_by_stage(paths: Sequence[Path]) -> dict[str, float]:
    """Seconds that each stage takes when these submissions are graded."""
    torch.set_num_threads(1)
    clock = Clock()
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in STAGES]
    with Server() as server:
        _grade_all(server, paths[:1], Clock())  # the first is slower
        for owner, name, stage in STAGES:
            setattr(owner, name, _timed(getattr(owner, name), clock, stage))
        try:
            _grade_all(server, paths, clock)
        finally:
            for owner, name, function in before:
                setattr(owner, name, function)
    return clock.seconds


def _grade_all(server: Server, paths: Sequence[Path], clock: Clock) -> None:
    with opened(paths[0].parent.with_name("written")) as records:
        for path in paths:
            with clock.stage(READING):
                submission = Submission(path.stem, path, (read_file(path),))
            verdicts = grade_submission(server, submission, Options())
            with clock.stage(WRITING):
                result = Result(path.stem, tuple(verdicts))
                graded = finished(result, server.isolation)
                records.write(path.stem, graded.record, graded.page)


def _timed(function: Callable[..., Any], clock: Clock, stage: str) -> Any:
    @wraps(function)
    def timed(*args: Any, **kwargs: Any) -> Any:
        with clock.stage(stage):
            return function(*args, **kwargs)

    return timed
