"""Call a function whose numbers may come back in any width, or be of any kind.

Where the contract says "an int" or "float32 at least", int32 is as good as int64, and
float64 as good as float32.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.probes.basic import observe

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32)


def any_width(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """A call; integers of any width count as int64, float64 as float32."""
    return {key: _common(value) for key, value in observe(theirs, x, {}).items()}


def _common(value: Any) -> Any:
    if isinstance(value, Tensor) and value.dtype in _INTEGERS:
        return value.to(torch.int64)
    if isinstance(value, Tensor) and value.dtype == torch.float64:
        return value.to(torch.float32)
    return value


def amount(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """A call that gives one number; a whole one may come as a float."""
    reply = observe(theirs, x, {})
    out = reply.get("out")
    if isinstance(out, float) and out.is_integer():
        return reply | {"kind": "int", "out": int(out)}
    return reply


def fraction(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """A call whose number may be of any kind: 0 for 0.0, a Fraction, NumPy's own."""
    return observe(lambda *given: _number(theirs(*given)), x, {})


def _number(value: Any) -> Any:
    lone = not isinstance(value, Tensor) or value.numel() == 1
    if lone and hasattr(value, "__float__") and not isinstance(value, bool):
        return float(value)
    return value
