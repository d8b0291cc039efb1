"""Slips in mending a cache with rotary positions, as answers of their own."""

from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from solutions.attention import scaled_dot_product_attention
from solutions.multihead import merge_heads, split_heads
from solutions.positions import apply_rope


def rotate(
    attention: Any,
    x: Tensor,
    cache: dict[str, Any],
    *,
    restart: str = "",
    turned: str = "QK",
    masked: bool = True,
    shifted: int = 0,
    top_left: bool = False,
) -> Tensor:
    """The twin of repair_drifting_cache."""
    Q, K, V = (
        split_heads(W(x), attention.num_heads)
        for W in (attention.W_q, attention.W_k, attention.W_v)
    )
    new, past = x.shape[1], cache["K"].shape[2] if cache else 0
    queries = torch.arange(past, past + new)
    Q, K, V = (
        apply_rope(one, queries - past * (name in restart) + shifted * (name == "K"))
        if name in turned
        else one
        for name, one in zip("QKV", (Q, K, V), strict=True)
    )
    if cache:
        K, V = torch.cat([cache["K"], K], 2), torch.cat([cache["V"], V], 2)
    cache["K"], cache["V"] = K, V
    rows = queries - past if top_left else queries
    mask = torch.arange(K.shape[2]) <= rows[:, None] if masked else None
    heads, _ = scaled_dot_product_attention(Q, K, V, mask)
    out: Tensor = attention.W_o(merge_heads(heads))
    return out


ROTATING = [
    Mistake(
        "positions-from-0",
        "Each call counts its positions from 0; new tokens stand after those in the "
        "cache.",
        restart="QK",
    ),
    Mistake(
        "queries-from-0",
        "The queries' positions start at 0 in each call; new tokens stand after those "
        "in the cache, as their keys do.",
        restart="Q",
    ),
    Mistake(
        "keys-from-0",
        "The new keys are turned by positions that start at 0 in each call; new tokens "
        "stand after those in the cache, as their queries do.",
        restart="K",
    ),
    Mistake(
        "keys-one-too-far",
        "The keys are turned one position further than the queries of the same tokens; "
        "both stand at the same place.",
        shifted=1,
    ),
    Mistake(
        "values-turned-too",
        "The values are turned as well; positions are for the scores, so only queries "
        "and keys are turned.",
        turned="QKV",
    ),
    Mistake(
        "rope-removed",
        "Nothing is turned any more: the drift is gone, and the positions with it. The "
        "first call is wrong now too.",
        turned="",
    ),
    Mistake(
        "keys-not-turned",
        "The keys are never turned; queries and keys need the same turn for the same "
        "position, once each.",
        turned="Q",
    ),
    Mistake(
        "mask-removed",
        "Several new tokens see each other's future: without a mask the keys after a "
        "query's own position are visible.",
        masked=False,
    ),
    Mistake(
        "mask-from-top-left",
        "In the mask the queries count from 0 in each call, so they miss most of the "
        "cache; they stand after it: keys <= queries, both in the whole sequence.",
        top_left=True,
    ),
    Mistake(
        "first-chunk-kept-alone",
        "Only the first call's keys and values are kept; those of later calls belong "
        "into the cache too.",
        wrong=lambda attention, x, cache: rotate(
            attention, x, dict(cache) if cache else cache
        ),
    ),
    Mistake(
        "nothing-kept",
        "Nothing is kept from call to call, so new tokens see only each other. The "
        "drift is gone, and so is the memory.",
        wrong=lambda attention, x, cache: rotate(attention, x, {}),
    ),
]
