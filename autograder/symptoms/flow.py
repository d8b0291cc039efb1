"""Gradients, refusals and devices: what is wrong although the numbers may be right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from autograder.symptoms.form import some, tell_error
from autograder.verdict import Diagnosis

if TYPE_CHECKING:
    from autograder.judge import Evidence


def tell_gradient(first: Evidence) -> Diagnosis:
    fault = first.gradient_faults[0]
    if fault.kind == "error":
        found = tell_error(first, fault)
        return Diagnosis(
            "no-gradient",
            f"The values are right, but not with gradients. {found.message}",
        )
    names = some(
        f"`{one.key.removeprefix('grad.')}`"
        for one in first.gradient_faults
        if one.kind == fault.kind
    )
    if fault.kind == "missing":
        return Diagnosis(
            "no-gradient",
            f"The values are right, but no gradient reaches {names}: something on the "
            "way cuts the graph (detach, .data, .item, no_grad, a new tensor made from "
            "numbers).",
        )
    if not bool(fault.actual.isfinite().all()):
        return Diagnosis(
            "gradient-not-finite",
            f"The values are right, but the gradient for {names} is NaN or infinite in "
            f"{int((~fault.actual.isfinite()).sum())} of {fault.actual.numel()} "
            "places: a NaN or an infinity arises on the way and is covered up later "
            "(nan_to_num, where, times 0). The backward pass still meets it, and "
            "0 times NaN is NaN: keep it from arising.",
        )
    return Diagnosis(
        "wrong-gradient",
        f"The values are right, but the gradient for {names} is not: part of the way "
        "is cut off from the graph (detach, .data, no_grad).",
    )


def tell_refusal(first: Evidence) -> Diagnosis:
    case = first.trial.case
    error = first.actual.get("error")
    if error:
        return Diagnosis(
            "wrong-exception",
            f"For {case} a ValueError is asked for; your code raises "
            f"{error.get('type')}: {error.get('message')}",
        )
    return Diagnosis(
        "not-refused",
        f"For {case} your code should raise a ValueError; it does not raise, but goes "
        "on silently.",
    )


def tell_device(first: Evidence) -> Diagnosis:
    error = first.faults[0].actual
    line = error.get("line") if isinstance(error, Mapping) else ""
    at = f" (`{line}`)" if line else ""
    args: Mapping[str, Any] = first.trial.x["args"]
    given = [name for name, value in args.items() if isinstance(value, Tensor)]
    if not given:
        name = next(iter(first.trial.x["weights"]))
        return Diagnosis(
            "left-on-cpu",
            f"A tensor is made on the CPU, wherever the module is{at}: give "
            f"`device=self.{name}.device`.",
        )
    return Diagnosis(
        "left-on-cpu",
        f"A tensor is made on the CPU, wherever the inputs are{at}: give "
        f"`device={given[0]}.device`, or make it from an input "
        f"(`{given[0]}.new_zeros`, `torch.zeros_like`).",
    )
