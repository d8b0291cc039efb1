"""In a worker nothing is compiled: `torch.compile` gives back what it is given.

It would change no value, and needs seconds and a compiler. So the compiler itself isn't
loaded either: it takes a second, and memory that every fork has to carry along.
Optimisers and operators on the meta device import it for two functions that have
nothing to do here.
"""

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

NAME = "torch._dynamo"


class Uncompiled(ModuleType):
    """Stands for the compiler until somebody wants more of it than these two."""

    def __init__(self) -> None:
        super().__init__(NAME)  # with an empty __spec__, which each import looks at

    @staticmethod
    def disable(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return fn

    @staticmethod
    def graph_break(*args: Any, **kwargs: Any) -> None:
        """Nothing is recorded that could be broken off."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME]
            vars(torch).pop("_dynamo", None)
        return getattr(importlib.import_module(NAME), name)


def compile_nothing() -> None:
    """Let torch run as it is written, in this process and those forked from it."""
    torch.compile = _compile
    if NAME not in sys.modules:
        sys.modules[NAME] = Uncompiled()


def _compile(model: Any = None, *args: Any, **kwargs: Any) -> Any:
    """As a call, or as a decorator with options."""
    return _compile if model is None else model
