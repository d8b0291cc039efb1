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
    restart: bool = False,
    turned: str = "QK",
    masked: bool = True,
) -> Tensor:
    """The twin of repair_drifting_cache."""
    Q, K, V = (
        split_heads(W(x), attention.num_heads)
        for W in (attention.W_q, attention.W_k, attention.W_v)
    )
    new, past = x.shape[1], cache["K"].shape[2] if cache else 0
    queries = torch.arange(past, past + new)
    at = queries - past if restart else queries
    Q = apply_rope(Q, at) if "Q" in turned else Q
    K = apply_rope(K, at) if "K" in turned else K
    if cache:
        K, V = torch.cat([cache["K"], K], 2), torch.cat([cache["V"], V], 2)
    cache["K"], cache["V"] = K, V
    mask = torch.arange(K.shape[2]) <= queries[:, None] if masked else None
    heads, _ = scaled_dot_product_attention(Q, K, V, mask)
    out: Tensor = attention.W_o(merge_heads(heads))
    return out


ROTATING = [
    Mistake(
        "positions-from-0",
        "Each call counts its positions from 0; new tokens stand after those in the "
        "cache.",
        restart=True,
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
        "nothing-kept",
        "Nothing is kept from call to call, so new tokens see only each other. The "
        "drift is gone, and so is the memory.",
        wrong=lambda attention, x, cache: rotate(attention, x, {}),
    ),
]
