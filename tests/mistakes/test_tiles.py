"""Chapter 12, attention in tiles: slips are named, right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

TILED = """
import torch
import math

def tiled_attention(Q, K, V, block_size, causal=False):
    n, d_k = Q.shape[-2:]
    m = K.shape[-2]
    outputs = []
    for i in range(0, n, block_size):
        q = Q[..., i:i + block_size, :]
        top = torch.full_like(q[..., :1], float("-inf"))
        total = torch.zeros_like(top)
        mix = torch.zeros(*q.shape[:-1], V.shape[-1], dtype=q.dtype, device=q.device)
        for j in range(0, m, block_size):
            if causal and j > i + q.shape[-2] - 1:
                break
            k = K[..., j:j + block_size, :]
            v = V[..., j:j + block_size, :]
            s = q @ k.transpose(-2, -1) / math.sqrt(d_k)
            if causal:
                rows = i + torch.arange(s.shape[-2], device=s.device)
                cols = j + torch.arange(s.shape[-1], device=s.device)
                s = s.masked_fill(cols > rows[:, None], float("-inf"))
            new = torch.maximum(top, s.max(dim=-1, keepdim=True).values)
            fade = torch.exp(top - new)
            p = torch.exp(s - new)
            total = total * fade + p.sum(dim=-1, keepdim=True)
            mix = mix * fade + p @ v
            top = new
        outputs.append(mix / total)
    return torch.cat(outputs, dim=-2)
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ('q[..., :1], float("-inf")', "q[..., :1], 0.0", "highest-starts-at-zero"),
        (
            "        top = torch.full_like(",
            "        if i == 0 or q.shape[-2] < block_size:\n"
            "          top = torch.full_like(",
            "not-finite",
        ),
        ("fade = torch.exp(top - new)", "fade = 1", "never-rescaled"),
        ("mix = mix * fade +", "mix = mix +", "sum-not-rescaled"),
        ("exp(top - new)", "exp(new - top)", "factor-inverted-from-zero"),
        ("mix / total)", "mix)", "never-divided"),
        (" / math.sqrt(d_k)", "", "unscaled-scores"),
        ("math.sqrt(d_k)", "math.sqrt(V.shape[-1])", "divided-by-root-of-d_v"),
        ("rows = i + ", "rows = ", "query-offset-missing"),
        ("cols = j + ", "cols = ", "key-offset-missing-on-the-diagonal"),
        ("cols > rows", "cols >= rows", "own-position-hidden"),
        ("cols > rows", "cols > 1 + rows", "one-ahead-seen-in-its-block"),
        ("            if causal:\n", "            if False:\n", "whole-blocks-seen"),
        ("j > i + q.shape[-2] - 1", "j >= i", "diagonal-tile-skipped"),
        (
            'cols > rows[:, None], float("-inf")',
            "cols > rows[:, None], 0.0",
            "scores-in-the-block-zero",
        ),
        (
            "range(0, m, block_size)",
            "range(0, n, block_size)",
            "keys-counted-as-queries",
        ),
        (
            "range(0, m, block_size)",
            "range(0, m // block_size * block_size, block_size)",
            "last-keys-dropped",
        ),
        (
            "range(0, n, block_size)",
            "range(0, n // block_size * block_size, block_size)",
            "last-queries-dropped",
        ),
        ("range(0, m, block_size)", "range(i, i + 1)", "own-block-only"),
        (
            "mix = torch.zeros(*q.shape[:-1], V.shape[-1], dtype=q.dtype, "
            "device=q.device)",
            "mix = torch.zeros_like(q)",
            "summed-in-the-queries-shape",
        ),
        ("    outputs = []\n", "    outputs = []; torch.ones(n, m)\n", "all-at-once"),
        (
            "torch.arange(s.shape[-1], device=s.device)",
            "torch.arange(s.shape[-1])",
            "left-on-cpu",
        ),
        (
            "return torch.cat(outputs, dim=-2)",
            "return torch.nn.functional.scaled_dot_product_attention(Q, K, V)",
            "forbidden-built-in",
        ),
    ],
)
def test_slip_in_tiling_is_named(right, slip, mistake):
    verdict = slipped(TILED, right, slip)
    assert verdict.mistake == mistake, verdict.message


WRONG = named(
    """
# mask-in-tile-positions
def tiled_attention(Q, K, V, block_size, causal=False):
    out = []
    for q in Q.split(block_size, -2):
        scores = []
        for k in K.split(block_size, -2):
            s = attention_scores(q, k)
            if causal:
                mask = torch.ones(s.shape[-2:], device=s.device).tril()
                s = s.masked_fill(mask == 0, -torch.inf)
            scores.append(s)
        out.append(online_softmax_sum(scores, V.split(block_size, -2)))
    return torch.cat(out, -2)

# later-tiles-seen
def tiled_attention(Q, K, V, block_size, causal=False):
    out = []
    for i, q in enumerate(Q.split(block_size, -2)):
        scores = []
        for j, k in enumerate(K.split(block_size, -2)):
            s = attention_scores(q, k)
            if causal and i == j:
                s = s.masked_fill(~causal_mask(s.shape[-1]), -torch.inf)
            scores.append(s)
        out.append(online_softmax_sum(scores, V.split(block_size, -2)))
    return torch.cat(out, -2)

# causal-ignored
def tiled_attention(Q, K, V, block_size, causal=False):
    out = []
    for q in Q.split(block_size, -2):
        scores = (attention_scores(q, k) for k in K.split(block_size, -2))
        out.append(online_softmax_sum(scores, V.split(block_size, -2)))
    return torch.cat(out, -2)

# all-at-once
def tiled_attention(Q, K, V, block_size, causal=False):
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf)
    return scores.softmax(-1) @ V

# padding-weighed
def tiled_attention(Q, K, V, block_size, causal=False):
    n, m = Q.shape[-2], K.shape[-2]
    pad = -m % block_size
    K = torch.nn.functional.pad(K, (0, 0, 0, pad))
    V = torch.nn.functional.pad(V, (0, 0, 0, pad))
    at = torch.arange(n, device=Q.device)[:, None]
    def tiles():
        for j in range(0, m + pad, block_size):
            s = attention_scores(Q, K[..., j : j + block_size, :])
            if causal:
                keys = torch.arange(j, j + block_size, device=Q.device)
                s = s.masked_fill(keys > at, -torch.inf)
            yield s
    return online_softmax_sum(tiles(), V.split(block_size, -2))

# not-shifted
def tiled_attention(Q, K, V, block_size, causal=False):
    n = Q.shape[-2]
    total = mix = 0
    at = torch.arange(n, device=Q.device)[:, None]
    for j in range(0, K.shape[-2], block_size):
        e = attention_scores(Q, K[..., j : j + block_size, :]).exp()
        if causal:
            keys = torch.arange(j, j + e.shape[-1], device=Q.device)
            e = e * (keys <= at)
        total = total + e.sum(-1, keepdim=True)
        mix = mix + e @ V[..., j : j + block_size, :]
    return mix / total
"""
)

GIVEN = """
import torch
from autograder.parts import attention_scores, causal_mask, masked_softmax
from autograder.parts import online_softmax_sum, scaled_dot_product_attention

"""


@pytest.mark.parametrize("mistake", WRONG)
def test_another_way_of_going_wrong_is_named(mistake):
    verdict = check_source(GIVEN + WRONG[mistake])
    assert verdict.mistake == mistake, verdict.message


RIGHT = named(
    """
# blocks of keys alone, merged by their logsumexp
def tiled_attention(Q, K, V, block_size, causal=False):
    n, at = Q.shape[-2], torch.arange(Q.shape[-2], device=Q.device)[:, None]
    lse = out = None
    for j in range(0, K.shape[-2], block_size):
        s = attention_scores(Q, K[..., j : j + block_size, :])
        if causal:
            keys = torch.arange(j, j + s.shape[-1], device=Q.device)
            s = s.masked_fill(keys > at, -1e4)
        new = s.logsumexp(-1, keepdim=True)
        local = (s - new).exp() @ V[..., j : j + block_size, :]
        if lse is None:
            lse, out = new, local
        else:
            both = torch.logaddexp(lse, new)
            out = out * (lse - both).exp() + local * (new - both).exp()
            lse = both
    return out

# blocks of queries alone
def tiled_attention(Q, K, V, block_size, causal=False):
    rows = []
    for i in range(0, Q.shape[-2], block_size):
        q, mask = Q[:, :, i : i + block_size], None
        if causal:
            at = torch.arange(i, i + q.shape[2], device=q.device)
            mask = torch.arange(K.shape[2], device=q.device) <= at[:, None]
        rows.append(scaled_dot_product_attention(q, K, V, mask)[0])
    return torch.cat(rows, dim=2)

# into a tensor laid out before
def tiled_attention(Q, K, V, block_size, causal=False):
    B, h, n, d_k = Q.shape
    out = Q.new_zeros(B, h, n, V.size(-1))
    for start in range(0, n, block_size):
        end = min(start + block_size, n)
        score_blocks, value_blocks = [], []
        for first in range(0, end if causal else K.size(-2), block_size):
            k = K[:, :, first : first + block_size]
            s = torch.einsum("bhqd,bhkd->bhqk", Q[:, :, start:end], k) / d_k**0.5
            if causal and first == start:
                mask = causal_mask(end - start).to(Q.device)
                s = s.masked_fill(~mask, -torch.inf)
            score_blocks.append(s)
            value_blocks.append(V[:, :, first : first + block_size])
        out[:, :, start:end] = online_softmax_sum(score_blocks, value_blocks)
    return out

# keys outside, queries inside, all kept in place
def tiled_attention(Q, K, V, block_size, causal=False):
    n, m = Q.shape[-2], K.shape[-2]
    O = [0.0] * (-(-n // block_size))
    L, M = list(O), [None] * len(O)
    for j in range(0, m, block_size):
        k, v = K[..., j : j + block_size, :], V[..., j : j + block_size, :]
        for r, i in enumerate(range(0, n, block_size)):
            if causal and j > i:
                continue
            q = Q[..., i : i + block_size, :] * Q.shape[-1] ** -0.5
            s = q @ k.mT
            if causal and j == i:
                s = s + torch.full_like(s, -torch.inf).triu(1)
            new = s.detach().amax(-1, keepdim=True)
            if M[r] is not None:
                new = torch.maximum(new, M[r])
                fade = (M[r] - new).exp()
                O[r], L[r] = O[r] * fade, L[r] * fade
            p = (s - new).exp()
            O[r], L[r], M[r] = O[r] + p @ v, L[r] + p.sum(-1, keepdim=True), new
    return torch.cat([o / l for o, l in zip(O, L)], dim=-2)

# padded, the padding hidden
def tiled_attention(Q, K, V, block_size, causal=False):
    n, m = Q.shape[-2], K.shape[-2]
    pad = torch.nn.functional.pad
    Kp, Vp = (pad(x, (0, 0, 0, -m % block_size)) for x in (K, V))
    Qp = pad(Q, (0, 0, 0, -n % block_size))
    rows = []
    for i in range(0, Qp.shape[-2], block_size):
        def tiles():
            for j in range(0, Kp.shape[-2], block_size):
                s = attention_scores(Qp[..., i : i + block_size, :],
                                     Kp[..., j : j + block_size, :])
                q = torch.arange(i, i + block_size, device=s.device)[:, None]
                k = torch.arange(j, j + block_size, device=s.device)
                hidden = (k >= m) | (k > q) if causal else (k >= m).expand(len(q), -1)
                yield s.masked_fill(hidden, float("-inf"))
        rows.append(online_softmax_sum(tiles(), Vp.split(block_size, -2)))
    return torch.cat(rows, -2)[..., :n, :]

# from the last keys to the first, in float32
def tiled_attention(Q, K, V, block_size, causal=False):
    dtype, rows = Q.dtype, []
    q32, k32, v32 = (x.double() for x in (Q, K, V))
    for i in range(0, Q.shape[-2], block_size):
        q = q32[..., i : i + block_size, :]
        m = torch.full_like(q[..., :1], -torch.inf)
        l, o = torch.zeros_like(m), 0
        for j in reversed(range(0, K.shape[-2], block_size)):
            k = k32[..., j : j + block_size, :]
            s = q @ k.mT * q.shape[-1] ** -0.5
            if causal:
                a = torch.arange(s.shape[-2], device=s.device)[:, None] + i
                b = torch.arange(s.shape[-1], device=s.device) + j
                s = torch.where(b <= a, s, -torch.inf)
            new = torch.maximum(m, s.amax(-1, keepdim=True).detach())
            safe = new.clamp_min(-1e30)
            p, fade = torch.exp(s - safe), torch.exp(m - safe)
            l = l * fade + p.sum(-1, keepdim=True)
            o = o * fade + p @ v32[..., j : j + block_size, :]
            m = new
        rows.append(o / l)
    return torch.cat(rows, dim=-2).to(dtype)

# queries folded into blocks, all blocks of them at once
def tiled_attention(Q, K, V, block_size, causal=False):
    *lead, n, d = Q.shape
    count = -(-n // block_size)
    q = torch.nn.functional.pad(Q, (0, 0, 0, count * block_size - n))
    q = q.reshape(*lead, count, block_size, d)
    at = torch.arange(count * block_size, device=Q.device).view(count, block_size, 1)
    top = torch.full_like(q[..., :1], -torch.inf)
    total = torch.zeros_like(top)
    mix = torch.zeros_like(q[..., :1]).expand(*lead, count, block_size, V.shape[-1])
    for j in range(0, K.shape[-2], block_size):
        k, v = K[..., None, j : j + block_size, :], V[..., None, j : j + block_size, :]
        s = q @ k.mT / d**0.5
        if causal:
            keys = torch.arange(j, j + s.shape[-1], device=Q.device)
            s = s.masked_fill(keys > at, -torch.inf)
        new = torch.maximum(top, s.amax(-1, keepdim=True))
        fade, p = (top - new).exp(), (s - new).exp()
        total, mix, top = total * fade + p.sum(-1, True), mix * fade + p @ v, new
    return (mix / total).flatten(-3, -2)[..., :n, :]
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_tiling_is_accepted(source):
    verdict = check_source(GIVEN + source)
    assert verdict.passed, verdict.message
