"""Several ranks in one process: their shards, their gradients, and an all-reduce.

`sharded` cuts the argument `x` into `world_size` shards along its last axis, `averaged`
takes stacks with one gradient a rank, and `reduced` brings the function that adds up,
and counts how it is used.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.probes.basic import observe

Theirs = Callable[..., Any]
Parts = Mapping[str, Any]


def sharded(theirs: Theirs, x: dict[str, Any], parts: Parts) -> dict[str, Any]:
    """A layer's output from shards of its input, which are to stay as they are."""
    args = dict(x["args"])
    world_size, changed = args.pop("world_size"), set()

    def whole(joint: Tensor, weight: Tensor, bias: Tensor) -> Any:
        shards = [one.clone() for one in joint.tensor_split(world_size, dim=-1)]
        before = [one.detach().clone() for one in shards]
        out = theirs(shards, weight, bias)
        if not _alike(before, shards):
            changed.add("x_shards")
        return out

    seen = observe(whole, x | {"args": args, "keywords": []}, {})
    return seen | {"changed": [*seen["changed"], *changed]}


def averaged(theirs: Theirs, x: dict[str, Any], parts: Parts) -> dict[str, Any]:
    """One list of gradients from the ranks' lists, which are to stay as they are."""
    changed = set()

    def whole(*stacks: Tensor) -> Any:
        ranks = range(len(stacks[0]))
        lists = [[one[rank].clone() for one in stacks] for rank in ranks]
        before = [[one.detach().clone() for one in tensors] for tensors in lists]
        out = theirs(lists)
        if len(lists) != len(before) or not all(map(_alike, before, lists)):
            changed.add("gradients")
        return out

    seen = observe(whole, x, {})
    return seen | {"changed": [*seen["changed"], *changed]}


def reduced(theirs: Theirs, x: dict[str, Any], parts: Parts) -> dict[str, Any]:
    """A result that needs an all-reduce: how often it is called, and with what."""
    args = dict(x["args"])
    world_size = args.pop("world_size")
    facts: dict[str, str] = {}

    def whole(*tensors: Tensor) -> Any:
        calls: list[list[Tensor]] = []
        out = theirs(*tensors, world_size, _counting(calls))
        if not facts:  # of the first call; what follows it is for gradients
            lengths = [str(len(given)) for given in calls]
            facts["out.calls of all_reduce"] = str(len(calls))
            facts["out.partial sums given to it"] = ", then ".join(lengths) or "none"
            facts["out.numbers in one of them"] = _sizes(calls)
        return out

    seen = observe(whole, x | {"args": args, "keywords": []}, {}) | facts
    if x["device"] != "meta":
        behind = _behind(theirs, list(args.values()), world_size)
        seen["out.hidden numbers behind each partial sum"] = behind
        used = _used(theirs, list(args.values()), world_size)
        seen["out.what all_reduce returns"] = used
    return seen


def _used(theirs: Theirs, tensors: list[Tensor], world_size: int) -> str:
    """Whether the result is made of it: where it is 0, all tokens get the same."""

    def nothing(partial_sums: Sequence[Tensor]) -> Tensor:
        return torch.zeros_like(next(iter(partial_sums)))

    out = theirs(*(one.clone() for one in tensors), world_size, nothing)
    if not isinstance(out, Tensor):
        return "makes no tensor"
    rows = out.reshape(-1, out.shape[-1])
    alike = bool(torch.allclose(rows, rows[:1].expand_as(rows)))
    return "makes the result" if alike else "is not used"


def _sizes(calls: list[list[Tensor]]) -> str:
    sizes = [str(given[0].numel()) if given else "none" for given in calls]
    return ", then ".join(sizes) or "none"


def _counting(calls: list[list[Tensor]]) -> Callable[[Sequence[Tensor]], Tensor]:
    """An all-reduce of ranks that live in one process. It notes what it is given."""

    def all_reduce(partial_sums: Sequence[Tensor]) -> Tensor:
        given = list(partial_sums)
        calls.append([one.detach().clone() for one in given])
        return torch.stack(given).sum(0)

    return all_reduce


def _behind(theirs: Theirs, tensors: list[Tensor], world_size: int) -> str:
    """How many rows of W_1 have an effect on each partial sum, rank by rank.

    Found by changing one row at a time, so that it doesn't matter which rank has which.
    """

    def partial_sums(given: list[Tensor]) -> list[Tensor]:
        calls: list[list[Tensor]] = []
        theirs(*(one.clone() for one in given), world_size, _counting(calls))
        return calls[0] if calls else []

    x, W_1, b_1, *second = tensors
    before = partial_sums(tensors)
    counts = [0] * len(before)
    for row in range(len(W_1)):
        other, bias = W_1.clone(), b_1.clone()
        other[row], bias[row] = 0, 5
        after = partial_sums([x, other, bias, *second])
        for rank, (a, b) in enumerate(zip(before, after, strict=False)):
            counts[rank] += not torch.allclose(a, b)
    return " + ".join(map(str, counts)) or "none"


def _alike(before: list[Tensor], after: list[Tensor]) -> bool:
    return len(before) == len(after) and all(
        isinstance(b, Tensor)
        and a.shape == b.shape
        and a.dtype == b.dtype
        and (a.is_meta or b.is_meta or bool(torch.equal(a, b)))
        for a, b in zip(before, after, strict=True)
    )
