"""Two known mistakes at once: which pairs may explain a wrong result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from autograder import compare
from autograder.definition import Exercise, Mistake

if TYPE_CHECKING:
    from autograder.judge import Evidence, Judge

Named = tuple[Mistake, ...]

#: So many pairs are tried at most: a block has thousands, and each costs a run.
LIKELIEST = 600


def pairs(exercise: Exercise) -> Iterator[Named]:
    """Known mistakes in pairs whose switches can be set together."""
    switched = [one for one in exercise.mistakes if one.switches]
    for pair in combinations(switched, 2):
        if not pair[0].switches.keys() & pair[1].switches.keys():
            yield pair


def plausible(judge: Judge, seen: Evidence, stage: str) -> list[Named]:
    """The pairs that may give a wrong result, by what each mistake gives alone: between
    them they break what is broken in it, and nothing else. What comes back without a
    result that can be compared tells nothing, so then it may be any pair."""
    broken = _broken(seen, seen.actual, stage)
    found = list(pairs(judge.exercise))
    if broken is None:
        return found
    alone = {
        name: _broken(seen, reply, stage)
        for name, reply in _replies(judge, found, seen, stage).items()
    }
    return [(a, b) for a, b in found if _union(alone[a.id], alone[b.id]) == broken]


def likeliest(
    judge: Judge, found: Sequence[Named], seen: Evidence, stage: str
) -> list[Named]:
    """The pairs that come nearest to what was seen, in two orders that take turns.

    In one, what two mistakes change is added up; that is true of small changes. In the
    other the nearer of the two counts alone: it may hide what the other changes.
    """
    actual, right = _numbers(seen.actual, stage), _numbers(seen.expected, stage)
    replies = _replies(judge, found, seen, stage)
    numbers = {name: _numbers(reply, stage) for name, reply in replies.items()}

    def apart(of: Tensor) -> float:
        return float((of - actual).norm()) if of.shape == actual.shape else math.inf

    def added_up(pair: Named) -> float:
        one, other = (numbers[mistake.id] for mistake in pair)
        fits = one.shape == other.shape == right.shape
        return apart(one + other - right) if fits else math.inf

    nearness = {name: apart(of) for name, of in numbers.items()}

    def nearer(pair: Named) -> float:
        return min(nearness[mistake.id] for mistake in pair)

    orders = sorted(found, key=added_up), sorted(found, key=nearer)
    in_turns = chain.from_iterable(zip(*orders, strict=True))
    each_once = {tuple(one.id for one in pair): pair for pair in in_turns}
    return list(each_once.values())[:LIKELIEST]


def _replies(
    judge: Judge, found: Sequence[Named], seen: Evidence, stage: str
) -> dict[str, Mapping[str, Any]]:
    """What each mistake of these pairs gives alone, by its name."""
    grads = stage == "gradients" and seen.trial.x["grads"]
    mistakes = {one.id: one for one in chain.from_iterable(found)}
    return {
        name: judge.imitated((one,), seen.trial, grads)
        for name, one in mistakes.items()
    }


def _union(one: set[str] | None, other: set[str] | None) -> set[str] | None:
    return None if one is None or other is None else one | other


def _broken(seen: Evidence, reply: Mapping[str, Any], stage: str) -> set[str] | None:
    """The names of the wrong results in a reply; None where it has no such results."""
    found = compare.faults(seen.expected, reply, seen.tol)
    if any(fault.kind in ("error", "kind", "parameters") for fault in found):
        return None
    if stage == "gradients":
        found += compare.gradient_faults(seen.expected, reply, seen.tol)
    return {fault.key for fault in found}


def _numbers(reply: Mapping[str, Any], stage: str) -> Tensor:
    """The real numbers of a reply that the stage is about, in one row."""
    about = compare.gradients if stage == "gradients" else compare.outputs
    values = about(reply).values()
    rows = [
        one.double().flatten().nan_to_num(posinf=1e6, neginf=-1e6)
        for one in values
        if isinstance(one, Tensor) and one.is_floating_point()
    ]
    return torch.cat(rows) if rows else torch.empty(0)
