"""Chapter 4, ALiBi: slips are caught and named, unusual right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

SLOPES = """
import math
import torch

def alibi_slopes(num_heads):
    p = 2 ** math.floor(math.log2(num_heads))
    k = torch.arange(1, p + 1)
    own = 2.0 ** (-8 * k / p)
    if p == num_heads:
        return own
    between = alibi_slopes(2 * p)[0::2][: num_heads - p]
    return torch.cat([own, between])
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("torch.arange(1, p + 1)", "torch.arange(p)", "slopes-from-1"),
        ("2 ** math.floor(math.log2(num_heads))", "num_heads", "formula-for-every-h"),
        ("[0::2]", "[1::2]", "every-second-from-the-second"),
        ("[0::2]", "", "not-every-second"),
        ("[: num_heads - p]", "", "not-cut-to-h"),
        ("[own, between]", "[between, own]", "in-between-first"),
        (
            "torch.cat([own, between])",
            "torch.cat([own, between]).sort(descending=True).values",
            "slopes-sorted",
        ),
        ("-8 * k", "8 * k", "exponent-positive"),
        ("-8 * k / p", "-k / p", "exponent-without-8"),
        ("-8 * k / p", "-k.float()", "halved-each-head"),
        ("-8 * k / p", "-8.0 * k", "not-divided-by-h"),
        ("2.0 ** (-8 * k / p)", "8.0 ** (-k / p)", "base-8"),
        ("2.0 ** (-8 * k / p)", "torch.exp(-8 * k / p)", "base-e"),
        ("2.0 ** (-8 * k / p)", "-(2.0 ** (-8 * k / p))", "slopes-negative"),
        ("2.0 ** (-8 * k / p)", "2.0 ** (-8 * k.double() / p)", "float64"),
    ],
)
def test_slip_in_the_slopes_is_named(right, slip, mistake):
    assert slipped(SLOPES, right, slip).mistake == mistake


WRONG_SLOPES = named("""
# next-power-cut-off
import math
import torch

def alibi_slopes(num_heads):
    p = 2 ** math.ceil(math.log2(num_heads))
    return torch.tensor([2 ** (-8 * (k + 1) / p) for k in range(num_heads)])

# slopes-of-8-heads
import torch

def alibi_slopes(num_heads):
    return torch.tensor([2.0**-k for k in range(1, num_heads + 1)])

# continued-beyond-p
import math
import torch

def alibi_slopes(num_heads):
    p = 2 ** int(math.log2(num_heads))
    return torch.tensor([2 ** (-8 * (k + 1) / p) for k in range(num_heads)])

# slopes-linear
import torch

def alibi_slopes(num_heads):
    return torch.linspace(1 / 2, 1 / 256, num_heads)

# a-list-returned
import math

def alibi_slopes(num_heads):
    p = 2 ** int(math.log2(num_heads))
    slopes = [2 ** (-8 * (k + 1) / p) for k in range(p)]
    return (slopes + [2 ** (-4 * (k + 1) / p) for k in range(0, 2 * p, 2)])[:num_heads]
""")


@pytest.mark.parametrize("mistake", WRONG_SLOPES)
def test_wrong_slopes_are_named(mistake):
    assert check_source(WRONG_SLOPES[mistake]).mistake == mistake


RIGHT_SLOPES = named("""
# ratios multiplied up
import math
import torch

def alibi_slopes(num_heads):
    def of(n):
        first = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [first * first**i for i in range(n)]

    if math.log2(num_heads).is_integer():
        return torch.tensor(of(num_heads))
    p = 2 ** math.floor(math.log2(num_heads))
    return torch.tensor(of(p) + of(2 * p)[0::2][: num_heads - p])

# numpy and bits
import numpy as np
import torch

def alibi_slopes(num_heads):
    p = 1 << (num_heads.bit_length() - 1)
    own = 0.5 ** (8 * np.arange(1, p + 1) / p)
    between = 0.5 ** (4 * np.arange(1, 2 * p, 2) / p)
    slopes = np.concatenate([own, between])[:num_heads]
    return torch.from_numpy(slopes).to(torch.float32)
""")


@pytest.mark.parametrize("name", RIGHT_SLOPES)
def test_unusual_slopes_are_accepted(name):
    verdict = check_source(RIGHT_SLOPES[name])
    assert verdict.passed, verdict.message


BIAS = (
    SLOPES
    + """

def alibi_bias(num_heads, n):
    i = torch.arange(n)
    back = i[:, None] - i[None, :]
    slopes = alibi_slopes(num_heads)[:, None, None]
    bias = -slopes * back.clamp(min=0)
    return bias
"""
)


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("bias = -slopes", "bias = slopes", "bias-positive"),
        ("back.clamp(min=0)", "back", "later-keys-positive"),
        ("-slopes * back.clamp(min=0)", "slopes * back", "later-keys-rewarded"),
        ("back.clamp(min=0)", "back.abs()", "symmetric"),
        ("back.clamp(min=0)", "(-back).clamp(min=0)", "transposed"),
        ("back.clamp(min=0)", "(back + 1).clamp(min=0)", "distance-from-1"),
        ("back.clamp(min=0)", "back.clamp(min=0) ** 2", "distance-squared"),
        ("back.clamp(min=0)", "(back > 0)", "distance-of-1-only"),
        ("return bias", "return bias.masked_fill(back < 0, -1e9)", None),
        (
            "return bias",
            "return bias.masked_fill(back < 0, float('-inf'))",
            "later-keys-masked",
        ),
        ("-slopes * back.clamp(min=0)", "slopes * i.expand(n, n)", None),
        ("-slopes *", "-torch.ones_like(slopes) *", "slopes-unused"),
        ("-slopes *", "-1 / slopes *", "divided-by-slopes"),
        ("return bias", "return bias.permute(1, 2, 0)", "heads-last"),
        ("return bias", "return bias[None]", "batch-axis-added"),
        ("return bias", "return bias.double()", "bias-float64"),
        ("return bias", "return bias.long()", "wrong-dtype"),
        ("torch.arange(1, p + 1)", "torch.arange(p)", "slopes-from-1"),
        ("2 ** math.floor(math.log2(num_heads))", "num_heads", "formula-for-every-h"),
    ],
)
def test_slip_in_the_bias_is_named(right, slip, mistake):
    verdict = slipped(BIAS, right, slip)
    assert mistake is None or verdict.mistake == mistake


@pytest.mark.parametrize(
    ("usual", "unusual"),
    [
        ("-slopes * back.clamp(min=0)", "-(slopes * back).tril()"),
        ("-slopes * back.clamp(min=0)", "slopes * back.T.clamp(max=0)"),
        (
            "-slopes * back.clamp(min=0)",
            "torch.einsum('hij,ij->hij', -slopes.expand(-1, n, n), back.relu() * 1.0)",
        ),
        (
            "return bias",
            "out = torch.zeros(num_heads, n, n)\n"
            "    for q in range(n):\n"
            "        for k in range(q):\n"
            "            out[:, q, k] = alibi_slopes(num_heads) * (k - q)\n"
            "    return out",
        ),
    ],
)
def test_unusual_bias_is_accepted(usual, unusual):
    verdict = check_source(BIAS.replace(usual, unusual))
    assert verdict.passed, verdict.message
