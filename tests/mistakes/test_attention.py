"""Chapter 2: slips are caught and named, unusual right answers are accepted."""

import pytest

from tests.mistakes.answers import check_source, named

PROJECT = """
def project_qkv(x, W_q, W_k, W_v):
    Q = x @ W_q
    K = x @ W_k
    V = x @ W_v
    return Q, K, V
"""

SCORES = """
def attention_scores(Q, K):
    d_k = Q.size(-1)
    return Q @ K.transpose(-2, -1) / d_k ** 0.5
"""

ATTENTION = """
import torch

def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    output = weights @ V
    return output, weights
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("V = x @ W_v", "V = x @ W_k", "v-from-w-k"),
        ("V = x @ W_v", "V = x @ W_q", "v-from-w-q"),
        ("K = x @ W_k", "K = x @ W_q", "k-from-w-q"),
        ("return Q, K, V", "return K, Q, V", "q-and-k-exchanged"),
        ("return Q, K, V", "return Q, V, K", "k-and-v-exchanged"),
        ("return Q, K, V", "return V, K, Q", "q-and-v-exchanged"),
        ("Q = x @ W_q", "Q = x @ W_q / W_q.shape[1] ** 0.5", "scaled-already"),
        ("Q = x @ W_q", "Q = x @ W_q / x.shape[-1] ** 0.5", "divided-by-root-c"),
        ("return Q, K, V", "return Q, K", "result-form"),
        ("return Q, K, V", "return {'Q': Q, 'K': K, 'V': V}", "result-form"),
        ("    return Q, K, V", "    Q, K, V", "returns-nothing"),
        ("Q = x @ W_q", "Q = (x @ W_q).detach()", "wrong-gradient"),
        ("Q = x @ W_q", "x *= 1.0; x += 1; x -= 1; Q = x @ W_q", "input-changed"),
        ("Q = x @ W_q", "Q = (x @ W_q).double()", "wrong-dtype"),
    ],
)
def test_slip_in_the_projection_is_named(right, slip, mistake):
    assert PROJECT.count(right) == 1  # else the row would test nothing
    verdict = check_source(PROJECT.replace(right, slip))
    assert (verdict.status, verdict.mistake) == ("failed", mistake)


@pytest.mark.parametrize(
    ("source", "mistake"),
    [
        ("return tuple(x @ W.T for W in (W_q, W_k, W_v))", "weight-transposed"),
        (
            "return F.linear(x, W_q), F.linear(x, W_k), F.linear(x, W_v)",
            "weight-transposed",
        ),
        ("return x * W_q, x * W_k, x * W_v", "multiplied-by-place"),
        ("Q = K = V = x @ W_q\n    return Q, K, V", "one-matrix-for-all"),
        ("return x @ W_q, x @ W_k, x", "v-not-projected"),
        ("return [F.relu(x @ W) for W in (W_q, W_k, W_v)]", "negatives-dropped"),
        ("return x @ torch.cat([W_q, W_k, W_v], -1)", "result-form"),
        (
            "both = x @ torch.cat([W_q, W_k, W_v], -1)\n"
            "    return both.unflatten(-1, (-1, 3)).unbind(-1)",
            "projections-interleaved",
        ),
    ],
)
def test_wrong_projection_is_named(source, mistake):
    head = "import torch\nfrom torch.nn import functional as F\n"
    verdict = check_source(f"{head}def project_qkv(x, W_q, W_k, W_v):\n    {source}\n")
    assert not verdict.passed
    assert verdict.mistake == mistake


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("Q @ K.mT", "unscaled-scores"),
        ("Q @ K.mT / Q.shape[-1]", "divided-by-d_k"),
        ("(Q / Q.size(-1) ** 0.5) @ (K / K.size(-1) ** 0.5).mT", "divided-by-d_k"),
        ("Q @ K.mT / Q.size(-1) ** -0.5", "multiplied-by-root"),
        ("Q @ K.mT * math.sqrt(Q.size(-1))", "multiplied-by-root"),
        ("Q @ K.mT / Q.size(-1) ** 1 / 2", "divided-by-twice-d_k"),
        ("Q @ K.mT / math.isqrt(Q.size(-1))", "root-cut-to-an-integer"),
        ("Q @ K.mT / (Q.size(-1) ** 0.5 // 1)", "root-cut-to-an-integer"),
        ("Q @ K.mT / 8", "divided-by-8"),
        ("Q @ K.mT / 3.5", "constant-factor"),
        ("Q @ K.mT / math.sqrt(K.size(-2))", "divided-by-root-of-keys"),
        ("Q @ K.mT / math.sqrt(Q.size(-2))", "divided-by-root-of-queries"),
        ("Q @ K.mT / math.sqrt(Q.size(1))", "divided-by-root-of-axis-1"),
        ("K @ Q.mT / math.sqrt(Q.size(-1))", "queries-and-keys-exchanged"),
        (
            "torch.einsum('...nd,...md->...mn', Q, K) / math.sqrt(Q.size(-1))",
            "queries-and-keys-exchanged",
        ),
        (
            "Q @ K.reshape(*K.shape[:-2], K.size(-1), K.size(-2)) / K.size(-1) ** .5",
            "reshaped-not-transposed",
        ),
        (
            "Q @ K.contiguous().view(*K.shape[:-2], -1, K.size(-2)) / K.size(-1) ** .5",
            "reshaped-not-transposed",
        ),
        ("Q @ K.permute(*reversed(range(K.dim()))) / 2", "all-axes-reversed"),
        ("Q @ K.transpose(1, 2) / Q.size(-1) ** .5", "axes-counted-from-the-front"),
        ("Q @ K.transpose(0, 1) / Q.size(-1) ** .5", "first-axes-transposed"),
        ("(Q @ K.mT / Q.size(-1) ** .5).softmax(-1)", "softmax-already"),
        ("torch.softmax(Q @ K.mT / Q.size(-1) ** .5, dim=-1)", "softmax-already"),
        (
            "Q / Q.norm(dim=-1, keepdim=True) @ (K / K.norm(dim=-1, keepdim=True)).mT",
            "cosine",
        ),
        (
            "Q @ K.mT / (Q.size(-1) // 2)",
            "divided-by-half-d_k",
        ),  # right for d_k = 4 alone
        ("Q @ K.mT / math.log2(Q.size(-1))", "constant-factor"),
        ("Q @ K.mT / Q.norm()", "constant-factor"),
        ("Q * K / Q.size(-1) ** .5", None),
        ("torch.matmul(Q, K) / Q.size(-1) ** .5", None),
        ("torch.cdist(Q, K) / Q.size(-1) ** .5", None),
        ("torch.dot(Q, K) / Q.size(-1) ** .5", None),
        ("Q.detach() @ K.mT / Q.size(-1) ** .5", "no-gradient"),
        ("Q.div_(Q.size(-1) ** .5) @ K.mT", "input-changed"),
        ("(Q @ K.mT / Q.size(-1) ** .5).float()", "wrong-dtype"),
        (
            "torch.from_numpy(Q.numpy() @ K.mT.numpy()) / Q.size(-1) ** .5",
            "no-gradient",
        ),
    ],
)
def test_wrong_scores_are_named(body, mistake):
    verdict = check_source(
        f"import math\nimport torch\ndef attention_scores(Q, K):\n    return {body}\n"
    )
    assert not verdict.passed
    assert verdict.mistake == mistake
    assert verdict.message


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (" / Q.shape[-1] ** 0.5", "", "unscaled-scores"),
        ("** 0.5", "", "divided-by-d_k"),
        (" / Q.shape[-1] ** 0.5", " * Q.shape[-1] ** 0.5", "multiplied-by-root"),
        ("Q.shape[-1]", "K.shape[-2]", "divided-by-root-of-keys"),
        ("Q.shape[-1]", "Q.size(-2)", "divided-by-root-of-queries"),
        ("Q.shape[-1]", "Q.shape[1]", "divided-by-root-of-axis-1"),
        ("K.transpose(-2, -1)", "K.transpose(1, 2)", "axes-counted-from-the-front"),
        ("Q.shape[-1]", "V.shape[-1]", "divided-by-root-of-d_v"),
        (
            "Q @ K.transpose(-2, -1)",
            "K @ Q.transpose(-2, -1)",
            "queries-and-keys-exchanged",
        ),
        ("dim=-1", "dim=-2", "softmax-over-queries"),
        ("dim=-1", "dim=1", "softmax-over-axis-1"),
        ("dim=-1", "dim=0", "softmax-over-axis-0"),
        (
            "torch.softmax(scores, dim=-1)",
            "scores.flatten(-2).softmax(-1).reshape(scores.shape)",
            "softmax-over-everything",
        ),
        ("torch.softmax(scores, dim=-1)", "scores", "no-softmax"),
        (
            "torch.softmax(scores, dim=-1)",
            "scores.exp() / scores.exp().sum(-1)",
            "sum-without-keepdim",
        ),
        ("torch.softmax(scores, dim=-1)", "torch.sigmoid(scores)", "rows-not-one"),
        (
            "output = weights @ V",
            "unscaled = scores * Q.shape[-1] ** 0.5\n"
            "    weights = unscaled.softmax(-1) / Q.size(-1) ** 0.5\n"
            "    output = weights @ V",
            "scaled-after-the-softmax",
        ),
        (
            "if mask is not None",
            "hidden = torch.ones_like(scores).triu(1) == 1\n"
            "    scores = scores.masked_fill(hidden, -torch.inf)\n"
            "    if mask is not None",
            "causal-always",
        ),
        ("mask == 0", "mask != 0", "mask-inverted"),
        ("mask == 0", "mask == 1", "mask-inverted"),
        ("mask == 0", "mask.transpose(-1, -2) == 0", "mask-transposed"),
        (
            "mask == 0",
            "(mask.mT if mask.shape[-1] == mask.shape[-2] else mask) == 0",
            "mask-transposed",  # in squares only
        ),
        ("mask == 0", "mask", "mask-inverted"),
        ("mask == 0", "~mask", "mask-must-be-boolean"),
        ("mask is not None", "mask is None and False", "mask-ignored"),
        ('float("-inf")', "0", "blocked-scores-zero"),
        ('float("-inf")', "1e-9", "blocked-scores-zero"),
        ('float("-inf")', "-10", "blocked-scores-not-low-enough"),
        ('float("-inf")', "-1", "blocked-scores-minus-one"),
        ('float("-inf")', 'float("inf")', "blocked-scores-highest"),
        ('float("-inf")', "-1e9", "blocked-too-low-for-half"),
        ('float("-inf")', "-1e20", "blocked-too-low-for-half"),
        (
            'scores.masked_fill(mask == 0, float("-inf"))',
            "scores * mask",
            "blocked-scores-zero",
        ),
        ('scores.masked_fill(mask == 0, float("-inf"))', "scores + mask", "mask-added"),
        ("scores = scores.masked_fill(", "scores.masked_fill(", "mask-ignored"),
        ("output = weights @ V", "output = weights.mT @ V", "weights-transposed"),
        ("output = weights @ V", "output = weights @ K", "keys-mixed"),
        ("return output, weights", "return weights, output", "results-exchanged"),
        ("return output, weights", "return output, scores", "scores-returned"),
        (
            "return output, weights",
            "return output, (Q @ K.mT / Q.size(-1) ** 0.5).softmax(-1)",
            "weights-before-the-mask",
        ),
        ("return output, weights", "return output", "result-form"),
        ("output = weights @ V", "output = scores @ V", "scores-mixed"),
        (
            "output = weights @ V",
            "weights = torch.dropout(weights, 0.1, True)\n    output = weights @ V",
            "dropout-left-in",
        ),
        ("output = weights @ V", "output = weights.detach() @ V", "wrong-gradient"),
        ("output = weights @ V", "weights = weights.argmax(-1, True)", None),
    ],
)
def test_slip_in_attention_is_named(right, slip, mistake):
    assert ATTENTION.count(right) == 1  # else the row would test nothing
    verdict = check_source(ATTENTION.replace(right, slip))
    assert not verdict.passed
    assert verdict.mistake == mistake
    assert verdict.message


LATE = """
import torch

def scaled_dot_product_attention(Q, K, V, mask=None):
    weights = torch.softmax(Q @ K.mT / Q.shape[-1] ** 0.5, dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ V, weights
"""


def test_a_mask_after_the_softmax_is_named():
    assert check_source(LATE).mistake == "mask-after-softmax"


@pytest.mark.parametrize(
    ("slips", "mistakes"),
    [
        (
            [(" / Q.shape[-1] ** 0.5", ""), ("mask == 0", "mask != 0")],
            ["unscaled-scores", "mask-inverted"],
        ),
        (
            [
                ("dim=-1", "dim=-2"),
                ("return output, weights", "return weights, output"),
            ],
            ["softmax-over-queries", "results-exchanged"],
        ),
        (
            [('float("-inf")', "0.0"), ("** 0.5", "")],
            ["divided-by-d_k", "blocked-scores-zero"],
        ),
    ],
)
def test_two_slips_at_once_are_both_named(slips, mistakes):
    source = ATTENTION
    for right, slip in slips:
        source = source.replace(right, slip)
    verdict = check_source(source)
    assert [found.mistake for found in verdict.diagnosis] == mistakes


@pytest.mark.parametrize(
    "call",
    [
        "F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)",
        "torch.nn.functional.scaled_dot_product_attention(Q, K, V)",
        "torch._C._nn.scaled_dot_product_attention(Q, K, V)",
        "torch.ops.aten.scaled_dot_product_attention(Q, K, V)",
        "getattr(F, 'scaled_dot_product_' + 'attention')(Q, K, V)",
    ],
)
def test_torch_s_own_attention_is_forbidden(call):
    verdict = check_source(
        f"""
        import torch
        from torch.nn import functional as F

        def scaled_dot_product_attention(Q, K, V, mask=None):
            scores = Q @ K.mT / Q.shape[-1] ** 0.5
            if mask is not None:
                scores = scores.masked_fill(mask == 0, -torch.inf)
                mask = mask == 1
            return {call}, scores.softmax(-1)
        """
    )
    assert (verdict.status, verdict.mistake) == ("forbidden", "forbidden-built-in")


IMPORTS = """
import math
from collections import namedtuple

import einops
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange, reduce

"""

RIGHT = named(
    """
# project: einops
def project_qkv(x, W_q, W_k, W_v):
    return [einops.einsum(x, W, "... c, c d -> ... d") for W in (W_q, W_k, W_v)]

# project: einsum, other names for the arguments
def project_qkv(tokens, w1, w2, w3):
    return tuple(torch.einsum("...c,cd->...d", tokens, w) for w in (w1, w2, w3))

# project: fused
def project_qkv(x, W_q, W_k, W_v):
    widths = [W_q.shape[1], W_k.shape[1], W_v.shape[1]]
    return torch.split(x @ torch.cat([W_q, W_k, W_v], dim=1), widths, dim=-1)

# project: F.linear
def project_qkv(x, W_q, W_k, W_v):
    return F.linear(x, W_q.T), F.linear(x, W_k.T), F.linear(x, W_v.t())

# project: transposed twice, not contiguous
def project_qkv(x, W_q, W_k, W_v):
    if x.dim() == 1:
        return x @ W_q, x @ W_k, x @ W_v
    return tuple((W.mT @ x.mT).mT for W in (W_q, W_k, W_v))

# project: named tuple
def project_qkv(x, W_q, W_k, W_v):
    return namedtuple("QKV", "q k v")(x @ W_q, x @ W_k, x @ W_v)

# project: float64 inside
def project_qkv(x, W_q, W_k, W_v):
    x64 = x.double()
    return tuple((x64 @ W.double()).to(x.dtype) for W in (W_q, W_k, W_v))

# project: sum of products
def project_qkv(x, W_q, W_k, W_v):
    return tuple((x.unsqueeze(-1) * W).sum(-2) for W in (W_q, W_k, W_v))

# project: tensordot
def project_qkv(x, W_q, W_k, W_v):
    return tuple(torch.tensordot(x, W, dims=1) for W in (W_q, W_k, W_v))

# project: layers made on the spot
def project_qkv(x, W_q, W_k, W_v, bias=False):
    def project(W):
        layer = nn.Linear(*W.shape, bias=bias, device=W.device, dtype=W.dtype)
        return torch.func.functional_call(layer, {"weight": W.T}, (x,))

    return project(W_q), project(W_k), project(W_v)

# scores: einops, root inside
def attention_scores(Q, K):
    Q = Q * Q.shape[-1] ** -0.5
    return einops.einsum(Q, K, "... i d, ... j d -> ... i j")

# scores: einsum
def attention_scores(Q, K):
    return torch.einsum("...id,...jd->...ij", Q, K).div(math.sqrt(K.size(-1)))

# scores: baddbmm
def attention_scores(Q, K):
    *lead, n, d = Q.shape
    q, k = Q.reshape(-1, n, d), K.reshape(-1, K.shape[-2], d)
    nothing = Q.new_empty(1, n, K.shape[-2])
    scores = torch.baddbmm(nothing, q, k.mT, beta=0, alpha=d**-0.5)
    return scores.reshape(*lead, n, -1)

# scores: the fourth root on both sides
def attention_scores(Q, K):
    scale = Q.shape[-1] ** -0.25
    return (Q * scale) @ (K * scale).transpose(-1, -2)

# scores: root as a tensor
def attention_scores(Q, K):
    d_k = torch.tensor(Q.size(-1), dtype=Q.dtype, device=Q.device)
    return torch.matmul(Q, K.transpose(-2, -1)) / torch.sqrt(d_k)

# scores: root as a tensor on the cpu
def attention_scores(Q, K):
    return torch.matmul(Q, K.swapaxes(-2, -1)) / torch.tensor(Q.size(-1)).sqrt()

# scores: transposed result, not contiguous
def attention_scores(Q, K):
    return (K @ Q.mT / Q.shape[-1] ** 0.5).mT

# scores: broadcast and sum
def attention_scores(Q, K):
    return (Q[..., :, None, :] * K[..., None, :, :]).sum(-1) / Q.shape[-1] ** 0.5

# scores: numpy for the root, rearrange for the transpose
def attention_scores(Q, K):
    return Q @ rearrange(K, "... m d -> ... d m") / float(np.sqrt(Q.shape[-1]))

# scores: a loop over the keys
def attention_scores(Q, K):
    columns = [(Q * K[..., j : j + 1, :]).sum(-1) for j in range(K.shape[-2])]
    return torch.stack(columns, dim=-1) / math.sqrt(Q.shape[-1])

# scores: from squared distances
def attention_scores(Q, K):
    q, k = Q.double(), K.double()
    squares = (q[..., :, None, :] - k[..., None, :, :]).square().sum(-1)
    dots = (q.square().sum(-1)[..., None] + k.square().sum(-1)[..., None, :]) / 2
    return ((dots - squares / 2) / q.shape[-1] ** 0.5).to(Q.dtype)

# scores: float64 inside
def attention_scores(Q, K):
    return (Q.double() @ K.double().mT / Q.shape[-1] ** 0.5).to(Q.dtype)

# attention: the plain one
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(Q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    p_attn = F.softmax(scores, dim=-1)
    return torch.matmul(p_attn, V), p_attn

# attention: einops
def scaled_dot_product_attention(q, k, v, mask=None):
    sim = einops.einsum(q, k, "... i d, ... j d -> ... i j") * q.shape[-1] ** -0.5
    if mask is not None:
        sim = sim.masked_fill(mask.logical_not(), -torch.finfo(sim.dtype).max)
    attn = sim.softmax(dim=-1)
    return einops.einsum(attn, v, "... i j, ... j d -> ... i d"), attn

# attention: additive mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = torch.einsum("...id,...jd->...ij", Q * Q.size(-1) ** -0.5, K)
    if mask is not None:
        blocked = torch.logical_not(mask)
        scores = scores + torch.zeros_like(scores).masked_fill(blocked, -torch.inf)
    weights = scores.softmax(-1)
    return [torch.einsum("...ij,...jd->...id", weights, V), weights]

# attention: additive mask of finite numbers, in float32
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = (Q.float() @ K.float().mT) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores + (1.0 - mask.float()) * -1e9
    weights = scores.softmax(-1).to(Q.dtype)
    return weights @ V, weights

# attention: where
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = torch.where(mask.bool(), scores, -torch.inf)
    return scores.softmax(-1) @ V, scores.softmax(-1)

# attention: softmax, then mask, then renormalise
def scaled_dot_product_attention(Q, K, V, mask=None):
    weights = (Q @ K.mT / Q.shape[-1] ** 0.5).softmax(-1)
    if mask is not None:
        weights = weights * mask.to(weights.dtype)
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ V, weights

# attention: softmax by hand
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.bool(), -torch.inf)
    raised = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    weights = raised / raised.sum(dim=-1, keepdim=True)
    return weights @ V, weights

# attention: logsumexp
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask < 0.5, -torch.inf)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return weights @ V, weights

# attention: weights left unnormalised until the end
def scaled_dot_product_attention(Q, K, V, mask=None):
    raised = (Q @ K.mT / Q.shape[-1] ** 0.5).exp()
    if mask is not None:
        raised = raised * mask
    total = raised.sum(-1, keepdim=True)
    return (raised @ V / total).to(V.dtype), (raised / total).to(V.dtype)

# attention: bmm on flattened axes
def scaled_dot_product_attention(Q, K, V, mask=None):
    lead = Q.shape[:-2]
    q, k, v = (x.flatten(0, -3) if x.dim() > 2 else x[None] for x in (Q, K, V))
    scores = torch.bmm(q, k.transpose(1, 2)) / Q.shape[-1] ** 0.5
    if mask is not None:
        mask = mask.expand(*lead, Q.shape[-2], K.shape[-2]).reshape(scores.shape)
        scores.masked_fill_(mask == 0, -torch.inf)
    weights = scores.softmax(-1)
    return torch.bmm(weights, v).unflatten(0, lead) if lead else (weights @ v)[0], (
        weights.unflatten(0, lead) if lead else weights[0]
    )

# attention: transposed throughout, not contiguous
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = K @ Q.mT / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.mT == 0, -torch.inf)
    weights = scores.softmax(dim=-2)
    return (V.mT @ weights).mT, weights.mT

# attention: one query at a time
def scaled_dot_product_attention(Q, K, V, mask=None):
    outputs, rows = [], []
    for i in range(Q.shape[-2]):
        scores = (K * Q[..., i : i + 1, :]).sum(-1) / K.shape[-1] ** 0.5
        if mask is not None:
            row = mask[..., min(i, mask.shape[-2] - 1), :]
            scores = scores.masked_fill(row == 0, -torch.inf)
        rows.append(torch.softmax(scores, dim=-1))
        outputs.append((rows[-1][..., None] * V).sum(-2))
    return torch.stack(outputs, dim=-2), torch.stack(rows, dim=-2)

# attention: float64 inside
def scaled_dot_product_attention(Q, K, V, mask=None):
    q, k, v = Q.double(), K.double(), V.double()
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores[(mask == 0).expand_as(scores)] = -1e30
    weights = torch.nn.Softmax(dim=-1)(scores)
    return (weights @ v).to(Q.dtype), weights.to(Q.dtype)

# attention: its own class for the results
def scaled_dot_product_attention(Q, K, V, mask=None, dropout=0.0):
    Attended = namedtuple("Attended", "output weights")
    bias = 0.0
    if mask is not None:
        bias = torch.zeros_like(mask, dtype=Q.dtype)
        bias[mask == 0] = -torch.inf
    weights = torch.softmax(Q @ K.mT * Q.shape[-1] ** -0.5 + bias, dim=-1)
    return Attended(F.dropout(weights, dropout) @ V, weights)

# attention: log of the mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask.to(scores.dtype).log()
    weights = F.log_softmax(scores, dim=-1).exp()
    return weights @ V, weights
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_answer_is_accepted(source):
    verdict = check_source(IMPORTS + source)
    assert verdict.passed, verdict.message
