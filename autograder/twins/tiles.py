"""Attention in tiles, with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.attention import attend
from autograder.twins.online import (
    RESCALING,
    divided_each_time,
    mean_of_softmaxes,
    not_shifted,
    online,
)

Scale = Callable[[Tensor, Tensor, int], float]


def future(query: Tensor, key: Tensor) -> Tensor:
    return key > query


def hide(scores: Tensor, hidden: Tensor) -> Tensor:
    return scores.masked_fill(hidden, -torch.inf)


def up_to_the_diagonal(start: int, at: int) -> bool:
    return at <= start


def tiled(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    block_size: int,
    causal: bool = False,
    *,
    scale: Scale = lambda Q, V, block_size: Q.shape[-1] ** -0.5,
    hidden: Callable[[Tensor, Tensor], Tensor] = future,
    blocks: Callable[[Tensor, Tensor], Tensor] = hide,
    offsets: tuple[bool, bool] = (True, True),
    diagonal_only: bool = False,
    tiles_seen: Callable[[int, int], bool] = lambda start, at: True,
    obeys: Callable[[bool], bool] = lambda causal: causal,
    key_ends: Callable[[int, int, int], int] = lambda n, m, block_size: m,
    query_ends: Callable[[int, int], int] = lambda n, block_size: n,
    padded: bool = False,
    combine: Callable[..., Any] = online,
    give: Callable[[Tensor, Tensor], Any] = lambda out, Q: out,
    **switches: Any,
) -> Any:
    """The twin of tiled_attention; other switches are those of the online softmax."""
    causal = obeys(causal)
    n = query_ends(Q.shape[-2], block_size)
    m = key_ends(Q.shape[-2], K.shape[-2], block_size)

    def seen(start: int) -> list[int]:
        tiles = range(0, m, block_size)
        return [at for at in tiles if not causal or tiles_seen(start, at)]

    def scores(start: int, queries: Tensor) -> Iterator[Tensor]:
        for at in seen(start):
            keys = K[..., at : min(at + block_size, m), :]
            if padded:
                keys = _padded(keys, block_size)
            s = queries @ keys.mT * scale(Q, V, block_size)
            query = torch.arange(s.shape[-2], device=s.device)[:, None]
            key = torch.arange(s.shape[-1], device=s.device)
            query, key = query + start * offsets[0], key + at * offsets[1]
            masked = causal and (at == start or not diagonal_only)
            yield blocks(s, hidden(query, key)) if masked else s

    def values(start: int) -> Iterator[Tensor]:
        for at in seen(start):
            tile = V[..., at : min(at + block_size, m), :]
            yield _padded(tile, block_size) if padded else tile

    rows = []
    for at in range(0, n, block_size):
        queries = Q[..., at : min(at + block_size, n), :]
        if seen(at):
            rows.append(combine(scores(at, queries), values(at), **switches))
        else:  # nothing by nothing
            rows.append(queries.new_full((*queries.shape[:-1], V.shape[-1]), torch.nan))
    if give is _filled_up:
        rows.append(Q.new_zeros(*Q.shape[:-2], 0, V.shape[-1]))
    return give(torch.cat(rows, dim=-2), Q)


def _padded(x: Tensor, size: int) -> Tensor:
    return torch.nn.functional.pad(x, (0, 0, 0, size - x.shape[-2]))


def _whole(length: int, block_size: int) -> int:
    return length // block_size * block_size


def _filled_up(out: Tensor, Q: Tensor) -> Tensor:
    return torch.nn.functional.pad(out, (0, 0, 0, Q.shape[-2] - out.shape[-2]))


def as_wide_as_queries(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """What a block of queries gives is put into a tensor with the shape of Q."""
    right, out = tiled(Q, K, V, block_size, causal), torch.zeros_like(Q)
    for at in range(0, Q.shape[-2], block_size):
        out[..., at : at + block_size, :] = right[..., at : at + block_size, :]
    return out


def added_to_queries_shape(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> Any:
    """All queries at once, a block of keys at a time, summed in the shape of Q."""
    out = torch.zeros_like(Q)
    return out + tiled(Q, K, V, block_size, causal)


def own_block_only(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    rows = []
    for q, k, v in zip(
        *(torch.split(x, block_size, -2) for x in (Q, K, V)), strict=False
    ):
        mask = torch.ones(q.shape[-2], k.shape[-2], device=q.device).tril()
        rows.append(attend(q, k, v, mask if causal else None)[0])
    return torch.cat(rows, dim=-2)


def all_at_once(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    mask = torch.ones(Q.shape[-2], K.shape[-2], device=Q.device).tril()
    return attend(Q, K, V, mask if causal else None)[0]


def heads_cut(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """Blocks are cut from the heads' axis, as if it were the sequence."""
    rows = []
    for queries in torch.split(Q, block_size, 1):
        scores, values = [], []
        for k, v in zip(*(torch.split(x, block_size, 1) for x in (K, V)), strict=True):
            scores.append(queries @ k.mT * Q.shape[-1] ** -0.5)
            values.append(v)
        rows.append(online(scores, values))
    return torch.cat(rows, dim=1)


def whole_blocks_only(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> Any:
    for x in (Q, K):
        x.view(*x.shape[:-2], x.shape[-2] // block_size, block_size, x.shape[-1])
    return tiled(Q, K, V, block_size, causal)


def with_weights(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> tuple[Tensor, Tensor]:
    mask = torch.ones(Q.shape[-2], K.shape[-2], device=Q.device).tril()
    output, weights = attend(Q, K, V, mask if causal else None)
    return output, weights


TILED = [
    *RESCALING,
    Mistake(
        "unscaled-scores",
        "The scores are not divided by √d_k.",
        scale=lambda Q, V, block_size: 1.0,
    ),
    Mistake(
        "divided-by-d_k",
        "The scores are divided by d_k, not by its square root.",
        scale=lambda Q, V, block_size: 1 / Q.shape[-1],
    ),
    Mistake(
        "divided-by-root-of-d_v",
        "The scores are divided by √d_v, the length of the values; it should be √d_k, "
        "that of queries and keys.",
        scale=lambda Q, V, block_size: V.shape[-1] ** -0.5,
    ),
    Mistake(
        "mask-in-tile-positions",
        "The causal mask compares positions within a tile: every tile is cut along its "
        "own diagonal. Add the tile's start to the positions of queries and keys.",
        offsets=(False, False),
    ),
    Mistake(
        "key-offset-missing",
        "The causal mask counts a tile's keys from 0: add the tile's start, so that "
        "positions are those in the whole sequence.",
        offsets=(True, False),
    ),
    Mistake(
        "query-offset-missing",
        "The causal mask counts a block's queries from 0: add the block's start, so "
        "that positions are those in the whole sequence.",
        offsets=(False, True),
    ),
    Mistake(
        "key-offset-missing-on-the-diagonal",
        "On the diagonal's tile keys are counted from 0 and queries from the block's "
        "start, so nothing is hidden there: count both in the whole sequence.",
        offsets=(True, False),
        tiles_seen=up_to_the_diagonal,
    ),
    Mistake(
        "earlier-tiles-cut",
        "The causal mask compares positions within a tile, so that tiles of earlier "
        "keys are cut along their diagonal too. Add the tile's start to the positions.",
        offsets=(False, False),
        tiles_seen=up_to_the_diagonal,
    ),
    Mistake(
        "later-tiles-seen",
        "If causal, only the tile on the diagonal is masked; tiles of later keys are "
        "still seen. Skip them.",
        diagonal_only=True,
    ),
    Mistake(
        "diagonal-tile-skipped",
        "If causal, the tile on the diagonal is skipped along with the later ones. It "
        "holds keys up to each query's own: mask it instead.",
        tiles_seen=lambda start, at: at < start,
    ),
    Mistake(
        "blocked-scores-zero",
        "Later keys get a score of 0, which still weighs e⁰ = 1; give them -inf.",
        blocks=lambda scores, hidden: scores.masked_fill(hidden, 0.0),
    ),
    Mistake(
        "own-position-hidden",
        "The causal mask hides the query's own position too; a query sees itself: hide "
        "key > query only.",
        hidden=lambda query, key: key >= query,
    ),
    Mistake(
        "one-ahead-seen",
        "The causal mask lets a query see one position ahead: hide every key > query.",
        hidden=lambda query, key: key > query + 1,
    ),
    Mistake(
        "one-ahead-seen-in-its-block",
        "The causal mask lets a query see one position ahead, within its block: hide "
        "every key > query.",
        hidden=lambda query, key: key > query + 1,
        tiles_seen=up_to_the_diagonal,
    ),
    Mistake(
        "past-hidden",
        "The causal mask is upside down: it hides the past instead of the future.",
        hidden=lambda query, key: key < query,
    ),
    Mistake(
        "causal-ignored",
        "causal has no effect: queries see later keys.",
        obeys=lambda causal: False,
    ),
    Mistake(
        "causal-always",
        "The attention is causal although causal is False.",
        obeys=lambda causal: True,
    ),
    Mistake(
        "scores-in-the-block-zero",
        "On the diagonal's tile later keys get a score of 0, which still weighs "
        "e⁰ = 1; give them -inf.",
        blocks=lambda scores, hidden: scores.masked_fill(hidden, 0.0),
        tiles_seen=up_to_the_diagonal,
    ),
    Mistake(
        "last-keys-dropped",
        "The last block of keys is left out where block_size doesn't divide their "
        "number: let the last block be shorter.",
        key_ends=lambda n, m, block_size: _whole(m, block_size),
    ),
    Mistake(
        "keys-counted-as-queries",
        "The blocks of keys end where the queries end: go through all of K, which may "
        "be longer than Q.",
        key_ends=lambda n, m, block_size: min(m, -(-n // block_size) * block_size),
    ),
    Mistake(
        "last-queries-dropped",
        "The last block of queries is left out where block_size doesn't divide their "
        "number: let the last block be shorter.",
        query_ends=_whole,
    ),
    Mistake(
        "last-blocks-dropped",
        "The last blocks of queries and keys are left out where block_size doesn't "
        "divide their number: let them be shorter.",
        key_ends=lambda n, m, block_size: _whole(m, block_size),
        query_ends=_whole,
    ),
    Mistake(
        "last-queries-left-zero",
        "Where block_size doesn't divide the number of queries, the rows of the last "
        "block stay 0: let the last block be shorter.",
        query_ends=_whole,
        give=_filled_up,
    ),
    Mistake(
        "last-blocks-left-out",
        "Where block_size doesn't divide n, the last block of keys is left out, and "
        "the last queries' rows stay 0: let the last blocks be shorter.",
        key_ends=lambda n, m, block_size: _whole(m, block_size),
        query_ends=_whole,
        give=_filled_up,
    ),
    Mistake(
        "padding-weighed",
        "The last block of keys is filled up with zeros, and these are weighed: a "
        "score of 0 still weighs e⁰ = 1. Give padding a score of -inf.",
        padded=True,
    ),
    Mistake(
        "mean-of-blocks",
        "Each block of keys is normalised by itself, and the results are averaged; "
        "there is one softmax over all the keys, with one denominator.",
        combine=mean_of_softmaxes,
    ),
    Mistake(
        "divided-each-time",
        "The sum is divided after every block of keys, and then added to as if it "
        "weren't: divide once, after the last one.",
        combine=divided_each_time,
    ),
    Mistake(
        "not-shifted",
        "e^score overflows: take off the highest score so far before the exponential.",
        combine=not_shifted,
    ),
    Mistake(
        "own-block-only",
        "Each block of queries sees only its own block of keys; it has to go through "
        "all the keys, block after block.",
        wrong=own_block_only,
    ),
    Mistake(
        "whole-blocks-seen",
        "If causal, whole later blocks are hidden, but within its own block a query "
        "sees later keys: the tile on the diagonal needs a mask of its own.",
        hidden=lambda query, key: key < 0,
        tiles_seen=up_to_the_diagonal,
    ),
    Mistake(
        "ragged-block-refused",
        "It raises an error where n is no multiple of block_size: the last block is "
        "then shorter.",
        wrong=whole_blocks_only,
    ),
    Mistake(
        "result-in-the-queries-shape",
        "The result is put into a tensor with the shape of Q; it has the values' "
        "width, V.shape[-1], which may be another.",
        wrong=as_wide_as_queries,
    ),
    Mistake(
        "summed-in-the-queries-shape",
        "The sum starts in the shape of Q; it has the values' width, V.shape[-1], "
        "which may be another.",
        wrong=added_to_queries_shape,
    ),
    Mistake(
        "heads-cut-into-blocks",
        "The blocks are cut from axis 1, the heads; the sequence is axis -2.",
        wrong=heads_cut,
    ),
    Mistake(
        "all-at-once",
        "A tensor of n x n elements is made, the scores (or a mask) of all queries and "
        "keys at once; never hold more than some queries' scores with some keys.",
        wrong=all_at_once,
    ),
    Mistake(
        "weights-returned-too",
        "The weights come back too, n x n of them; return the output alone.",
        wrong=with_weights,
    ),
]
