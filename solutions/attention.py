"""Chapter 2: queries, keys, values."""

import torch
from einops import einsum


def project_qkv(x, W_q, W_k, W_v):
    """Look at each token in three ways: as a query, as a key, as a value.

    x (..., C), W_q (C, d_k), W_k (C, d_k), W_v (C, d_v)
    -> Q (..., d_k), K (..., d_k), V (..., d_v).

    Vaswani et al. 2017, section 3.2.2.
    """
    Q = einsum(x, W_q, "... C, C d_k -> ... d_k")  # what this token looks for
    K = einsum(x, W_k, "... C, C d_k -> ... d_k")  # what it can be found by
    V = einsum(x, W_v, "... C, C d_v -> ... d_v")  # what it hands over
    return Q, K, V


def attention_scores(Q, K):
    """Score how well each query fits each key.

    Q (..., n, d_k), K (..., m, d_k) -> (..., n, m), the dot products over sqrt(d_k).

    Vaswani et al. 2017, section 3.2.1.
    """
    dots = einsum(Q, K, "... n d_k, ... m d_k -> ... n m")
    return dots / Q.shape[-1] ** 0.5  # standard deviation back to about 1


def scaled_dot_product_attention(Q, K, V, mask=None):
    """Mix the values: each query weighs them by how well their keys fit it.

    Q (..., n, d_k), K (..., m, d_k), V (..., m, d_v), mask broadcastable to (..., n, m)
    with True or 1 = may attend -> output (..., n, d_v), weights (..., n, m).

    Vaswani et al. 2017, equation 1.
    """
    scores = attention_scores(Q, K)  # (..., n, m)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -torch.inf)
    weights = scores.softmax(dim=-1)  # each query's weights sum to 1
    output = einsum(weights, V, "... n m, ... m d_v -> ... n d_v")
    return output, weights
