"""What can be said of a wrong result that no known mistake explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from autograder import compare
from autograder.compare import HALF
from autograder.definition import Exercise
from autograder.symptoms.flow import tell_device, tell_gradient, tell_refusal
from autograder.symptoms.form import (
    tell_dtype,
    tell_elsewhere,
    tell_error,
    tell_kind,
    tell_parameters,
    tell_shape,
)
from autograder.symptoms.numbers import tell_finite, tell_value
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
        return tell_refusal(first)
    if stage == "device":
        return tell_device(first)
    if stage == "gradients":
        return tell_gradient(first)
    found = _TELLERS[first.faults[0].kind](first, first.faults[0])
    message = found.message
    several = str(first.expected["kind"])[0].isdigit() and judge.exercise.returns
    if found.mistake == "result-form" and several:
        message += f" Return {', '.join(judge.exercise.returns)}, in this order."
    if found.mistake in (None, "wrong-value", "partly-right"):
        earlier = _earlier(seen, first)
        if earlier:
            message += (
                f" It is what your code gives in the case “{earlier}”, too, where it "
                "is right: an argument has no effect, or what was kept from that call "
                "is given back (a cache whose key is not all of the arguments)."
            )
    if found.mistake == "constant-factor" and not _everywhere(wrong, message):
        message = message.replace("in every place", "in every place of this case")
    if first.trial.dtype in HALF and first.faults[0].kind in ("value", "finite"):
        message += _HALF
    where = _where(judge.exercise, seen, wrong)
    return Diagnosis(found.mistake, f"{message} {where}".strip())


def _earlier(seen: list[Evidence], first: Evidence) -> str:
    """An earlier case with this very result, which was right there."""
    key = first.faults[0].key
    given = first.actual.get(key)
    for one in _base(seen):
        if one is first:
            return ""
        off = compare.value_off(one.actual.get(key), given, 1e-9)
        if not one.faults and _told(given) and off <= 1:
            return one.trial.name
    return ""


def _told(value: object) -> bool:
    """Whether a result is so much of its own that it doesn't come twice by chance."""
    if isinstance(value, Tensor):
        return value.numel() > 8 and bool((value != value.flatten()[0]).any())
    return len(str(value)) > 2


#: Half precision is judged last, so float32 was right before.
_HALF = (
    " In float32 the same code is right: in half precision something overflows or is "
    "rounded away. Compute in float32 (`x.float()`) and come back to `x.dtype` last."
)


def _everywhere(wrong: list[Evidence], message: str) -> bool:
    """Whether the same can be said of every wrong result, as it is of the first."""
    kinds = {one.faults[0].kind for one in wrong}
    return kinds == {"value"} and all(
        tell_value(one, one.faults[0]).message == message for one in wrong
    )


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
    """The arguments that are left out in every wrong case, and in no other."""
    failing = {id(one) for one in wrong}
    bad = [id(one) for one in _base(seen) if id(one) in failing]
    if not bad or len(bad) == len(_base(seen)):
        return ""
    found = {}
    for name, value in exercise.defaults().items():
        without = [
            id(one)
            for one in _base(seen)
            if name not in one.trial.x["args"]
            and name not in one.trial.x.get("make", ())
        ]
        if without == bad:
            found[f"`{name}`"] = repr(value)
    if not found:
        return ""
    values = " and ".join(found.values())
    are, which = ("are", "by default") if len(found) > 1 else ("is", "its default is")
    return f"So it is where {' and '.join(found)} {are} left out; {which} {values}."


def _base(seen: list[Evidence]) -> list[Evidence]:
    """The cases as they are defined, without the engine's variants."""
    return [
        one
        for one in seen
        if one.trial.stage == "values" and not one.trial.variant and one.trial.case
    ]


_TELLERS = {
    "error": tell_error,
    "parameters": tell_parameters,
    "kind": tell_kind,
    "shape": tell_shape,
    "device": tell_elsewhere,
    "dtype": tell_dtype,
    "finite": tell_finite,
    "value": tell_value,
}
