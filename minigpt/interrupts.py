"""Ctrl-C at a moment that suits: after the step, when all can be kept."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any


class Stopped(Exception):
    """Ctrl-C was pressed; the message says where the same command goes on."""


@contextmanager
def noted() -> Iterator[Event]:
    """Ctrl-C sets the event, and no more; pressed again, it interrupts at once."""
    asked, before = Event(), signal.getsignal(signal.SIGINT)

    def note(*_: Any) -> None:
        signal.signal(signal.SIGINT, before)
        asked.set()

    if before is signal.default_int_handler:  # not under nohup, nor in a notebook
        signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
