"""Landlock: rules of the kernel for what a process may open, whoever its user is."""

import ctypes
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from . import linux

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # on every architecture
VERSION = 1  # flag: tell the version of the interface instead
PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
READ = EXECUTE | READ_FILE | READ_DIR
TRUNCATE = 1 << 14
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | 1 << 15
#: Rights to files by version: the first ones; to move between folders; to truncate;
#: to ask devices for more than data.
RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: TRUNCATE, 5: 1 << 15}
TCP = {4: 0b11}  # bind and connect
SCOPES = {6: 0b11}  # abstract sockets and signals stay within


def version() -> int:
    """Of the kernel's interface; 0 where there is none."""
    with suppress(OSError):
        return linux.syscall(CREATE_RULESET, None, 0, VERSION)
    return 0


def restrict(readable: Iterable[str], listed: Iterable[str], folder: str) -> list[str]:
    """Hold this process to reading `readable` and to doing as it likes in `folder`.

    Of the folders in `listed` it may see the names. What isn't there is left out.
    Returns the kinds of rules that hold; raises OSError where there are none.
    """
    abi = version()
    files, tcp, scopes = (_up_to(abi, each) for each in (RIGHTS, TCP, SCOPES))
    if not files:
        raise OSError("this kernel has no Landlock")
    # Older kernels take the longer structure only where what they don't know is 0.
    sizes = {1: 8, 4: 16, 6: 24}
    size = max(length for since, length in sizes.items() if abi >= since)
    attributes = struct.pack("=QQQ", files, tcp, scopes)[:size]
    rules = linux.syscall(CREATE_RULESET, attributes, size, 0)
    try:
        for path in listed:
            _allow(rules, path, READ_DIR)
        for path in readable:
            _allow(rules, path, READ)
        for path in ("/dev/null", "/dev/zero", "/dev/full"):
            _allow(rules, path, READ | WRITE_FILE)
        _allow(rules, folder, files & ~(MAKE_CHAR | MAKE_BLOCK))
        linux.syscall(RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)
    kinds = {"files": files, "network": tcp, "signals": scopes}
    return [name for name, rights in kinds.items() if rights]


def _up_to(abi: int, rights: dict[int, int]) -> int:
    return sum(right for since, right in rights.items() if abi >= since)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not Path(path).is_dir():
            rights &= OF_A_FILE
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, fd), 12)
        linux.syscall(ADD_RULE, rules, PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)
