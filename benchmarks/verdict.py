"""How long a learner waits for a verdict in the notebook.

    python -m benchmarks.verdict

Judges, for every exercise, the right answer and each known mistake, once each, and
prints the median and the slowest. Starting up is not counted.
"""

import statistics
import time

import torch

from autograder.judge import check
from autograder.registry import EXERCISES


def main() -> None:
    torch.set_num_threads(1)
    seconds: dict[str, float] = {}
    for exercise in EXERCISES.values():
        check(exercise, exercise.reference)  # the first call of an operator is slower
        for mistakes in [(), *((one,) for one in exercise.mistakes)]:
            answer = exercise.answer(mistakes)
            name = f"{exercise.id}, {mistakes[0].id if mistakes else 'right'}"
            start = time.perf_counter()
            check(exercise, answer)
            seconds[name] = time.perf_counter() - start
    right = [value for name, value in seconds.items() if name.endswith(", right")]
    slowest = max(seconds, key=seconds.__getitem__)
    print(f"{len(seconds)} verdicts on {len(EXERCISES)} exercises, one thread")
    print(f"median, all            {statistics.median(seconds.values()):.3f} s")
    print(f"median, right answers  {statistics.median(right):.3f} s")
    print(f"slowest                {seconds[slowest]:.3f} s ({slowest})")


if __name__ == "__main__":
    main()
