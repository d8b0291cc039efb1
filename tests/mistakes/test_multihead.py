"""Chapter 3, its layer: slips are caught and named, unusual right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

MULTI_HEAD = """
import math
import torch
from torch import nn
from torch.nn import functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        q, k, v = (t.view(B, T, self.num_heads, self.d_k) for t in (q, k, v))
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(B, T, C)
        return self.W_o(out)
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (" / math.sqrt(self.d_k)", "", "unscaled-scores"),
        ("math.sqrt(self.d_k)", "self.d_k", "divided-by-d_k"),
        ("/ math.sqrt(self.d_k)", "* math.sqrt(self.d_k)", "multiplied-by-root"),
        ("math.sqrt(self.d_k)", "math.sqrt(C)", "divided-by-root-d_model"),
        ("math.sqrt(self.d_k)", "math.sqrt(T)", "divided-by-root-of-keys"),
        (
            "math.sqrt(self.d_k)",
            "math.sqrt(self.num_heads)",
            "divided-by-root-of-heads",
        ),
        ("q @ k.transpose(-2, -1)", "k @ q.mT", "queries-and-keys-exchanged"),
        ("dim=-1", "dim=-2", "softmax-over-queries"),
        ("dim=-1", "dim=1", "softmax-over-axis-1"),
        ("dim=-1", "dim=0", "softmax-over-axis-0"),
        ("torch.softmax(scores, dim=-1)", "scores", "no-softmax"),
        ("mask == 0", "mask == 1", "mask-inverted"),
        ("mask is not None", "False", "mask-ignored"),
        ('float("-inf")', "0.0", "blocked-scores-zero"),
        ('float("-inf")', "-1e9", "blocked-too-low-for-half"),
        ("mask == 0", "mask.unsqueeze(1) == 0", "mask-given-an-axis"),
        ("(weights @ v).transpose(1, 2)", "(weights @ v)", "joined-by-reshape"),
        (
            "(weights @ v).transpose(1, 2)",
            "(weights @ v).transpose(2, 3)",
            "joined-from-wrong-axes",
        ),
        (".reshape(B, T, C)", ".view(B, T, C)", "view-after-transpose"),
        (
            "(weights @ v).transpose(1, 2)",
            "(weights @ v).permute(0, 2, 3, 1)",
            "joined-dealt-out",
        ),
        ("weights @ v", "weights.mT @ v", "weights-transposed"),
        ("weights @ v", "weights @ k", "v-from-w-k"),
        ("self.W_v(x)", "self.W_k(x)", "v-from-w-k"),
        ("self.W_k(x)", "self.W_q(x)", "k-from-w-q"),
        ("q, k, v = self.W_q(x)", "q, v, k = self.W_q(x)", "k-and-v-exchanged"),
        ("mask == 0", "mask.mT == 0", "mask-transposed"),
        ('float("-inf")', "-10.0", "blocked-scores-not-low-enough"),
        (
            "q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)",
            "q = k = v = self.W_q(x)",
            "one-matrix-for-all",
        ),
        ("return self.W_o(out)", "return out", "no-output-projection"),
        (
            "return self.W_o(out)",
            "return self.W_o(self.W_o(out))",
            "output-projection-twice",
        ),
        ("return self.W_o(out)", "return self.W_o(out) + x", "input-added"),
        ("return self.W_o(out)", "return self.W_o(out), weights", "result-form"),
        ("return self.W_o(out)", "self.W_o(out)", "returns-nothing"),
        (
            "weights = torch.softmax(scores, dim=-1)",
            "weights = F.dropout(torch.softmax(scores, dim=-1), 0.1)",
            "dropout-left-in",
        ),
        (
            "if mask is not None:",
            "hidden = torch.ones_like(scores[0, 0]).triu(1).bool()\n"
            "        scores = scores.masked_fill(hidden, float('-inf'))\n"
            "        if mask is not None:",
            "causal-always",
        ),
        (
            "if mask is not None:",
            "scores = scores + torch.zeros(T, T, dtype=x.dtype)\n"
            "        if mask is not None:",
            "left-on-cpu",
        ),
        ("B, T, C = x.shape", "x.mul_(2).sub_(1)\n        B, T, C = x.shape", None),
        ("self.W_v(x)", "self.W_v(x).detach()", "wrong-gradient"),
        ("nn.Linear(d_model, d_model)\n\n", "nn.Identity()\n\n", "parameter-missing"),
        (
            "self.W_o = nn.Linear(d_model, d_model)",
            "self.W_o = nn.Linear(d_model, d_model, bias=False)",
            "parameter-missing",
        ),
        ("self.num_heads = num_heads", "self.num_heads = d_model", None),
        (
            "self.W_q = nn.Linear(d_model, d_model)",
            "self.W_q = nn.Linear(d_model, self.d_k)",
            "parameter-shape",
        ),
        # What the heads are folded into, and in which order.
        (
            "mask == 0",
            "mask.expand(B, 1, T, T).repeat(self.num_heads, 1, 1, 1)"
            ".view(B, self.num_heads, T, T) == 0",
            "mask-tiled-over-the-heads",
        ),
        (
            "weights @ v",
            "(weights @ v).transpose(0, 1).reshape(B, self.num_heads, T, -1)",
            "unfolded-in-the-other-order",
        ),
        (
            "weights @ v",
            "(weights @ v).reshape(self.num_heads, B, T, -1).transpose(0, 1)",
            "unfolded-heads-first",
        ),
        (
            "q, k, v = (t.view(B, T, self.num_heads, self.d_k) for t in (q, k, v))\n",
            "q, k, v = torch.cat((q, k, v), -1).view(B, T, self.num_heads, -1)"
            ".chunk(3, -1)\n",
            "projections-cut-by-head",
        ),
        ('float("-inf")', "1e9", "blocked-scores-very-high"),
        ('float("-inf")', 'float("inf")', "blocked-infinite"),
        ("dim=-1)", "dim=-1).softmax(-1)", "softmax-twice"),
        ("d_model % num_heads != 0", "False", "not-refused"),
        ("raise ValueError", "raise TypeError", "wrong-exception"),
    ],
)
def test_slip_in_the_layer_is_named(right, slip, mistake):
    assert slipped(MULTI_HEAD, right, slip).mistake == mistake


CUT = "t.view(B, T, self.num_heads, self.d_k)"
MOVED = "t.transpose(1, 2)"
JOIN = "(weights @ v).transpose(1, 2).reshape(B, T, C)"


@pytest.mark.parametrize(
    ("slips", "mistakes"),
    [
        (
            {CUT: "t.view(B, self.num_heads, T, self.d_k)", MOVED: "t"},
            ["cut-by-view"],
        ),
        (
            {
                CUT: "t.view(B, T, self.d_k, self.num_heads)",
                MOVED: "t.permute(0, 3, 1, 2)",
            },
            ["features-dealt-out"],
        ),
        (
            {
                MOVED: "t.reshape(B, self.num_heads, T, self.d_k)",
                CUT: "t.transpose(1, 2)",
            },
            ["reshaped-after-transposing"],
        ),
        (
            {MOVED: "t", JOIN: "(weights @ v).reshape(B, T, C)"},
            ["heads-attend-to-each-other"],
        ),
        (
            {
                CUT: "t.view(B, self.num_heads, T, self.d_k)",
                MOVED: "t",
                JOIN: "(weights @ v).reshape(B, T, C)",
            },
            ["cut-by-view", "joined-by-reshape"],
        ),
        (
            {" / math.sqrt(self.d_k)": "", "mask == 0": "mask != 0"},
            ["unscaled-scores", "mask-inverted"],
        ),
        (
            {"math.sqrt(self.d_k)": "math.sqrt(C)", "self.W_o(out)": "out"},
            ["divided-by-root-d_model", "no-output-projection"],
        ),
    ],
)
def test_slips_in_two_places_are_named(slips, mistakes):
    source = MULTI_HEAD
    for right, slip in slips.items():
        assert source.count(right) == 1
        source = source.replace(right, slip)
    verdict = check_source(source)
    assert [found.mistake for found in verdict.diagnosis] == mistakes


def test_positions_in_front_of_the_batch_are_named():
    source = MULTI_HEAD.replace("B, T, C = x.shape", "T, B, C = x.shape")
    source = source.replace(CUT, "t.view(T, B, self.num_heads, self.d_k)")
    source = source.replace(MOVED, "t.permute(1, 2, 0, 3)")
    joined = "(weights @ v).permute(2, 0, 1, 3).reshape(T, B, C)"
    verdict = check_source(source.replace(JOIN, joined))
    assert (verdict.status, verdict.mistake) == ("failed", "batch-taken-for-positions")


def test_an_attribute_under_another_name_is_missed():
    verdict = check_source(MULTI_HEAD.replace("self.num_heads", "self.heads"))
    assert (verdict.status, verdict.mistake) == ("failed", "attribute-not-kept")


@pytest.mark.parametrize(
    "call",
    [
        "F.scaled_dot_product_attention(q, k, v, mask)",
        "nn.MultiheadAttention(C, self.num_heads, batch_first=True)(x, x, x)[0]",
    ],
)
def test_torch_s_own_attention_is_forbidden(call):
    used = MULTI_HEAD.replace(
        "        scores =",
        "        mask = None if mask is None else mask != 0\n"
        f"        used = {call}\n        scores =",
    )
    verdict = check_source(used)
    assert (verdict.status, verdict.mistake) == ("forbidden", "forbidden-built-in")


FUSED = """
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.W_qkv = nn.Linear(d_model, 3 * d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        return self.W_o(self.W_qkv(x).chunk(3, dim=-1)[2])
"""


def test_a_fused_projection_is_told_which_names_are_asked_for():
    verdict = check_source(FUSED)
    assert verdict.mistake == "parameter-missing"
    assert "`W_q.weight`" in verdict.message
    assert "`W_qkv.weight`" in verdict.message


IMPORTS = """
import math
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import einsum, rearrange, repeat

"""

LAYERS = """
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        assert d_model % num_heads == 0, "heads must divide d_model"
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("tril", torch.tril(torch.ones(64, 64)))
        self.last_weights = None

    def projected(self, x):
        return self.W_q(x), self.W_k(x), self.W_v(x)
"""


def test_a_mistake_is_named_in_a_module_with_a_parameter_of_its_own():
    own = "self.scale = nn.Parameter(torch.ones(1))\n        self.W_q"
    source = MULTI_HEAD.replace("self.W_q", own, 1)
    verdict = slipped(source, "/ math.sqrt(self.d_k)", "* self.scale")
    assert verdict.mistake == "unscaled-scores"


RIGHT = named(
    """
# layer: from the parts
class MultiHeadAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        from autograder.parts import merge_heads, split_heads
        from autograder.parts import scaled_dot_product_attention as attend

        q, k, v = (split_heads(t, self.num_heads) for t in self.projected(x))
        out, self.last_weights = attend(q, k, v, mask)
        return self.W_o(merge_heads(self.dropout(out)))

# layer: a loop over the heads
class MultiHeadAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        q, k, v = (t.chunk(self.num_heads, dim=-1) for t in self.projected(x))
        if mask is not None:
            mask = mask.bool().expand(x.size(0), self.num_heads, x.size(1), x.size(1))
        heads = []
        for i in range(self.num_heads):
            scores = q[i] @ k[i].mT / math.sqrt(self.d_head)
            if mask is not None:
                scores = scores.masked_fill(~mask[:, i], float("-inf"))
            heads.append(scores.softmax(-1) @ v[i])
        return self.W_o(torch.cat(heads, dim=-1))

# layer: one product for q, k and v
class MultiHeadAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        parts = self.W_q, self.W_k, self.W_v
        weight = torch.cat([part.weight for part in parts])
        bias = torch.cat([part.bias for part in parts])
        qkv = F.linear(x, weight, bias)
        qkv = rearrange(qkv, "b t (p h d) -> p b h t d", p=3, h=self.num_heads)
        q, k, v = qkv.unbind(0)
        s = torch.einsum("bhid,bhjd->bhij", q, k) * self.d_head**-0.5
        if mask is not None:
            s = torch.where(mask > 0, s, -torch.inf)
        return self.W_o(rearrange(s.softmax(-1) @ v, "b h t d -> b t (h d)"))

# layer: heads behind the positions throughout
class MultiHeadAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.num_heads, -1) for t in self.projected(x))
        scores = torch.einsum("bihd,bjhd->bhij", q, k) / self.d_head**0.5
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), -torch.inf)
        out = torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v)
        return self.W_o(out.reshape(B, T, C))

# layer: each head's own part of W_o, added up
class MultiHeadAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        q, k, v = (
            rearrange(t, "b t (h d) -> h b t d", h=self.num_heads)
            for t in self.projected(x)
        )
        scores = q @ k.mT * self.d_head**-0.5
        if mask is not None:
            mask = mask.expand(x.shape[0], self.num_heads, x.shape[1], x.shape[1])
            scores = scores.masked_fill(mask.transpose(0, 1) == 0, -torch.inf)
        heads = scores.softmax(-1) @ v
        parts = rearrange(self.W_o.weight, "c (h d) -> h d c", h=self.num_heads)
        return (heads @ parts[:, None]).sum(0) + self.W_o.bias

# layer: heads folded into the batch, an additive mask
class MultiHeadAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        B, T, C = x.shape
        h, d = self.num_heads, self.d_head
        q, k, v = (
            t.view(B, T, h, d).transpose(1, 2).reshape(B * h, T, d)
            for t in self.projected(x)
        )
        bias = x.new_zeros(B * h, T, T)
        if mask is not None:
            blocked = mask.expand(B, h, T, T).reshape(B * h, T, T) == 0
            bias = bias.masked_fill(blocked, torch.finfo(x.dtype).min)
        scores = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=d**-0.5)
        out = torch.bmm(scores.softmax(dim=-1), v)
        return self.W_o(out.view(B, h, T, d).transpose(1, 2).contiguous().view(B, T, C))

# layer: positions in front inside
class MultiHeadAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        T, B, C = x.shape[1], x.shape[0], x.shape[2]
        y = x.transpose(0, 1)
        q, k, v = (
            t.reshape(T, B * self.num_heads, self.d_head).transpose(0, 1)
            for t in self.projected(y)
        )
        scores = (q / self.d_head**0.5 @ k.mT).view(B, self.num_heads, T, T)
        if mask is not None:
            nothing = torch.zeros_like(scores)
            scores = scores + nothing.masked_fill(mask == 0, -torch.inf)
        out = scores.softmax(-1).view(-1, T, T) @ v
        return self.W_o(out.transpose(0, 1).reshape(T, B, C)).transpose(0, 1)

# layer: softmax by hand, in float32
class MultiHeadAttention(nn.Module):
    LAYERS

    def forward(self, x, mask=None):
        q, k, v = (
            rearrange(t, "b t (h d) -> b h t d", h=self.num_heads).float()
            for t in self.projected(x)
        )
        scores = einsum(q, k, "b h i d, b h j d -> b h i j") / math.sqrt(self.d_head)
        weights = (scores - scores.amax(-1, keepdim=True)).exp()
        if mask is not None:
            weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True)
        out = rearrange(weights @ v, "b h t d -> b t (h d)")
        return self.W_o(out.to(x.dtype)).to(x.dtype)
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_answer_is_accepted(source):
    verdict = check_source(IMPORTS + source.replace("    LAYERS", LAYERS))
    assert verdict.passed, verdict.message
