"""The same class graded by otter-grader and nbgrader, in environments of their own.

Both run the notebook and then plain assertions: one result of each exercise against
the numbers that the reference gives.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

import solutions.attention
import solutions.multihead
from benchmarks.assignment import EXERCISES, notebook, stub

#: For each exercise, code that calls it and leaves what came out in `found`.
CALLS = {
    "project_qkv": "found = torch.cat(project_qkv(x, W, 2 * W, W + 1), dim=-1)",
    "attention_scores": "found = attention_scores(x, x.flip(0))",
    "scaled_dot_product_attention": (
        "found = scaled_dot_product_attention(x, x, x, torch.ones(3, 3).tril())[0]"
    ),
    "split_heads": "found = split_heads(x, 2)",
    "merge_heads": "found = merge_heads(x.view(2, 3, 2, 2))",
    "MultiHeadAttention": (
        "layer = MultiHeadAttention(4, 2)\n"
        "for p in layer.parameters():\n"
        "    p.data = torch.linspace(-1, 1, p.numel()).view(p.shape)\n"
        "found = layer(x, torch.ones(3, 3).tril()).detach()"
    ),
}
INPUTS = """\
import torch
x = torch.linspace(-1, 2, 24).cos().view(2, 3, 4)
W = torch.linspace(0, 3, 20).sin().view(4, 5)
"""


def assertions(name: str) -> str:
    """Plain Python that fails where an exercise's result is wrong."""
    known = vars(solutions.attention) | vars(solutions.multihead)
    exec(INPUTS + CALLS[name], space := dict(known))
    numbers = [round(float(number), 5) for number in space["found"].flatten()]
    shape = tuple(space["found"].shape)
    return (
        f"{INPUTS}{CALLS[name]}\n"
        f"assert tuple(found.shape) == {shape}\n"
        f"assert torch.allclose(found.flatten(), torch.tensor({numbers}), atol=1e-3)\n"
    )


def environment(folder: Path, package: str) -> Path:
    """The programs of an environment with this package and our torch; made once."""
    programs = folder / package / "bin"
    done = folder / package / "complete"
    if not done.exists():
        print(f"making an environment for {package} …", flush=True)
        run([sys.executable, "-m", "venv", "--clear", folder / package])
        wanted = f"torch=={torch.__version__.partition('+')[0]}"
        run(
            [
                programs / "pip",
                "install",
                "-q",
                wanted,
                "numpy",
                "einops",
                "ipykernel",
                package,
            ]
        )
        done.touch()
    return programs


def run(command: list[Any], cwd: Path | None = None) -> None:
    """Run a command; SystemExit with the end of its output where it fails."""
    words = list(map(str, command))
    found = f"{Path(words[0]).parent}{os.pathsep}{os.environ['PATH']}"  # its own first
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PATH": found}
    ended = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env=env)
    if ended.returncode:
        raise SystemExit(
            f"{' '.join(words[:4])}: {(ended.stdout + ended.stderr)[-800:]}"
        )


class Otter:
    """`otter run`, once for each submission."""

    name, package = "otter-grader", "otter-grader"

    def __init__(self, programs: Path, folder: Path, class_: list[list[str]]) -> None:
        self.programs, self.folder = programs, folder
        tests = folder / "tests"
        tests.mkdir(parents=True)
        for name in EXERCISES:
            body = "".join(f"    {line}\n" for line in assertions(name).splitlines())
            (tests / f"{name}.py").write_text(
                "from otter.test_files import test_case\n\n"
                f"OK_FORMAT = False\nname = {name!r}\npoints = 1\n\n\n"
                f"@test_case()\ndef check(env):\n    globals().update(env)\n{body}",
                "utf-8",
            )
        generate = [programs / "otter", "generate", "-t", tests, "-o"]
        run([*generate, folder / "autograder.zip", "--no-environment"], folder)
        self.paths = []
        for number, cells in enumerate(class_):
            self.paths.append(folder / f"{number:05}.ipynb")
            self.paths[-1].write_text(json.dumps(notebook(cells)), "utf-8")

    def grade(self, number: int) -> None:
        out = self.folder / f"out-{number}"
        out.mkdir(exist_ok=True)
        grade = [self.programs / "otter", "run", "-a", self.folder / "autograder.zip"]
        run([*grade, "-o", out, self.paths[number]], self.folder)


class NbGrader:
    """`nbgrader autograde`, once for each submission."""

    name, package = "nbgrader", "nbgrader"

    def __init__(self, programs: Path, folder: Path, class_: list[list[str]]) -> None:
        self.programs, self.folder = programs, folder
        folder.mkdir(parents=True)
        (folder / "nbgrader_config.py").write_text(
            "c = get_config()\nc.CourseDirectory.course_id = 'course'\n"
            "c.ClearSolutions.enforce_metadata = False\n",
            "utf-8",
        )
        given_out = [class_[0][0], *map(stub, EXERCISES)]
        self._write(folder / "source" / "six", given_out)
        run([programs / "nbgrader", "generate_assignment", "six", "--force"], folder)
        for number, cells in enumerate(class_):
            self._write(folder / "submitted" / f"s{number:05}" / "six", cells)

    def _write(self, folder: Path, cells: list[str]) -> None:
        folder.mkdir(parents=True)
        texts = [cells[0]]
        marks: list[dict[str, Any]] = [{}]
        for name, cell in zip(EXERCISES, cells[1:], strict=True):
            texts += [cell, assertions(name)]
            common = {"schema_version": 3, "task": False}
            marks += [
                {"grade": False, "solution": True, "locked": False, "grade_id": name},
                {"grade": True, "solution": False, "locked": True, "points": 1}
                | {"grade_id": f"check-{name}"},
            ]
            for mark in marks[-2:]:
                mark |= common
        made = notebook(texts)
        for cell_made, mark in zip(made["cells"], marks, strict=True):
            if mark:
                cell_made["metadata"] = {"nbgrader": mark}
        (folder / "six.ipynb").write_text(json.dumps(made), "utf-8")

    def grade(self, number: int) -> None:
        autograde = [self.programs / "nbgrader", "autograde", "six", "--force"]
        run([*autograde, "--student", f"s{number:05}"], self.folder)
