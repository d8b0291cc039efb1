"""Chapter 8, its modules: slips are caught and named, right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

IMPORTS = """
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange

from autograder.parts import (
    CrossAttention,
    FeedForward,
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
"""

CROSS = """
import math
import torch
from torch import nn

class CrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def split(self, t):
        return t.view(t.size(0), -1, self.num_heads, self.d_k).transpose(1, 2)

    def forward(self, x, memory, mask=None):
        q = self.split(self.W_q(x))
        k = self.split(self.W_k(memory))
        v = self.split(self.W_v(memory))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        out = scores.softmax(dim=-1) @ v
        return self.W_o(out.transpose(1, 2).flatten(2))
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("self.W_v(memory)", "self.W_v(x)", "values-from-x"),
        ("self.W_k(memory)", "self.W_k(x)", "keys-from-x"),
        ("self.W_q(x)", "self.W_q(memory)", "queries-from-memory"),
        ("self.W_v(memory)", "self.W_k(memory)", "v-from-w-k"),
        ("self.W_k(memory)", "self.W_q(memory)", "k-from-w-q"),
        (
            "q = self.split(self.W_q(x))\n        k = self.split(self.W_k(memory))",
            "q = self.split(self.W_k(x))\n        k = self.split(self.W_q(memory))",
            "q-and-k-exchanged",
        ),
        (
            "scores = q @",
            "B, h, m, d = k.shape\n"
            "        k, v = self.W_k(memory), self.W_v(memory)\n"
            "        k, v = k.view(B, h, m, d), v.view(B, h, m, d)\n"
            "        scores = q @",
            "keys-and-values-cut-by-view",
        ),
        ("def forward(self, x, memory", "def forward(self, memory, x", None),
        (" / math.sqrt(self.d_k)", "", "unscaled-scores"),
        ("math.sqrt(self.d_k)", "self.d_k", "divided-by-d_k"),
        ("math.sqrt(self.d_k)", "math.sqrt(x.size(-1))", "divided-by-root-d_model"),
        (
            "math.sqrt(self.d_k)",
            "math.sqrt(memory.size(1))",
            "divided-by-root-of-keys",
        ),
        ("math.sqrt(self.d_k)", "math.sqrt(x.size(1))", "divided-by-root-of-queries"),
        ("dim=-1", "dim=-2", "softmax-over-queries"),
        ("dim=-1", "dim=1", "softmax-over-axis-1"),
        ("mask == 0", "mask != 0", "mask-inverted"),
        ("mask == 0", "~mask", "mask-must-be-boolean"),
        ("mask is not None", "False", "mask-ignored"),
        ("mask == 0", "mask.transpose(-2, -1) == 0", "mask-transposed"),
        ("mask == 0", "mask[:, None] == 0", "mask-given-an-axis"),
        ('float("-inf")', "0.0", "blocked-scores-zero"),
        ('float("-inf")', "-1e9", "blocked-too-low-for-half"),
        (
            "        if mask is not None:",
            "        future = torch.ones_like(scores[0, 0]).triu(1) > 0\n"
            "        scores = scores.masked_fill(future, float('-inf'))\n"
            "        if mask is not None:",
            "causal-over-memory",
        ),
        (".transpose(1, 2).flatten(2)", ".reshape(x.shape)", "joined-by-reshape"),
        ("return self.W_o(out.transpose(1, 2).flatten(2))", "return out", None),
        (
            "self.W_o(out.transpose(1, 2).flatten(2))",
            "out.transpose(1, 2).flatten(2)",
            "no-output-projection",
        ),
        (
            "self.W_o(out.transpose(1, 2).flatten(2))",
            "x + self.W_o(out.transpose(1, 2).flatten(2))",
            "input-added",
        ),
        ("k.transpose(-2, -1)", "k.reshape(*k.shape[:2], self.d_k, -1)", None),
        ("t.view(t.size(0), -1, self", "t.view(t.size(0), 5, self", None),
        (
            "return t.view(t.size(0), -1, self.num_heads, self.d_k).transpose(1, 2)",
            "return t.view(t.size(0), self.num_heads, -1, self.d_k)",
            "cut-by-view",
        ),
        ("d_model % num_heads != 0", "False", "not-refused"),
        (
            "scores.softmax(dim=-1)",
            "nn.functional.dropout(scores.softmax(dim=-1), 0.1)",
            "dropout-left-in",
        ),
        ("self.W_v(memory)", "self.W_v(memory).detach()", "wrong-gradient"),
    ],
)
def test_slip_in_cross_attention_is_named(right, slip, mistake):
    verdict = slipped(CROSS, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


def test_self_attention_for_cross_attention_is_named():
    source = CROSS.replace("memory)", "x)")
    assert check_source(source).mistake == "memory-ignored"


def test_exchanged_sequences_are_named():
    source = CROSS.replace("(memory)", "(X)").replace("(x)", "(memory)")
    verdict = check_source(source.replace("(X)", "(x)"))
    assert verdict.mistake == "x-and-memory-exchanged"


ENCODER = """
import torch
from torch import nn
from autograder.parts import FeedForward, MultiHeadAttention

class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, ff_dim):
        super().__init__()
        self.attn = MultiHeadAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask=None):
        x = x + self.attn(self.norm1(x), mask)
        x = x + self.ff(self.norm2(x))
        return x
"""

FIRST = "x = x + self.attn(self.norm1(x), mask)"
SECOND = "x = x + self.ff(self.norm2(x))"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (FIRST, "x = self.norm1(x + self.attn(x, mask))", "post-norm-attention"),
        (SECOND, "x = self.norm2(x + self.ff(x))", "post-norm-feed-forward"),
        (
            FIRST,
            "x = x + self.norm1(self.attn(x, mask))",
            "norm-on-the-branch-attention",
        ),
        (SECOND, "x = x + self.norm2(self.ff(x))", "norm-on-the-branch-feed-forward"),
        (
            FIRST,
            "x = self.norm1(x)\n        x = x + self.attn(x, mask)",
            "skip-from-the-normed-input-attention",
        ),
        (
            SECOND,
            "x = self.norm2(x)\n        x = x + self.ff(x)",
            "skip-from-the-normed-input-feed-forward",
        ),
        (FIRST, "x = self.attn(self.norm1(x), mask)", "no-residual-attention"),
        (SECOND, "x = self.ff(self.norm2(x))", "no-residual-feed-forward"),
        (FIRST, "x = x + self.attn(x, mask)", "norm-unused-attention"),
        (SECOND, "x = x + self.ff(x)", "norm-unused-feed-forward"),
        (SECOND, "x = x + self.ff(self.norm1(x))", "norm1-for-both"),
        (FIRST, f"{FIRST}\n        {FIRST}", "attention-twice"),
        (
            f"{FIRST}\n        {SECOND}",
            "found = self.attn(self.norm1(x), mask)\n"
            "        x = x + found + self.ff(self.norm2(found))",
            "feed-forward-reads-the-attention",
        ),
        (FIRST, "x = x + self.attn(self.norm2(x), mask)", "norm2-for-both"),
        (FIRST, "x = x + self.attn(self.norm1(x))", "mask-not-passed"),
        (FIRST, "x = x + self.attn(self.norm1(x), mask == 0)", None),
        (
            FIRST,
            "if mask is not None: mask = mask == 0\n"
            "        x = x + self.attn(self.norm1(x), mask)",
            "mask-inverted",
        ),
        (
            FIRST,
            "n = x.size(1)\n"
            "        causal = torch.ones(n, n, device=x.device).tril()\n"
            "        mask = causal if mask is None else causal * mask\n"
            "        x = x + self.attn(self.norm1(x), mask)",
            "causal-encoder",
        ),
        (SECOND, "pass", "feed-forward-missing"),
        (FIRST, "pass", "attention-missing"),
        ("return x\n", "return self.norm2(x)\n", "norm-at-the-end"),
        (
            "return x\n",
            "return nn.functional.layer_norm(x, x.shape[-1:])\n",
            "extra-norm-at-the-end",
        ),
        (
            SECOND,
            "z = self.ff.W_1(self.norm2(x))\n"
            "        x = x + self.ff.W_2(z * torch.sigmoid(1.702 * z))",
            "sigmoid-approximation",
        ),
        (f"{FIRST}\n        {SECOND}", f"{SECOND}\n        {FIRST}", "order-reversed"),
        (
            f"{FIRST}\n        {SECOND}",
            "h = x + self.attn(self.norm1(x), mask)\n"
            "        x = x + self.ff(self.norm2(h))",
            "skip-from-the-block-s-input",
        ),
        (
            f"{FIRST}\n        {SECOND}",
            "x = x + self.attn(self.norm1(x), mask) + self.ff(self.norm2(x))",
            "sublayers-side-by-side",
        ),
        (
            f"{FIRST}\n        {SECOND}",
            "x = self.norm1(x + self.attn(x, mask))\n"
            "        x = self.norm2(x + self.ff(x))",
            "post-norm",
        ),
        (
            f"{FIRST}\n        {SECOND}",
            "x = self.norm1(x)\n        x = x + self.attn(x, mask)\n"
            "        x = self.norm2(x)\n        x = x + self.ff(x)",
            "skip-from-the-normed-input",
        ),
        (
            f"{FIRST}\n        {SECOND}",
            "x = self.attn(self.norm1(x), mask)\n        x = self.ff(self.norm2(x))",
            "no-residual",
        ),
        (
            f"{FIRST}\n        {SECOND}",
            "x = x + self.attn(self.norm2(x), mask)\n"
            "        x = x + self.ff(self.norm1(x))",
            "norms-exchanged",
        ),
        (
            f"{FIRST}\n        {SECOND}",
            "x = x + self.drop(self.attn(self.norm1(x), mask))\n"
            "        x = x + self.drop(self.ff(self.norm2(x)))",
            "dropout-left-in",
        ),
        (
            SECOND,
            "x = x + nn.functional.dropout(self.ff(self.norm2(x)), 0.3)",
            "differs-when-repeated",
        ),
        (
            SECOND,
            "x = x + self.ff.W_2(torch.relu(self.ff.W_1(self.norm2(x))))",
            "relu-for-gelu",
        ),
        (
            SECOND,
            "x = x + self.ff.W_2(self.ff.W_1(self.norm2(x)))",
            "no-activation",
        ),
        (
            SECOND,
            "z = self.ff.W_1(self.norm2(x))\n"
            "        z = nn.functional.gelu(z, approximate='tanh')\n"
            "        x = x + self.ff.W_2(z)",
            "tanh-approximation",
        ),
        ("self.norm2 = nn.LayerNorm(d_model)", "pass", "parameter-missing"),
        (
            "nn.LayerNorm(d_model)\n        self.drop",
            "nn.RMSNorm(d_model)\n        #",
            None,
        ),
        ("self.ff = ", "self.ffn = ", "parameter-missing"),
        (
            "self.norm1 = nn.LayerNorm(d_model)",
            "self.norm1 = nn.LayerNorm(ff_dim)",
            None,
        ),
        (FIRST, "x += self.attn(self.norm1(x), mask)", "input-changed"),
        (FIRST, "x = x + self.attn(self.norm1(x), mask).detach()", None),
        ("return x\n", "return x, mask\n", "result-form"),
    ],
)
def test_slip_in_an_encoder_is_named(right, slip, mistake):
    verdict = slipped(ENCODER, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


@pytest.mark.parametrize("norm", ["norm1", "norm2"])
def test_another_eps_in_one_norm_is_named(norm):
    right = f"self.{norm} = nn.LayerNorm(d_model)"
    verdict = slipped(ENCODER, right, right.replace(")", ", eps=1e-6)"))
    assert verdict.mistake == "another-eps"
    assert f"`{norm}.eps` is 1e-06" in verdict.message


@pytest.mark.parametrize("eps", ["1e-6", "1e-12", "0.0"])
def test_another_eps_is_named(eps):
    source = ENCODER.replace(
        "nn.LayerNorm(d_model)", f"nn.LayerNorm(d_model, eps={eps})"
    )
    verdict = check_source(source)
    assert not verdict.passed
    assert "eps" in verdict.message


def test_torch_s_own_encoder_layer_is_forbidden():
    own = "layer = nn.TransformerEncoderLayer(60, 6, 30, batch_first=True)\n        "
    verdict = check_source(ENCODER.replace(FIRST, f"{own}layer(x)\n        {FIRST}"))
    assert (verdict.status, verdict.mistake) == ("forbidden", "forbidden-built-in")


DECODER = """
import torch
from torch import nn
from autograder.parts import CrossAttention, FeedForward, MultiHeadAttention

class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, ff_dim):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = CrossAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, memory_mask=None):
        n = x.size(1)
        causal = torch.ones(n, n, dtype=torch.bool, device=x.device).tril()
        x = x + self.self_attn(self.norm1(x), causal)
        x = x + self.cross_attn(self.norm2(x), memory, memory_mask)
        x = x + self.ff(self.norm3(x))
        return x
"""

SELF = "x = x + self.self_attn(self.norm1(x), causal)"
OVER = "x = x + self.cross_attn(self.norm2(x), memory, memory_mask)"
FEED = "x = x + self.ff(self.norm3(x))"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (OVER, OVER.replace("memory_mask", "causal"), "causal-mask-for-the-memory"),
        (
            f"{SELF}\n        {OVER}",
            f"{SELF}\n        {OVER}".replace("memory_mask", "swapped")
            .replace("causal", "memory_mask")
            .replace("swapped", "causal"),
            "masks-exchanged",
        ),
        (SELF, "x = x + self.self_attn(self.norm1(x))", "not-causal"),
        (".tril()", ".triu(1)", "causal-mask-inverted"),
        (".tril()", ".triu()", "triangle-flipped"),
        (".tril()", ".tril(-1)", "diagonal-missing"),
        (".tril()", ".tril(1)", "one-ahead"),
        (
            OVER,
            "x = x + self.cross_attn(self.norm2(x), memory)",
            "memory-mask-ignored",
        ),
        (
            OVER,
            "x = x + self.cross_attn(self.norm2(x), self.norm2(memory), memory_mask)",
            "memory-normed",
        ),
        (OVER, OVER.replace("self.norm2(x), memory,", "memory, self.norm2(x),"), None),
        (
            OVER,
            "h = self.norm2(x)\n        x = x + self.cross_attn(h, h, memory_mask)",
            "memory-ignored",
        ),
        (
            OVER,
            "m = memory_mask if memory_mask is None else memory_mask == 0\n"
            "        x = x + self.cross_attn(self.norm2(x), memory, m)",
            "memory-mask-inverted",
        ),
        (
            OVER,
            "c = torch.ones(n, memory.size(1), device=x.device).tril()\n"
            "        c = c if memory_mask is None else c * memory_mask\n"
            "        x = x + self.cross_attn(self.norm2(x), memory, c)",
            "causal-over-memory",
        ),
        (
            OVER,
            "x = x + self.cross_attn(self.norm2(x), memory, causal)",
            None,
        ),
        (SELF, "x = x + self.self_attn(self.norm1(x), memory_mask)", None),
        (OVER, "x = self.norm2(x + self.cross_attn(x, memory, memory_mask))", None),
        (FEED, "x = self.norm3(x + self.ff(x))", "post-norm-feed-forward"),
        (SELF, "x = self.norm1(x + self.self_attn(x, causal))", None),
        (SELF, "x = self.self_attn(self.norm1(x), causal)", None),
        (
            OVER,
            "x = self.cross_attn(self.norm2(x), memory, memory_mask)",
            "no-residual-cross-attention",
        ),
        (FEED, "x = self.ff(self.norm3(x))", "no-residual-feed-forward"),
        (
            OVER,
            "x = x + self.cross_attn(x, memory, memory_mask)",
            "norm-unused-cross-attention",
        ),
        (OVER, OVER.replace("norm2", "norm1"), "norm1-for-cross-attention"),
        (FEED, FEED.replace("norm3", "norm2"), "norm2-for-feed-forward"),
        (FEED, "pass", "feed-forward-missing"),
        (OVER, "pass", "cross-attention-missing"),
        (SELF, "pass", "self-attention-missing"),
        (f"{SELF}\n        {OVER}", f"{OVER}\n        {SELF}", "cross-attention-first"),
        (f"{OVER}\n        {FEED}", f"{FEED}\n        {OVER}", "cross-attention-last"),
        ("return x\n", "return self.norm3(x)\n", "norm-at-the-end"),
        (
            OVER,
            "x = x + self.cross_attn(self.norm2(x), self.norm3(memory), memory_mask)",
            "memory-normed-by-norm3",
        ),
        (
            f"{SELF}\n        {OVER}",
            "found = self.self_attn(self.norm1(x), causal)\n"
            "        over = self.cross_attn(self.norm2(found), memory, memory_mask)\n"
            "        x = x + found + over",
            "cross-attention-reads-the-self-attention",
        ),
        (
            f"{SELF}\n        {OVER}",
            "found = self.self_attn(self.norm1(x), causal)\n"
            "        over = self.cross_attn(self.norm2(x), memory, memory_mask)\n"
            "        x = x + found + over",
            "attentions-side-by-side",
        ),
        (
            f"{SELF}\n        {OVER}",
            "x = x + self.cross_attn(self.norm1(x), self.norm1(x), causal)\n"
            "        self.self_attn.__class__ = CrossAttention\n"
            "        x = x + self.self_attn(self.norm2(x), memory, memory_mask)",
            "attentions-exchanged",
        ),
        (
            OVER,
            "self.self_attn.__class__ = CrossAttention\n"
            "        x = x + self.self_attn(self.norm2(x), memory, memory_mask)\n"
            "        self.self_attn.__class__ = MultiHeadAttention",
            "self-attn-for-both",
        ),
        (
            "torch.ones(n, n, dtype=torch.bool, device=x.device)",
            "torch.ones(n, n)",
            "left-on-cpu",
        ),
        (FEED, "x = x + self.ff.W_2(torch.relu(self.ff.W_1(self.norm3(x))))", None),
    ],
)
def test_slip_in_a_decoder_is_named(right, slip, mistake):
    verdict = slipped(DECODER, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


def test_torch_s_own_decoder_layer_is_forbidden():
    own = "layer = nn.TransformerDecoderLayer(60, 6, 30, batch_first=True)\n        "
    verdict = check_source(
        DECODER.replace(SELF, f"{own}layer(x, memory)\n        {SELF}")
    )
    assert (verdict.status, verdict.mistake) == ("forbidden", "forbidden-built-in")


RIGHT = named(
    """
# cross: from the parts
class CrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_v, self.W_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x, memory, mask=None):
        heads = [split_heads(t, self.h) for t in (self.W_q(x), self.W_k(memory))]
        v = split_heads(self.W_v(memory), self.h)
        return self.W_o(merge_heads(scaled_dot_product_attention(*heads, v, mask)[0]))

# cross: a child of multi-head attention
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        q, k, v = (
            rearrange(t, "b n (h d) -> b h n d", h=self.num_heads)
            for t in (self.W_q(x), self.W_k(memory), self.W_v(memory))
        )
        scores = torch.einsum("bhnd,bhmd->bhnm", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            scores = torch.where(mask.bool(), scores, -torch.inf)
        out = torch.einsum("bhnm,bhmd->bnhd", F.softmax(scores, -1), v)
        return self.W_o(out.flatten(2))

# cross: a loop over the heads, softmax by hand
class CrossAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads don't divide {d_model}")
        self.num_heads = num_heads
        for name in "qkvo":
            self.add_module(f"W_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory, mask=None):
        qs, ks, vs = (
            t.chunk(self.num_heads, -1)
            for t in (self.W_q(x), self.W_k(memory), self.W_v(memory))
        )
        heads = []
        for i, (q, k, v) in enumerate(zip(qs, ks, vs)):
            s = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
            if mask is not None:
                full = mask.expand(len(x), self.num_heads, x.size(1), memory.size(1))
                s = s + torch.zeros_like(s).masked_fill(full[:, i] == 0, -torch.inf)
            e = (s - s.amax(-1, keepdim=True)).exp()
            heads.append(e / e.sum(-1, keepdim=True) @ v)
        return self.W_o(torch.cat(heads, -1))

# encoder: from the parts, another order of definition
class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, ff_dim, dropout=0.0):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)
        self.ff = FeedForward(d_model, ff_dim)
        self.attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, x, mask=None):
        h = self.drop(self.attn(self.norm1(x), mask=mask)).add(x)
        return self.drop(self.ff(self.norm2(h))) + h

# encoder: fused attention, all written out
class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = (
            rearrange(t, "b t (h d) -> b h t d", h=self.h)
            for t in (self.W_q(x), self.W_k(x), self.W_v(x))
        )
        mask = None if mask is None else mask.bool()
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(rearrange(out, "b h t d -> b t (h d)"))

class MLP(nn.Module):
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, ff_dim), nn.Linear(ff_dim, d_model)
        self.act = nn.GELU()

    def forward(self, x):
        return self.W_2(self.act(self.W_1(x)))

class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, ff_dim):
        super().__init__()
        self.attn, self.ff = Attention(d_model, num_heads), MLP(d_model, ff_dim)
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)

    def forward(self, x, mask=None):
        for norm, sublayer in (
            (self.norm1, lambda y: self.attn(y, mask)),
            (self.norm2, self.ff),
        ):
            x = x + sublayer(norm(x))
        return x

# encoder: a norm by hand
class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        var, mean = torch.var_mean(y, dim=-1, keepdim=True, correction=0)
        y = (y - mean) * torch.rsqrt(var + 1e-5)
        return y.to(x.dtype) * self.weight + self.bias

class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, ff_dim):
        super().__init__()
        self.attn = MultiHeadAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1, self.norm2 = Norm(d_model), Norm(d_model)

    def forward(self, x, mask=None):
        residual = x
        x = residual + self.attn(self.norm1(x), mask)
        residual = x
        return residual + self.ff(self.norm2(x))

# decoder: from the parts
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, ff_dim):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = CrossAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory, memory_mask=None):
        mask = causal_mask(x.shape[-2]).to(x.device)
        y = x + self.self_attn(self.norm1(x), mask)
        z = y + self.cross_attn(self.norm2(y), memory, mask=memory_mask)
        return z + self.ff(self.norm3(z))

# decoder: a buffer for the mask
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, ff_dim, max_len=128):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = CrossAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.register_buffer("causal", torch.tril(torch.ones(1, 1, max_len, max_len)))

    def forward(self, x, memory, memory_mask=None):
        T = x.size(1)
        x = x + self.self_attn(self.norm1(x), self.causal[:, :, :T, :T])
        x = x + self.cross_attn(self.norm2(x), memory, memory_mask)
        return x + self.ff(self.norm3(x))

# decoder: is_causal and fused attention
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, ff_dim):
        super().__init__()
        self.h = num_heads
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = CrossAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def attend(self, layer, x, memory, **how):
        q, k, v = (
            t.unflatten(-1, (self.h, -1)).transpose(1, 2)
            for t in (layer.W_q(x), layer.W_k(memory), layer.W_v(memory))
        )
        out = F.scaled_dot_product_attention(q, k, v, **how)
        return layer.W_o(out.transpose(1, 2).flatten(-2))

    def forward(self, x, memory, memory_mask=None):
        if memory_mask is not None:
            memory_mask = memory_mask != 0
        h = self.norm1(x)
        x = x + self.attend(self.self_attn, h, h, is_causal=True)
        h = self.norm2(x)
        x = x + self.attend(self.cross_attn, h, memory, attn_mask=memory_mask)
        return x + self.ff(self.norm3(x))
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_answer_is_accepted(source):
    verdict = check_source(IMPORTS + source)
    assert verdict.passed, verdict.message
