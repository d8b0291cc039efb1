"""The line between a `Server` and the process it started: small JSON, and descriptors.

No learner's code ever holds an end of it.
"""

import json
import socket
from collections.abc import Sequence
from typing import Any

SIZE = 1 << 16


class ServerDied(Exception):
    """The other end is gone, or makes no sense any more."""


def write(
    line: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()
) -> None:
    data = json.dumps(message).encode() + b"\n"
    socket.send_fds(line, [data], list(fds))


def read(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The next message. Raises EOFError when the other end has closed, TimeoutError."""
    data, fds, _, _ = socket.recv_fds(line, SIZE, 2)
    while data and not data.endswith(b"\n"):
        more = line.recv(SIZE)
        data = data + more if more else b""
    if not data:
        raise EOFError("the other end has closed")
    return json.loads(data), fds
