"""What a learner's code can find: nothing of the grader's or of anybody else's."""

import os
import sys
from pathlib import Path

import pytest

from autograder.sandbox import Job, stand_in

from .conftest import GOOD, HIDDEN

ROOT = Path(__file__).parents[2]

FORBIDDEN = [
    "solutions",
    "solutions.attention",
    "autograder.engine",
    "autograder.exercises",
    "autograder.exercises.attention",
    "autograder.wire",
    "autograder.sandbox",
    "autograder.probes",
    "bookkit",
    "tests",
]


@pytest.mark.parametrize("name", FORBIDDEN)
def test_nothing_of_the_project_can_be_imported(lab, name):
    end = lab.end(f"import {name}")
    assert end.status == "error"
    assert end.message.startswith("ModuleNotFoundError: No module named ")


def test_ours_are_refused_also_where_they_are_installed():
    refusal = stand_in.Refusal()
    with pytest.raises(ModuleNotFoundError, match=r"'solutions\.attention'"):
        refusal.find_spec("solutions.attention", None)
    assert refusal.find_spec("solutions_of_equations", None) is None


def test_an_installed_project_is_taken_off_the_path(monkeypatch):
    site = stand_in.ROOT / ".venv" / "lib" / "python3" / "site-packages"
    mark = "__editable__.transformer_by_hand.finder.__path_hook__"
    mine = ["/usr/lib/python3", str(site)]
    monkeypatch.setattr(sys, "path", ["", str(stand_in.ROOT), mark, *mine])
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    stand_in.forget_project()
    assert sys.path == mine


def test_no_module_of_the_project_is_in_sight(lab):
    source = """
import sys
def f():
    names = "autograder", "solutions", "bookkit", "tests"
    return [name for name in sys.modules if name.partition(".")[0] in names]
"""
    assert lab.out(source) == ["autograder", "autograder.parts"]


def test_the_import_path_does_not_lead_to_the_project(lab):
    path = lab.out("import sys\ndef f():\n    return sys.path")
    assert str(ROOT) not in path
    assert "" not in path


def test_removing_what_refuses_an_import_does_not_help(full):
    source = """
import importlib, sys
def f():
    sys.meta_path = [f for f in sys.meta_path if type(f).__name__ != "Refusal"]
    del sys.modules["autograder"], sys.modules["autograder.parts"]
    sys.path.append({root!r})
    for name in ("solutions", "autograder"):
        try: return importlib.import_module(name).__file__
        except ImportError: pass
"""
    assert full.out(source.format(root=str(ROOT))) is None


@pytest.mark.parametrize(
    "path", [ROOT, ROOT / "pyproject.toml", Path.home(), Path("/etc/shadow"), "/var"]
)
def test_no_file_of_the_grader_is_there(full, path):
    source = (
        "import os\ndef f():\n    return os.listdir(p) if os.path.isdir(p) else open(p)"
    )
    end = full.end(f"p = {str(path)!r}\n{source}")
    if end.status is None:  # a folder on the way to Python's own
        here = Path(sys.base_prefix), Path(sys.prefix)
        assert all(
            any(p.is_relative_to(Path(path, name)) for p in here) for name in end.out
        )
    else:
        assert "Error: [Errno " in end.message


def test_the_environment_holds_nothing_of_the_graders(lab):
    environment = lab.out("import os\ndef f():\n    return dict(os.environ)")
    assert "a secret" not in environment.values()
    assert "PATH" in environment


def test_hidden_folders_look_empty(full):
    source = f"import os\ndef f():\n    return os.listdir({str(HIDDEN)!r})"
    assert full.out(source) == []


def test_what_others_handed_in_is_not_in_memory(lab):
    """Neither objects nor raw memory of a worker hold an earlier worker's job."""
    marker = "".join(["a secret ", "remark ", "of Ada's"])
    job = Job("f", f"x = {marker!r}\n{GOOD}\ndef f():\n    return x\n")
    with lab.server.worker(job) as worker:
        assert worker.run("raw", {})["out"] == marker
    source = """
import gc
def f():
    marker = "".join(["a secret ", "remark ", "of Ada's"])
    gc.unfreeze()
    strings = {o for held in gc.get_objects() for o in gc.get_referents(held)
               if type(o) is str}
    found = [s for s in strings if marker in s and s is not marker]
    return found, len(strings)
"""
    found, count = lab.out(source)
    assert found == []
    assert count > 10_000


def test_memory_holds_no_words_of_the_judges(lab):
    source = """
import gc, sys
def f():
    gc.unfreeze()
    modules = [o for o in gc.get_objects() if type(o) is type(sys)]
    return sorted({m.__name__ for m in modules if m.__name__.startswith(
        ("autograder", "solutions", "bookkit", "tests"))})
"""
    allowed = ("autograder.probes", "autograder.sandbox", "autograder.wire")
    names = set(lab.out(source)) - {"autograder", "autograder.parts"}
    assert all(name.startswith(allowed) for name in names), names


def test_the_server_cannot_be_read(full):
    for path in ("/proc/1/environ", "/proc/1/mem", "/proc/1/fd"):
        source = f"import os\ndef f():\n    os.listdir({path!r}); open({path!r})"
        assert full.end(source).status == "raised"


def test_no_descriptor_but_its_own_is_open(lab):
    source = """
import os
def f():
    found = []
    for fd in range(256):
        try: os.fstat(fd); found.append(fd)
        except OSError: pass
    return found
"""
    assert lab.out(source) == [0, 1, 2, 3]


def test_standard_input_is_empty(lab):
    assert lab.out("import sys\ndef f():\n    return sys.stdin.read()") == ""


def test_it_runs_as_nobody_where_it_can(full):
    uid, groups = full.out(
        "import os\ndef f():\n    return os.getuid(), os.getgroups()"
    )
    if full.has("own user"):
        assert uid != os.getuid()
        assert groups == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_has_no_privileges_and_goes_first_when_memory_runs_out(lab):
    source = """
def f():
    lines = open("/proc/self/status").read().splitlines()
    status = dict(line.split(":\\t") for line in lines)
    return [int(status[key], 16) for key in ("CapEff", "CapPrm", "NoNewPrivs")]
"""
    assert lab.out(source) == [0, 0, 1]
    first = "def f():\n    return open('/proc/self/oom_score_adj').read()"
    assert lab.out(first) == "500\n"
