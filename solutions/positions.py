"""Chapter 4: positions."""

import math

import torch
from einops import einsum, rearrange
from torch import nn


def sinusoidal_positions(max_seq, d_model):
    """Give each position a vector of sines and cosines, from fast to slow.

    -> (max_seq, d_model), float32: at position pos, feature 2i holds
    sin(pos / 10000^(2i/d_model)), feature 2i+1 its cosine.
    Raises ValueError if d_model is odd.

    Vaswani et al. 2017, section 3.5.
    """
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd; each sine needs its cosine")
    positions, pairs = torch.arange(max_seq), torch.arange(d_model // 2)
    frequencies = 10000.0 ** (-2 * pairs / d_model)  # radians per position
    angles = einsum(positions.float(), frequencies, "pos, i -> pos i")
    return rearrange([angles.sin(), angles.cos()], "two pos i -> pos (i two)")


class LearnedPositions(nn.Module):
    """Add to each token a learned vector that says where it stands.

    x (B, T, C) -> (B, T, C); embedding is nn.Embedding(max_seq, C).
    Raises ValueError if T > max_seq.
    """

    def __init__(self, max_seq, d_model):
        super().__init__()
        self.embedding = nn.Embedding(max_seq, d_model)

    def forward(self, x):
        T, max_seq = x.shape[1], self.embedding.num_embeddings
        if T > max_seq:
            raise ValueError(f"x has T = {T} tokens, more than max_seq = {max_seq}")
        positions = torch.arange(T, device=x.device)  # (T,)
        return x + self.embedding(positions)  # (B, T, C) + (T, C)


def relative_position_bucket(
    distance, num_buckets=32, max_distance=128, bidirectional=True
):
    """Sort distances into T5's buckets: one each when near, ever wider ones when far.

    distance, an int tensor of key position - query position -> buckets of the same
    shape. Bidirectional: the upper half of the buckets is for keys after the
    query; otherwise keys after the query count as distance 0.

    Raffel et al. 2020, section 2.1.
    """
    if bidirectional:
        num_buckets //= 2  # N, left for the absolute distance
        later, a = num_buckets * (distance > 0), distance.abs()
    else:
        later, a = 0, (-distance).clamp(min=0)
    exact = num_buckets // 2  # N/2 buckets hold one distance each
    growth = (a.clamp(min=exact) / exact).log() / math.log(max_distance / exact)
    wide = exact + (growth * exact).floor().long()
    return later + torch.where(a < exact, a, wide.clamp(max=num_buckets - 1))


class RelativePositionBias(nn.Module):
    """Learn for each head what a distance adds to the score.

    n queries, m keys -> (1, h, n, m), for queries 0…n-1 and keys 0…m-1, to be added to
    the scores. bias is nn.Embedding(num_buckets, num_heads).

    Raffel et al. 2020, section 2.1.
    """

    def __init__(self, num_heads, num_buckets=32, max_distance=128, bidirectional=True):
        super().__init__()
        self.num_buckets, self.max_distance = num_buckets, max_distance
        self.bidirectional = bidirectional
        self.bias = nn.Embedding(num_buckets, num_heads)

    def forward(self, n, m):
        device = self.bias.weight.device
        queries, keys = torch.arange(n, device=device), torch.arange(m, device=device)
        distance = keys - rearrange(queries, "n -> n 1")  # (n, m)
        buckets = relative_position_bucket(
            distance, self.num_buckets, self.max_distance, self.bidirectional
        )
        return rearrange(self.bias(buckets), "n m h -> 1 h n m")


def rope_angles(positions, d_k, base=10000.0):
    """Say by which angle each pair of features turns at each position.

    positions (T,) -> (T, d_k/2), in radians, float32 at least: pair i turns by
    position * base^(-2i/d_k). Raises ValueError if d_k is odd.

    Su et al. 2021, section 3.2.2.
    """
    if d_k % 2 != 0:
        raise ValueError(f"d_k = {d_k} is odd; features turn in pairs")
    # Half precision can't count past 256 (bfloat16) or 2048 (float16).
    dtype = torch.promote_types(positions.dtype, torch.float32)
    pairs = torch.arange(d_k // 2, dtype=dtype, device=positions.device)
    frequencies = base ** (-2 * pairs / d_k)  # radians per position, (d_k/2,)
    return einsum(positions.to(dtype), frequencies, "T, i -> T i")


def apply_rope(x, positions, base=10000.0):
    """Turn each pair of features by an angle that grows with the token's position.

    x (..., T, d_k), positions (T,) -> (..., T, d_k): pair i is (a, b) = (x_2i, x_2i+1)
    and becomes (a cos - b sin, a sin + b cos) of angle position * base^(-2i/d_k).
    Raises ValueError if d_k is odd.

    Su et al. 2021, section 3.2.2.
    """
    angles = rope_angles(positions, x.shape[-1], base)  # (T, d_k/2)
    cos, sin = angles.cos(), angles.sin()
    a, b = rearrange(x, "... T (i two) -> two ... T i", two=2)
    turned = [a * cos - b * sin, a * sin + b * cos]
    return rearrange(turned, "two ... T i -> ... T (i two)").to(x.dtype)


def alibi_slopes(num_heads):
    """Give each head its slope: how much a step of distance costs.

    -> (h,), float32. For h a power of two, 2^(-8k/h) for k = 1…h. Else the slopes of
    the largest power of two p below h, then every second one of 2p's, from its first.

    Press et al. 2022, section 3, and the authors' code.
    """
    p = 2 ** int(math.log2(num_heads))
    slopes = [2 ** (-8 * k / p) for k in range(1, p + 1)]
    between = [2 ** (-8 * k / (2 * p)) for k in range(1, 2 * p + 1, 2)]
    return torch.tensor((slopes + between)[:num_heads])


def alibi_bias(num_heads, n):
    """Make keys count less the further back they are, each head by its own slope.

    -> (h, n, n), float32: -slope * (i - j) for key j at or before query i, 0 for later
    keys (a causal mask removes them). To be added to the scores.

    Press et al. 2022, section 3.
    """
    positions = torch.arange(n)
    distance = rearrange(positions, "n -> n 1") - positions  # i - j, (n, n)
    slopes = alibi_slopes(num_heads)
    return -einsum(slopes, distance.clamp(min=0).float(), "h, i j -> h i j")


def scaled_rope_angles(positions, d_k, base=10000.0, scale=1.0, method="linear"):
    """Stretch RoPE over a text that is `scale` times longer than those trained on.

    positions (T,) -> (T, d_k/2). "linear" divides the positions by scale; "ntk" takes
    base * scale^(d_k/(d_k-2)), which leaves the fastest pair as it is and slows the
    slowest by scale. Raises ValueError if d_k is odd, for "ntk" if d_k <= 2, and for
    another method.

    Chen et al. 2023, equation 4; bloc97 2023 (NTK-aware scaling).
    """
    if method == "linear":
        dtype = torch.promote_types(positions.dtype, torch.float32)
        return rope_angles(positions.to(dtype) / scale, d_k, base)
    if method != "ntk":
        raise ValueError(f'method is "linear" or "ntk", not {method!r}')
    if d_k <= 2:
        raise ValueError(f'"ntk" needs two pairs or more, not d_k = {d_k}')
    return rope_angles(positions, d_k, base * scale ** (d_k / (d_k - 2)))
