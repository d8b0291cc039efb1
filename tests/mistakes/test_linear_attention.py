"""Chapter 12, FLOPs and linear attention: slips are named, right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped


def counted(signature, body):
    return check_source(f"def {signature}:\n    return {body}\n")


ATTENTION = "attention_flops(n, d_model)"
FEED_FORWARD = "feed_forward_flops(n, ff_dim, d_model)"


@pytest.mark.parametrize(
    ("signature", "body", "mistake"),
    [
        (ATTENTION, "4 * n * d_model + 8 * n * d_model**2", "pairs-linear-in-n"),
        (ATTENTION, "2 * n**2 * d_model + 4 * n * d_model**2", "multiply-adds-once"),
        (ATTENTION, "2 * n**2 * d_model + 8 * n * d_model**2", "scores-or-sum-only"),
        (ATTENTION, "4 * n**2 * d_model + 6 * n * d_model**2", "w-o-forgotten"),
        (ATTENTION, "4 * n**2 * d_model", "projections-left-out"),
        (ATTENTION, "8 * n * d_model**2", "pairs-left-out"),
        (ATTENTION, "4 * n**2 * d_model + 8 * n * d_model", "projections-linear-in-c"),
        (ATTENTION, "4 * d_model**2 * n + 8 * d_model * n**2", None),
        (
            ATTENTION,
            "4 * n**2 * d_model + 8 * n * d_model**2 + 16 * n * d_model**2",
            "feed-forward-too",
        ),
        (ATTENTION, "f'{4 * n**2 * d_model + 8 * n * d_model**2}'", None),
        (FEED_FORWARD, "2 * n * d_model * ff_dim", "multiply-adds-once"),
        (FEED_FORWARD, "4 * d_model * ff_dim", "one-token-only"),
        (FEED_FORWARD, "16 * n * d_model**2", "four-times-assumed"),
        (FEED_FORWARD, "6 * n * d_model * ff_dim", "three-products"),
        (FEED_FORWARD, "4 * n * (d_model + ff_dim)", "sizes-added"),
        (FEED_FORWARD, "4 * n**2 * d_model * ff_dim", "square-in-n"),
        (FEED_FORWARD, "4 * n * d_model**2", "square-in-features"),
    ],
)
def test_a_wrong_count_is_named(signature, body, mistake):
    verdict = counted(signature, body)
    assert not verdict.passed
    if mistake is not None:
        assert verdict.mistake == mistake, verdict.message


@pytest.mark.parametrize(
    ("signature", "body"),
    [
        (ATTENTION, "4 * n * d_model * (n + 2 * d_model)"),
        (ATTENTION, "2.0 * (2 * n * n * d_model) + 4 * (2 * n * d_model**2)"),
        (ATTENTION, "sum([2 * n * d_model * d_model] * 4 + [2 * n * n * d_model] * 2)"),
        (FEED_FORWARD, "2 * (2 * n * d_model * ff_dim)"),
        (FEED_FORWARD, "2 * n * d_model * ff_dim + 2 * n * ff_dim * d_model"),
    ],
)
def test_a_right_count_in_another_form_is_accepted(signature, body):
    verdict = counted(signature, body)
    assert verdict.passed, verdict.message


LINEAR = """
import torch
import torch.nn.functional as F

def linear_attention(Q, K, V):
    q = F.elu(Q) + 1
    k = F.elu(K) + 1
    kv = torch.einsum("...nd,...ne->...nde", k, V).cumsum(dim=-3)
    z = k.cumsum(dim=-2)
    top = torch.einsum("...nd,...nde->...ne", q, kv)
    bottom = (q * z).sum(-1, keepdim=True)
    return top / bottom
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("q = F.elu(Q) + 1", "q = F.elu(Q)", None),
        ("q = F.elu(Q) + 1", "q = Q", "queries-not-mapped"),
        ("k = F.elu(K) + 1", "k = K", "keys-not-mapped"),
        (
            "q = F.elu(Q) + 1\n    k = F.elu(K)",
            "q = F.relu(Q)\n    k = F.relu(K)",
            None,
        ),
        (
            "q = F.elu(Q) + 1\n    k = F.elu(K) + 1",
            "q = F.elu(Q)\n    k = F.elu(K)",
            "elu-without-one",
        ),
        (
            "q = F.elu(Q) + 1\n    k = F.elu(K) + 1",
            "q = F.elu(Q + 1)\n    k = F.elu(K + 1)",
            "elu-of-x-plus-one",
        ),
        (
            "q = F.elu(Q) + 1\n    k = F.elu(K) + 1",
            "q = Q.softmax(-1)\n    k = K.softmax(-1)",
            "softmax-of-features",
        ),
        ("return top / bottom", "return top", "never-divided"),
        (".cumsum(dim=-3)", ".sum(dim=-3, keepdim=True).expand_as(kv)", None),
        (
            "z = k.cumsum(dim=-2)",
            "z = k.sum(dim=-2, keepdim=True)",
            "denominator-over-all",
        ),
        ("bottom = (q * z)", "bottom = (q * (z - k) + 1e-9)", None),
        (
            "return top / bottom",
            "return top / torch.arange(1, Q.shape[-2] + 1, device=Q.device)[:, None]"
            ".to(Q)",
            "divided-by-count",
        ),
        ("q = F.elu(Q) + 1", "q = F.elu(Q / Q.shape[-1] ** 0.5) + 1", "scaled"),
        (
            "return top / bottom",
            "w = (q @ k.mT).tril(); return w @ V / w.sum(-1, keepdim=True)",
            "n-by-n-weights",
        ),
        ("dim=-3)\n    z = k.cumsum(dim=-2)", "1)\n    z = k.cumsum(1)", None),
    ],
)
def test_slip_in_linear_attention_is_named(right, slip, mistake):
    verdict = slipped(LINEAR, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake, verdict.message


WRONG = named(
    """
# past-summed-anew
def linear_attention(Q, K, V):
    q, k, rows = F.elu(Q) + 1, F.elu(K) + 1, []
    for t in range(Q.shape[-2]):
        w = q[..., t : t + 1, :] @ k[..., : t + 1, :].mT
        rows.append(w @ V[..., : t + 1, :] / w.sum(-1, keepdim=True))
    return torch.cat(rows, -2)

# future-seen
def linear_attention(Q, K, V):
    q, k = F.elu(Q) + 1, F.elu(K) + 1
    return q @ (k.mT @ V) / (q @ k.sum(-2).unsqueeze(-1))

# softmax-attention
def linear_attention(Q, K, V):
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=Q.device).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(-1) @ V
"""
)

GIVEN = "import torch\nimport torch.nn.functional as F\n\n"


@pytest.mark.parametrize("mistake", WRONG)
def test_another_way_of_going_wrong_is_named(mistake):
    verdict = check_source(GIVEN + WRONG[mistake])
    assert verdict.mistake == mistake, verdict.message


RIGHT = named(
    """
# a running state, position by position
def linear_attention(Q, K, V):
    B, h, n, d = Q.shape
    q, k = F.elu(Q) + 1, F.elu(K) + 1
    S = Q.new_zeros(B, h, d, V.shape[-1])
    z = Q.new_zeros(B, h, d)
    out = []
    for t in range(n):
        S = S + k[:, :, t, :, None] * V[:, :, t, None, :]
        z = z + k[:, :, t]
        out.append((q[:, :, t, None] @ S)[:, :, 0] / (q[:, :, t] * z).sum(-1, True))
    return torch.stack(out, dim=2)

# chunks of 64
def linear_attention(Q, K, V, chunk=64):
    q, k = (torch.where(x > 0, x + 1, x.exp()) for x in (Q, K))
    V = torch.cat([V, torch.ones_like(V[..., :1])], -1)
    S, out = 0, []
    for a, b, c in zip(*(x.split(chunk, -2) for x in (q, k, V))):
        y = (a @ b.transpose(-1, -2)).tril() @ c
        if len(out):
            y = y + a @ S
        out.append(y)
        S = S + b.transpose(-1, -2) @ c
    y = torch.cat(out, dim=-2)
    return y[..., :-1] / y[..., -1:]

# in place, and joined step by step
def linear_attention(Q, K, V):
    q, k = F.elu(Q).add_(1), F.elu(K).add_(1)
    out, S, z = None, 0, 0
    for t in range(Q.shape[-2]):
        S = S + k[..., t, :].unsqueeze(-1) @ V[..., t, :].unsqueeze(-2)
        z = z + k[..., t : t + 1, :]
        one = q[..., t : t + 1, :]
        new = one @ S / ((one * z).sum(-1, keepdim=True) + 1e-6)
        out = new if out is None else torch.cat([out, new], dim=-2)
    return out
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_linear_attention_is_accepted(source):
    verdict = check_source(GIVEN + source)
    assert verdict.passed, verdict.message
