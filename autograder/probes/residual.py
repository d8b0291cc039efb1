"""Give a residual connection what it works with: a sublayer and a norm, counted.

Both are functions, which don't travel: they are made here, from the arguments W and b.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.probes.basic import observe


class Counted:
    """A function that counts how often it is called."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.function(x)


def residual(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """The result, and how often each function was called."""
    calls: dict[str, Any] = {}

    def around(stream: Tensor, W: Tensor, b: Tensor) -> Any:
        # Neither ends in an operation that keeps its result for the gradient, so that
        # code which adds to the result in place runs here too.
        sublayer = Counted(lambda value: torch.tanh(value) @ W)
        norm = Counted(lambda value: b * value / (1 + value.abs().amax(-1, True)))
        out = theirs(stream, sublayer, norm)
        calls["out.sublayer calls"] = sublayer.calls
        calls["out.norm calls"] = norm.calls
        return out

    return observe(around, x, {}) | calls
