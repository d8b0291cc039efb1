"""The Linux system calls that Python 3.11 has no function for."""

import ctypes
import os
import platform
from functools import cache

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER = 0x20000, 0x8000000, 0x10000000
CLONE_NEWPID, CLONE_NEWNET = 0x20000000, 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND = 2, 4, 8, 4096
MS_REC, MS_PRIVATE = 16384, 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
PR_SET_NO_NEW_PRIVS = 38

MOUNT_SETATTR = 442  # the same number on every architecture
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41}
AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = -100, 0x8000, 1
CAPABILITY_VERSION_3 = 0x20080522


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> int:
    try:
        function = getattr(_libc(), name)
    except AttributeError as error:
        raise OSError(f"this C library has no {name}") from error
    result = int(function(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def syscall(number: int, *arguments: object) -> int:
    """A call by its number; whole numbers are passed on at full width."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _call("syscall", ctypes.c_long(number), *wide)


def _path(path: str | None) -> bytes | None:
    return None if path is None else os.fsencode(path)


def unshare(flags: int) -> None:
    _call("unshare", ctypes.c_int(flags))


def prctl(option: int, value: int, pointer: bytes | None = None) -> None:
    rest = [ctypes.c_ulong(0)] * 2
    _call("prctl", ctypes.c_int(option), ctypes.c_ulong(value), pointer, *rest)


def mount(
    source: str | None, target: str, kind: str | None, flags: int, data: str = ""
) -> None:
    options = data.encode() or None
    paths = _path(source), _path(target), _path(kind)
    _call("mount", *paths, ctypes.c_ulong(flags), options)


def umount(target: str) -> None:
    _call("umount2", _path(target), ctypes.c_int(MNT_DETACH))


def pivot_root(new: str, old: str) -> None:
    number = PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise OSError(f"no number of pivot_root is known for {platform.machine()}")
    syscall(number, _path(new), _path(old))


def make_read_only(target: str) -> None:
    """Every mount at and below the target."""
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, 0, 0)
    size = ctypes.sizeof(attributes)
    path = _path(target)
    syscall(MOUNT_SETATTR, AT_FDCWD, path, AT_RECURSIVE, attributes, size)


def drop_capabilities() -> None:
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice 32
    _call("capset", ctypes.byref(header), ctypes.byref(nothing))
