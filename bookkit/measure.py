"""Measure a piece of code: how long it takes, and how much it multiplies."""

import time
from collections.abc import Callable

import torch
from torch.utils.flop_counter import FlopCounterMode


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
