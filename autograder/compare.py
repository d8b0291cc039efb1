"""Compare what came back with what was expected."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

#: How far a half-precision result may be off, relative to the largest expected value:
#: a few roundings, whether or not the work was done in float32 inside.
HALF = {torch.float16: 1.6e-2, torch.bfloat16: 1.2e-1}

#: Below this size a number counts as zero: rounding noise has no relative error.
FLOOR = {"out": 3e-2, "grad": 1e-1}


@dataclass(frozen=True)
class Fault:
    """One way in which a result is not the expected one."""

    kind: str  # error, kind, parameters, shape, dtype, device, finite, value
    key: str
    expected: Any
    actual: Any


def tolerance(dtype: torch.dtype, relative: float) -> float:
    """The tolerance for results of this dtype; `relative` is float32's."""
    return max(HALF.get(dtype, 0.0), relative)


def off(expected: Tensor, actual: Tensor, tol: float, floor: float) -> float:
    """The largest difference, in tolerances; infinite where NaN meets a number."""
    if expected.numel() == 0:
        return 0.0
    e, a = expected.double(), actual.double()
    apart, most = float((e - a).abs().max()), float(e.abs().max())
    if math.isfinite(apart) and math.isfinite(most):  # so is every number
        return apart / (tol * max(most, floor))
    if bool((e.isnan() != a.isnan()).any()) or bool((e.isinf() != a.isinf()).any()):
        return math.inf
    finite = e.isfinite()
    if bool((e[~finite].nan_to_num() != a[~finite].nan_to_num()).any()):
        return math.inf
    if not bool(finite.any()):
        return 0.0
    scale = max(float(e[finite].abs().max()), floor)
    return float((e[finite] - a[finite]).abs().max()) / (tol * scale)


def value_off(
    expected: Any, actual: Any, tol: float, floor: float = FLOOR["out"]
) -> float:
    """How far apart two results are, in tolerances; infinite if of different kinds."""
    if isinstance(expected, Tensor) and isinstance(actual, Tensor):
        if expected.shape != actual.shape or expected.device != actual.device:
            return math.inf
        if expected.is_complex() != actual.is_complex():
            return math.inf
        if expected.is_complex():  # a known mistake's result; a right one is real
            expected, actual = torch.view_as_real(expected), torch.view_as_real(actual)
        if not _numeric(actual):
            return math.inf
        return off(expected, actual, tol, floor)
    if isinstance(expected, Tensor) or isinstance(actual, Tensor):
        return math.inf
    if type(expected) is float and type(actual) is float:
        both = torch.tensor([expected, actual], dtype=torch.float64)
        return off(both[:1], both[1:], tol, floor)
    return 0.0 if type(expected) is type(actual) and expected == actual else math.inf


def _numeric(x: Tensor) -> bool:
    return x.is_floating_point() or x.dtype in (
        torch.bool,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
    )


def outputs(reply: Mapping[str, Any]) -> dict[str, Any]:
    """The results in a reply, by name."""
    return {k: v for k, v in reply.items() if k.split(".")[0] == "out"}


def is_fact(key: str) -> bool:
    """Whether a result is a fact that a probe found: `out.` and a name in words."""
    return " " in key.partition(".")[2]


def gradients(reply: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in reply.items() if k.startswith("grad.")}


def refused(reply: Mapping[str, Any]) -> bool:
    """Whether the code raised a ValueError, or an AssertionError."""
    error = reply.get("error")
    if not isinstance(error, Mapping):
        return False
    classes = error.get("classes")
    return isinstance(classes, list) and bool(
        {"ValueError", "AssertionError"} & {str(one) for one in classes}
    )


def faults(
    expected: Mapping[str, Any], actual: Mapping[str, Any], tol: float
) -> list[Fault]:
    """Every way in which a reply's results are not the expected ones."""
    if "error" in actual:
        return [Fault("error", "error", None, actual["error"])]
    wanted, has = expected.get("parameters"), actual.get("parameters")
    if isinstance(wanted, Mapping):
        if not isinstance(has, Mapping):
            return [Fault("kind", "out", "module", actual.get("kind"))]
        if any(has.get(name) != shape for name, shape in wanted.items()):
            return [Fault("parameters", "parameters", wanted, has)]
    if expected.get("kind") != actual.get("kind"):
        return [Fault("kind", "out", expected, actual)]
    return [
        fault
        for key, value in outputs(expected).items()
        for fault in _fault(key, value, actual.get(key), tol)
    ]


def _fault(key: str, expected: Any, actual: Any, tol: float) -> list[Fault]:
    if not isinstance(expected, Tensor) or not isinstance(actual, Tensor):
        if value_off(expected, actual, tol) <= 1:
            return []
        kind = "value" if type(expected) is type(actual) else "kind"
        return [Fault(kind, key, expected, actual)]
    if expected.shape != actual.shape:
        return [Fault("shape", key, expected, actual)]
    if expected.dtype != actual.dtype:
        return [Fault("dtype", key, expected, actual)]
    if expected.device != actual.device:
        return [Fault("device", key, expected, actual)]
    if value_off(expected, actual, tol, FLOOR["out"]) <= 1:
        return []
    if bool(expected.isfinite().all()) and not bool(actual.isfinite().all()):
        return [Fault("finite", key, expected, actual)]
    return [Fault("value", key, expected, actual)]


def gradient_faults(
    expected: Mapping[str, Any], actual: Mapping[str, Any], tol: float
) -> list[Fault]:
    """The gradients that are missing or wrong."""
    if "grad_error" in actual:
        return [Fault("error", "grad", None, actual["grad_error"])]
    found = []
    for key, value in gradients(expected).items():
        has = actual.get(key)
        if value is None or not bool((value.abs() > FLOOR["grad"] * tol).any()):
            continue  # nothing flows in the right answer either
        if has is None:
            found.append(Fault("missing", key, value, None))
        elif value_off(value, has, 10 * tol, FLOOR["grad"]) > 1:
            found.append(Fault("value", key, value, has))
    return found


def alike(
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    tol: float,
    asked: Mapping[str, Any] | None = None,
) -> bool:
    """Whether two replies show the same behaviour: results, or the same exception.

    Parameters of `other` besides those of `one` and those `asked` for don't count.
    """
    if refused(one) and refused(other):
        return True  # in words of their own
    if "error" in one or "error" in other:
        return _same_error(one.get("error"), other.get("error"))
    if one.get("kind") != other.get("kind"):
        return False
    wanted, has = one.get("parameters"), other.get("parameters")
    if isinstance(wanted, Mapping) and isinstance(has, Mapping):
        names = {*wanted, *(asked or {})}
        if any(has.get(name) != wanted.get(name) for name in names):
            return False
    elif wanted != has:
        return False
    a, b = outputs(one), outputs(other)
    return a.keys() == b.keys() and all(
        value_off(a[key], b[key], 3 * tol) <= 1 and _type(a[key]) == _type(b[key])
        for key in a
    )


def alike_gradients(
    one: Mapping[str, Any], other: Mapping[str, Any], tol: float
) -> bool:
    """Whether two replies' gradients agree, missing ones included."""
    if "grad_error" in one or "grad_error" in other:
        return _same_error(one.get("grad_error"), other.get("grad_error"))
    a, b = gradients(one), gradients(other)
    return a.keys() == b.keys() and all(
        (a[key] is None) == (b[key] is None)
        and (a[key] is None or value_off(a[key], b[key], 30 * tol, 1e-1) <= 1)
        for key in a
    )


#: How torch says that two tensors can't be put side by side, place by place.
_SIDE_BY_SIDE = re.compile(
    r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at (.*)"
)

#: How a product says that the two axes it sums over have different sizes.
_SUMMED_OVER = re.compile(
    r"has size (\d+) for operand \d+ which does not broadcast with .* size (\d+)"
    r"|cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)"
    r"|to be: \[\d+, (\d+)\] but got: \[\d+, (\d+)\]"
)


def _same_error(one: Any, other: Any) -> bool:
    """Whether two exceptions tell of the same: in the same words, or of the same two
    sizes, which `a * b` and `b * a` say in another order, and which `@`, `linear` and
    einsum say in words of their own."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return one is other
    texts = str(one.get("message")), str(other.get("message"))
    if texts[0] == texts[1] and str(one.get("type")) == str(other.get("type")):
        return True
    a, b = map(_SIDE_BY_SIDE.search, texts)
    if a is not None and b is not None:
        return sorted(a.groups()) == sorted(b.groups())
    a, b = map(_SUMMED_OVER.search, texts)
    if a is None or b is None or a.lastindex == b.lastindex:
        return False
    sizes = [sorted(size for size in found.groups() if size) for found in (a, b)]
    return sizes[0] == sizes[1]


def _type(value: Any) -> Any:
    return value.dtype if isinstance(value, Tensor) else type(value)
