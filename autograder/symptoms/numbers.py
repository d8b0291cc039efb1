"""What can be seen of numbers that are not the expected ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from autograder import compare, relations
from autograder.compare import Fault, gradients
from autograder.symptoms.form import axes_of_trial, form_of, some, your
from autograder.verdict import Diagnosis

if TYPE_CHECKING:
    from autograder.judge import Evidence


def _sizes_in(first: Evidence) -> dict[str, int]:
    """The sizes of the axes that a trial has, those first that scale a result."""
    sizes = first.trial.sizes
    axes = [*axes_of_trial(first), *(("d_k",) if "C" in axes_of_trial(first) else ())]
    axes = [axis for axis in axes if axis not in ("B", "L")]
    scaling = sorted(axes, key=lambda axis: (not axis.startswith("d"), axis))
    return {axis: sizes[axis] for axis in scaling if sizes[axis] > 1}


def tell_finite(first: Evidence, fault: Fault) -> Diagnosis:
    bad = int((~fault.actual.isfinite()).sum())
    below = int((fault.actual == -torch.inf).sum())
    if bad == below:
        future = torch.ones_like(fault.actual, dtype=torch.bool).triu(1)
        shape = ""
        if fault.actual.dim() > 1 and bool(
            ((fault.actual == -torch.inf) == future).all()
        ):
            shape = ": all those above the diagonal, as under a causal mask"
        return Diagnosis(
            "not-finite",
            f"{your(fault)} has {bad} of {fault.actual.numel()} numbers that are "
            f"-inf{shape}. A mask, or a log of 0, makes such numbers; here none is "
            "expected.",
        )
    return Diagnosis(
        "not-finite",
        f"{your(fault)} has {bad} of {fault.actual.numel()} numbers that are NaN or "
        "infinite. Usual causes: exp of a large number (subtract the maximum first), "
        "0/0 in a row of zeros, or ∞ - ∞.",
    )


#: How many facts are told of a result that is described by facts.
_TOLD = 3


def _facts(first: Evidence) -> Diagnosis:
    """What a probe found out, told as `what: as found, where … is asked for`."""
    told = [
        f"{one.key.partition('.')[2]}: {one.actual}, where {one.expected} is asked for."
        for one in first.faults
        if compare.is_fact(one.key) and one.actual is not None
    ]
    sentences = [text[0].upper() + text[1:] for text in told[:_TOLD]]
    return Diagnosis("wrong-fact", " ".join(sentences))


def tell_value(first: Evidence, fault: Fault) -> Diagnosis:
    if compare.is_fact(fault.key):
        return _facts(first)
    if first.actual.get("again") is False and first.expected.get("again"):
        return Diagnosis(
            "differs-when-repeated",
            "The numbers are not the expected ones, and called a second time your code "
            "gives others again: something is drawn at random (a dropout?), kept "
            "between calls, or never written into a torch.empty.",
        )
    if not isinstance(fault.expected, Tensor):
        return Diagnosis(
            "wrong-value",
            f"Your code returns {form_of(fault.actual)}, expected is "
            f"{form_of(fault.expected)}{_call(first)}.",
        )
    unused = _unused(first)
    if unused:
        several = "`, `" in unused
        return Diagnosis(
            "unused",
            f"{unused} {'have' if several else 'has'} no effect on the result: "
            f"{'they are' if several else 'it is'} never used, or "
            f"{'their' if several else 'its'} gradient is cut off on the way.",
        )
    for one in first.faults:
        if one.kind == "value" and isinstance(one.expected, Tensor):
            related = relations.relation(one.expected, one.actual, _sizes_in(first))
            if related:
                return Diagnosis(related[0], f"{your(one)} {related[1]}")
    far = float((fault.expected.double() - fault.actual.double()).abs().max())
    if far < 1e-3 * float(fault.expected.double().abs().max()):
        return Diagnosis(
            "nearly-right",
            f"{your(fault)} is nearly right, at most {far:.1g} off, but not exact: "
            "look for a rounded constant, an approximate formula, or an eps.",
        )
    if fault.expected.numel() == 1:
        got, want = fault.actual.item(), fault.expected.item()
        return Diagnosis(
            None, f"{your(fault)} is {got:.4g}, where {want:.4g} is expected."
        )
    right, total = relations.agreeing(fault.expected, fault.actual, first.tol)
    message = (
        f"{your(fault)} has the right shape and other numbers: {right} of {total} "
        "agree with the expected ones."
    )
    extra = _extra_parameters(first)
    if extra:
        return Diagnosis(
            "extra-parameters",
            f"{message} Besides the parameters asked for, the module has {extra}: no "
            "weights are loaded for them, so they keep the numbers they start with.",
        )
    return Diagnosis(None, message)


def _extra_parameters(first: Evidence) -> str:
    wanted, has = first.expected.get("parameters"), first.actual.get("parameters")
    if not isinstance(wanted, Mapping) or not isinstance(has, Mapping):
        return ""
    return ", ".join(f"`{name}`" for name in has if name not in wanted)


def _call(first: Evidence) -> str:
    """For which arguments, where they can be told in a few words: no tensors."""
    args: Mapping[str, Any] = first.trial.x["args"]
    told = {k: v for k, v in args.items() if not isinstance(v, Tensor)}
    listed = ", ".join(f"{name} = {value!r}" for name, value in told.items())
    return f" for {listed}" if listed else ""


def _unused(first: Evidence) -> str:
    """Inputs or parameters that get no gradient, where the right answer gives one."""
    if "grad_error" in first.actual or not first.trial.x["grads"]:
        return ""
    has = gradients(first.actual)
    names = [
        f"`{key.removeprefix('grad.')}`"
        for key, value in gradients(first.expected).items()
        if value is not None
        and float(value.abs().max()) > 1e-3
        and (has.get(key) is None or float(has[key].abs().max()) == 0)
    ]
    return some(names) if len(names) < len(has) else ""
