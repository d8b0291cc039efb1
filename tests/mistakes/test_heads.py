"""Chapter 3, its functions: slips are named, unusual right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

SPLIT = """
def split_heads(x, num_heads):
    B, T, C = x.shape
    if C % num_heads != 0:
        raise ValueError(f"{C} is not divisible by {num_heads}")
    return x.view(B, T, num_heads, C // num_heads).transpose(1, 2)
"""

MERGE = """
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, h * d_k)
"""

REPEAT = """
import torch

def repeat_kv(x, groups):
    B, h, T, d = x.shape
    return x.repeat_interleave(groups, dim=1)
"""

COUNT = """
def attention_parameters(d_model, num_heads, num_kv_heads=None, bias=True):
    if num_kv_heads is None:
        num_kv_heads = num_heads
    d_k = d_model // num_heads
    q = d_model * d_model
    k = v = d_model * num_kv_heads * d_k
    o = d_model * d_model
    b = d_model + num_kv_heads * d_k + num_kv_heads * d_k + d_model
    return q + k + v + o + (b if bias else 0)
"""

RETURN = "x.view(B, T, num_heads, C // num_heads).transpose(1, 2)"


@pytest.mark.parametrize(
    ("slip", "mistake"),
    [
        ("x.view(B, num_heads, T, C // num_heads)", "cut-by-view"),
        ("x.reshape(B, num_heads, -1, C // num_heads)", "cut-by-view"),
        ("x.view(B, T, num_heads, C // num_heads)", "heads-not-moved"),
        ("x.view(B, T, -1, num_heads).permute(0, 3, 1, 2)", "features-dealt-out"),
        ("x.view(B, T, -1, num_heads).transpose(1, 2)", "slices-of-num-heads"),
        (
            "x.transpose(1, 2).reshape(B, num_heads, T, C // num_heads)",
            "reshaped-after-transposing",
        ),
        ("x.transpose(1, 2).reshape(B, num_heads, -1, T)", "positions-last"),
        (
            "x.view(B, T, num_heads, C // num_heads).permute(0, 2, 3, 1)",
            "positions-last",
        ),
        (
            "x.view(B, T, num_heads, C // num_heads).permute(2, 0, 1, 3)",
            "heads-before-batch",
        ),
        (
            "x.view(B, T, num_heads, -1).transpose(1, 2).flatten(0, 1)",
            "folded-into-batch",
        ),
        ("x.reshape(B * num_heads, -1, C // num_heads)", "cut-by-view"),
        ("list(x.chunk(num_heads, dim=-1))", "result-form"),
        ("x.chunk(num_heads, dim=-1)[0]", "wrong-shape"),
        ("x.view(B, num_heads, T // num_heads, C)", None),
        (
            "x.detach().view(B, T, num_heads, C // num_heads).transpose(1, 2)",
            "no-gradient",
        ),
    ],
)
def test_slip_in_cutting_is_named(slip, mistake):
    assert slipped(SPLIT, RETURN, slip).mistake == mistake


def test_a_cut_by_view_is_shown_on_one_short_sequence():
    verdict = slipped(SPLIT, RETURN, "x.view(B, num_heads, T, C // num_heads)")
    assert verdict.example.inputs[-1] == ("num_heads", "2")
    assert verdict.example.title.startswith("two positions, C = 2")


def test_features_that_are_silently_dropped_are_named():
    verdict = check_source(
        """
        import torch

        def split_heads(x, num_heads):
            d = x.shape[-1] // num_heads
            return torch.stack(x[..., : d * num_heads].split(d, dim=-1), dim=1)
        """
    )
    assert (verdict.status, verdict.mistake) == ("failed", "features-dropped")


@pytest.mark.parametrize(
    "body",
    [
        "x.view(*x.shape[:2], num_heads, -1).transpose(1, 2)",  # raises, but not this
        "rearrange(x, 'b t (h d) -> b h t d', h=num_heads)",
    ],
)
def test_another_exception_than_asked_for_is_named(body):
    verdict = check_source(
        f"from einops import rearrange\ndef split_heads(x, num_heads):\n"
        f"    return {body}\n"
    )
    assert (verdict.status, verdict.mistake) == ("failed", "wrong-exception")


JOINED = "x.transpose(1, 2).contiguous().view(B, T, h * d_k)"


@pytest.mark.parametrize(
    ("slip", "mistake"),
    [
        ("x.reshape(B, T, h * d_k)", "joined-by-reshape"),
        ("x.contiguous().view(B, T, -1)", "joined-by-reshape"),
        ("x.transpose(1, 2).view(B, T, h * d_k)", "view-after-transpose"),
        ("x.transpose(2, 3).reshape(B, T, h * d_k)", "joined-from-wrong-axes"),
        ("x.permute(0, 2, 3, 1).reshape(B, T, -1)", "joined-dealt-out"),
        ("x.transpose(1, 2)", "not-joined"),
        ("x.mean(dim=1)", "heads-averaged"),
        ("x.sum(1)", "heads-added-up"),
        ("x.reshape(B, h * T, d_k)", "joined-along-positions"),
        ("x.flatten(1, 2)", "joined-along-positions"),
        ("x[:, 0]", "wrong-shape"),
        ("x.transpose(1, 2).flatten(2).detach()", "no-gradient"),
        ("x.permute(0, 2, 1, 3).reshape(T, B, h * d_k)", "wrong-shape"),
    ],
)
def test_slip_in_joining_is_named(slip, mistake):
    assert slipped(MERGE, JOINED, slip).mistake == mistake


@pytest.mark.parametrize(
    ("slip", "mistake"),
    [
        ("x.repeat(1, groups, 1, 1)", "tiled-heads"),
        ("torch.cat([x] * groups, dim=1)", "tiled-heads"),
        (
            "x[:, None].expand(B, groups, h, T, d).reshape(B, h * groups, T, d)",
            "tiled-heads",
        ),
        ("x", "not-repeated"),
        ("x.repeat_interleave(groups + 1, dim=1)", "one-copy-too-many"),
        ("x.repeat_interleave(groups, dim=2)", "positions-repeated"),
        ("x.repeat(1, 1, groups, 1)", "positions-tiled"),
        ("x.repeat_interleave(groups, dim=0)", "batch-repeated"),
        ("x.repeat(groups, 1, 1, 1)", "batch-tiled"),
        ("x.repeat_interleave(groups, dim=-1)", "features-repeated"),
        ("x[:, :, None].expand(B, h, groups, T, d)", "group-axis-left"),
        (
            "x[:, :, None].expand(B, h, groups, T, d).view(B, h * groups, T, d)",
            "view-after-expand",
        ),
        ("x.repeat_interleave(groups)", "flattened"),
        ("x.expand(B, h * groups, T, d)", None),
        ("x.repeat_interleave(h * groups, dim=1)", "wrong-shape"),
        ("x.repeat_interleave(groups, dim=1).detach()", "no-gradient"),
    ],
)
def test_slip_in_repeating_is_named(slip, mistake):
    right = "x.repeat_interleave(groups, dim=1)"
    assert slipped(REPEAT, right, slip).mistake == mistake


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            "k = v = d_model * num_kv_heads * d_k",
            "k = v = d_model**2",
            "kv-matrices-of-full-width",
        ),
        (
            "k = v = d_model * num_kv_heads * d_k\n",
            "num_kv_heads = num_heads; k = v = d_model**2\n",
            "kv-heads-ignored",
        ),
        ("k = v = d_model * num_kv_heads * d_k", "k = v = 2 * d_model", "wrong-value"),
        ("d_k = d_model // num_heads", "d_k = 1", "kv-width-without-d_k"),
        ("num_kv_heads = num_heads", "num_kv_heads = 1", "multi-query-by-default"),
        (
            "k = v = d_model * num_kv_heads * d_k\n    o = d_model * d_model\n"
            "    b = d_model + num_kv_heads * d_k",
            "k = d_model * num_kv_heads * d_k\n    v = o = d_model * d_model\n"
            "    b = d_model + d_model",
            "one-of-two-shrunk",
        ),
        ("o = d_model * d_model", "o = 0", "output-matrix-forgotten"),
        (
            "q = d_model * d_model\n    k = v = d_model * num_kv_heads * d_k",
            "q = num_heads * d_k * d_k\n    k = v = num_kv_heads * d_k * d_k",
            "heads-read-slices",
        ),
        ("v = d_model * num_kv_heads * d_k", "v = 0", "wrong-value"),
        (
            "return q + k + v + o + (b if bias else 0)",
            "return q + k + o + (2 * d_model + num_kv_heads * d_k if bias else 0)",
            "values-forgotten",
        ),
        ("o = d_model * d_model", "o = k", "output-matrix-shrunk"),
        ("(b if bias else 0)", "0", "biases-forgotten"),
        ("(b if bias else 0)", "b", "bias-ignored"),
        ("(b if bias else 0)", "(4 * d_model if bias else 0)", "biases-of-full-width"),
        ("num_kv_heads * d_k + d_model", "num_kv_heads * d_k", "output-bias-forgotten"),
        (
            "return q + k + v + o + (b if bias else 0)",
            "return num_heads * (q + k + v + o + (b if bias else 0))",
            "times-the-heads",
        ),
        ("d_k = d_model // num_heads", "d_k = d_model / num_heads", "float-result"),
        ("num_kv_heads is None", "False", None),  # a TypeError, and its line
        ("return q + k", "return None and q + k", "returns-nothing"),
        ("return q + k", "return 2 * q + k", "wrong-value"),
    ],
)
def test_slip_in_counting_is_named(right, slip, mistake):
    assert slipped(COUNT, right, slip).mistake == mistake


def test_four_matrices_of_the_smaller_width_are_named():
    verdict = check_source(
        """
        def attention_parameters(d_model, num_heads, num_kv_heads=None, bias=True):
            kv_dim = d_model // num_heads * (num_kv_heads or num_heads)
            return 4 * kv_dim * (d_model + bias)
        """
    )
    assert verdict.mistake == "all-four-shrunk"


def test_a_width_divided_by_the_wrong_heads_is_named():
    verdict = check_source(
        """
        def attention_parameters(d_model, num_heads, num_kv_heads=None, bias=True):
            kv_dim = d_model // (num_kv_heads or num_heads)
            return 2 * (d_model + kv_dim) * (d_model + bias)
        """
    )
    assert verdict.mistake == "kv-width-upside-down"


IMPORTS = """
import math
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import einsum, rearrange, repeat

"""

RIGHT = named(
    """
# split: unflatten
def split_heads(x, num_heads):
    assert x.size(-1) % num_heads == 0
    return x.unflatten(-1, (num_heads, -1)).movedim(2, 1)

# split: reshape and permute
def split_heads(x, num_heads):
    B, T, C = x.shape
    d_k, rest = divmod(C, num_heads)
    if rest:
        raise ValueError(rest)
    return x.reshape(B, T, num_heads, d_k).permute(0, 2, 1, 3).contiguous()

# split: a loop over slices
def split_heads(x, num_heads):
    d_k = x.shape[-1] / num_heads
    if d_k != int(d_k):
        raise ValueError("not divisible")
    d_k = int(d_k)
    heads = []
    for i in range(num_heads):
        heads.append(x[:, :, i * d_k : (i + 1) * d_k])
    return torch.stack(heads, 1)

# split: filled in place
def split_heads(x, num_heads):
    B, T, C = x.shape
    if C % num_heads:
        raise ValueError("not divisible")
    out = torch.empty(B, num_heads, T, C // num_heads, dtype=x.dtype, device=x.device)
    for i, part in enumerate(x.chunk(num_heads, dim=-1)):
        out[:, i] = part
    return out

# split: einsum with a selector
def split_heads(x, num_heads):
    if x.shape[2] % num_heads:
        raise AssertionError("not divisible")
    eye = torch.eye(x.shape[2], dtype=x.dtype, device=x.device)
    eye = eye.view(x.shape[2], num_heads, -1)
    return torch.einsum("btc,chd->bhtd", x, eye)

# split: other names, a keyword more
def split_heads(tensor, heads, *, strict=True):
    if strict and tensor.shape[-1] % heads:
        raise ValueError("not divisible")
    return rearrange(tensor, "b t (h d) -> b h t d", h=heads)

# merge: flatten
def merge_heads(x):
    return x.transpose(1, 2).flatten(-2)

# merge: permute and reshape
def merge_heads(x):
    batch, heads, length, width = x.size()
    return x.permute(0, 2, 1, 3).reshape(batch, length, heads * width)

# merge: cat
def merge_heads(x):
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1)

# merge: einops
def merge_heads(heads):
    return rearrange(heads, "b h t d -> b t (h d)")

# merge: from the back
def merge_heads(x):
    return rearrange(x.swapaxes(-3, -2), "... h d -> ... (h d)")

# merge: hstack of tokens
def merge_heads(x):
    tokens = [x[:, :, t].reshape(x.shape[0], -1) for t in range(x.shape[2])]
    return torch.stack(tokens, dim=1)

# repeat: einops
def repeat_kv(x, groups):
    return repeat(x, "b h t d -> b (h g) t d", g=groups)

# repeat: expand and reshape
def repeat_kv(x, groups):
    if groups == 1:
        return x
    B, h, T, d = x.shape
    return x[:, :, None].expand(B, h, groups, T, d).reshape(B, h * groups, T, d)

# repeat: an index
def repeat_kv(x, groups):
    return x[:, torch.arange(x.shape[1] * groups, device=x.device) // groups]

# repeat: stack and flatten
def repeat_kv(x, n_rep):
    return torch.stack([x] * n_rep, dim=2).flatten(1, 2)

# repeat: cat of each head
def repeat_kv(x, groups):
    return torch.cat([head for head in x.split(1, dim=1) for _ in range(groups)], dim=1)

# repeat: index_select
def repeat_kv(x, groups):
    order = [i for i in range(x.size(1)) for _ in range(groups)]
    return x.index_select(1, torch.tensor(order, device=x.device))

# repeat: tiled, then reordered
def repeat_kv(x, groups):
    B, h, T, d = x.shape
    tiled = x.repeat(1, groups, 1, 1).view(B, groups, h, T, d)
    return tiled.transpose(1, 2).reshape(B, -1, T, d)

# count: in one formula
def attention_parameters(d_model, num_heads, num_kv_heads=None, bias=True):
    kv = d_model * (num_kv_heads or num_heads) // num_heads
    return 2 * (d_model + int(bias)) * (d_model + kv)

# count: layers that are counted
def attention_parameters(d_model, num_heads, num_kv_heads=None, bias=True):
    kv = (num_kv_heads or num_heads) * (d_model // num_heads)
    with torch.device("meta"):
        layers = [nn.Linear(d_model, n, bias) for n in (d_model, kv, kv, d_model)]
    return sum(p.numel() for layer in layers for p in layer.parameters())

# count: head by head
def attention_parameters(d_model, num_heads, num_kv_heads=None, bias=True):
    if num_kv_heads is None:
        num_kv_heads = num_heads
    d_k, total = d_model // num_heads, 0
    for _ in range(num_heads):
        total += d_model * d_k + (d_k if bias else 0)
    for _ in range(2 * num_kv_heads):
        total += d_model * d_k + (d_k if bias else 0)
    total += d_model**2
    if bias:
        total += d_model
    return total

# count: floats rounded back
def attention_parameters(d_model, num_heads, num_kv_heads=None, bias=True):
    share = 1 if num_kv_heads is None else num_kv_heads / num_heads
    total = 2 * d_model**2 * (1 + share) + bias * 2 * d_model * (1 + share)
    return int(round(total))
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_answer_is_accepted(source):
    verdict = check_source(IMPORTS + source)
    assert verdict.passed, verdict.message
