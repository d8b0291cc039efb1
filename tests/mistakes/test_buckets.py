"""Chapter 4, T5's buckets and their bias: slips named, unusual answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

BUCKETS = """
import math
import torch

def relative_position_bucket(
    distance, num_buckets=32, max_distance=128, bidirectional=True
):
    start = torch.zeros_like(distance)
    a = -distance
    if bidirectional:
        num_buckets //= 2
        start = (a < 0).long() * num_buckets
        a = a.abs()
    else:
        a = a.clamp(min=0)
    half = num_buckets // 2
    grown = torch.log(a.clamp(min=1) / half) / math.log(max_distance / half)
    far = half + (grown * (num_buckets - half)).long()
    far = far.clamp(max=num_buckets - 1)
    return start + torch.where(a < half, a, far)
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("a = -distance", "a = distance", "sign-reversed"),
        ("(a < 0)", "(a > 0)", "upper-half-for-earlier-keys"),
        ("(a < 0)", "(a <= 0)", "zero-in-the-upper-half"),
        ("start = (a < 0).long() * num_buckets", "pass", "later-keys-not-apart"),
        ("num_buckets //= 2", "pass", "each-direction-all-buckets"),
        (".long() * num_buckets", ".long() * 2 * num_buckets", "offset-not-halved"),
        ("a.clamp(min=0)", "a.abs()", "later-keys-by-distance"),
        ("a.clamp(min=0)", "(-a).clamp(min=0)", "earlier-keys-all-zero"),
        ("a = a.clamp(min=0)", "pass", "one-way-negative"),
        ("if bidirectional", "if True", "always-both-ways"),
        ("if bidirectional", "if False", "never-both-ways"),
        ("if bidirectional", "if not bidirectional", "bidirectional-inverted"),
        ("bidirectional=True", "bidirectional=False", "one-way-by-default"),
        ("log(max_distance /", "log(128 /", "max-distance-ignored"),
        ("* (num_buckets - half)", "* num_buckets", "widths-of-all-buckets"),
        ("(num_buckets - half)", "(half - 1)", "widths-one-too-few"),
        ("far = half + (", "far = (", "far-buckets-without-offset"),
        ("far = half + (", "far = half + 1 + (", "rounded-up"),
        (".long()\n    far", ".round().long()\n    far", "rounded"),
        ("num_buckets - 1", "num_buckets", "capped-at-n"),
        ("num_buckets - 1", "10**6", "not-capped"),
        (
            "num_buckets // 2\n    g",
            "num_buckets // 4\n    g",
            "exact-buckets-quartered",
        ),
        ("log(max_distance / half)", "log(max_distance)", None),
        ("a.clamp(min=1) / half", "a.clamp(min=1)", "log-of-distance-not-relative"),
        ("torch.log(a", "torch.log2(a", "logarithms-mixed"),
        ("a < half, a, far", "a < num_buckets, a, far", None),
        ("return start +", "return 1.0 * start +", "floats-returned"),
        ("a = -distance", "a = distance.neg_()", "input-changed"),
    ],
)
def test_slip_in_the_buckets_is_named(right, slip, mistake):
    verdict = slipped(BUCKETS, right, slip)
    assert mistake is None or verdict.mistake == mistake


def test_another_default_is_described():
    verdict = slipped(BUCKETS, "num_buckets=32", "num_buckets=64")
    told = "`num_buckets` and `max_distance` are left out; by default 32 and 128"
    assert told in verdict.message


RIGHT_BUCKETS = named("""
# one distance at a time
import math
import torch

def relative_position_bucket(
    distance, num_buckets=32, max_distance=128, bidirectional=True
):
    def one(d):
        N, start = num_buckets, 0
        if bidirectional:
            N = num_buckets // 2
            start = N if d > 0 else 0
        a = abs(d) if bidirectional else max(0, -d)
        half = N // 2
        if a < half:
            return start + a
        grown = math.log(a / half, max_distance / half)
        return start + min(half + math.floor(grown * half), N - 1)

    buckets = [one(d) for d in distance.flatten().tolist()]
    return torch.tensor(buckets, device=distance.device).view(distance.shape)

# the buckets' edges, searched
import torch

def relative_position_bucket(
    distance, num_buckets=32, max_distance=128, bidirectional=True
):
    N = num_buckets // 2 if bidirectional else num_buckets
    half = N // 2
    a = distance.abs() if bidirectional else -distance.clamp(max=0)
    edges = list(range(1, half))
    edges += [half * (max_distance / half) ** (k / half) for k in range(half)]
    edges = torch.tensor(edges, dtype=torch.float64, device=distance.device)
    buckets = torch.bucketize(a.double(), edges, right=True)
    return buckets + N * (distance > 0) if bidirectional else buckets

# int32, differences of logarithms
import math
import torch

def relative_position_bucket(
    distance, num_buckets=32, max_distance=128, bidirectional=True
):
    N = num_buckets // 2 if bidirectional else num_buckets
    half = N // 2
    a = distance.abs() if bidirectional else torch.relu(-distance)
    grown = torch.log2(a.float().clamp(min=half)) - math.log2(half)
    far = half + (grown / math.log2(max_distance / half) * half).int()
    buckets = torch.where(a < half, a, torch.minimum(far, torch.tensor(N - 1)))
    if bidirectional:
        buckets = buckets + torch.where(distance > 0, N, 0)
    return buckets.int()
""")


@pytest.mark.parametrize("name", RIGHT_BUCKETS)
def test_unusual_buckets_are_accepted(name):
    verdict = check_source(RIGHT_BUCKETS[name])
    assert verdict.passed, verdict.message


BIAS = (
    BUCKETS
    + """
from torch import nn

class RelativePositionBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, bidirectional=True):
        super().__init__()
        self.sizes = (num_buckets, max_distance, bidirectional)
        self.bias = nn.Embedding(num_buckets, num_heads)

    def forward(self, n, m):
        device = self.bias.weight.device
        query = torch.arange(n, device=device)[:, None]
        key = torch.arange(m, device=device)[None, :]
        index = relative_position_bucket(key - query, *self.sizes)
        return self.bias(index).permute(2, 0, 1).unsqueeze(0)
"""
)


def test_right_bias_is_accepted():
    verdict = check_source(BIAS)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("key - query", "query - key", "distance-reversed"),
        ("key - query", "(key - query).abs()", "distances-absolute"),
        ("key - query", "key - 0 * query", "positions-for-distances"),
        (", *self.sizes)", ")", "arguments-not-handed-on"),
        ("*self.sizes", "*self.sizes[:1]", "max-distance-not-handed-on"),
        ("*self.sizes", "*self.sizes[:2]", "bidirectional-not-handed-on"),
        (".permute(2, 0, 1)", "", "heads-last-with-batch"),
        (".permute(2, 0, 1).unsqueeze(0)", "", "heads-last"),
        ("permute(2, 0, 1)", "permute(2, 1, 0)", "queries-along-columns"),
        (".unsqueeze(0)", "", "batch-axis-missing"),
        (".permute(2, 0, 1).unsqueeze(0)", ".view(1, -1, n, m)", "heads-by-reshape"),
        ("torch.arange(n,", "torch.arange(m - n, m,", "queries-at-the-end"),
        ("forward(self, n, m)", "forward(self, m, n)", "n-and-m-exchanged"),
        ("self.bias(index)", "self.bias(index).detach()", "bias-cut-off"),
        ("self.bias(index)", "self.bias.weight.data[index]", "bias-cut-off"),
        ("self.bias(index)", "-self.bias(index)", "bias-negative"),
        ("device = self.bias.weight.device", "device = 'cpu'", "left-on-cpu"),
        ("nn.Embedding(num_buckets, num_heads)", "nn.Embedding(32, num_heads)", None),
        (
            "nn.Embedding(num_buckets, num_heads)",
            "nn.Embedding(num_heads, num_buckets)",
            "parameter-shape",
        ),
        ("* (num_buckets - half)", "* num_buckets", "widths-of-all-buckets"),
    ],
)
def test_slip_in_the_bias_is_named(right, slip, mistake):
    verdict = slipped(BIAS, right, slip)
    assert mistake is None or verdict.mistake == mistake


def test_one_way_by_default_is_named():
    verdict = slipped(
        BIAS,
        "bidirectional=True):\n        super",
        "bidirectional=False):\n        super",
    )
    assert verdict.mistake == "one-way-by-default"


def test_each_distance_looked_up_once_is_accepted():
    verdict = check_source(
        BIAS.replace(
            "index = relative_position_bucket(key - query, *self.sizes)",
            "line = torch.arange(1 - n, m, device=device)\n"
            "        row = relative_position_bucket(line, *self.sizes)\n"
            "        index = row[key - query + n - 1]",
        )
    )
    assert verdict.passed, verdict.message
