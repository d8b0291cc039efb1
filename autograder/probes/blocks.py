"""Attention in pieces: blocks that come one by one, and tensors that must stay small.

What is too large, or read twice, comes back as a fact, a text that is the same for
every answer that does as asked.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.probes.basic import observe

Parts = Mapping[str, Any]

#: How long the sequence is whose tensors are counted.
LONG = 64

#: The length from which on work that grows with n is told from work that grows with n².
LONGER = 400


class Blocks(list[Tensor]):
    """Blocks that count how often the last of them is read."""

    read = 0

    def __iter__(self) -> Iterator[Tensor]:
        yield from super().__iter__()
        self.read += 1

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice) and index in (-1, len(self) - 1):
            self.read += 1
        return super().__getitem__(index)


class Made(TorchDispatchMode):
    """The elements of the tensors that are made: of the largest, and of all."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.largest = self.all = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for one in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(one, Tensor) and not _is_view(func):
                self.largest = max(self.largest, one.numel())
                self.all += one.numel()
        return result


def _is_view(func: Any) -> bool:
    return any(one.alias_info is not None for one in func._schema.returns)


def in_blocks(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """Give scores and values cut into blocks; `blocks` says how long each is.

    Gradients are asked for where no score is -inf: there they are anybody's guess.
    """
    args = dict(x["args"])
    lengths = [int(length) for length in args.pop("blocks").split()]
    facts: dict[str, str] = {}

    def summed(scores: Tensor, values: Tensor) -> Any:
        pieces = Blocks(scores.split(lengths, dim=-1))
        out = theirs(pieces, Blocks(values.split(lengths, dim=-2)))
        often = "once" if pieces.read < 2 else f"{pieces.read} times"
        facts["how often the blocks of scores are read"] = often
        return out

    grads = x["grads"] and bool(args["scores"].isfinite().all())
    seen = observe(summed, {**x, "args": args, "grads": grads}, {})
    if len(lengths) > 5 and args["scores"].shape[-2] > 1 and x["device"] == "cpu":
        with Made() as made:
            summed(**args)
        joined = made.largest >= args["scores"].numel()
        words = "as large as all scores together" if joined else "that of a block"
        facts["largest tensor"] = words
    return seen | {f"out.{name}": text for name, text in facts.items()}


def in_tiles(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """Attend, and count the elements of the largest tensor on a long sequence."""
    seen = observe(theirs, x, {})
    Q = x["args"]["Q"]
    if Q.shape[-2] == LONG and Q.numel() == LONG * Q.shape[-1] and not Q.is_meta:
        with Made() as made:
            theirs(**x["args"])
        large = made.largest >= LONG**2
        seen["out.largest tensor"] = "n x n" if large else "smaller than n x n"
    return seen


def grown(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """Attend, and see how the work and the memory grow with the sequence."""
    seen = observe(theirs, x, {})
    if x["args"]["Q"].dim() < 4 or x["dtype"] != "float32" or x["device"] != "cpu":
        return seen
    counts = []
    for n in (LONGER, 2 * LONGER):
        with Made() as made, torch.no_grad():
            theirs(*(torch.ones(n, 4) for _ in range(3)))
        counts.append((made.largest, made.all))
    (_, work), (largest, twice) = counts
    seen["out.largest tensor"] = "n x n" if largest >= 4 * LONGER**2 else "linear in n"
    grows = "four times" if twice > 3 * work else "twice"
    seen["out.work at twice the length"] = f"about {grows} as much"
    return seen
