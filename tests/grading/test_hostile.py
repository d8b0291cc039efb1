"""A hostile answer costs the exercise it is in, is named, and leaves nothing behind."""

import json
import os
from pathlib import Path

import pytest

from autograder.classroom import grade
from autograder.sandbox import Server
from tests.grading.handed_in import PROJECT, script

#: name: the body of a hostile attention_scores, what it gets, a word of what is said
HOSTILE = {
    "loop": ("while True: pass", "timeout", "0 s"),
    "sleep": ("__import__('time').sleep(1000)", "timeout", "longer"),
    "exit": ("__import__('os')._exit(0)", "crashed", "exit"),
    "sys_exit": ("__import__('sys').exit(0)", "error", "SystemExit"),
    "kill": ("__import__('os').kill(__import__('os').getpid(), 9)", "crashed", "KILL"),
    "bomb": ("x = torch.ones(1 << 36)", "out_of_memory", "memory"),
    "list_bomb": ("x = [0] * (1 << 40)", "out_of_memory", "memory"),
    "recursion": ("return attention_scores(Q, K)", "error", "RecursionError"),
    "flood": ("\n".join(["while True: print('x' * 10000)"]), "crashed", "printed"),
    "forged": (
        "import os\n    for fd in range(3, 30):\n        try: os.write(fd, b'passed')\n"
        "        except OSError: pass\n    return Q",
        "crashed",
        "no answer",
    ),
    "patched": (
        "torch.allclose = torch.equal = lambda *a, **k: True\n    return Q @ K.mT",
        "failed",
        "√",
    ),
    "zeroed": (
        "Q.zero_(); K.zero_()\n    return Q @ K.mT",
        "failed",
        "",
    ),
    "raises": ("raise KeyboardInterrupt", "crashed", "KeyboardInterrupt"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    for name, (body, _, _) in HOSTILE.items():
        script(folder, name, f"def attention_scores(Q, K):\n    {body}\n", PROJECT)
    (folder / "no_notebook.ipynb").write_bytes(os.urandom(2000))
    (folder / "wrong_form.ipynb").write_text('{"cells": 5}', "utf-8")
    out = tmp_path_factory.mktemp("out")
    grade([folder], out, jobs=2)
    found = json.loads((out / "results.json").read_text("utf-8"))
    return {one["submission"]: one for one in found["submissions"]}


@pytest.mark.parametrize("name", HOSTILE)
def test_it_costs_its_own_exercise_only(results, name):
    project, scores = results[name]["exercises"]
    assert (project["id"], project["status"]) == ("project_qkv", "passed")
    assert scores["points"] == 0


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_named(results, name):
    scores = results[name]["exercises"][1]
    _, status, word = HOSTILE[name]
    assert scores["status"] == status
    assert word in scores["diagnosis"][0]["message"]


@pytest.mark.parametrize("name", ["no_notebook", "wrong_form"])
def test_what_is_no_notebook_is_said_to_be_none(results, name):
    assert results[name]["exercises"] == []
    assert results[name]["error"]


def test_nothing_is_left_running():
    with Server() as server:
        pid = server._process.pid
    assert not Path(f"/proc/{pid}").exists()
