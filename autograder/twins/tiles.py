"""Attention in tiles, with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.attention import attend
from autograder.twins.online import RESCALING, mean_of_softmaxes, online

Scale = Callable[[Tensor, Tensor, int], float]


def tiled(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    block_size: int,
    causal: bool = False,
    *,
    scale: Scale = lambda Q, V, block_size: Q.shape[-1] ** -0.5,
    hidden: Callable[[Tensor, Tensor], Tensor] = lambda query, key: key > query,
    from_the_tile: bool = False,
    obeys: Callable[[bool], bool] = lambda causal: causal,
    key_ends: Callable[[int, int], int] = lambda m, block_size: m,
    query_ends: Callable[[int, int], int] = lambda n, block_size: n,
    padded: bool = False,
    combine: Callable[..., Any] = online,
    give: Callable[[Tensor], Any] = lambda out: out,
    **switches: Any,
) -> Any:
    """The twin of tiled_attention; other switches are those of the online softmax."""
    causal = obeys(causal)
    n, m = query_ends(Q.shape[-2], block_size), key_ends(K.shape[-2], block_size)

    def scores(start: int, queries: Tensor) -> Iterator[Tensor]:
        for at in range(0, m, block_size):
            keys = K[..., at : min(at + block_size, m), :]
            if padded:
                keys = _padded(keys, block_size)
            s = queries @ keys.mT * scale(Q, V, block_size)
            query = torch.arange(s.shape[-2], device=s.device)[:, None]
            key = torch.arange(s.shape[-1], device=s.device)
            if not from_the_tile:
                query, key = query + start, key + at
            yield s.masked_fill(hidden(query, key), -torch.inf) if causal else s

    def values() -> Iterator[Tensor]:
        for at in range(0, m, block_size):
            tile = V[..., at : min(at + block_size, m), :]
            yield _padded(tile, block_size) if padded else tile

    rows = [
        combine(
            scores(at, Q[..., at : min(at + block_size, n), :]), values(), **switches
        )
        for at in range(0, n, block_size)
    ]
    return give(torch.cat(rows, dim=-2)) if rows else Q


def _padded(x: Tensor, size: int) -> Tensor:
    return torch.nn.functional.pad(x, (0, 0, 0, size - x.shape[-2]))


def _whole(length: int, block_size: int) -> int:
    return length // block_size * block_size


def own_block_only(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    rows = []
    for q, k, v in zip(*(one.split(block_size, -2) for one in (Q, K, V)), strict=False):
        mask = torch.ones(q.shape[-2], k.shape[-2], device=q.device).tril()
        rows.append(attend(q, k, v, mask if causal else None)[0])
    return torch.cat(rows, dim=-2)


def earlier_blocks_only(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """Of the blocks up to the queries' own, every key is seen."""
    at = torch.arange(Q.shape[-2], device=Q.device) // block_size
    keys = torch.arange(K.shape[-2], device=Q.device) // block_size
    mask = keys <= at[:, None] if causal else None
    return attend(Q, K, V, mask)[0]


def all_at_once(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    mask = torch.ones(Q.shape[-2], K.shape[-2], device=Q.device).tril()
    return attend(Q, K, V, mask if causal else None)[0]


def whole_blocks_only(
    Q: Tensor, K: Tensor, V: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    for x in (Q, K):
        x.reshape(*x.shape[:-2], x.shape[-2] // block_size, block_size, x.shape[-1])
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
        "divided-by-root-of-block",
        "The scores are divided by √block_size; it should be √d_k, Q.shape[-1].",
        scale=lambda Q, V, block_size: block_size**-0.5,
    ),
    Mistake(
        "mask-in-tile-positions",
        "The causal mask compares positions within a tile: every tile is cut along its "
        "own diagonal. Add the tile's start to the positions of queries and keys.",
        from_the_tile=True,
    ),
    Mistake(
        "own-position-hidden",
        "The causal mask hides the query's own position too; a query sees itself: hide "
        "key > query only.",
        hidden=lambda query, key: key >= query,
        shift=lambda highest: highest.masked_fill(highest == -torch.inf, 0),
    ),
    Mistake(
        "one-ahead-seen",
        "The causal mask lets a query see one position ahead: hide every key > query.",
        hidden=lambda query, key: key > query + 1,
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
        "last-keys-dropped",
        "The last block of keys is left out where block_size doesn't divide their "
        "number: let the last block be shorter.",
        key_ends=_whole,
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
        key_ends=_whole,
        query_ends=_whole,
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
        "own-block-only",
        "Each block of queries sees only its own block of keys; it has to go through "
        "all the keys, block after block.",
        wrong=own_block_only,
    ),
    Mistake(
        "whole-blocks-seen",
        "If causal, whole later blocks are hidden, but within its own block a query "
        "sees later keys: the tile on the diagonal needs a mask of its own.",
        wrong=earlier_blocks_only,
    ),
    Mistake(
        "ragged-block-refused",
        "It raises an error where n is no multiple of block_size: the last block is "
        "then shorter.",
        wrong=whole_blocks_only,
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
