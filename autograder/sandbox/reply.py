"""What a worker sends back in the place of a probe's reply may have any form.

Here it is looked over once, so that whoever judges it can rely on what it holds: a
fault there is then the grader's own.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

REAL = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
NODE = 64  # bytes that a value takes at least, beside its text or numbers

Form = Callable[[Any], bool]


def _is(*kinds: type) -> Form:
    return lambda value: type(value) in kinds


def _listed(form: Form) -> Form:
    return lambda value: isinstance(value, list) and all(map(form, value))


def _named(form: Form) -> Form:
    return lambda value: isinstance(value, Mapping) and all(map(form, value.values()))


_text, _texts = _is(str), _listed(_is(str))
_plain = _is(bool, int, float, str, type(None))


def _error(value: Any) -> bool:
    keys = {"type": _text, "classes": _texts, "message": _text, "line": _text}
    return isinstance(value, Mapping) and all(
        key in value and form(value[key]) for key, form in keys.items()
    )


#: The forms of what replies hold, by key; results (`out`, `out.0` …) may be anything.
FORMS: Mapping[str, Form] = {
    "kind": _text,
    "changed": _texts,
    "called": _texts,
    "again": _is(bool),
    "largest": _is(int),
    "parameters": lambda value: value is None or _named(_listed(_is(int)))(value),
    "kept": _named(_plain),
    "eps": _named(_is(float)),
    "hidden": _named(_text),
    "error": _error,
    "grad_error": _error,
}


def has_form(reply: Mapping[str, Any]) -> bool:
    """Whether it is what a probe may have returned."""
    return all(
        value is None or _gradient(value)
        if key.startswith("grad.")
        else FORMS.get(key, _anything)(value)
        for key, value in reply.items()
    )


def _gradient(value: Any) -> bool:
    """An input is a real number, and so is what comes of it."""
    return isinstance(value, Tensor) and value.dtype in REAL and not value.is_meta


def _anything(value: Any) -> bool:
    return True


def weight(value: Any) -> int:
    """How many bytes a value takes in memory, about."""
    if isinstance(value, Tensor):
        return NODE + (0 if value.is_meta else value.nbytes)
    if isinstance(value, str):
        return NODE + len(value)
    if isinstance(value, Mapping):
        return NODE + sum(weight(key) + weight(one) for key, one in value.items())
    if isinstance(value, list | tuple):
        return NODE + sum(map(weight, value))
    return NODE
