"""Chapter 15's block: slips are caught and named, right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

BLOCK = """
import torch
import torch.nn as nn
import torch.nn.functional as F

def rope(x, pos, base=10000.0):
    half = torch.arange(0, x.size(-1), 2, device=x.device)
    angle = pos.float()[:, None] * base ** (-half / x.size(-1))
    cos, sin = angle.cos(), angle.sin()
    x1, x2 = x[..., ::2].float(), x[..., 1::2].float()
    out = torch.stack((x1 * cos - x2 * sin, x1 * sin + x2 * cos), -1)
    return out.flatten(-2).type_as(x)

class Attention(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.hd = heads, kv_heads, dim // heads
        self.W_q = nn.Linear(dim, dim, bias=False)
        self.W_k = nn.Linear(dim, kv_heads * self.hd, bias=False)
        self.W_v = nn.Linear(dim, kv_heads * self.hd, bias=False)
        self.W_o = nn.Linear(dim, dim, bias=False)

    def forward(self, x, pos):
        B, T, C = x.shape
        q = self.W_q(x).view(B, T, self.heads, self.hd).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.kv_heads, self.hd).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.kv_heads, self.hd).transpose(1, 2)
        q = rope(q, pos)
        k = rope(k, pos)
        k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)
        v = v.repeat_interleave(self.heads // self.kv_heads, dim=1)
        scores = q @ k.transpose(-2, -1) / self.hd ** 0.5
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
        y = scores.softmax(-1) @ v
        return self.W_o(y.transpose(1, 2).reshape(B, T, C))

class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.W_gate = nn.Linear(dim, hidden, bias=False)
        self.W_up = nn.Linear(dim, hidden, bias=False)
        self.W_down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))

class LlamaBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, ff_dim):
        super().__init__()
        self.norm1 = nn.RMSNorm(d_model, eps=1e-6)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-6)
        self.attn = Attention(d_model, num_heads, num_kv_heads)
        self.ff = SwiGLU(d_model, ff_dim)

    def forward(self, x, positions=None):
        if positions is None:
            positions = torch.arange(x.size(1), device=x.device)
        x = x + self.attn(self.norm1(x), positions)
        return x + self.ff(self.norm2(x))
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("scores = scores.masked_fill(future", "(future", "not-causal"),
        ("triu(1)", "triu()", "diagonal-missing"),
        ("if positions is None:", "if True:", "positions-ignored"),
        ("        k = rope(k, pos)\n", "", "keys-not-turned"),
        ("k = rope(k, pos)", "k, v = rope(k, pos), rope(v, pos)", "values-turned-too"),
        ("base=10000.0", "base=500000.0", "base-500000"),
        (
            "x1, x2 = x[..., ::2].float(), x[..., 1::2].float()\n"
            "    out = torch.stack((x1 * cos - x2 * sin, x1 * sin + x2 * cos), -1)\n"
            "    return out.flatten(-2).type_as(x)",
            "x1, x2 = x.chunk(2, dim=-1)\n"
            "    out = (x1 * cos - x2 * sin, x1 * sin + x2 * cos)\n"
            "    return torch.cat(out, dim=-1).type_as(x)",
            "half-split",
        ),
        (
            "k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)\n"
            "        v = v.repeat_interleave(self.heads // self.kv_heads, dim=1)",
            "k = k.repeat(1, self.heads // self.kv_heads, 1, 1)\n"
            "        v = v.repeat(1, self.heads // self.kv_heads, 1, 1)",
            "tiled-heads",
        ),
        (" / self.hd ** 0.5", "", "unscaled-scores"),
        ("F.silu(self.W_gate(x))", "self.W_gate(x).sigmoid()", "sigmoid-gate"),
        (
            "F.silu(self.W_gate(x)) * self.W_up(x)",
            "self.W_gate(x) * F.silu(self.W_up(x))",
            "gate-and-up-exchanged",
        ),
        ("self.norm2(x))", "self.norm1(x))", "norm1-for-both"),
        (
            "self.norm1 = nn.RMSNorm(d_model, eps=1e-6)",
            "self.norm1 = nn.RMSNorm(d_model, eps=1e-5)",
            "another-eps",
        ),
        (
            "self.norm2 = nn.RMSNorm(d_model, eps=1e-6)",
            "self.norm2 = nn.RMSNorm(d_model)",
            "another-eps",
        ),
        (
            "        return x + self.ff(self.norm2(x))",
            "        x = self.norm2(x)\n        return x + self.ff(x)",
            "skip-from-the-normed-input-feed-forward",
        ),
        (
            "x = x + self.attn(self.norm1(x), positions)\n"
            "        return x + self.ff(self.norm2(x))",
            "x = x + self.attn(self.norm2(x), positions)\n"
            "        return x + self.ff(self.norm1(x))",
            "norms-exchanged",
        ),
        (
            "x = x + self.attn(self.norm1(x), positions)\n        return x + ",
            "return x + self.attn(self.norm1(x), positions) + ",
            "sublayers-side-by-side",
        ),
        ("y.transpose(1, 2).reshape(", "y.reshape(", "joined-by-reshape"),
        (
            "F.silu(self.W_gate(x)) * self.W_up(x)",
            "F.silu(self.W_gate(x) * self.W_up(x))",
            "silu-on-the-product",
        ),
        ("return x + self.ff", "return self.ff", "no-residual-feed-forward"),
        (
            "self.norm1 = nn.RMSNorm(d_model, eps=1e-6)\n"
            "        self.norm2 = nn.RMSNorm(d_model, eps=1e-6)",
            "self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)",
            "layer-norm-for-rms-norm",
        ),
        (
            "self.W_o = nn.Linear(dim, dim, bias=False)",
            "self.W_o = nn.Linear(dim, dim)",
            None,
        ),
        (
            "q = rope(q, pos)\n        k = rope(k, pos)",
            "q, k = rope(q.transpose(1, 2), pos), k",
            None,
        ),
        (
            "q = rope(q, pos)\n        k = rope(k, pos)",
            "q, k = ("
            "rope(t.transpose(1, 2), torch.arange(t.size(1))).transpose(1, 2) "
            "for t in (q, k))",
            "turned-by-head",
        ),
        (
            "B, T, C = x.shape",
            "x, pos = rope(x, pos), 0 * pos\n        B, T, C = x.shape",
            "turned-before-the-projections",
        ),
        ("scores.softmax(-1)", "scores.softmax(1)", "softmax-over-axis-1"),
    ],
)
def test_slip_in_the_block_is_named(right, slip, mistake):
    verdict = slipped(BLOCK, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


def test_a_single_bias_is_told_by_its_name():
    right = "self.W_o = nn.Linear(dim, dim, bias=False)"
    verdict = slipped(BLOCK, right, "self.W_o = nn.Linear(dim, dim)")
    assert "attn.W_o.bias" in verdict.message


RIGHT = named(
    BLOCK.replace("\nimport torch\n", "\n# by_hand\nimport torch\n", 1)
    + """
# of_parts
import torch
from torch import nn
from autograder.parts import (
    GroupedQueryAttention, SwiGLU, apply_rope, causal_mask, merge_heads, repeat_kv,
    rms_norm, scaled_dot_product_attention, split_heads,
)
class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
    def forward(self, x):
        return rms_norm(x, self.weight)
class Rotary(GroupedQueryAttention):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        for W in (self.W_q, self.W_k, self.W_v, self.W_o):
            W.bias = None
    def forward(self, x, positions):
        g = self.num_heads // self.num_kv_heads
        q = apply_rope(split_heads(self.W_q(x), self.num_heads), positions)
        k = apply_rope(split_heads(self.W_k(x), self.num_kv_heads), positions)
        v = split_heads(self.W_v(x), self.num_kv_heads)
        mask = causal_mask(x.shape[1]).to(x.device)
        y, _ = scaled_dot_product_attention(q, repeat_kv(k, g), repeat_kv(v, g), mask)
        return self.W_o(merge_heads(y))
class LlamaBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, ff_dim):
        super().__init__()
        self.attn = Rotary(d_model, num_heads, num_kv_heads)
        self.ff = SwiGLU(d_model, ff_dim)
        self.norm1, self.norm2 = Norm(d_model), Norm(d_model)
    def forward(self, x, positions=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        h = self.attn(self.norm1(x), positions) + x
        return self.ff(self.norm2(h)) + h

# halves_of_permuted_weights
import torch
from torch import nn
from torch.nn import functional as F
class LlamaBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, ff_dim):
        super().__init__()
        self.h, self.g = num_heads, num_kv_heads
        d = d_model // num_heads
        kv = num_kv_heads * d
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.attn = nn.ModuleDict(dict(W_q=lin(d_model, d_model), W_k=lin(d_model, kv),
                                       W_v=lin(d_model, kv), W_o=lin(d_model, d_model)))
        self.ff = nn.ModuleDict(dict(W_gate=lin(d_model, ff_dim),
                                     W_up=lin(d_model, ff_dim),
                                     W_down=lin(ff_dim, d_model)))
        self.norm1 = nn.RMSNorm(d_model, 1e-6)
        self.norm2 = nn.RMSNorm(d_model, 1e-6)
        freq = 10000 ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
        self.register_buffer("freq", freq.float())
    def turn(self, x, p):
        # even features first, then odd ones, in queries and keys alike
        x = torch.cat([x[..., ::2], x[..., 1::2]], -1)
        a = torch.outer(p.float(), self.freq.float()).repeat(1, 2)
        r = torch.cat([-x[..., x.shape[-1] // 2:], x[..., :x.shape[-1] // 2]], -1)
        return (x * a.cos() + r * a.sin()).to(x.dtype)
    def forward(self, x, positions=None, mask=None):
        B, T, C = x.shape
        p = torch.arange(T, device=x.device) if positions is None else positions
        n = self.norm1(x)
        cut = lambda W, h: W(n).view(B, T, h, -1).transpose(1, 2)
        q, k = cut(self.attn.W_q, self.h), cut(self.attn.W_k, self.g)
        q, k, v = self.turn(q, p), self.turn(k, p), cut(self.attn.W_v, self.g)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.attn.W_o(y.transpose(1, 2).reshape(B, T, C))
        n = self.norm2(x)
        return x + self.ff.W_down(F.silu(self.ff.W_gate(n)) * self.ff.W_up(n))
"""
)


@pytest.mark.parametrize("answer", RIGHT)
def test_right_blocks_are_accepted(answer):
    verdict = check_source(RIGHT[answer])
    assert verdict.passed, verdict.message
