"""Chapter 7: masks. True = may attend, everywhere."""

import torch
from einops import rearrange


def causal_mask(n):
    """Let each position see itself and what came before it.

    -> (n, n), bool, True at key j <= query i.

    Vaswani et al. 2017, section 3.2.3.
    """
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, max_len):
    """Let every position see the real tokens and no padding.

    lengths (B,), ints -> (B, 1, 1, max_len), bool, True at keys below the length; the
    ones are for heads and queries.
    """
    keys = torch.arange(max_len, device=lengths.device)  # (m,)
    return rearrange(keys < rearrange(lengths, "B -> B 1"), "B m -> B 1 1 m")


def sliding_window_mask(n, window):
    """Let each position see the last `window` positions, itself among them.

    -> (n, n), bool, True at i - window < j <= i. Raises ValueError if window < 1.

    Beltagy et al. 2020, section 3.1; causal as in Jiang et al. 2023, section 2.
    """
    if window < 1:
        raise ValueError(f"window = {window}, but each position sees at least itself")
    return causal_mask(n).triu(1 - window)


def prefix_mask(n, prefix):
    """Let the first `prefix` positions see each other both ways, the rest look back.

    -> (n, n), bool, True at j <= i, and wherever i and j are both below prefix.

    Raffel et al. 2020, section 3.2.1.
    """
    inside = torch.arange(n) < prefix  # (n,)
    return causal_mask(n) | (rearrange(inside, "n -> n 1") & inside)


def masked_softmax(scores, mask):
    """Turn scores into weights among the keys that may be attended.

    scores (..., n, m), mask broadcastable to it with True or 1 = may attend
    -> (..., n, m). A row that may attend nothing is all zeros, and so is its gradient.
    """
    blocked = mask == 0
    dead = blocked.all(dim=-1, keepdim=True)  # rows that may attend nothing
    # A dead row keeps its scores, as a softmax of -inf alone is 0 / 0; its weights are
    # set to zero afterwards.
    weights = scores.masked_fill(blocked & ~dead, -torch.inf).softmax(dim=-1)
    return weights.masked_fill(blocked, 0.0)
