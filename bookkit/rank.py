"""One of several processes: it runs the jobs that it is sent, joined to its peers.

Started by `bookkit.ranks`. Jobs come through the standard input and results go back
through the standard output, both in frames: eight bytes of length, then what
`torch.save` writes. Where the input ends, whoever sent the jobs is gone, and so the
process ends at once, whatever it is doing.
"""

import io
import os
import shutil
import struct
import sys
import threading
import time
import traceback
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

import torch
from torch import distributed, nn
from torch.nn import functional as F

LENGTH = struct.Struct("<Q")
SOURCE = "<job>"


def read_frame(stream: BinaryIO) -> Any:
    """The next value from a stream. Raises EOFError where there is none."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    body = stream.read(LENGTH.unpack(head)[0])
    return torch.load(io.BytesIO(body), weights_only=True)


def write_frame(stream: BinaryIO, value: Any) -> None:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    stream.write(LENGTH.pack(buffer.tell()) + buffer.getvalue())
    stream.flush()


class Counted:
    """torch.distributed, with a list of what this rank sends: operation and bytes."""

    def __init__(self) -> None:
        self.traffic: list[tuple[str, int]] = []

    def __getattr__(self, name: str) -> Any:
        value = getattr(distributed, name)
        if name not in ("all_reduce", "send", "isend"):
            return value

        def counted(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            self.traffic.append((name, tensor.nbytes))
            return value(tensor, *args, **kwargs)

        return counted


def main() -> None:
    """Join the others, then run one job after the other until the input ends."""
    rank, world_size, meeting = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a job prints is no answer
    jobs: SimpleQueue[dict[str, Any]] = SimpleQueue()
    folder = Path(meeting).parent
    threading.Thread(target=_listen, args=(jobs, folder), daemon=True).start()
    torch.set_num_threads(1)
    try:
        store = distributed.FileStore(meeting, world_size)
        distributed.init_process_group(
            "gloo", store=store, rank=rank, world_size=world_size
        )
        while True:
            write_frame(answers, _done(rank, **jobs.get()))
    except BaseException as error:
        write_frame(answers, {"error": _told(error), "at": time.monotonic()})
        os._exit(1)  # at once, so that the others notice


def _listen(jobs: "SimpleQueue[dict[str, Any]]", folder: Path) -> None:
    try:
        while True:
            jobs.put(read_frame(sys.stdin.buffer))
    except EOFError:
        shutil.rmtree(folder, ignore_errors=True)  # nobody else is there to do it
        os._exit(0)


def _done(rank: int, name: str, source: str, given: list[Any]) -> dict[str, Any]:
    counted = Counted()
    space = {"torch": torch, "nn": nn, "F": F, "dist": counted, "__name__": SOURCE}
    exec(compile(source, SOURCE, "exec"), space)
    torch.manual_seed(0)
    result = space[name](rank, *given)
    return {"result": result, "traffic": counted.traffic}


def _told(error: BaseException) -> str:
    """The exception, and the job's line that it came from."""
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == SOURCE
    ]
    return f"{text} (line {lines[-1]} of the job)" if lines else text


if __name__ == "__main__":
    main()
