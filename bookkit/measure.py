"""Measure a piece of code: its time, its multiplications, its largest tensor."""

import time
from collections.abc import Callable

import torch
from torch.utils.flop_counter import FlopCounterMode

from autograder.probes.blocks import Work


def seconds(run: Callable[[], object], repeats: int = 5) -> float:
    """The shortest of several runs: other programs can only make a run longer."""
    times = []
    with torch.no_grad():
        for _ in range(repeats):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
    return min(times)


def multiplications(run: Callable[[], object]) -> int:
    """How many pairs of numbers the matrix products in `run` multiply."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() // 2  # torch counts the additions too


def largest_tensor(run: Callable[[], object]) -> int:
    """How many numbers the largest tensor has that `run` makes; views hold none."""
    with torch.no_grad(), Work() as work:
        run()
    return work.largest
