"""Chapter 12: long sequences."""

import torch
from einops import einsum, rearrange
from torch.nn import functional as F

from solutions.attention import attention_scores


def attention_flops(n, d_model):
    """Count what a layer's attention calculates: four projections, and all pairs twice.

    n tokens of d_model features -> floating-point operations, a multiply-add as 2.
    """
    projections = 4 * 2 * n * d_model**2  # W_q, W_k, W_v, W_o
    pairs = 2 * 2 * n**2 * d_model  # the scores, and the weighted sum of the values
    return projections + pairs


def feed_forward_flops(n, ff_dim, d_model):
    """Count what a layer's feed-forward network calculates: two products a token.

    n tokens of d_model features -> floating-point operations, a multiply-add as 2.
    """
    return 2 * 2 * n * d_model * ff_dim  # W_1 and W_2


def online_softmax_sum(score_blocks, value_blocks):
    """Weigh values by the softmax of scores that come block by block, in one pass.

    score_blocks, an iterable of (..., n, b); value_blocks, of (..., b, d); b may differ
    from block to block -> (..., n, d), which is softmax(all scores) @ all values. A
    score may be -inf, and so may a whole block, if each row has a finite one somewhere.

    Milakov and Gimelshein 2018, algorithm 3.
    """
    highest, total, mix = torch.tensor(-torch.inf), 0, 0  # nothing has come yet
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        before, highest = highest, highest.maximum(scores.amax(dim=-1, keepdim=True))
        shift = highest.where(highest > -torch.inf, 0)  # as -inf minus -inf is NaN
        weights = (scores - shift).exp()  # (..., n, b)
        fade = (before - shift).exp()  # (..., n, 1): what was kept weighs less now
        total = fade * total + weights.sum(dim=-1, keepdim=True)
        mix = fade * mix + weights @ values  # (..., n, d)
    return mix / total


def tiled_attention(Q, K, V, block_size, causal=False):
    """Attend tile by tile: exact, and the n x m weights are never there all at once.

    Q (B, h, n, d_k), K (B, h, m, d_k), V (B, h, m, d_v) -> (B, h, n, d_v). A tile is
    block_size queries by block_size keys, fewer at the ends. causal needs n = m.

    Dao et al. 2022, algorithm 1; queries in the outer loop, as in Dao 2024.
    """
    n, m = Q.shape[-2], K.shape[-2]
    query, key = (torch.arange(count, device=Q.device) for count in (n, m))
    outputs = []
    for start in range(0, n, block_size):
        some = slice(start, start + block_size)
        end = start + block_size if causal else m  # tiles of later keys are skipped
        blocks = [slice(at, at + block_size) for at in range(0, end, block_size)]
        tiles = (  # one after the other, when the next function asks for it
            attention_scores(Q[..., some, :], K[..., keys, :]).masked_fill(
                causal & (key[keys] > query[some, None]), -torch.inf
            )
            for keys in blocks
        )
        outputs.append(online_softmax_sum(tiles, (V[..., keys, :] for keys in blocks)))
    return torch.cat(outputs, dim=-2)


def linear_attention(Q, K, V):
    """Attend causally with weights φ(q)·φ(k) in place of e^(q·k): no n x n anything.

    Q (B, h, n, d), K (B, h, n, d), V (B, h, n, d_v) -> (B, h, n, d_v), and φ(x) is
    elu(x) + 1.

    Katharopoulos et al. 2020, equations 7 and 9 to 12.
    """
    Q, K = F.elu(Q) + 1, F.elu(K) + 1  # positive, so that the weights are
    pairs = einsum(K, V, "... n d, ... n d_v -> ... n d d_v")
    state = pairs.cumsum(dim=-3)  # all that is known of the past, up to each position
    mix = einsum(Q, state, "... n d, ... n d d_v -> ... n d_v")
    total = einsum(Q, K.cumsum(dim=-2), "... n d, ... n d -> ... n")
    return mix / rearrange(total, "... n -> ... n 1")
