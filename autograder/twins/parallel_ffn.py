"""The tensor-parallel FFN with a switch wherever people slip, and its slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.definition import Mistake
from autograder.twins.shards import Cut, backwards, blocks, by_columns

AllReduce = Callable[[list[Tensor]], Tensor]
Change = Callable[[Tensor], Tensor]


def same(one: Tensor) -> Tensor:
    return one


def added(sums: list[Tensor]) -> Tensor:
    return sum(sums[1:], sums[0])


def one_by_one(all_reduce: AllReduce, sums: list[Tensor]) -> Tensor:
    return added([all_reduce([one]) for one in sums])


def in_pairs(all_reduce: AllReduce, sums: list[Tensor]) -> Tensor:
    total = sums[0]
    for one in sums[1:]:
        total = all_reduce([total, one])
    return total


def from_zero(all_reduce: AllReduce, sums: list[Tensor]) -> Tensor:
    total = torch.zeros_like(sums[0])
    for one in sums:
        total = all_reduce([total, one])
    return total


def unused(all_reduce: AllReduce, sums: list[Tensor]) -> Tensor:
    all_reduce(sums)
    return sums[0]


def computed_anew(all_reduce: AllReduce, sums: list[Tensor]) -> Tensor:
    all_reduce(sums)
    return added(sums)


def twice(all_reduce: AllReduce, sums: list[Tensor]) -> Tensor:
    all_reduce(sums)
    return all_reduce(sums)


def every_rank(all_reduce: AllReduce, sums: list[Tensor]) -> Tensor:
    totals = [all_reduce(sums) for _ in sums]
    return totals[0]


def ffn(
    x: Tensor,
    W_1: Tensor,
    b_1: Tensor,
    W_2: Tensor,
    b_2: Tensor,
    world_size: int,
    all_reduce: AllReduce,
    *,
    cut: Cut = blocks,
    first: Callable[[Tensor, Tensor, int], Tensor] = lambda h, b, rank: h + b,
    activation: Change = F.gelu,
    hidden: Change | None = None,
    partial: Change = same,
    each: Callable[[Tensor, Tensor], Tensor] = lambda y, b: y,
    reduce: Callable[[AllReduce, list[Tensor]], Tensor] = lambda call, sums: call(sums),
    summed: Change = same,
    last: Callable[[Tensor, Tensor, int], Tensor] = lambda y, b, ranks: y + b,
    after: Change = same,
) -> Tensor:
    """The twin of tensor_parallel_ffn."""
    act = activation if hidden is None else hidden
    weights = zip(blocks(W_1, world_size), blocks(b_1, world_size), strict=True)
    inner = [act(first(x @ W.T, b, rank)) for rank, (W, b) in enumerate(weights)]
    pairs = zip(inner, by_columns(W_2, world_size, cut), strict=True)
    sums = [each(partial(h @ W.T), b_2) for h, W in pairs]
    return after(last(summed(reduce(all_reduce, sums)), b_2, world_size))


def _bias_after(x: Tensor, W_1: Tensor, b_1: Tensor, *rest: Any) -> Tensor:
    biases = iter(b_1.chunk(rest[2]))
    return ffn(
        x,
        W_1,
        b_1,
        *rest,
        first=lambda h, b, rank: h,
        activation=lambda h: F.gelu(h) + next(biases),
    )


def _unsplit(x: Tensor, *weights: Tensor) -> Tensor:
    W_1, b_1, W_2, b_2 = weights
    return F.linear(F.gelu(F.linear(x, W_1, b_1)), W_2, b_2)


def _whole_on_every_rank(*given: Any) -> Tensor:
    *tensors, ranks, all_reduce = given
    total: Tensor = all_reduce([_unsplit(*tensors)] * ranks)
    return total


def _whole_in_shares(*given: Any) -> Tensor:
    *tensors, ranks, all_reduce = given
    total: Tensor = all_reduce([_unsplit(*tensors) / ranks] * ranks)
    return total


def _whole_on_one(*given: Any) -> Tensor:
    *tensors, ranks, all_reduce = given
    whole = _unsplit(*tensors)
    nothing = [torch.zeros_like(whole)] * (ranks - 1)
    total: Tensor = all_reduce([whole, *nothing])
    return total


def _whole_alone(*given: Any) -> Tensor:
    *tensors, _, all_reduce = given
    total: Tensor = all_reduce([_unsplit(*tensors)])
    return total


def _hidden_reduced(*given: Any) -> Tensor:
    x, W_1, b_1, W_2, b_2, ranks, all_reduce = given
    shards = zip(W_1.chunk(ranks), b_1.chunk(ranks), strict=True)
    hidden = all_reduce([F.gelu(F.linear(x, W, b)) for W, b in shards])
    sums = [F.linear(hidden, W) for W in W_2.chunk(ranks, 1)]
    total: Tensor = all_reduce(sums) + b_2
    return total


def _row_then_column(*given: Any) -> Tensor:
    x, W_1, b_1, W_2, b_2, ranks, all_reduce = given
    shards = zip(x.chunk(ranks, -1), W_1.chunk(ranks, 1), strict=True)
    hidden = F.gelu(all_reduce([F.linear(one, W) for one, W in shards]) + b_1)
    pieces = zip(W_2.chunk(ranks), b_2.chunk(ranks), strict=True)
    return torch.cat([F.linear(hidden, W, b) for W, b in pieces], -1)


def _both_by_rows(*given: Any) -> Tensor:
    x, W_1, b_1, W_2, b_2, ranks, all_reduce = given
    shards = zip(x.chunk(ranks, -1), W_1.chunk(ranks, 1), strict=True)
    hidden = F.gelu(all_reduce([F.linear(one, W) for one, W in shards]) + b_1)
    inner = zip(hidden.chunk(ranks, -1), W_2.chunk(ranks, 1), strict=True)
    total: Tensor = all_reduce([F.linear(h, W) for h, W in inner]) + b_2
    return total


def _W_2_by_rows(*given: Any) -> Tensor:
    x, W_1, b_1, W_2, b_2, ranks, all_reduce = given
    shards = zip(W_1.chunk(ranks), b_1.chunk(ranks), W_2.chunk(ranks), strict=True)
    sums = [F.linear(F.gelu(F.linear(x, W, b)), V) for W, b, V in shards]
    total: Tensor = all_reduce(sums) + b_2
    return total


_WHOLE = (
    "Each rank computes the whole network, {how}. The result is right and nothing is "
    "shared out: rank r is to have its block of rows of W_1 and b_1, and the matching "
    "block of columns of W_2."
)

#: How tensor_parallel_ffn goes wrong.
PARALLEL = [
    Mistake(
        "never-reduces",
        "all_reduce is never called: what is added up here is added up in one "
        "process. Each rank has its block of W_1's rows and of W_2's columns and gets "
        "a partial sum; call all_reduce(list of partial sums) once to bring them "
        "together.",
        reduce=lambda call, sums: added(sums),
    ),
    Mistake(
        "reduces-one-by-one",
        "all_reduce is called once for each rank; one call takes the list of all "
        "partial sums.",
        reduce=one_by_one,
    ),
    Mistake(
        "reduces-in-pairs",
        "all_reduce is called again and again with a running sum; one call takes the "
        "list of all partial sums.",
        reduce=in_pairs,
    ),
    Mistake(
        "reduces-from-zero",
        "all_reduce is called again and again with a running sum that starts at 0; one "
        "call takes the list of all partial sums.",
        reduce=from_zero,
    ),
    Mistake(
        "reduces-on-every-rank",
        "all_reduce is called once for each rank with the whole list. One call is the "
        "collective work of all ranks: call it once.",
        reduce=every_rank,
    ),
    Mistake(
        "reduces-twice",
        "all_reduce is called twice with the same partial sums: once is enough, and "
        "each call costs the network again.",
        reduce=twice,
    ),
    Mistake(
        "sum-not-used",
        "What all_reduce returns is not used: the result is the first rank's partial "
        "sum. It returns the sum and leaves its list as it was.",
        reduce=unused,
    ),
    Mistake(
        "sum-computed-anew",
        "all_reduce is called, but what it returns is not used: the partial sums are "
        "added up once more by hand, which no rank could do by itself. The sum is what "
        "all_reduce returns.",
        reduce=computed_anew,
    ),
    Mistake(
        "sum-averaged",
        "The sum is divided by world_size. The partial sums are parts of one sum, not "
        "estimates of the same number: nothing is to be averaged.",
        reduce=lambda call, sums: call(sums) / len(sums),
    ),
    Mistake(
        "gelu-at-the-end",
        "The activation comes after the sum over ranks and the second bias; it belongs "
        "between the two layers, on each rank's hidden numbers: gelu(x W_1 + b_1).",
        hidden=same,
        after=F.gelu,
    ),
    Mistake(
        "gelu-after-the-sum",
        "The activation comes after the sum over ranks; it belongs between the two "
        "layers, on each rank's hidden numbers: gelu(x W_1 + b_1).",
        hidden=same,
        summed=F.gelu,
    ),
    Mistake(
        "gelu-on-partial-sums",
        "The activation is applied to each rank's partial sum, and a GELU of parts is "
        "not the GELU of their sum. It belongs between the two layers: "
        "gelu(x W_1 + b_1).",
        hidden=same,
        partial=F.gelu,
    ),
    Mistake(
        "b_1-after-the-activation",
        "b_1 is added after the activation; it belongs before it: gelu(x W_1 + b_1).",
        wrong=_bias_after,
    ),
    Mistake(
        "no-activation",
        "There is no activation between the two layers: gelu(x W_1 + b_1).",
        activation=same,
    ),
    Mistake(
        "tanh-approximation",
        "The activation is GELU's tanh approximation, a known variant; asked for is "
        "the exact GELU (your gelu, or F.gelu without approximate='tanh').",
        activation=lambda h: F.gelu(h, approximate="tanh"),
    ),
    Mistake(
        "relu",
        "The activation is ReLU; asked for is the exact GELU.",
        activation=torch.relu,
    ),
    Mistake(
        "silu",
        "The activation is SiLU; asked for is the exact GELU.",
        activation=F.silu,
    ),
    Mistake(
        "b_1-forgotten",
        "b_1 is not added; each rank adds its own part before the activation.",
        first=lambda h, b, rank: h,
    ),
    Mistake(
        "b_1-on-rank-0-only",
        "Only rank 0 adds its part of b_1; each rank's hidden numbers have biases of "
        "their own.",
        first=lambda h, b, rank: h + b if rank == 0 else h,
    ),
    Mistake(
        "b_2-on-every-rank",
        "Every rank adds the whole b_2 to its partial sum, so the bias is in the "
        "result once a rank. Add it once: after all_reduce, or on one rank.",
        each=lambda y, b: y + b,
        last=lambda y, b, ranks: y,
    ),
    Mistake(
        "b_2-twice",
        "b_2 is added on every rank and after all_reduce; it belongs there once.",
        each=lambda y, b: y + b,
    ),
    Mistake(
        "b_2-forgotten",
        "b_2 is not added; it belongs in the result once, after all_reduce or on one "
        "rank.",
        last=lambda y, b, ranks: y,
    ),
    Mistake(
        "b_2-divided",
        "b_2 is divided by world_size and added once. A share is right only where "
        "every rank adds its own before the sum.",
        last=lambda y, b, ranks: y + b / ranks,
    ),
    Mistake(
        "shards-of-other-ranks",
        "The blocks of W_2 are dealt out in the reverse order of those of W_1; a "
        "rank's columns of W_2 belong to the hidden numbers that its rows of W_1 make.",
        cut=backwards,
    ),
    Mistake(
        "whole-network-on-every-rank",
        _WHOLE.format(
            how="so the sum over ranks is world_size times too large"
        ).replace("The result is right and nothing", "Nothing"),
        wrong=_whole_on_every_rank,
    ),
    Mistake(
        "whole-network-in-shares",
        _WHOLE.format(how="and gives 1/world_size of it to the sum"),
        wrong=_whole_in_shares,
    ),
    Mistake(
        "whole-network-on-one-rank",
        _WHOLE.format(how="or one does and the others give zeros to the sum"),
        wrong=_whole_on_one,
    ),
    Mistake(
        "whole-network-reduced-alone",
        "all_reduce gets a list of one: the second layer, or the whole network, is "
        "computed in one piece. Each rank is to have a block of W_1's rows and the "
        "matching block of W_2's columns, and to bring a partial sum.",
        wrong=_whole_alone,
    ),
    Mistake(
        "hidden-numbers-reduced",
        "all_reduce also adds up the hidden shards, which are different numbers, not "
        "partial sums. A rank goes on with its own: between the layers nothing is "
        "sent.",
        wrong=_hidden_reduced,
    ),
    Mistake(
        "row-then-column",
        "The first layer is split by rows and the second by columns. The activation "
        "then needs the sum in the middle, of d_ff numbers a token, and the result "
        "lies in pieces: split W_1 by its outputs, and W_2 by its inputs.",
        wrong=_row_then_column,
    ),
    Mistake(
        "both-layers-row-parallel",
        "Both layers are split by their inputs, so each needs an all_reduce. Split W_1 "
        "by its outputs: then a rank's hidden numbers are whole, the activation needs "
        "nobody else, and one all_reduce at the end is enough.",
        wrong=_both_by_rows,
    ),
    Mistake(
        "W_2-split-by-outputs",
        "W_2 is split by its outputs, dim=0, like W_1. A rank has d_ff / world_size "
        "hidden numbers, so it needs the columns of W_2, dim=1, that belong to them.",
        wrong=_W_2_by_rows,
    ),
]
