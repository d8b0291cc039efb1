"""Who grades: an executor that says how much it can be given at a time."""

from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, Future
from types import TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class CannotGrade(Exception):
    """No submission can be graded like this; one line that says what to do."""


class Died(Exception):
    """The process that was at it has ended; how, in some words."""


class Workers(Executor):
    """A `concurrent.futures.Executor` whose workers may die.

    What a worker was at when it died ends with an exception, and nothing else does.
    """

    @property
    @abstractmethod
    def room(self) -> int:
        """How many items it makes sense to have handed in at a time."""

    @abstractmethod
    def submit(
        self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[T]:
        """As every executor."""

    def stop(self) -> None:
        """End at once what is running. By default it is waited for."""
        self.shutdown(cancel_futures=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close them; after an error, without waiting for what is running."""
        if kind is None:
            self.shutdown()
        else:
            self.stop()
