"""What a result is, where another kind of thing is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from autograder.compare import Fault
from autograder.symptoms.errors import cause, refuses
from autograder.verdict import Diagnosis

if TYPE_CHECKING:
    from autograder.judge import Evidence


def shape_text(tensor: Tensor | list[int], first: Evidence) -> str:
    """A shape in numbers and, where the sizes tell, in the names of the axes."""
    numbers = list(tensor.shape) if isinstance(tensor, Tensor) else list(tensor)
    sizes = first.trial.sizes
    names = {sizes[axis]: axis for axis in reversed(axes_of_trial(first))}
    text = "(" + ", ".join(map(str, numbers)) + ("," if len(numbers) == 1 else "") + ")"
    if numbers and all(number in names and number > 1 for number in numbers):
        named = ", ".join(names[number] for number in numbers)
        text += f" = ({named})"
    return text


def axes_of_trial(first: Evidence) -> list[str]:
    from autograder.inputs import axes_of

    lead = first.trial.sizes.lead
    axes = [
        name
        for axis in axes_of(first.trial.spec)
        for name in (lead if axis == "..." else (axis,))
    ]
    axes += [value for value in first.trial.spec.values() if value in first.trial.sizes]
    return list(dict.fromkeys(axes))


def your(fault: Fault) -> str:
    name = fault.key.partition(".")[2]
    if name.isdigit():
        counted = ("first", "second", "third", "fourth")
        return f"Your {counted[int(name) % 4]} result"
    return f"Your {name}" if name else "Your result"


#: Words in torch's and Python's messages that have to do with the inputs' shapes.
_OF_SHAPES = ("size", "shape", "dimension", "expand", "unpack")


def tell_error(first: Evidence, fault: Fault) -> Diagnosis:
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
    told = cause(text)
    if not told and refuses(str(error.get("line", ""))):
        told = "These arguments are legal: the check refuses too much."
    return Diagnosis(None, f"{message} {told}".strip())


def _shapes(first: Evidence) -> str:
    args: Mapping[str, Any] = first.trial.x["args"]
    return ", ".join(
        f"{name} {shape_text(value, first)}"
        for name, value in args.items()
        if isinstance(value, Tensor)
    )


#: How many names of parameters are told: a model has a hundred.
_NAMES = 6


def some(names: Iterable[str]) -> str:
    """The first of some names, and how many more there are."""
    listed = list(names)
    more = len(listed) - _NAMES
    if more <= 1:
        return ", ".join(listed)
    return ", ".join(listed[:_NAMES]) + f" and {more} more"


def tell_parameters(first: Evidence, fault: Fault) -> Diagnosis:
    wanted: Mapping[str, list[int]] = fault.expected
    has: Mapping[str, list[int]] = fault.actual
    missing = [name for name in wanted if name not in has]
    if missing:
        listed = some(f"`{name}`" for name in missing)
        hidden = _told_hidden(missing, has, first.actual.get("hidden") or {})
        if hidden:
            return Diagnosis(
                "parameter-missing", f"The module has no parameter {listed}: {hidden}"
            )
        extra = [name for name in has if name not in wanted]
        also = some(f"`{name}`" for name in extra) or "none"
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


def _told_hidden(
    missing: list[str], has: Mapping[str, object], hidden: Mapping[str, str]
) -> str:
    """Why torch doesn't find parameters under their names; empty if nothing tells."""
    for name in missing:
        if name in hidden:
            return (
                f"`{name}` is the same tensor as `{hidden[name]}`, since one module "
                "stands under two names. Make a new one for each."
            )
    for name, kind in hidden.items():
        asked = any(f"{one}.".startswith(f"{name}.") for one in missing)
        if kind == "a plain tensor" and (asked or not has):
            return (
                f"`{name}` is {kind}, which is neither trained nor loaded. A parameter "
                "is an nn.Parameter, or part of a layer such as nn.Linear."
            )
        if kind.startswith("a plain ") and kind != "a plain tensor":
            return (
                f"`{name}` is {kind}, whose modules torch doesn't see, so they are "
                "neither trained nor loaded nor moved. Give each a name of its own, "
                "as the contract has it; for several alike there is nn.ModuleList."
            )
    return ""


def _arguments(first: Evidence) -> str:
    made: Mapping[str, Any] = first.trial.x.get("make", {})
    return ", ".join(f"{name} = {value}" for name, value in made.items())


def tell_kind(first: Evidence, fault: Fault) -> Diagnosis:
    if fault.expected == "module":
        return Diagnosis(
            "no-module",
            f"The class makes a {fault.actual}, where an nn.Module is asked for.",
        )
    want, got = form_of(fault.expected), form_of(fault.actual)
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


def form_of(value: Any) -> str:
    """What something is, in a few words."""
    form = _form_of(value)
    return form if len(form) <= _FORM else f"{form[:_FORM]}…"


#: How many characters tell what came back: a text may be a whole book.
_FORM = 100


def _form_of(value: Any) -> str:
    if isinstance(value, Mapping):
        kind = str(value.get("kind"))
        if kind == "tensor":
            return "one tensor"
        if kind.endswith("values"):
            return "a tuple or list of one" if kind == "1 values" else kind
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


def tell_shape(first: Evidence, fault: Fault) -> Diagnosis:
    got, want = shape_text(fault.actual, first), shape_text(fault.expected, first)
    message = f"{your(fault)} has shape {got}, where {want} is asked for."
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
    names = {sizes[axis]: axis for axis in reversed(axes_of_trial(first))}
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


def tell_elsewhere(first: Evidence, fault: Fault) -> Diagnosis:
    message = (
        f"{your(fault)} is on the device {fault.actual.device}, where the inputs are "
        f"on {fault.expected.device}: results stay there."
    )
    return Diagnosis("wrong-device", message)


def tell_dtype(first: Evidence, fault: Fault) -> Diagnosis:
    got = str(fault.actual.dtype).removeprefix("torch.")
    want = str(fault.expected.dtype).removeprefix("torch.")
    message = f"{your(fault)} is {got}, where {want} is asked for"
    args: Mapping[str, Any] = first.trial.x["args"]
    if any(
        getattr(value, "dtype", None) == fault.expected.dtype for value in args.values()
    ):
        message += ": results keep the dtype of the inputs"
    if want == "bool":
        message += ", True or False: give dtype=torch.bool, or end with .bool()"
    return Diagnosis("wrong-dtype", f"{message}.")
