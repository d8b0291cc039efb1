"""A measurement is to leave no trace: call it where traces would show.

The argument `where` names the surroundings in which the answer is called: "anywhere",
"no_grad" (inside torch.no_grad), or "training" (the inputs require gradients, and hold
some).
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.probes.basic import observe


def traceless(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """The result, whether it hangs on a graph, and if each `.grad` is as it was."""
    args = dict(x["args"])
    where = args.pop("where")
    traces: dict[str, Any] = {}

    def measured(*given: Any) -> Any:
        inputs = [_held(one) for one in given] if where == "training" else given
        before = _grads(inputs)
        with torch.set_grad_enabled(where != "no_grad"):
            out = theirs(*inputs)
        traces["out.requires_grad"] = isinstance(out, Tensor) and out.requires_grad
        traces["out.grads_left_alone"] = _alike(before, _grads(inputs))
        return out

    return observe(measured, {**x, "args": args}, {}) | traces


def _held(value: Any) -> Any:
    """An input in the middle of a training step: a leaf that has a gradient."""
    if not isinstance(value, Tensor):
        return value
    leaf = value.detach().requires_grad_()
    leaf.grad = torch.ones_like(leaf)
    return leaf


def _grads(inputs: Any) -> list[Tensor | None]:
    found = [one.grad for one in inputs if isinstance(one, Tensor)]
    return [None if grad is None else grad.clone() for grad in found]


def _alike(before: list[Tensor | None], after: list[Tensor | None]) -> bool:
    return all(
        (a is None and b is None)
        or (a is not None and b is not None and (a.is_meta or torch.equal(a, b)))
        for a, b in zip(before, after, strict=True)
    )
