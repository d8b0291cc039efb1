"""How long grading a submission takes, from the file to its verdicts.

    python -m benchmarks.grading [NOTEBOOK]

Grades one submission of chapter 2 (by default the first of examples/submissions) with a
server that is already running, five times, and prints the median, and the time that
starting the server takes once for a class.
"""

import statistics
import sys
import time
from pathlib import Path

import torch

from autograder.grading import Options, grade_submission
from autograder.sandbox import Server
from autograder.source import Submission, read_file

EXAMPLE = Path(__file__).parents[1] / "examples" / "submissions" / "ada.ipynb"


def main() -> None:
    path = Path(sys.argv[1]) if sys.argv[1:] else EXAMPLE
    torch.set_num_threads(1)
    start = time.perf_counter()
    with Server() as server:
        started = time.perf_counter() - start
        print(f"starting the server    {started:.2f} s, once a class")
        seconds = []
        for _ in range(6):
            start = time.perf_counter()
            submission = Submission(path.stem, path, (read_file(path),))
            verdicts = grade_submission(server, submission, Options())
            seconds.append(time.perf_counter() - start)
    passed = sum(one.passed for one in verdicts)
    print(f"{path.name}: {passed} of {len(verdicts)} exercises passed")
    print(f"first submission       {seconds[0]:.2f} s")
    print(f"median of the others   {statistics.median(seconds[1:]):.2f} s")


if __name__ == "__main__":
    main()
