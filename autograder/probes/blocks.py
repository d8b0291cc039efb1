"""Attention in pieces: blocks that come one by one, and tensors that must stay small.

What is too large, or read twice, comes back as a fact, a text that is the same for
every answer that does as asked. It is counted in one case of each exercise, since
counting is slow: each operation of the answer passes through Python.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from autograder.probes.basic import observe

Parts = Mapping[str, Any]

#: A text of blocks that ends so stands for blocks that can be gone through only once.
ONCE = "from a generator"


class Work(TorchDispatchMode):
    """The elements of the largest tensor made, of all read, and the inputs' order."""

    def __init__(self, inputs: Iterable[Tensor] = ()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.inputs = {_place(one): i for i, one in enumerate(inputs)}
        self.largest = self.read = self.last = 0
        self.returned = False  # to an input after a later one

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here, and to shield each call from it is slow."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        aliases = [one.alias_info for one in func._schema.returns]
        if any(one is not None and not one.is_write for one in aliases):
            return result  # a view: nothing is made, nothing read
        for one in _tensors((args, kwargs)):
            at = self.inputs.get(_place(one), self.last)
            self.returned = self.returned or at < self.last
            self.last = at
            if func.overloadpacket.__name__ != "cat":  # which only puts results down
                self.read += one.numel()
        if not any(aliases):
            made = [one.numel() for one in _tensors(result)]
            self.largest = max([self.largest, *made])
        return result


def _tensors(values: Any) -> list[Tensor]:
    return [one for one in tree_leaves(values) if isinstance(one, Tensor)]


def _place(x: Tensor) -> int:
    return x.untyped_storage().data_ptr()


def in_blocks(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """Give scores and values cut into blocks; `blocks` says how long each is.

    Gradients are asked for where no score is -inf: there they are anybody's guess.
    Without scores, some are made and what the answer does with them is counted.
    """
    args = dict(x["args"])
    text = args.pop("blocks")
    lengths = [int(word) for word in text.split() if word.isdigit()]
    if "scores" not in args:
        return _counted_in_blocks(theirs, lengths)

    def summed(scores: Tensor, values: Tensor) -> Any:
        pieces = torch.split(scores, lengths, -1), torch.split(values, lengths, -2)
        if text.endswith(ONCE):
            return theirs(*((one for one in blocks) for blocks in pieces))
        return theirs(*map(list, pieces))

    grads = x["grads"] and bool(args["scores"].isfinite().all())
    return observe(summed, {**x, "args": args, "grads": grads}, {})


def _counted_in_blocks(
    theirs: Callable[..., Any], lengths: list[int]
) -> dict[str, Any]:
    scores = [torch.ones(1, 1, 5, length) for length in lengths]
    values = [torch.ones(1, 1, length, 2) for length in lengths]
    with Work(scores) as work, torch.no_grad():
        theirs(scores, values)
    joined = work.largest >= sum(one.numel() for one in scores)
    often = "more than once" if work.returned else "once"
    size = "as large as all scores together" if joined else "about that of a block"
    return {
        "kind": "facts",
        "out.how often the scores are gone through": often,
        "out.the largest tensor": size,
    }


def in_tiles(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """Attend. Q, K and V may also be `drawn` here, from six sizes: then they are tried
    in float32 alone. For a `length` the elements of the largest tensor are counted."""
    args = dict(x["args"])
    if "length" in args:
        n = args.pop("length")
        with Work() as work, torch.no_grad():
            theirs(*(torch.ones(1, 1, n, 2) for _ in range(3)), *args.values())
        return {"kind": "facts", "out.the largest tensor": _size(work, n)}
    if "drawn" in args:
        drawn = _drawn(args.pop("drawn"), args.pop("apart", False), x["seed"])
        x = {**x, "args": {**drawn, **args}, "keywords": []}
    return observe(theirs, x, {})


def _drawn(sizes: str, apart: bool, seed: int) -> dict[str, Tensor]:
    """Normal numbers; or queries and keys whose scores lie 32 or more apart, three rows
    far below zero, three far above it, and so on."""
    B, h, n, m, d_k, d_v = map(int, sizes.split())
    generator = torch.Generator().manual_seed(seed)
    Q, K, V = (
        torch.randn(B, h, *shape, generator=generator)
        for shape in ((n, d_k), (m, d_k), (m, d_v))
    )
    if apart:
        Q = torch.zeros_like(Q)
        Q[..., 0] = 32 * d_k**0.5 * (torch.arange(n) // 3 % 2 * 2 - 1)
        K[..., 0] = torch.rand(B, h, m, generator=generator).argsort(dim=-1) + 4.0
    return {"Q": Q, "K": K, "V": V}


def grown(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """Attend; without Q, see how the work grows from half a `length` to the whole."""
    if "Q" in x["args"]:
        return observe(theirs, x, {})
    n, counted = x["args"]["length"], []
    for length in (n // 2, n):
        with Work() as work, torch.no_grad():
            theirs(*(torch.ones(1, 1, length, 2) for _ in range(3)))
        counted.append(work)
    half, whole = counted
    grows = "four times" if whole.read > 3 * half.read else "twice"
    return {
        "kind": "facts",
        "out.the largest tensor": _size(whole, n),
        "out.the work at twice the length": f"about {grows} as much",
    }


def _size(work: Work, n: int) -> str:
    return "n x n" if work.largest >= n**2 else "smaller than n x n"
