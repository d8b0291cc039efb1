"""A control group: the memory that a worker and all that it starts use together.

Needs cgroup v2, and a place in it where this user may make groups: in a container, or
under systemd the user's own branch. It is tried before it is relied on.
"""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LAYER = "memory limit for all processes together"
HELD = 32 << 20  # bytes of the limit that is tried; Python itself has no part in it
MORE = (
    256 << 20
)  # bytes above a worker's limit: its pages that differ from the server's


@dataclass
class Group:
    """One group, by descriptors: a worker's view of the files doesn't show it."""

    folder: Path
    procs: int
    limit: int
    events: int
    size: int = 0  # bytes that it is held to
    ended: int = 0  # processes that the system has ended for it

    def hold(self, pid: int, size: int) -> None:
        """Put a process into it, and hold the group to so many bytes."""
        if size != self.size:
            os.pwrite(self.limit, str(size).encode(), 0)
            self.size = size
        os.pwrite(self.procs, str(pid).encode(), 0)

    def has_overflowed(self) -> bool:
        """Whether the system has ended a process for it since this was last asked."""
        lines = os.pread(self.events, 4096, 0).decode().splitlines()
        counts = dict(line.split() for line in lines)
        before, self.ended = self.ended, int(counts.get("oom_kill", "0"))
        return self.ended > before

    def remove(self) -> None:
        for fd in (self.procs, self.limit, self.events):
            os.close(fd)
        with suppress(OSError):
            self.folder.rmdir()


def make(name: str) -> Group | None:
    """A group that was seen to hold; None where there can't be one."""
    for parent in _places():
        folder = parent / name
        with suppress(OSError, ValueError):
            if "memory" not in (parent / "cgroup.subtree_control").read_text().split():
                continue
            folder.mkdir()
            try:
                group = _opened(folder)
            except OSError:
                folder.rmdir()
                continue
            if _holds(group):
                return group
            group.remove()
    return None


def _places() -> list[Path]:
    """Where a group may be made: below this process's own, else beside it."""
    own = [
        line.removeprefix("0::").lstrip("/")
        for line in Path("/proc/self/cgroup").read_text().splitlines()
        if line.startswith("0::")
    ]
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    roots = [Path(fields[1]) for fields in mounts if fields[2] == "cgroup2"]
    if not own or not roots:
        return []
    here = roots[0] / own[0]
    return [here] if here == roots[0] else [here, here.parent]


def _opened(folder: Path) -> Group:
    (folder / "memory.swap.max").write_text("0")
    (folder / "memory.oom.group").write_text("1")  # all of it ends, not one process
    files = "cgroup.procs", "memory.max", "memory.events"
    modes = os.O_WRONLY, os.O_WRONLY, os.O_RDONLY
    opened = [
        os.open(folder / file, mode) for file, mode in zip(files, modes, strict=True)
    ]
    return Group(folder, *opened)


def _holds(group: Group) -> bool:
    """Whether a process in it that takes twice as much as it may is ended."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            os.close(write)
            os.read(read, 1)  # until it has been put there
            bytearray(b"\1") * (2 * HELD)
        os._exit(0)
    os.close(read)
    try:
        group.hold(pid, HELD)
    except OSError:
        return False
    finally:
        os.close(write)
        status = os.waitpid(pid, 0)[1]
    ended = os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    return group.has_overflowed() and ended
