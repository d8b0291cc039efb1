"""The layers of isolation: each is tried, and what can't be had is left out.

The process that was started (the keeper) enters the namespaces and forks the server,
which is the first process of its own PID namespace where there is one. Workers are
confined once more, for good, before they see any learner's code.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import landlock, linux, seccomp, view
from .cgroup import Group
from .job import Limits

NAMESPACES = {
    "process namespace": linux.CLONE_NEWPID,
    "network namespace": linux.CLONE_NEWNET,
    "ipc namespace": linux.CLONE_NEWIPC,
}
VIEW, USER = "own view of the files", "own user"
RULES = LANDLOCK, SECCOMP = "landlock", "seccomp"
USERS = range(64_000, 65_500)  # below 65,536: containers often map no more


@dataclass
class Setup:
    """How much isolation this server has, and what it needs to know to give it on."""

    without: list[str]  # layers to leave out
    hidden: list[str]
    base: str  # where scratch folders lie without an own view of the files
    number: int  # that few other servers have
    layers: list[str] = field(default_factory=list)
    uid: int | None = None  # of the workers, where it isn't the server's
    processes: int | None = None  # that count against it already, where it is limited
    readable: list[str] = field(default_factory=list)  # where Landlock lets them read
    listed: list[str] = field(default_factory=list)  # and where they see names only
    group: Group | None = None  # of each worker and its children

    def has(self, layer: str) -> bool:
        return layer in self.layers

    def may_have(self, layer: str) -> bool:
        return sys.platform == "linux" and layer not in self.without


def rehearse(action: Callable[[], object]) -> Any:
    """What the action returns in a forked child, since it can't be taken back here.

    None where it raises; [] where it returns nothing.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            os.write(write, json.dumps(action() or []).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(answer) if answer else None


def _possible(action: Callable[[], object]) -> bool:
    return rehearse(action) is not None


# --- the keeper -------------------------------------------------------------------


def enter_namespaces() -> list[str]:
    """The names of the namespaces that this process's children will be in."""
    names: list[str] = []
    if _possible(lambda: linux.unshare(linux.CLONE_NEWPID)):
        pass
    elif _possible(lambda: _own_user_namespace(linux.CLONE_NEWPID)):
        _own_user_namespace()
        names = ["user namespace"]
    else:
        return []
    for name, flag in NAMESPACES.items():
        with suppress(OSError):
            linux.unshare(flag)
            names.append(name)
    return names


def _own_user_namespace(more: int = 0) -> None:
    """In which an ordinary user may make the other ones. They keep their own id."""
    ids = {"uid_map": os.geteuid(), "gid_map": os.getegid()}
    linux.unshare(linux.CLONE_NEWUSER)
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny")
    for name, number in ids.items():
        (own / name).write_text(f"{number} {number} 1")
    linux.unshare(more)


# --- the server -------------------------------------------------------------------


def settle(setup: Setup, needed: Iterable[str]) -> None:
    """Take the server's own layers, and find out which of the workers' hold here.

    `needed` are files that a worker must be able to read.
    """
    if setup.may_have(VIEW) and setup.has("process namespace"):
        if _possible(lambda: view.enter(setup.hidden)):
            view.enter(setup.hidden)
            setup.layers.append(VIEW)
    if setup.may_have(USER) and os.geteuid() == 0:
        uid = next(filter(_is_nobody, USERS[setup.number % 1000 :]), None)
        if uid is not None and _possible(lambda: _become_reader(uid, needed)):
            setup.uid = uid
            setup.layers.append(USER)
    setup.processes = _processes_of_user(setup)
    if setup.has(VIEW):
        setup.readable = ["/"]
    else:
        setup.readable, setup.listed = view.readable(setup.hidden)


def _is_nobody(uid: int) -> bool:
    import pwd

    try:
        pwd.getpwuid(uid)
    except KeyError:
        return True
    return False


def _become_reader(uid: int, needed: Iterable[str]) -> None:
    _become(uid)
    for path in needed:
        Path(path).open("rb").close()


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


# --- the worker -------------------------------------------------------------------


def confine(setup: Setup, limits: Limits, folder: str) -> list[str]:
    """Give up, in this process and for good, what a worker doesn't need.

    It can write to the folder only.
    """
    os.setsid()
    names = ["session", *_limit(setup, limits)]
    if setup.uid is not None:
        _become(setup.uid)
    steps: dict[str, Callable[[], None]] = {
        "no capabilities": linux.drop_capabilities,
        "no new privileges": lambda: linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1),
        "not traceable": lambda: linux.prctl(linux.PR_SET_DUMPABLE, 0),
        # A change of user clears it, so it comes late.
        "ends with the server": die_with_parent,
    }
    for name, step in steps.items():
        with suppress(OSError):
            step()
            names.append(name)
    return names + _rules(setup, folder)


def _rules(setup: Setup, folder: str) -> list[str]:
    """The kernel's rules for this process, where it has such. They come last."""
    names: list[str] = []
    if setup.may_have(LANDLOCK):
        with suppress(OSError):
            kinds = landlock.restrict(setup.readable, setup.listed, folder)
            names += [f"Landlock rules for {kind}" for kind in kinds]
    if setup.may_have(SECCOMP):
        # Without a namespace they would reach the processes of the same user.
        pid = None if setup.has("process namespace") else os.getpid()
        with suppress(OSError):
            seccomp.install(pid, files=not setup.has(VIEW))
            names.append("seccomp filter")
    return names


def die_with_parent() -> None:
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)


def _limit(setup: Setup, limits: Limits) -> list[str]:
    _lower(resource.RLIMIT_CORE, 0)
    # The first limit is a signal that they may handle, the one after it is not.
    _lower(resource.RLIMIT_CPU, limits.cpu, limits.cpu + 1)
    _lower(resource.RLIMIT_FSIZE, limits.file_size)
    names = ["time limit", "file size limit"]
    if sys.platform == "linux":  # macOS takes this one and doesn't hold to it
        _lower(resource.RLIMIT_AS, _address_space() + limits.memory)
        names.append("memory limit")
    if setup.processes is not None:
        _lower(resource.RLIMIT_NPROC, setup.processes + limits.processes)
        names.append("process limit")
    return names


def _lower(kind: int, soft: int, hard: int | None = None) -> None:
    """Set a limit, unless it is lower already."""
    ceiling = resource.getrlimit(kind)[1]
    hard = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def _address_space() -> int:
    pages = Path("/proc/self/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


def _processes_of_user(setup: Setup) -> int | None:
    """How many processes count against the workers' user, who has a limit of his own.

    None where it can't be told, or where the system doesn't hold root to it.
    """
    if setup.uid is not None:
        return 0
    if os.getuid() == 0 or sys.platform != "linux":
        return None
    if setup.has("user namespace"):
        return 2  # the keeper and the server; it counts within the namespace
    return sum(map(_threads, _processes()))


def _processes() -> list[Path]:
    return list(Path("/proc").glob("[0-9]*"))


def _threads(process: Path) -> int:
    with suppress(OSError):
        if process.stat().st_uid == os.getuid():
            return len(list((process / "task").iterdir()))
    return 0


# --- orphans ----------------------------------------------------------------------


def adopt_orphans() -> list[str]:
    """Become the parent of what a process leaves behind that this one started."""
    with suppress(OSError):
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        return ["orphans are found"]
    return []


def children() -> list[int]:
    """The processes whose parent is this one."""
    found = []
    for process in _processes():
        with suppress(OSError):
            after_name = (
                (process / "stat").read_text(errors="replace").rpartition(")")[2]
            )
            if int(after_name.split()[1]) == os.getpid():
                found.append(int(process.name))
    return found
