"""A hostile answer costs the exercise it is in, is named, and leaves nothing behind."""

import json
import os
import socket
import sys
import uuid
from pathlib import Path

import pytest

from autograder.classroom import grade
from autograder.grading import Options, grade_submission
from autograder.sandbox import PLAIN, Limits, Server
from autograder.source import collect
from autograder.verdict import STATUSES
from tests.grading import hostile, sly
from tests.grading.handed_in import PROJECT, script
from tests.grading.hostile import answer

FAMILIES = hostile.FAMILIES | sly.FAMILIES
ROOT = Path(__file__).parents[2]
SECRET = "the key of all inputs"
LIMITS = Limits(20, 5, 256 << 20, output=1 << 20, reply=1 << 24, replies=1 << 24)
BRIEF = Limits(wall=3, cpu=1, memory=256 << 20)  # where the point is to hang
ROWS = [(family, name) for family, rows in FAMILIES.items() for name in rows]

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs namespaces")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where everything lies, and what the hostile ones look for."""
    folder, mark = tmp_path_factory.mktemp("class"), f"hostile-{uuid.uuid4().hex}"
    key = tmp_path_factory.mktemp("secrets") / "key"
    key.write_text(SECRET)
    out = tmp_path_factory.mktemp("out")
    (out / "grades.csv").write_text("ada,3\n")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield {
            "folder": folder,
            "mark": mark,
            "key": key,
            "out": out,
            "root": ROOT,
            "home": Path.home(),
            "port": listening.getsockname()[1],
        }


def hand_in(place, family, name):
    """A row's file, in a folder for each family, with the right answer to another."""
    code = answer(family, FAMILIES[family][name][0])
    for what, value in place.items():
        code = code.replace(f"{{{what}}}", str(value))
    folder = place["folder"] / family
    folder.mkdir(exist_ok=True)
    return script(folder, name, PROJECT, code)


@pytest.fixture(scope="module")
def results(place):
    """Every row graded: those that hang with less time, all the others together."""
    for family, name in ROWS:
        hand_in(place, family, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKEN", SECRET)
        patch.setenv("PATH", f"{os.environ['PATH']}:/{place['mark']}")  # is inherited
        found = {}
        for limits, families in (
            (BRIEF, ["hang"]),
            (LIMITS, [one for one in FAMILIES if one != "hang"]),
        ):
            folders = [place["folder"] / family for family in families]
            grade(folders, place["out"], jobs=2, options=Options(limits=limits))
            for family in families:
                found |= read(place["out"] / "results.json", family, families)
    return found


def read(file, family, families):
    """The results of a family's rows; where names clash they hold the family's."""
    entries = json.loads(file.read_text("utf-8"))["submissions"]
    named = {one["submission"].removesuffix(".py"): one for one in entries}
    return {
        (family, name): named.get(f"{family}/{name}") or named[name]
        for name in FAMILIES[family]
    }


def check(row, verdicts, ends_alike=True):
    """The verdict that the row must get, and the other exercise's points.

    With fewer layers an answer may come to another end, as long as it isn't passed.
    """
    _, statuses, word = FAMILIES[row[0]][row[1]]
    if not ends_alike and "passed" not in statuses:
        statuses, word = {*STATUSES} - {"passed"}, ""
    by_id = {one["id"]: one for one in verdicts}
    assert by_id.pop("project_qkv")["status"] == "passed"
    (hostile,) = by_id.values()
    said = "\n".join(found["message"] for found in hostile["diagnosis"])
    assert hostile["status"] in statuses, (row, said)
    assert word in said
    assert hostile["status"] in STATUSES
    assert bool(said) == (hostile["status"] != "passed")
    assert len(said) <= 20_000
    assert all(char.isprintable() or char in "\n\t" for char in said)
    assert (hostile["points"] == hostile["max_points"]) == (
        hostile["status"] == "passed"
    )


@linux
@pytest.mark.parametrize("row", ROWS, ids="-".join)
def test_it_is_named_and_costs_its_own_exercise_only(results, row):
    check(row, results[row]["exercises"])


@linux
def test_no_secret_gets_into_a_result(results, place):
    written = "".join(json.dumps(one) for one in results.values())
    assert SECRET not in written
    assert "unscaled-scores" in written  # so it would be seen


@linux
def test_nothing_is_left_running(results, place):
    assert processes_with(place["mark"]) == []


@linux
def test_nothing_is_written_elsewhere(results, place):
    outside = [Path.home(), Path("/tmp"), Path("/var/tmp"), ROOT, place["folder"]]
    for folder in [*outside, place["out"], Path("/etc"), Path("/usr/bin")]:
        assert list(folder.glob(f"*{place['mark']}*")) == []
    assert place["key"].read_text() == SECRET
    assert place["key"].stat().st_mode & 0o777 == 0o644


def processes_with(mark):
    """Processes that inherited the mark in their environment, but this one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


#: Where the platform has less: what still has to hold without it. A bomb of processes
#: isn't set off here, where an administrator's has no limit.
LESS = {
    "no namespaces": (
        PLAIN[:3],
        [
            *(("snooping", name) for name in FAMILIES["snooping"]),
            *(("escape", name) for name in FAMILIES["escape"]),
            ("death", "kill-group"),
        ],
    ),
    "plain": (
        PLAIN,
        [
            *(("death", name) for name in FAMILIES["death"]),
            *(("memory", name) for name in FAMILIES["memory"]),
            *(("reply", name) for name in FAMILIES["reply"]),
            ("tampering", "modules"),
            ("output", "raw"),
            ("escape", "daemon"),
            ("escape", "program"),
            ("shortcut", "eval"),
        ],
    ),
}
BOMBS = {("death", "fork-bomb"), ("memory", "shared")}


@linux
@pytest.mark.parametrize("level", LESS)
def test_it_holds_where_the_platform_has_less(level, place):
    without, rows = LESS[level]
    files = {row: hand_in(place, *row) for row in rows if row not in BOMBS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKEN", SECRET)
        patch.setenv("PATH", f"{os.environ['PATH']}:/{place['mark']}")
        hide = [place["folder"], place["out"], place["key"].parent]
        with Server(hide=hide, without=without) as server:
            for row, file in files.items():
                (submission,) = collect([file])
                verdicts = grade_submission(
                    server, submission, Options(None, False, LIMITS)
                )
                check(row, [one.as_json() for one in verdicts], ends_alike=False)
    assert processes_with(place["mark"]) == []
