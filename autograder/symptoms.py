"""What can be said of a wrong result that no known mistake explains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from autograder import compare, relations
from autograder.compare import HALF, Fault, gradients
from autograder.definition import Exercise
from autograder.trials import Runner
from autograder.verdict import Diagnosis

if TYPE_CHECKING:
    from autograder.judge import Evidence, Judge


def general(
    judge: Judge,
    runner: Runner,
    seen: list[Evidence],
    wrong: list[Evidence],
    stage: str,
) -> Diagnosis:
    """Describe the first fault of a stage as exactly as it can be seen."""
    first = wrong[0]
    if stage == "refusals":
        return _refusal(first)
    if stage == "device":
        return _device(first)
    if stage == "gradients":
        return _gradient(first)
    found = _TELLERS[first.faults[0].kind](first, first.faults[0])
    message = found.message
    if found.mistake == "result-form" and str(first.expected["kind"])[0].isdigit():
        message += f" Return {', '.join(judge.exercise.returns)}, in this order."
    if found.mistake == "constant-factor" and not _everywhere(wrong, message):
        message = message.replace("in every place", "in every place of this case")
    if first.trial.dtype in HALF and first.faults[0].kind in ("value", "finite"):
        message += _HALF
    where = _where(judge.exercise, seen, wrong)
    return Diagnosis(found.mistake, f"{message} {where}".strip())


#: Half precision is judged last, so float32 was right before.
_HALF = (
    " In float32 the same code is right: in half precision something overflows or is "
    "rounded away. Compute in float32 (`x.float()`) and come back to `x.dtype` last."
)


def _everywhere(wrong: list[Evidence], message: str) -> bool:
    """Whether the same can be said of every wrong result, as it is of the first."""
    kinds = {one.faults[0].kind for one in wrong}
    return kinds == {"value"} and all(
        _value(one, one.faults[0]).message == message for one in wrong
    )


def shape_text(tensor: Tensor | list[int], first: Evidence) -> str:
    """A shape in numbers and, where the sizes tell, in the names of the axes."""
    numbers = list(tensor.shape) if isinstance(tensor, Tensor) else list(tensor)
    sizes = first.trial.sizes
    names = {sizes[axis]: axis for axis in reversed(_axes(first))}
    text = "(" + ", ".join(map(str, numbers)) + ("," if len(numbers) == 1 else "") + ")"
    if numbers and all(number in names and number > 1 for number in numbers):
        named = ", ".join(names[number] for number in numbers)
        text += f" = ({named})"
    return text


def _axes(first: Evidence) -> list[str]:
    from autograder.inputs import axes_of

    lead = first.trial.sizes.lead
    axes = [
        name
        for axis in axes_of(first.trial.spec)
        for name in (lead if axis == "..." else (axis,))
    ]
    axes += [value for value in first.trial.spec.values() if value in first.trial.sizes]
    return list(dict.fromkeys(axes))


def _sizes_in(first: Evidence) -> dict[str, int]:
    """The sizes of the axes that a trial has, those first that scale a result."""
    sizes = first.trial.sizes
    axes = [*_axes(first), *(("d_k",) if "C" in _axes(first) else ())]
    axes = [axis for axis in axes if axis not in ("B", "L")]
    scaling = sorted(axes, key=lambda axis: (not axis.startswith("d"), axis))
    return {axis: sizes[axis] for axis in scaling if sizes[axis] > 1}


def _where(exercise: Exercise, seen: list[Evidence], wrong: list[Evidence]) -> str:
    """Which cases are right, when some are: it narrows the search."""
    if wrong[0].trial.stage != "values":
        return f"This is so in the case “{wrong[0].trial.name}”."
    failing = {id(one) for one in wrong}
    right = [one.trial.case for one in _base(seen) if id(one) not in failing]
    bad = [one.trial.name for one in wrong]
    if not right:
        return ""
    listed = ", ".join(f"“{name}”" for name in right)
    text = f"Right: {listed}. Wrong: “{bad[0]}”."
    return f"{text} {left_out(exercise, seen, wrong)}".strip()


def left_out(exercise: Exercise, seen: list[Evidence], wrong: list[Evidence]) -> str:
    """An argument that is left out in every wrong case, and in no other."""
    failing = {id(one) for one in wrong}
    bad = [id(one) for one in _base(seen) if id(one) in failing]
    for name, value in exercise.defaults().items():
        without = [
            id(one)
            for one in _base(seen)
            if name not in one.trial.x["args"]
            and name not in one.trial.x.get("make", ())
        ]
        if bad and without == bad and len(bad) < len(_base(seen)):
            return f"So it is where `{name}` is left out; its default is {value!r}."
    return ""


def _base(seen: list[Evidence]) -> list[Evidence]:
    """The cases as they are defined, without the engine's variants."""
    return [
        one
        for one in seen
        if one.trial.stage == "values" and not one.trial.variant and one.trial.case
    ]


#: Words in torch's and Python's messages that have to do with the inputs' shapes.
_OF_SHAPES = ("size", "shape", "dimension", "expand", "unpack")


def _error(first: Evidence, fault: Fault) -> Diagnosis:
    error: Mapping[str, Any] = fault.actual
    kind, text = error.get("type"), str(error.get("message", ""))
    if kind == "NotImplementedError" and not text:
        return Diagnosis(
            "not-finished", "Part of the answer still raises NotImplementedError."
        )
    line = f" in the line `{error['line']}`" if error.get("line") else ""
    message = f"Your code raises {kind}{line}" + (f": {text}" if text else "")
    message = message.rstrip(". ") + "."
    shapes = _shapes(first)
    if shapes and any(w in text for w in _OF_SHAPES):
        message += f" The inputs were {shapes}."
    if "requires grad" in text and "numpy" in text:
        message += " Stay in torch: NumPy stops the gradient."
    return Diagnosis(None, message.strip())


def _shapes(first: Evidence) -> str:
    args: Mapping[str, Any] = first.trial.x["args"]
    return ", ".join(
        f"{name} {shape_text(value, first)}"
        for name, value in args.items()
        if isinstance(value, Tensor)
    )


#: How many names of parameters are told: a model has a hundred.
_NAMES = 6


def _some(names: Iterable[str]) -> str:
    """The first of some names, and how many more there are."""
    listed = list(names)
    more = len(listed) - _NAMES
    if more <= 1:
        return ", ".join(listed)
    return ", ".join(listed[:_NAMES]) + f" and {more} more"


def _parameters(first: Evidence, fault: Fault) -> Diagnosis:
    wanted: Mapping[str, list[int]] = fault.expected
    has: Mapping[str, list[int]] = fault.actual
    missing = [name for name in wanted if name not in has]
    if missing:
        listed = _some(f"`{name}`" for name in missing)
        extra = [name for name in has if name not in wanted]
        also = _some(f"`{name}`" for name in extra) or "none"
        return Diagnosis(
            "parameter-missing",
            f"The module has no parameter {listed}. The names are part of the "
            "contract, since weights are loaded by name; besides those asked for "
            f"yours has {also}.",
        )
    name = next(name for name in wanted if has[name] != wanted[name])
    got, want = shape_text(has[name], first), shape_text(wanted[name], first)
    wide = "too wide: " if sum(has[name]) > sum(wanted[name]) else ""
    return Diagnosis(
        "parameter-shape",
        f"The parameter `{name}` has the wrong shape, {wide}{got}, where {want} is "
        f"asked for ({_arguments(first)}).",
    )


def _arguments(first: Evidence) -> str:
    made: Mapping[str, Any] = first.trial.x.get("make", {})
    return ", ".join(f"{name} = {value}" for name, value in made.items())


def _kind(first: Evidence, fault: Fault) -> Diagnosis:
    if fault.expected == "module":
        return Diagnosis(
            "no-module",
            f"The class makes a {fault.actual}, where an nn.Module is asked for.",
        )
    want, got = _form(fault.expected), _form(fault.actual)
    if got == "None":
        return Diagnosis(
            "returns-nothing",
            f"Your code returns None, where {want} is asked for: is a "
            "`return` missing?",
        )
    verb = "are" if want.endswith("values") else "is"
    return Diagnosis(
        "result-form", f"Your code returns {got}, where {want} {verb} asked for."
    )


def _form(value: Any) -> str:
    if isinstance(value, Mapping):
        kind = str(value.get("kind"))
        if kind == "tensor":
            return "one tensor"
        if kind.endswith("values"):
            return kind
        if kind == "str":
            return f"the text {value.get('out')!r}"
        value = value.get("out", kind)
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        return "a tensor"
    if isinstance(value, bool):
        return f"the bool {value}"
    if isinstance(value, int):
        return f"the int {value}"
    if isinstance(value, float):
        return f"the float {value:g}"
    return str(value)


def _shape(first: Evidence, fault: Fault) -> Diagnosis:
    got, want = shape_text(fault.actual, first), shape_text(fault.expected, first)
    message = f"{_result(fault)} has shape {got}, where {want} is asked for."
    e, a = list(fault.expected.shape), list(fault.actual.shape)
    if sorted(e) == sorted(a):
        message += " The axes stand in another order: transpose or permute them."
    elif len(a) < len(e):
        gone = "some were" if len(e) - len(a) > 1 else "one was"
        message += f" It has {_axes_counted(a)} instead of {len(e)}: {gone} summed or "
        message += f"folded away{_gone(first, e, a)}."
    elif len(a) > len(e):
        message += f" It has {_axes_counted(a)} instead of {len(e)}."
    return Diagnosis("wrong-shape", message)


def _gone(first: Evidence, expected: list[int], actual: list[int]) -> str:
    """The axes of the expected shape that the other one lacks, by name."""
    sizes = first.trial.sizes
    names = {sizes[axis]: axis for axis in reversed(_axes(first))}
    left = list(actual)
    missing = []
    for number in expected:
        if number in left:
            left.remove(number)
        else:
            missing.append(number)
    if left or not all(number in names and number > 1 for number in missing):
        return ""
    listed = ", ".join(names[number] for number in missing)
    batch = all(names[number] in first.trial.sizes.lead for number in missing)
    return f" ({listed}, leading axes of the batch)" if batch else f" ({listed})"


def _axes_counted(shape: list[int]) -> str:
    return "1 axis" if len(shape) == 1 else f"{len(shape)} axes"


def _dtype(first: Evidence, fault: Fault) -> Diagnosis:
    got = str(fault.actual.dtype).removeprefix("torch.")
    want = str(fault.expected.dtype).removeprefix("torch.")
    message = f"{_result(fault)} is {got}, where {want} is asked for"
    args: Mapping[str, Any] = first.trial.x["args"]
    if any(
        getattr(value, "dtype", None) == fault.expected.dtype for value in args.values()
    ):
        message += ": results keep the dtype of the inputs"
    if want == "bool":
        message += ", True or False: give dtype=torch.bool, or end with .bool()"
    return Diagnosis("wrong-dtype", f"{message}.")


def _finite(first: Evidence, fault: Fault) -> Diagnosis:
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
            f"{_result(fault)} has {bad} of {fault.actual.numel()} numbers that are "
            f"-inf{shape}. A mask, or a log of 0, makes such numbers; here none is "
            "expected.",
        )
    return Diagnosis(
        "not-finite",
        f"{_result(fault)} has {bad} of {fault.actual.numel()} numbers that are NaN or "
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


def _value(first: Evidence, fault: Fault) -> Diagnosis:
    if compare.is_fact(fault.key):
        return _facts(first)
    if not isinstance(fault.expected, Tensor):
        return Diagnosis(
            "wrong-value",
            f"Your code returns {_form(fault.actual)}, expected is "
            f"{_form(fault.expected)} for {_call(first)}.",
        )
    if first.actual.get("again") is False and first.expected.get("again"):
        return Diagnosis(
            "differs-when-repeated",
            "The numbers are not the expected ones, and called a second time your code "
            "gives others again: something is drawn at random (a dropout?) or kept "
            "between calls.",
        )
    unused = _unused(first)
    if unused:
        return Diagnosis(
            "unused",
            f"{unused} has no effect on the result: it is never used, or its gradient "
            "is cut off on the way.",
        )
    for one in first.faults:
        if one.kind == "value" and isinstance(one.expected, Tensor):
            related = relations.relation(one.expected, one.actual, _sizes_in(first))
            if related:
                return Diagnosis(related[0], f"{_result(one)} {related[1]}")
    far = float((fault.expected.double() - fault.actual.double()).abs().max())
    if far < 1e-3 * float(fault.expected.abs().max()):
        return Diagnosis(
            "nearly-right",
            f"{_result(fault)} is nearly right, at most {far:.1g} off, but not exact: "
            "look for a rounded constant, an approximate formula, or an eps.",
        )
    if fault.expected.numel() == 1:
        got, want = fault.actual.item(), fault.expected.item()
        return Diagnosis(
            None, f"{_result(fault)} is {got:.4g}, where {want:.4g} is expected."
        )
    right, total = relations.agreeing(fault.expected, fault.actual, first.tol)
    message = (
        f"{_result(fault)} has the right shape and other numbers: {right} of {total} "
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
    args: Mapping[str, Any] = first.trial.x["args"]
    return ", ".join(f"{name} = {value!r}" for name, value in args.items())


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
    return _some(names) if len(names) < len(has) else ""


def _gradient(first: Evidence) -> Diagnosis:
    fault = first.gradient_faults[0]
    if fault.kind == "error":
        found = _error(first, fault)
        return Diagnosis(
            "no-gradient",
            f"The values are right, but not with gradients. {found.message}",
        )
    names = _some(
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


def _refusal(first: Evidence) -> Diagnosis:
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


def _device(first: Evidence) -> Diagnosis:
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


def _result(fault: Fault) -> str:
    name = fault.key.partition(".")[2]
    if name.isdigit():
        counted = ("first", "second", "third", "fourth")
        return f"Your {counted[int(name) % 4]} result"
    return f"Your {name}" if name else "Your result"


_TELLERS = {
    "error": _error,
    "parameters": _parameters,
    "kind": _kind,
    "shape": _shape,
    "dtype": _dtype,
    "finite": _finite,
    "value": _value,
}
