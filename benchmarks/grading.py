"""How long grading takes, beside otter-grader and nbgrader; and where the time goes.

    python -m benchmarks.grading [--submissions 20] [--rounds 3] [--environments FOLDER]
    python -m benchmarks.grading --alone          # only this project
    python -m benchmarks.grading --many 1000      # a large class on two cores

The three grade the same submissions of the same six exercises, in turns, in one run; of
each the fastest round counts. `--environments` keeps what the other two are installed
into, which takes minutes; without it they are made anew and thrown away.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.assignment import EXERCISES, class_of, hand_in
from benchmarks.others import NbGrader, Otter, environment
from benchmarks.stages import time_by_stage

OURS = "this project"


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.many:
            _many(folder, options.many)
            return
        size = options.submissions
        paths = hand_in(folder / "class", size)
        tools: dict[str, Callable[[], object]] = {
            OURS: lambda: _grade(folder / "class", folder / "results", jobs=1)
        }
        if not options.alone:
            home = options.environments or folder / "environments"
            for tool in (Otter, NbGrader):
                made = tool(
                    environment(home.resolve(), tool.package),
                    folder / tool.package,
                    class_of(size),
                )
                tools[tool.name] = lambda one=made: [*map(one.grade, range(size))]
        best = dict.fromkeys(tools, float("inf"))
        for number in range(options.rounds):
            for tool_name, grade in tools.items():
                start = time.perf_counter()
                grade()
                took = (time.perf_counter() - start) / size
                best[tool_name] = min(best[tool_name], took)
                print(f"round {number + 1}: {tool_name:14} {took:.2f} s", flush=True)
        print(
            f"\n{size} submissions of {len(EXERCISES)} exercises, one after the other"
        )
        print("tool            seconds a submission   ratio")
        for tool_name, seconds in best.items():
            ratio = seconds / best[OURS]
            print(f"{tool_name:15} {seconds:20.2f} {ratio:7.1f}")
        stages = time_by_stage(paths)
    print("\nwhere this project's time goes, with a server that is running")
    for stage, seconds in stages.items():
        print(f"{stage:30} {seconds / size * 1000:7.1f} ms a submission")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--environments", type=Path)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--many", type=int, default=0)
    return parser.parse_args()


def _command(submissions: Path, out: Path, jobs: int) -> list[str]:
    grade = [sys.executable, "-m", "autograder", "grade", str(submissions)]
    return [*grade, "--out", str(out), "--jobs", str(jobs)]


def _grade(submissions: Path, out: Path, jobs: int) -> None:
    """Grade a class by the command, into a folder of its own."""
    with tempfile.TemporaryDirectory(dir=submissions.parent) as name:
        command = _command(submissions, Path(name) / out.name, jobs)
        subprocess.run(command, check=True, capture_output=True)


def _many(folder: Path, size: int) -> None:
    hand_in(folder / "class", size)
    start = time.perf_counter()
    command = _command(folder / "class", folder / "results", jobs=2)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        peaks = {"grader": 0, "workers": 0}
        while process.poll() is None:
            for kind, size_now in _memory(process.pid).items():
                peaks[kind] = max(peaks[kind], size_now)
            time.sleep(1)
    if process.returncode:
        raise SystemExit(f"grade ended with status {process.returncode}")
    took = (time.perf_counter() - start) / size
    print(f"{size} submissions of {len(EXERCISES)} exercises, --jobs 2")
    print(f"{took:.3f} s a submission")
    for kind, peak in peaks.items():
        print(f"peak memory of the {kind:8} {peak / 2**20:6.0f} MiB")


def _memory(root: int) -> dict[str, int]:
    """Bytes that the command's processes hold now; those of workers apart.

    What processes share counts to each in its part (Linux, PSS).
    """
    found = {"grader": 0, "workers": 0}
    todo = [root]
    while todo:
        process = Path("/proc", str(todo.pop()))
        with suppress(OSError):
            for children in (process / "task").glob("*/children"):
                todo += map(int, children.read_text().split())
            sandbox = b"autograder.sandbox" in (process / "cmdline").read_bytes()
            lines = (process / "smaps_rollup").read_text().splitlines()
            kib = next(int(line.split()[1]) for line in lines if line[:4] == "Pss:")
            found["workers" if sandbox else "grader"] += kib << 10
    return found


if __name__ == "__main__":
    main()
