"""Attention in tiles, with a switch wherever people slip."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.twins.attention import attend
from autograder.twins.online import online

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
    if give is filled_up:
        rows.append(Q.new_zeros(*Q.shape[:-2], 0, V.shape[-1]))
    return give(torch.cat(rows, dim=-2), Q)


def _padded(x: Tensor, size: int) -> Tensor:
    return torch.nn.functional.pad(x, (0, 0, 0, size - x.shape[-2]))


def whole(length: int, block_size: int) -> int:
    return length // block_size * block_size


def filled_up(out: Tensor, Q: Tensor) -> Tensor:
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
