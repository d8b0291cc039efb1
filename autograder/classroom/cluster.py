"""Workers that are those of a Dask cluster, wherever they run.

They need the autograder installed, the same version as here, and no shared files: what
was handed in is sent to them, and what is to be written comes back.
"""

import logging
import socket
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from autograder.classroom import work
from autograder.classroom.workers import CannotGrade, P, T, Workers

CONNECT = 10.0  # seconds to reach the scheduler
CLOSE = 30.0  # seconds for the workers to close their sandboxes
LOOK_AGAIN = 2.0  # seconds after which workers may have come or gone


class Cluster(Workers):
    """The workers of the scheduler at an address, `tcp://host:port`.

    Raises CannotGrade where it can't be reached.
    """

    def __init__(self, address: str) -> None:
        try:
            import distributed
            from distributed.comm.addressing import get_address_host_port
        except ImportError:
            raise CannotGrade(
                "--scheduler needs Dask, which isn't installed here; install it with: "
                "pip install distributed"
            ) from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.address = address
        try:
            # A client that can't connect leaves more to read than one line.
            host, port = get_address_host_port(address)
            socket.create_connection((host, port), CONNECT).close()
            client: Any = distributed.Client
            self._client = client(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise CannotGrade(
                f"no Dask scheduler answers at {address!r} ({_first_line(error)}); "
                "start one with 'dask scheduler', and name the address that it shows"
            ) from None
        # A submission that is graded anew must not be answered from memory.
        self._executor = self._client.get_executor(pure=False)
        self._threads, self._looked = 0, -LOOK_AGAIN

    @property
    def threads(self) -> int:
        """How many items are graded at a time, now that workers have come and gone."""
        if time.monotonic() - self._looked > LOOK_AGAIN:
            try:
                self._threads = sum(self._client.nthreads().values())
            except Exception:
                self._gone()
            self._looked = time.monotonic()
        return self._threads

    @property
    def room(self) -> int:
        return max(2, 2 * self.threads)  # so that none waits for its next one

    def submit(
        self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[T]:
        """Call it on a worker. Raises CannotGrade when the scheduler is gone."""
        if self._client.status != "running":
            self._gone()
        with warnings.catch_warnings():  # a large notebook is no graph to optimise
            warnings.simplefilter("ignore", UserWarning)
            future: Future[T] = self._executor.submit(fn, *args, **kwargs)
            return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with suppress(Exception):
            self._executor.shutdown(wait=wait and not cancel_futures)
            self._client.run(work.close, on_error="ignore", wait=wait)
        self._client.close(CLOSE)

    def _gone(self) -> None:
        raise CannotGrade(
            f"the Dask scheduler at {self.address} has gone; all that was graded "
            "before is kept: start it, and run the same command again"
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(":. ")
