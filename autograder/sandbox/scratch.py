"""The worker's folder: empty when it begins, gone when it has ended."""

import itertools
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from . import linux

MOUNTED = "/scratch"  # where the own view of the files has it


class Scratch:
    """Makes a folder for each worker and removes it.

    In an own view of the files it is a file system in memory, which ends with all that
    is in it; elsewhere it is an ordinary folder below `base`.
    """

    def __init__(self, base: str | None) -> None:
        self.base = base

    def make(self, size: int, uid: int | None) -> str:
        if self.base is None:
            flags = linux.MS_NOSUID | linux.MS_NODEV
            owner = "" if uid is None else f",uid={uid},gid={uid}"
            options = f"size={size},nr_inodes=4096,mode=0700{owner}"
            linux.mount("tmpfs", MOUNTED, "tmpfs", flags, options)
            return MOUNTED
        folder = tempfile.mkdtemp(dir=self.base)
        if uid is not None:
            Path(self.base).chmod(0o711)  # they must pass, and need not look around
            os.chown(folder, uid, uid)
        return folder

    def remove(self, folder: str) -> None:
        if self.base is None:
            linux.umount(folder)
        else:
            remove(folder)


def remove(folder: str) -> None:
    """Remove a folder that somebody made as hard to remove as they could.

    It is flattened first: folders nested deeper than any path may be long stop both
    recursion and path names, and closed ones can't be entered.
    """
    top, numbers = Path(folder), itertools.count()
    todo = [top]
    while todo:
        here = todo.pop()
        with suppress(OSError):
            here.chmod(0o700)
            for entry in list(here.iterdir()):
                if entry.is_symlink() or not entry.is_dir():
                    entry.unlink()
                    continue
                entry.chmod(0o700)
                todo.append(entry.rename(top / f".flat-{next(numbers)}-{os.getpid()}"))
    shutil.rmtree(folder, ignore_errors=True)
