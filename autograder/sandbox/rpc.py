"""The grader's end of one worker: requests, replies, and how it ended."""

import os
import select
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .. import wire
from ..probes import PROBES
from .control import ServerDied
from .job import BROKEN, LINE_LOST, TOLD, Job, Limits, Status, Stopped
from .reply import has_form, weight

if TYPE_CHECKING:
    from .host import Server

OUTPUT_KEPT = 4096  # bytes of what is printed that a report shows
MESSAGE_LENGTH = 4000
GRACE = 0.3  # seconds to end by itself for a worker that has closed its line


class Flood(Exception):
    """It printed more than it may."""


class TooMuch(Exception):
    """Its replies together are more than the grader keeps."""


class Worker:
    """Runs probes beside a learner's code. Made by `Server.worker`."""

    def __init__(self, server: "Server", job: Job, limits: Limits) -> None:
        self.server, self.job, self.limits = server, job, limits
        self.stopped: Stopped | None = None
        self._left = limits.wall  # seconds of waiting that remain
        self._room = limits.replies  # bytes that its replies may still take
        self._deadline = 0.0
        self._number = 0  # of the last request
        self._line: socket.socket | None = None
        self._out = -1
        self._alive: int | None = None  # a descriptor: ready when the worker has ended
        self._printed = 0
        self._tail = b""

    def start(self) -> None:
        """Have the worker forked and load the job. Raises Stopped."""
        self._line, line = socket.socketpair()
        self._line.setblocking(False)
        self._out, out = os.pipe()
        os.set_blocking(self._out, False)
        try:
            self._alive = self.server.fork(self.limits, [line.fileno(), out])
        finally:
            line.close()
            os.close(out)
        self._ask({"job": asdict(self.job)})

    def run(self, probe: str, x: dict[str, Any]) -> dict[str, Any]:
        """What the probe returns there. Raises Stopped, and from then on always."""
        if probe not in PROBES:
            raise KeyError(f"no probe {probe!r}; there are {', '.join(PROBES)}")
        return self._ask({"probe": probe, "x": x})

    def replies(self, probe: str, xs: wire.Packed) -> Iterator[dict[str, Any]]:
        """What the probe returns for each of some requests. Raises Stopped.

        All are sent at once, so that neither end waits for the other between them.
        """
        self._send({"probe": probe, "several": True}, xs.frame)
        for _ in xs.value:
            yield self._take()

    @property
    def output(self) -> str:
        """The end of what the learner's code has printed."""
        with suppress(Flood):
            self._drain()
        return clean(self._tail.decode(errors="replace"))

    def close(self) -> None:
        """End the worker and all that it has started."""
        if self._line is not None:
            with suppress(ServerDied):
                self.server.end_worker(0)
            self._line.close()
            self._line = None
        with suppress(Flood):
            self._drain()
        if self._out >= 0:
            os.close(self._out)
            self._out = -1
        if self._alive is not None:
            os.close(self._alive)
            self._alive = None

    # --- one request ---

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self._send(request)
        return self._take()

    def _send(self, request: dict[str, Any], more: bytes = b"") -> None:
        """Send a request, and what goes with it. Its number is the next reply's."""
        frame = wire.pack({"id": self._number + 1} | request) + more
        with self._waiting() as fd:
            wire.send_frame(fd, frame, self._wait)

    def _take(self) -> dict[str, Any]:
        """The next reply."""
        self._number += 1
        with self._waiting() as fd:
            limit = self.limits.reply + wire.HEAD_LIMIT
            answer = wire.receive(fd, self._wait, limit)
            self._room -= weight(answer)
            if self._room < 0:
                raise TooMuch
            return self._reply(answer)

    @contextmanager
    def _waiting(self) -> Iterator[int]:
        """Count the time against the limit, and tell from errors how it ended."""
        if self.stopped is not None:
            raise self.stopped
        assert self._line is not None
        begun = time.monotonic()
        self._deadline = begun + self._left
        try:
            with self._ends_told():
                yield self._line.fileno()
        except Stopped as stopped:
            self.stopped = stopped
            raise
        finally:
            self._left -= time.monotonic() - begun

    @contextmanager
    def _ends_told(self) -> Iterator[None]:
        limits = self.limits
        try:
            yield
        except TimeoutError:
            took = f"It took longer than {limits.wall:g} s."
            raise self._end("timeout", took) from None
        except Flood:
            printed = f"It printed more than {limits.output:,} bytes."
            raise self._end("crashed", printed) from None
        except TooMuch:
            much = f"Its results take more than {limits.replies >> 20:,} MiB in all."
            raise self._end("crashed", much) from None
        except wire.WireError as error:
            raise self._no_answer() from error
        except (EOFError, OSError) as error:
            raise self._death() from error

    def _reply(self, answer: Any) -> dict[str, Any]:
        if not isinstance(answer, dict) or answer.get("id") != self._number:
            raise self._no_answer()
        if isinstance(reply := answer.get("reply"), dict) and has_form(reply):
            return reply
        match answer.get("stopped"):
            case (str(status), str(message)) if status in TOLD and message.strip():
                raise self._end(status, clean(message)[:MESSAGE_LENGTH])  # type: ignore[arg-type]
        raise self._no_answer()

    def _wait(self, fd: int, event: int) -> None:
        """Until the line is ready; meanwhile what is printed is taken in.

        Raises EOFError when the worker has ended: a child of its own may hold the line.
        """
        while (left := self._deadline - time.monotonic()) > 0:
            poll = select.poll()
            poll.register(fd, event)
            for more in (self._out, self._alive):
                if more is not None and more >= 0:
                    poll.register(more, select.POLLIN)
            ready = dict(poll.poll(left * 1000))
            if self._out in ready:
                self._drain()
            if fd in ready:
                return
            if self._alive in ready:
                raise EOFError("the worker has ended")
        raise TimeoutError

    def _drain(self) -> None:
        """Take in what was printed, keep its end. Raises Flood."""
        while self._out >= 0:
            try:
                chunk = os.read(self._out, 1 << 16)
            except BlockingIOError:
                return
            if not chunk:
                os.close(self._out)
                self._out = -1
            self._printed += len(chunk)
            self._tail = (self._tail + chunk)[-OUTPUT_KEPT:]
            if self._printed > self.limits.output:
                raise Flood

    # --- its end ---

    def _end(self, status: Status, message: str) -> Stopped:
        with suppress(ServerDied):
            self.server.end_worker(0)
        return Stopped(status, message, self.output)

    def _no_answer(self) -> Stopped:
        return self._end("crashed", "It sent something that is no answer.")

    def _death(self) -> Stopped:
        try:
            end = self.server.end_worker(GRACE)
        except ServerDied:
            message = "It took down the process that had started it."
            return Stopped("crashed", message, self.output)
        return Stopped(*self._cause(end), self.output)

    def _cause(self, end: dict[str, Any]) -> tuple[Status, str]:
        code, cpu = int(end["code"]), float(end["cpu"])
        if end.get("overflowed"):
            much = f"It needs more than {self.limits.memory >> 20:,} MiB of memory."
            return "out_of_memory", much
        if not end["by_itself"] or code == LINE_LOST:
            return "crashed", "It closed its line to the grader."
        if code == BROKEN:
            unable = "It has left Python or PyTorch unable to work"
            return "crashed", f"{unable}, so no answer came."
        over = -code in (signal.SIGXCPU, signal.SIGKILL)
        if over and cpu >= 0.9 * self.limits.cpu:  # else it has sent it to itself
            return (
                "timeout",
                f"It used more than {self.limits.cpu} s of processor time.",
            )
        if code < 0:
            names = {number.value: number.name for number in signal.Signals}
            return "crashed", f"It was ended by {names.get(-code, f'signal {-code}')}."
        return "crashed", f"It ended its own process with exit status {code}."


def clean(text: str) -> str:
    """Without control characters, which a terminal would obey."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for c in text
    )
