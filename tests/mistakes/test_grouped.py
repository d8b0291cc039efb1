"""Chapter 3, shared keys and values: slips named, unusual right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

GROUPED = """
import math
import torch
from torch import nn

class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("the heads don't divide")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.d_k = d_model // num_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d_k)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q = self.W_q(x).view(B, T, self.num_heads, self.d_k).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.num_kv_heads, self.d_k).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.num_kv_heads, self.d_k).transpose(1, 2)
        groups = self.num_heads // self.num_kv_heads
        k = k.repeat_interleave(groups, dim=1)
        v = v.repeat_interleave(groups, dim=1)
        scores = q @ k.mT / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, C))
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            "k = k.repeat_interleave(groups, dim=1)\n"
            "        v = v.repeat_interleave(groups, dim=1)",
            "k, v = k.repeat(1, groups, 1, 1), v.repeat(1, groups, 1, 1)",
            "tiled-heads",
        ),
        (
            "k = k.repeat_interleave(groups, dim=1)",
            "k = k.repeat(1, groups, 1, 1)",
            "keys-tiled",
        ),
        (
            "v = v.repeat_interleave(groups, dim=1)",
            "v = torch.cat([v] * groups, dim=1)",
            "values-tiled",
        ),
        (
            "k = k.repeat_interleave(groups, dim=1)\n"
            "        v = v.repeat_interleave(groups, dim=1)",
            "k, v = k[:, :1], v[:, :1]",
            "first-head-for-all",
        ),
        (
            "q = self.W_q(x).view(B, T, self.num_heads, self.d_k).transpose(1, 2)",
            "q = self.W_q(x).view(B, T, -1, self.num_kv_heads, self.d_k)"
            ".transpose(2, 3).flatten(2, 3).transpose(1, 2)",
            None,  # the queries, too, are dealt out to the groups
        ),
        ("v = v.repeat_interleave(groups, dim=1)", "pass", "not-repeated"),
        ("self.W_v(x)", "self.W_k(x)", "v-from-w-k"),
        (
            "v = v.repeat_interleave(groups, dim=1)",
            "v = v.repeat_interleave(groups, dim=1)\n"
            "        q = q.view(B, -1, groups, T, self.d_k).mean(2, keepdim=True)"
            ".expand(-1, -1, groups, -1, -1).reshape(B, -1, T, self.d_k)",
            "queries-averaged",
        ),
        (
            "math.sqrt(self.d_k)",
            "math.sqrt(self.num_kv_heads * self.d_k)",
            "divided-by-root-of-kv-width",
        ),
        (" / math.sqrt(self.d_k)", "", "unscaled-scores"),
        ("math.sqrt(self.d_k)", "math.sqrt(C)", "divided-by-root-d_model"),
        ("dim=-1", "dim=-2", "softmax-over-queries"),
        ("mask == 0", "mask == 1", "mask-inverted"),
        ("mask is not None", "False", "mask-ignored"),
        ("out.transpose(1, 2).reshape", "out.reshape", "joined-by-reshape"),
        (
            "out.transpose(1, 2).reshape",
            "out.transpose(1, 2).view",
            "view-after-transpose",
        ),
        (
            "return self.W_o(out.transpose(1, 2).reshape(B, T, C))",
            "return out.transpose(1, 2).reshape(B, T, C)",
            "no-output-projection",
        ),
        (
            "self.W_k = nn.Linear(d_model, num_kv_heads * self.d_k)",
            "self.W_k = nn.Linear(d_model, d_model)",
            "parameter-shape",
        ),
        (
            "self.W_k = nn.Linear(d_model, num_kv_heads * self.d_k)",
            "self.W_k = nn.Linear(d_model, d_model // num_kv_heads)",
            "parameter-shape",
        ),
        (" or num_heads % num_kv_heads", "", "not-refused"),
        ("d_model % num_heads or ", "", "not-refused"),
    ],
)
def test_slip_in_sharing_is_named(right, slip, mistake):
    assert slipped(GROUPED, right, slip).mistake == mistake


def test_a_full_width_key_projection_is_called_too_wide():
    wide = GROUPED.replace("num_kv_heads * self.d_k", "d_model")
    assert "too wide" in check_source(wide).message


IMPORTS = """
import math
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import einsum, rearrange, repeat

"""

LAYERS = """
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if num_heads % num_kv_heads:
            raise ValueError("num_kv_heads must divide num_heads")
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads, self.kv = num_heads, num_kv_heads
        self.d_head = d_model // num_heads
        self.W_q, self.W_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        shared = num_kv_heads * self.d_head
        self.W_k, self.W_v = nn.Linear(d_model, shared), nn.Linear(d_model, shared)
"""

RIGHT = named(
    """
# grouped: an axis for the group, no copies
class GroupedQueryAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        q = rearrange(self.W_q(x), "b t (k g d) -> b k g t d", k=self.kv, d=self.d_head)
        k = rearrange(self.W_k(x), "b t (k d) -> b k t d", k=self.kv)
        v = rearrange(self.W_v(x), "b t (k d) -> b k t d", k=self.kv)
        s = einsum(q, k, "b k g i d, b k j d -> b k g i j") / self.d_head**0.5
        if mask is not None:
            mask = mask.expand(x.shape[0], self.num_heads, x.shape[1], x.shape[1])
            mask = rearrange(mask, "b (k g) i j -> b k g i j", k=self.kv)
            s = s.masked_fill(mask == 0, -torch.inf)
        out = einsum(s.softmax(-1), v, "b k g i j, b k j d -> b k g i d")
        return self.W_o(rearrange(out, "b k g t d -> b t (k g d)"))

# grouped: a loop over the key/value heads
class GroupedQueryAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        B, T, C = x.shape
        wide = C // self.kv
        out = []
        for i in range(self.kv):
            q = self.W_q(x)[..., i * wide : (i + 1) * wide]
            q = q.unflatten(-1, (-1, self.d_head))
            k = self.W_k(x).unflatten(-1, (self.kv, -1))[:, :, i]
            v = self.W_v(x).unflatten(-1, (self.kv, -1))[:, :, i]
            s = torch.einsum("bigd,bjd->bgij", q, k) / math.sqrt(self.d_head)
            if mask is not None:
                g = q.shape[2]
                own = mask.expand(B, self.num_heads, T, T)[:, i * g : (i + 1) * g]
                s = s.masked_fill(own == 0, -torch.inf)
            out.append(torch.einsum("bgij,bjd->bigd", s.softmax(-1), v).flatten(2))
        return self.W_o(torch.cat(out, dim=-1))

# grouped: wider matrices instead of repeated heads
class GroupedQueryAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        g = self.num_heads // self.kv
        rows = torch.arange(self.num_heads, device=x.device) // g * self.d_head
        rows = (rows[:, None] + torch.arange(self.d_head, device=x.device)).flatten()
        k, v = (F.linear(x, W.weight[rows], W.bias[rows]) for W in (self.W_k, self.W_v))
        cut = partial(rearrange, pattern="b t (h d) -> b h t d", h=self.num_heads)
        q, k, v = cut(self.W_q(x)), cut(k), cut(v)
        s = q @ k.mT * self.d_head**-0.5
        if mask is not None:
            s = s.masked_fill(mask < 1, -1e4)
        return self.W_o((s.softmax(-1) @ v).transpose(1, 2).flatten(2))

# grouped: from the parts
class GroupedQueryAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        from autograder.parts import merge_heads, repeat_kv, split_heads
        from autograder.parts import scaled_dot_product_attention as attend

        groups = self.num_heads // self.kv
        q = split_heads(self.W_q(x), self.num_heads)
        k = repeat_kv(split_heads(self.W_k(x), self.kv), groups)
        v = repeat_kv(split_heads(self.W_v(x), self.kv), groups)
        return self.W_o(merge_heads(attend(q, k, v, mask)[0]))
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_answer_is_accepted(source):
    verdict = check_source(IMPORTS + source.replace("    LAYERS", LAYERS))
    assert verdict.passed, verdict.message
