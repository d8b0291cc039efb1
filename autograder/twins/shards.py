"""Parallel linear layers, with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.definition import Mistake

Cut = Callable[[Tensor, int], list[Tensor]]
Biased = Callable[[Tensor, Tensor, int, int], Tensor]


def blocks(one: Tensor, ranks: int) -> list[Tensor]:
    """One contiguous piece a rank, along the first axis."""
    return list(one.chunk(ranks))


def backwards(one: Tensor, ranks: int) -> list[Tensor]:
    return blocks(one, ranks)[::-1]


def dealt(one: Tensor, ranks: int) -> list[Tensor]:
    return [one[rank::ranks] for rank in range(ranks)]


def first_for_all(one: Tensor, ranks: int) -> list[Tensor]:
    return [blocks(one, ranks)[0]] * ranks


def overlapping(one: Tensor, ranks: int) -> list[Tensor]:
    """As long as they should be, but from the rank's number on."""
    size = len(one) // ranks
    return [one[rank : rank + size] for rank in range(ranks)]


def column(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    world_size: int,
    *,
    cut: Cut = blocks,
    times: Callable[[Tensor, Tensor], Tensor] = lambda x, W: x @ W.T,
    biased: Biased = lambda y, b, rank, ranks: y + b,
    give: Callable[[list[Tensor]], Any] = list,
) -> Any:
    """The twin of column_parallel."""
    pairs = zip(cut(weight, world_size), cut(bias, world_size), strict=True)
    return give(
        [biased(times(x, W), b, rank, world_size) for rank, (W, b) in enumerate(pairs)]
    )


def _input_split(x: Tensor, weight: Tensor, bias: Tensor, ranks: int) -> list[Tensor]:
    shards = zip(x.chunk(ranks, -1), weight.chunk(ranks, 1), strict=True)
    return [F.linear(one, W, bias) for one, W in shards]


def _input_split_without_bias(
    x: Tensor, weight: Tensor, bias: Tensor, ranks: int
) -> list[Tensor]:
    return _input_split(x, weight, torch.zeros_like(bias), ranks)


def _batch_split(x: Tensor, weight: Tensor, bias: Tensor, ranks: int) -> list[Tensor]:
    return [F.linear(one, weight, bias) for one in x.chunk(ranks)]


def _everything(x: Tensor, weight: Tensor, bias: Tensor, ranks: int) -> list[Tensor]:
    return [F.linear(x, weight, bias)] * ranks


def _whole_bias(x: Tensor, weight: Tensor, bias: Tensor, ranks: int) -> list[Tensor]:
    return [x @ W.T + bias for W in weight.chunk(ranks)]


def _whole_bias_in_linear(
    x: Tensor, weight: Tensor, bias: Tensor, ranks: int
) -> list[Tensor]:
    return [F.linear(x, W, bias) for W in weight.chunk(ranks)]


_WHOLE_BIAS = (
    "Each rank adds the whole bias to its shard of the output: a rank has the outputs "
    "of its rows of weight, so it needs the same part of the bias."
)

#: How column_parallel goes wrong.
COLUMN = [
    Mistake(
        "input-split",
        "The input dimension is split: x and the columns of weight, dim=1. That is "
        "row parallelism, and its results are partial sums. Here each rank gets all "
        "of x and some of the outputs: rows of weight, dim=0 in nn.Linear's layout.",
        wrong=_input_split,
    ),
    Mistake(
        "input-split-without-bias",
        "The input dimension is split: x and the columns of weight, dim=1. That is "
        "row parallelism, and its results are partial sums. Here each rank gets all "
        "of x and some of the outputs, with their part of the bias: rows of weight, "
        "dim=0.",
        wrong=_input_split_without_bias,
    ),
    Mistake(
        "batch-split",
        "x is split along its first axis, and each rank has the whole weight: that is "
        "data parallelism. Here each rank gets all of x and some rows of weight.",
        wrong=_batch_split,
    ),
    Mistake(
        "whole-output-on-every-rank",
        "Each rank computes the whole output; asked for is each rank's shard of it, "
        "from its own rows of weight.",
        wrong=_everything,
    ),
    Mistake("whole-bias", _WHOLE_BIAS, wrong=_whole_bias),
    Mistake("whole-bias-in-linear", _WHOLE_BIAS, wrong=_whole_bias_in_linear),
    Mistake(
        "shards-gathered",
        "The result is one tensor, the layer's whole output; asked for is a list with "
        "each rank's shard, not gathered.",
        give=lambda shards: torch.cat(shards, -1),
    ),
    Mistake(
        "shards-stacked",
        "The shards are stacked in one tensor; asked for is a list, one tensor a rank.",
        give=torch.stack,
    ),
    Mistake(
        "shards-added-up",
        "The shards are added up, as after a row-parallel layer. These are different "
        "outputs, not partial sums: return them as a list.",
        give=lambda shards: sum(shards[1:], shards[0]),
    ),
    Mistake(
        "one-shard-only",
        "Only the first rank's shard is returned; asked for is a list with the shard "
        "of every rank.",
        give=lambda shards: shards[0],
    ),
    Mistake(
        "first-shard-for-all",
        "Every rank computes with the first rank's rows of weight and bias; rank r has "
        "the r-th block of rows.",
        cut=first_for_all,
    ),
    Mistake(
        "blocks-overlap",
        "Rank r's block starts at row r, so the blocks overlap; it starts at row r "
        "times the block's size: chunk(world_size) cuts them.",
        cut=overlapping,
    ),
    Mistake(
        "ranks-reversed",
        "The blocks are dealt out from the last one on; rank 0 has the first rows of "
        "weight.",
        cut=backwards,
    ),
    Mistake(
        "rows-dealt-out",
        "The rows are dealt out one by one, rank r having weight[r::world_size]; a "
        "shard is a block of neighbouring rows, so that the shards side by side are "
        "the output.",
        cut=dealt,
    ),
    Mistake(
        "world-size-taken-as-shard-size",
        "The shards have world_size outputs each, as from weight.split(world_size). "
        "torch's split takes the size of a piece, chunk the number of pieces: there "
        "are to be world_size pieces.",
        cut=lambda one, ranks: list(one.split(ranks)),
    ),
    Mistake(
        "weight-not-transposed",
        "x is multiplied by the shard of weight as it is; in nn.Linear's layout, (out, "
        "in), the product is x @ shard.T.",
        times=lambda x, W: x @ W,
    ),
    Mistake(
        "no-bias",
        "The bias is not added; each rank adds its own part of it.",
        biased=lambda y, b, rank, ranks: y,
    ),
    Mistake(
        "bias-on-rank-0-only",
        "Only rank 0 adds its part of the bias. The outputs of the other ranks have "
        "biases of their own.",
        biased=lambda y, b, rank, ranks: y + b if rank == 0 else y,
    ),
    Mistake(
        "bias-divided",
        "The bias is divided by world_size. Nothing is added up here, so each output "
        "gets its bias whole.",
        biased=lambda y, b, rank, ranks: y + b / ranks,
    ),
]


def by_columns(weight: Tensor, ranks: int, cut: Cut = blocks) -> list[Tensor]:
    """Each rank's columns of a weight (out, in)."""
    return [one.T for one in cut(weight.T, ranks)]


def row(
    x_shards: list[Tensor],
    weight: Tensor,
    bias: Tensor,
    *,
    cut: Cut = blocks,
    each: Callable[[Tensor, Tensor, int], Tensor] = lambda y, b, ranks: y,
    reduce: Callable[[list[Tensor]], Any] = lambda sums: sum(sums[1:], sums[0]),
    last: Callable[[Any, Tensor, int], Any] = lambda y, b, ranks: y + b,
) -> Any:
    """The twin of row_parallel."""
    ranks = len(x_shards)
    shards = zip(x_shards, by_columns(weight, ranks, cut), strict=True)
    sums = [each(F.linear(one, W), bias, ranks) for one, W in shards]
    return last(reduce(sums), bias, ranks)


def _sums(x_shards: list[Tensor], weight: Tensor, bias: Tensor) -> list[Tensor]:
    """The partial sums, a bias on each."""
    columns = weight.chunk(len(x_shards), dim=1)
    pairs = zip(x_shards, columns, strict=True)
    return [F.linear(one, W, bias) for one, W in pairs]


def _side_by_side(x_shards: list[Tensor], weight: Tensor, bias: Tensor) -> Tensor:
    return torch.cat(_sums(x_shards, weight, bias), -1)


def _side_by_side_without_bias(
    x_shards: list[Tensor], weight: Tensor, bias: Tensor
) -> Tensor:
    return torch.cat(_sums(x_shards, weight, torch.zeros_like(bias)), -1)


def _side_by_side_then_bias(
    x_shards: list[Tensor], weight: Tensor, bias: Tensor
) -> Tensor:
    return _side_by_side_without_bias(x_shards, weight, bias) + bias


def _copies(x_shards: list[Tensor], weight: Tensor, bias: Tensor) -> list[Tensor]:
    return [row(x_shards, weight, bias)] * len(x_shards)


def _rows_of_weight(x_shards: list[Tensor], weight: Tensor, bias: Tensor) -> Tensor:
    rows = weight.chunk(len(x_shards))
    shards = zip(x_shards, rows, strict=True)
    sums = [one @ W.T for one, W in shards]
    return sum(sums[1:], sums[0]) + bias


def _whole_weight(x_shards: list[Tensor], weight: Tensor, bias: Tensor) -> Tensor:
    sums = [one @ weight.T for one in x_shards]
    return sum(sums[1:], sums[0]) + bias


_CONCATENATED = (
    "The partial outputs are concatenated. Each rank's is a sum over its own inputs "
    "for *every* output, so they are to be added up, and the bias once."
)
_ROWS = (
    "weight is split by rows, dim=0, which are the outputs. The input is in shards "
    "here, so each rank has the columns, dim=1, that belong to its inputs."
)

#: How row_parallel goes wrong.
ROW = [
    Mistake(
        "bias-on-every-rank",
        "Every rank adds the whole bias before the sum, so it is in the result once a "
        "rank. It belongs there once: add it after the sum, or on one rank.",
        each=lambda y, b, ranks: y + b,
        last=lambda y, b, ranks: y,
    ),
    Mistake(
        "bias-twice",
        "The bias is added on every rank and after the sum; it belongs there once.",
        each=lambda y, b, ranks: y + b,
    ),
    Mistake(
        "no-bias",
        "The bias is not added; it belongs in the sum once.",
        last=lambda y, b, ranks: y,
    ),
    Mistake(
        "bias-divided",
        "The bias is divided by the number of ranks and added once. A share is right "
        "only where every rank adds its own before the sum.",
        last=lambda y, b, ranks: y + b / ranks,
    ),
    Mistake("concatenated", _CONCATENATED, wrong=_side_by_side),
    Mistake(
        "concatenated-without-bias", _CONCATENATED, wrong=_side_by_side_without_bias
    ),
    Mistake("concatenated-then-bias", _CONCATENATED, wrong=_side_by_side_then_bias),
    Mistake(
        "averaged",
        "The partial sums are averaged over the ranks; each is a part of one sum: add "
        "them up.",
        reduce=lambda sums: torch.stack(sums).mean(0),
    ),
    Mistake(
        "stacked",
        "The partial sums are stacked, not added up: sum over the ranks.",
        reduce=torch.stack,
    ),
    Mistake(
        "never-reduced",
        "The result is a list, one partial sum a rank. The all-reduce is missing: add "
        "them up to one tensor.",
        reduce=list,
        last=lambda sums, b, ranks: sums,
    ),
    Mistake(
        "never-reduced-biased",
        "The result is a list, one partial output a rank. The all-reduce is missing: "
        "add them up to one tensor, and the bias once.",
        wrong=_sums,
    ),
    Mistake(
        "first-rank-only",
        "The result is the first rank's partial sum; those of the other ranks are "
        "missing. Add them all up.",
        reduce=lambda sums: sums[0],
    ),
    Mistake(
        "last-rank-only",
        "The result is the last rank's partial sum, as if each replaced the one "
        "before. Add them all up.",
        reduce=lambda sums: sums[-1],
    ),
    Mistake(
        "first-rank-twice",
        "The sum starts with the first rank's partial sum and then adds all ranks, so "
        "the first one counts twice.",
        reduce=lambda sums: sum(sums, sums[0]),
    ),
    Mistake(
        "largest-of-the-ranks",
        "The result is the largest of the partial sums; they are to be added up.",
        reduce=lambda sums: torch.stack(sums).amax(0),
    ),
    Mistake(
        "a-copy-for-every-rank",
        "The result is a list with the full output once a rank; asked for is the "
        "output itself, one tensor.",
        wrong=_copies,
    ),
    Mistake("weight-split-by-rows", _ROWS, wrong=_rows_of_weight),
    Mistake(
        "weight-not-split",
        "Every rank multiplies its shard of the input by the whole weight; it has only "
        "the columns, dim=1, that belong to its inputs.",
        wrong=_whole_weight,
    ),
    Mistake(
        "first-columns-for-all",
        "Every rank multiplies by the first rank's columns of weight; rank r has the "
        "r-th block of columns.",
        cut=first_for_all,
    ),
    Mistake(
        "blocks-overlap",
        "Rank r's block starts at column r, so the blocks overlap; it starts at column "
        "r times the block's size: chunk(ranks, dim=1) cuts them.",
        cut=overlapping,
    ),
    Mistake(
        "ranks-reversed",
        "The blocks of columns are dealt out from the last one on; rank 0 has the "
        "first inputs, so it has the first columns of weight.",
        cut=backwards,
    ),
    Mistake(
        "columns-dealt-out",
        "The columns are dealt out one by one, rank r having weight[:, r::ranks]; a "
        "shard of the input is a block of neighbours, so it meets neighbouring "
        "columns.",
        cut=dealt,
    ),
]
