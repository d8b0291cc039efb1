"""The rules of the kernel hold, are reported as far as they do, and are told of."""

import os
import platform

import pytest

from autograder.isolation import WALLS, isolation_sentence
from autograder.sandbox import cgroup, landlock, linux, seccomp


def test_the_sentence_tells_how_far_answers_are_kept_apart():
    assert isolation_sentence([*WALLS]).startswith("Isolation: full (own view of the")
    without = [layer for layer in WALLS if "namespace" not in layer]
    partial = isolation_sentence(without)
    assert partial.startswith("Isolation: partial (")
    assert "; not own processes, no network)" in partial
    plain = isolation_sentence(["session", "time limit", "memory limit"])
    assert plain.startswith("Isolation: none but limits")
    assert all("\n" not in text for text in (partial, plain))


def test_the_sentence_tells_whose_memory_is_limited():
    assert "holds for each process." in isolation_sentence([*WALLS])
    together = isolation_sentence([*WALLS, cgroup.LAYER])
    assert "holds for all of an answer's processes." in together


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_ends_by_allowing_and_jumps_only_within(machine, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    for pid, files in ((None, False), (7, True)):
        steps = seccomp.program(pid, files)
        assert steps[-1] == seccomp._step(seccomp.RETURN, seccomp.ALLOW)
        for number, step in enumerate(steps):
            assert number + 1 + max(step[2:4]) <= len(steps)


def test_an_unknown_machine_has_no_filter(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "vax")
    with pytest.raises(OSError, match="no system calls are known for vax"):
        seccomp.program(None, False)


def test_an_old_kernel_has_no_landlock(monkeypatch, tmp_path):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(OSError, match="no Landlock"):
        landlock.restrict(["/usr"], [], str(tmp_path))


@pytest.mark.parametrize("abi", [1, 2, 3, 4, 5, 6])
def test_older_landlocks_hold_what_they_know(abi, monkeypatch, tmp_path):
    """In a child, since it can't be taken back."""
    if landlock.version() < abi:
        pytest.skip("this kernel has an older one")
    monkeypatch.setattr(landlock, "version", lambda: abi)
    closed = tmp_path / "closed"
    closed.write_text("secret")
    (tmp_path / "own").mkdir()
    read, write = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
            kinds = landlock.restrict(["/usr"], [], str(tmp_path / "own"))
            (tmp_path / "own" / "note").write_text("mine")
            try:
                closed.read_text()
            except PermissionError:
                os.write(write, " ".join(kinds).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with os.fdopen(read) as pipe:
        known = ["files", *["network"] * (abi >= 4), *["signals"] * (abi >= 6)]
        assert pipe.read().split() == known


def test_no_group_is_made_where_there_is_no_place_for_one(monkeypatch, tmp_path):
    (tmp_path / "cgroup.subtree_control").write_text("cpu pids\n")
    monkeypatch.setattr(cgroup, "_places", lambda: [tmp_path, tmp_path / "none"])
    assert cgroup.make("autograder-1") is None
    assert [one.name for one in tmp_path.iterdir()] == ["cgroup.subtree_control"]


def test_a_group_that_limits_nothing_is_not_relied_on(monkeypatch, tmp_path):
    """An ordinary folder with such files: the process that should end lives on."""
    (tmp_path / "cgroup.subtree_control").write_text("memory\n")
    folder = tmp_path / "autograder-1"
    monkeypatch.setattr(cgroup, "_places", lambda: [tmp_path])
    made = type(folder).mkdir

    def mkdir(self, *args, **more):
        made(self, *args, **more)
        for name in ("cgroup.procs", "memory.max", "memory.events"):
            (self / name).write_text("")

    monkeypatch.setattr(type(folder), "mkdir", mkdir)
    assert cgroup.make("autograder-1") is None


def test_a_group_tells_of_each_overflow_once(tmp_path):
    events = tmp_path / "memory.events"
    events.write_text("oom 2\noom_kill 1\n")
    group = cgroup.Group(tmp_path, -1, -1, os.open(events, os.O_RDONLY))
    assert [group.has_overflowed() for _ in range(2)] == [True, False]
    os.close(group.events)


def test_the_list_of_calls_has_three_columns():
    for table in (seccomp.TABLE, seccomp.OF_FILES, seccomp.SIGNALS):
        fields = table.split()
        assert len(fields) % 3 == 0
        assert all(name.isidentifier() for name in fields[::3])
        names = fields[::3]
        assert len(set(names)) == len(names)
