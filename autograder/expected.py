"""What the reference gives, as the judge compares it."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from autograder import compare
from autograder.definition import Exercise
from autograder.inputs import AXES, Sizes
from autograder.trials import Local, Trial, trial


def expected(exercise: Exercise, one: Trial) -> dict[str, Any]:
    """What the reference gives; in half precision, what it gives in float32."""
    right = Local(exercise.reference, exercise.parts)
    return _as_dtype(right.run(exercise.probe, in_float32(one).x), one.dtype)


def resized(exercise: Exercise, like: Trial, sizes: Sizes) -> Trial:
    """A case at other sizes; at the same sizes always the same numbers."""
    return _resized(exercise, *_key(like, sizes))


def expected_resized(exercise: Exercise, one: Trial) -> dict[str, Any]:
    """What the reference gives there; in a class the same is asked again and again."""
    return _expected_resized(exercise, *_key(one, one.sizes))


def _key(one: Trial, sizes: Sizes) -> tuple[str, str, tuple[int, ...], tuple[str, ...]]:
    return one.case, one.variant, tuple(sizes[axis] for axis in AXES), sizes.lead


@lru_cache(maxsize=1024)
def _resized(
    exercise: Exercise,
    case: str,
    variant: str,
    free: tuple[int, ...],
    lead: tuple[str, ...],
) -> Trial:
    sizes = Sizes(dict(zip(AXES, free, strict=True)), lead)
    return trial(exercise, case, exercise.inputs[case], sizes, 0, variant)


@lru_cache(maxsize=1024)
def _expected_resized(
    exercise: Exercise,
    case: str,
    variant: str,
    free: tuple[int, ...],
    lead: tuple[str, ...],
) -> dict[str, Any]:
    return expected(exercise, _resized(exercise, case, variant, free, lead))


def in_float32(one: Trial) -> Trial:
    """The same request where rounding doesn't matter, on the CPU."""
    if one.dtype not in compare.HALF:
        return replace(one, x=one.x | {"device": "cpu"})
    x = dict(one.x)
    for key in ("args", "weights"):
        x[key] = {name: _float(value) for name, value in x.get(key, {}).items()}
    return replace(one, x=x | {"dtype": "float32"})


def _float(value: Any) -> Any:
    half = isinstance(value, Tensor) and value.dtype in compare.HALF
    return value.float() if half else value


def _as_dtype(reply: dict[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    if dtype not in compare.HALF:
        return reply
    return {
        key: value.to(dtype)
        if key.startswith("out")
        and isinstance(value, Tensor)
        and value.is_floating_point()
        else value
        for key, value in reply.items()
    }
