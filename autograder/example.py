"""The smallest input that shows the mistake, with what comes out on either side."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from autograder import compare
from autograder.compare import Fault
from autograder.definition import Exercise, Mistake
from autograder.expected import expected_resized, resized
from autograder.inputs import AXES, DERIVED, axes_of, in_words
from autograder.trials import Local, Runner, Trial
from autograder.verdict import Example, Row

if TYPE_CHECKING:
    from autograder.judge import Evidence, Judge

#: The most numbers of one tensor that are shown.
SHOWN = 24
LONGEST = 400  # characters of a value that is no tensor


def smallest(
    judge: Judge, runner: Runner, first: Evidence, named: tuple[Mistake, ...]
) -> Example | None:
    """Lower one axis at a time as long as the mistake still shows."""
    kind = first.faults[0].kind
    if kind in ("parameters", "refusal", "device"):  # no numbers to show
        return None
    # Of a known mistake, numbers that differ tell more than a NaN does.
    for wanted in ("value", kind) if named else (kind,):
        best = _shrunk(judge, runner, first, named, wanted)
        if best is not first:
            break
    return _example(judge.exercise, best)


def _shrunk(
    judge: Judge,
    runner: Runner,
    first: Evidence,
    named: tuple[Mistake, ...],
    kind: str,
) -> Evidence:
    best, before = first, None
    for small in (2, 3):  # all axes at once: some mistakes need several of a size
        sizes = {
            axis: min(small, first.trial.sizes[axis])
            for axis in _free_axes(first.trial)
        }
        one = _resized(judge.exercise, first.trial, sizes)
        seen = _shows(judge, runner, one, named, kind)
        if seen is not None:
            best = seen
            break
    while best is not before:  # an axis may shrink only once another one has
        before = best
        for smaller in _smaller(best.trial):
            for changes, lead in smaller:
                one = _resized(judge.exercise, best.trial, changes, lead)
                seen = _shows(judge, runner, one, named, kind)
                if seen is not None:
                    best = seen
                    break
    return best


Change = tuple[Mapping[str, int], tuple[str, ...] | None]


def _smaller(one: Trial) -> Iterator[list[Change]]:
    """For each axis its smaller sizes, the smallest first; then the leading axes."""
    for axis in _free_axes(one):
        yield [({axis: size}, None) for size in range(1, one.sizes[axis])]
    if "..." in axes_of(one.spec):
        yield [({}, lead) for lead in ((), ("B",)) if len(lead) < len(one.sizes.lead)]


def _free_axes(one: Trial) -> list[str]:
    names: list[str] = []
    for axis in axes_of(one.spec):
        if axis == "...":
            names.extend(one.sizes.lead)
        elif axis in DERIVED:
            names.extend(_roots(axis))
        elif axis in AXES:
            names.append(axis)
    for value in one.spec.values():
        if isinstance(value, str) and value in one.sizes:
            names.extend(_roots(value))
    return list(dict.fromkeys(names))


def _roots(axis: str) -> list[str]:
    if axis in DERIVED:
        return [root for part in DERIVED[axis] for root in _roots(part)]
    return [axis]


def _resized(
    exercise: Exercise,
    one: Trial,
    changes: Mapping[str, int],
    lead: tuple[str, ...] | None = None,
) -> Trial:
    sizes = one.sizes.but(changes, lead)
    return resized(exercise, one, sizes)


def _shows(
    judge: Judge, runner: Runner, one: Trial, named: tuple[Mistake, ...], kind: str
) -> Evidence | None:
    """What is seen on a smaller input, if the same mistake shows there clearly."""
    try:
        with warnings.catch_warnings():  # a variance of one number, and the like
            warnings.simplefilter("ignore")
            actual = runner.run(judge.exercise.probe, one.x)
            wanted = expected_resized(judge.exercise, one)
            seen = judge.weigh(one, wanted, actual)
    except (ValueError, IndexError, RuntimeError):
        return None  # the case can't be drawn at this size
    if "error" in seen.expected or not seen.faults or not _clear(seen.faults[0], kind):
        return None
    if named:
        wrong = Local(judge.exercise.answer(named), judge.exercise.parts)
        reply = wrong.run(judge.exercise.probe, one.x)
        return seen if seen.acts_like(reply) else None
    return seen


def _clear(fault: Fault, kind: str) -> bool:
    """Whether it is the fault looked for, and seen with two decimals."""
    if fault.kind != kind:
        return False
    if kind != "value" or not isinstance(fault.expected, Tensor):
        return True
    return _first_difference(fault.expected, fault.actual) is not None


def _first_difference(expected: Any, actual: Any) -> int | None:
    """Where two tensors first differ in what two decimals show, counted in a row."""
    if not isinstance(expected, Tensor) or not isinstance(actual, Tensor):
        return None
    if expected.shape != actual.shape or actual.is_meta:
        return None
    pairs = zip(expected.flatten().tolist(), actual.flatten().tolist(), strict=True)
    return next((i for i, (e, a) in enumerate(pairs) if _number(e) != _number(a)), None)


def _example(exercise: Exercise, seen: Evidence) -> Example | None:
    rows = []
    e, a = compare.outputs(seen.expected), compare.outputs(seen.actual)
    if "error" in seen.actual or all(compare.is_fact(one.key) for one in seen.faults):
        return None  # the results are alike, or there are none to show
    names = _result_names(exercise, len(e))
    for key, name in zip(e, names, strict=False):
        if compare.is_fact(key):
            continue  # a fact is told in words, not shown
        rows.append(_row(name, e[key], a.get(key, "nothing")))
    inputs = tuple(
        (name, _numbers(value)) for name, value in seen.trial.x["args"].items()
    )
    if exercise.make is not None:
        made = seen.trial.x["make"]
        inputs = (*((k, str(v)) for k, v in made.items()), *inputs)
    title = in_words(_title_axes(seen.trial), seen.trial.sizes, exercise.words)
    return Example(title or seen.trial.name, inputs, tuple(rows))


def _row(name: str, expected: Any, actual: Any) -> Row:
    """Both sides of a result; the shapes too, where they are what differs."""
    start = _first_difference(expected, actual) or 0
    sides = [_numbers(expected, start), _numbers(actual, start)]
    if isinstance(expected, Tensor) and isinstance(actual, Tensor):
        if expected.shape != actual.shape:
            shapes = [f"shape {tuple(one.shape)}" for one in (expected, actual)]
            sides = [
                f"{shape}\n{side}" for shape, side in zip(shapes, sides, strict=True)
            ]
    return Row(name, *sides)


def _title_axes(one: Trial) -> list[str]:
    axes: list[str] = []
    for axis in axes_of(one.spec):
        axes.extend(one.sizes.lead if axis == "..." else (axis,))
    return [axis for axis in dict.fromkeys(axes) if axis not in ("B", "L")]


def _result_names(exercise: Exercise, count: int) -> list[str]:
    if count == 1:
        return ["result"]
    return list(exercise.returns) or [f"result {i + 1}" for i in range(count)]


def _numbers(value: Any, start: int = 0) -> str:
    """Numbers as they are shown: two decimals, rows as rows, long tensors cut.

    Of a long one six are shown, from the one at `start`.
    """
    if isinstance(value, float):
        return f"{value:g}"
    if not isinstance(value, Tensor):
        text = str(value)
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    if value.numel() == 0 or value.is_meta:
        return "no numbers"
    if value.numel() > SHOWN:
        flat = [_number(one) for one in value.flatten()[start : start + 6].tolist()]
        before = "…  " if start else ""
        return f"{tuple(value.shape)}: {before}{'  '.join(flat)}  …"
    value = value.squeeze() if value.dim() > 2 and 1 in value.shape[:-2] else value
    if value.dim() == 0:
        return _number(value.item())
    if value.dim() == 1:
        return "  ".join(_number(one) for one in value.tolist())
    lines = ["  ".join(_number(v) for v in row.tolist()) for row in _rows(value)]
    return "\n".join(lines)


def _rows(value: Tensor) -> Tensor:
    return value.reshape(-1, value.shape[-1])


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int):
        return str(value)
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00")
