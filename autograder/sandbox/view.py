"""An own view of the files: read-only, and only what Python needs to run.

The worker sees the system's programs and libraries, the interpreter's folders, a fresh
/proc, a few devices and its scratch folder: no home, no project, no submissions.
"""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from . import linux, scratch

SYSTEM = """/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix /gnu /etc/alternatives
""".split()
SETTINGS = """/etc/ld.so.cache /etc/localtime /etc/passwd /etc/group
/etc/nsswitch.conf""".split()
PROCESS = """/proc/self /proc/cpuinfo /proc/meminfo /proc/stat /proc/filesystems
/proc/version""".split()
DEVICES = "/dev/null /dev/zero /dev/full /dev/random /dev/urandom".split()
OLD = ".old"


def enter(hidden: Iterable[str]) -> None:
    """Replace the root of this process's file system. Raises OSError.

    `hidden` are folders of which nothing may be seen, wherever they lie.
    """
    needed = python_folders()  # while the old files are still in their places
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE)
    _mount_empty(Path("/tmp"))
    Path("/tmp", OLD).mkdir()
    linux.pivot_root("/tmp", f"/tmp/{OLD}")
    os.chdir("/")
    _show_system()
    for folder, source in needed.items():
        _show(folder, source)
    for path in hidden:
        _hide(Path(path), needed)
    _show_processes_and_devices()
    Path(scratch.MOUNTED).mkdir()
    linux.umount(f"/{OLD}")
    Path("/", OLD).rmdir()
    linux.make_read_only("/")


def python_folders() -> dict[Path, Path]:
    """Where this interpreter and its libraries lie, and where links lead from there."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    folders = {Path(path) for path in {*prefixes, *sys.path}}
    with suppress(OSError):
        lines = Path("/proc/self/maps").read_text().splitlines()
        files = [Path(line.split(maxsplit=5)[5]) for line in lines if "/" in line]
        folders |= {file.parent for file in files if file.is_file()}
    folders = {folder for folder in folders if folder.is_absolute()}
    folders |= {folder.resolve() for folder in folders}
    return {folder: folder.resolve() for folder in sorted(folders)}


def readable(hidden: Iterable[str]) -> tuple[list[str], list[str]]:
    """Where the system's own files lie: what may be read, and what only be listed.

    It is what an own view would show, for a process that sees the files of all.
    """
    covered = [Path(path) for path in hidden]
    folders = [*map(Path, SYSTEM), *python_folders()]
    read = [*SETTINGS, *PROCESS, *DEVICES]
    listed: list[str] = []
    while folders:
        folder = folders.pop().resolve()  # a rule holds for the folder, by any path
        if folder in covered or not folder.is_dir():
            continue
        if not any(path.is_relative_to(folder) for path in covered):
            read.append(str(folder))
            continue
        listed.append(str(folder))
        with suppress(OSError):
            folders += folder.iterdir()
            read += [str(one) for one in folder.iterdir() if one.is_file()]
    return read, listed


def _old(path: Path) -> Path:
    return Path("/", OLD, path.relative_to("/"))


def _mount_empty(target: Path) -> None:
    flags = linux.MS_NOSUID | linux.MS_NODEV
    linux.mount("tmpfs", str(target), "tmpfs", flags, "size=4m,mode=0755")


def _show_system() -> None:
    for folder in map(Path, SYSTEM):
        if _old(folder).is_symlink():
            folder.symlink_to(_old(folder).readlink())
        elif _old(folder).is_dir():
            _bind(folder, folder)
    Path("/etc").mkdir(exist_ok=True)
    for file in map(Path, SETTINGS):
        with suppress(OSError):
            file.write_bytes(_old(file).read_bytes())


def _show(folder: Path, source: Path) -> None:
    """Unless it is seen already, as a part of what was shown before."""
    if _old(source).is_dir() and not folder.is_dir():
        _bind(source, folder)


def _bind(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    flags = linux.MS_BIND | linux.MS_REC
    linux.mount(str(_old(source)), str(target), None, flags)


def _hide(folder: Path, needed: dict[Path, Path]) -> None:
    """Cover it, but for the folders within it that Python needs (its .venv, say)."""
    if not folder.is_dir():
        return
    _mount_empty(folder)
    for inner, source in needed.items():
        if inner != folder and inner.is_relative_to(folder):
            _show(inner, source)


def _show_processes_and_devices() -> None:
    Path("/proc").mkdir()
    flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    with suppress(OSError):  # not allowed in some containers: then it stays empty
        linux.mount("proc", "/proc", "proc", flags)
    Path("/dev").mkdir()
    for device in map(Path, DEVICES):
        device.touch()
        linux.mount(str(_old(device)), str(device), None, linux.MS_BIND)
