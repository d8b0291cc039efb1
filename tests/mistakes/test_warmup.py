"""Chapter 0: slips are caught and named, unusual right answers are accepted."""

import pytest

from tests.mistakes.answers import check_source

HEAD = """
import math
import torch
import einops
from einops import einsum, rearrange, reduce
from torch.nn import functional as F

"""


def judged(signature, body):
    """The verdict on a function with this body; an expression is returned."""
    if "return" not in body:
        body = f"return {body}"
    lines = "\n    ".join(body.strip().splitlines())
    return check_source(f"{HEAD}def {signature}:\n    {lines}\n")


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("x @ y.T", "all-axes-reversed"),
        ("F.cosine_similarity(x[..., :, None, :], y[..., None, :, :], -1)", "cosine"),
        ("x / x.norm(dim=-1, keepdim=True) @ F.normalize(y, dim=-1).mT", "cosine"),
        ("y @ x.mT", "rows-exchanged"),
        ("(x @ y.mT).mT", "rows-exchanged"),
        ("einsum(x, y, '... n d, ... m d -> ... m n')", "rows-exchanged"),
        ("x @ y.transpose(1, 2)", "axes-1-and-2-exchanged"),
        ("x @ y.transpose(0, 1)", "axes-counted-from-the-front"),
        (
            "x @ y.reshape(*y.shape[:-2], y.size(-1), y.size(-2))",
            "reshaped-not-transposed",
        ),
        (
            "x @ y.contiguous().view(*y.shape[:-2], -1, y.size(-2))",
            "reshaped-not-transposed",
        ),
        ("x @ y", "not-transposed"),
        ("torch.matmul(x, y)", "not-transposed"),
        ("x @ y.mT / x.shape[-1] ** 0.5", "scaled"),
        ("x @ y.mT / math.sqrt(y.size(-1))", "scaled"),
        ("(x[..., :, None, :] * y[..., None, :, :]).mean(-1)", "mean-of-products"),
        ("x @ y.mT / x.shape[-1]", "mean-of-products"),
        ("torch.softmax(x @ y.mT, dim=-1)", "softmax-already"),
        ("(x @ y.mT).abs()", "sign-lost"),
        ("(x * y).sum(-1)", "row-with-its-partner"),
        ("x @ F.normalize(y, dim=-1).mT", "y-of-length-one"),
        ("x / x.norm(dim=-1, keepdim=True) @ y.mT", "x-of-length-one"),
        ("(x - x.mean(-1, True)) @ (y - y.mean(-1, True)).mT", "centred"),
        (
            "sum(x[..., :, None, k] * y[..., None, :, k] for k in range(11))",
            "last-number-left-out",
        ),
        ("torch.einsum('...id,...jd->ij', x, y)", "batch-added-up"),
        ("x[..., :, None, :] * y[..., None, :, :]", "not-summed"),
        ("einsum(x, y, '... n d, ... m d -> ... n m d')", "not-summed"),
        ("einsum(x, x, '... n d, ... m d -> ... n m')", "x-with-itself"),
        ("torch.cdist(x, y)", "distances"),
        ("torch.inner(x, y)", "every-batch-with-every-other"),
        ("torch.tensordot(x, y, dims=([-1], [-1]))", "every-batch-with-every-other"),
        ("torch.mm(x, y.mT)", "matrices-only"),
        ("torch.bmm(x, y.transpose(-2, -1))", "one-batch-axis"),
        ("torch.einsum('nd,md->nm', x, y)", "pattern-for-matrices"),
        ("torch.einsum('bid,bjd->bij', x, y)", "pattern-for-one-batch-axis"),
        ("2 * (x @ y.mT)", "constant-factor"),
        ("-(x @ y.mT)", "constant-factor"),
        ("x @ y.mT + 1", "constant-offset"),
        ("(x @ y.mT).round()", None),
        ("(x @ y.mT).detach()", "no-gradient"),
        ("x.detach() @ y.mT", "no-gradient"),
        ("(x @ y.mT).double()", "wrong-dtype"),
        ("(x @ y.mT).tolist()", "result-form"),
        ("x @ y.mT, x", "result-form"),
        ("x *= 2\nx @ y.mT\nreturn None", "returns-nothing"),
        ("y += 1\ny -= 1\nreturn x @ y.mT", "input-changed"),
    ],
)
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_slip_in_comparing_is_named(body, mistake):
    verdict = judged("pairwise_dots(x, y)", body)
    assert not verdict.passed
    assert verdict.message
    assert verdict.mistake == mistake


@pytest.mark.parametrize(
    "body",
    [
        "x @ y.transpose(-2, -1)",
        "x.matmul(y.mT)",
        "torch.einsum('...nd,...md->...nm', x, y)",
        "einsum(x, y, '... rows d, ... columns d -> ... rows columns')",
        "(y @ x.mT).mT",
        "(x.double() @ y.double().mT).to(x.dtype)",
        "(x.float() @ y.float().mT).to(x.dtype) if x.element_size() < 4 else x @ y.mT",
        "reduce(x[..., :, None, :] * y[..., None, :, :], '... d -> ...', 'sum')",
        "(x.unsqueeze(-2) * y.unsqueeze(-3)).sum(-1)",
        "torch.stack([(x * row).sum(-1) for row in y[..., None, :].unbind(-3)], -1)",
        "sum(x[..., :, None, k] * y[..., None, :, k] for k in range(x.shape[-1]))",
        "torch.linalg.vecdot(x.unsqueeze(-2), y.unsqueeze(-3))",
        "x @ rearrange(y, '... m d -> ... d m')",
    ],
)
def test_unusual_comparing_is_accepted(body):
    verdict = judged("pairwise_dots(x, y)", body)
    assert verdict.status == "passed", verdict.message


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("weights @ values / weights.sum(-1, keepdim=True)", "averaged"),
        ("F.normalize(weights, p=1, dim=-1) @ values", "averaged"),
        ("weights / weights.sum(-2, keepdim=True) @ values", "columns-normalised"),
        ("torch.softmax(weights, -1) @ values", "softmax-first"),
        ("F.softmax(weights, dim=-1).matmul(values)", "softmax-first"),
        ("weights[..., :-1] @ values[..., :-1, :]", "last-value-left-out"),
        ("weights[..., 1:] @ values[..., 1:, :]", "first-value-left-out"),
        (
            "F.one_hot(weights.argmax(-1), weights.size(-1)) * 1.0 @ values",
            "largest-only",
        ),
        ("weights.abs() @ values", "sign-lost"),
        ("weights.clamp(min=0) @ values", "negatives-dropped"),
        ("weights.mT @ values", "weights-transposed"),
        ("weights @ values.mT", "values-transposed"),
        ("weights @ values / values.shape[-2]", "divided-by-m"),
        ("(weights[..., None] * values[..., None, :, :]).mean(-2)", "divided-by-m"),
        ("(weights @ values).mT", "result-transposed"),
        ("einsum(weights, values, '... n m, ... m d -> ... d n')", "result-transposed"),
        ("weights * values", "multiplied-by-place"),
        ("(weights[..., None] * values).sum(-2)", "values-lack-an-axis"),
        ("(weights.unsqueeze(-1) * values).sum(dim=-2)", "values-lack-an-axis"),
        ("weights[..., None] * values[..., None, :, :]", "not-summed"),
        ("einsum(weights, values, '... n m, ... m d -> ... m d')", "summed-over-rows"),
        ("torch.mm(weights, values)", "matrices-only"),
        ("torch.bmm(weights, values)", "one-batch-axis"),
        ("torch.einsum('nm,md->nd', weights, values)", "pattern-for-matrices"),
        ("torch.einsum('bnm,bmd->bnd', weights, values)", "pattern-for-one-batch-axis"),
        ("-(weights @ values)", "constant-factor"),
        ("(weights @ values).detach()", "no-gradient"),
        ("(weights @ values).float()", "wrong-dtype"),
        ("print(weights @ values)\nreturn", "returns-nothing"),
    ],
)
def test_slip_in_mixing_is_named(body, mistake):
    verdict = judged("weighted_sum(weights, values)", body)
    assert not verdict.passed
    assert verdict.message
    assert verdict.mistake == mistake


@pytest.mark.parametrize(
    "body",
    [
        "weights @ values",
        "torch.einsum('...nm,...md->...nd', weights, values)",
        "(weights.unsqueeze(-1) * values.unsqueeze(-3)).sum(-2)",
        "(values.mT @ weights.mT).mT",
        "sum(w[..., None] * v[..., None, :] for w, v in"
        " zip(weights.unbind(-1), values.unbind(-2)))",
        "torch.matmul(weights.double(), values.double()).to(values.dtype)",
        "reduce(weights[..., None] * values[..., None, :, :],"
        " '... n m d -> ... n d', 'sum')",
        "w = weights.reshape(-1, *weights.shape[-2:])\n"
        "v = values.reshape(-1, *values.shape[-2:])\n"
        "return torch.bmm(w, v).reshape(*weights.shape[:-1], values.shape[-1])",
    ],
)
def test_unusual_mixing_is_accepted(body):
    verdict = judged("weighted_sum(weights, values)", body)
    assert verdict.status == "passed", verdict.message


SHIFTED = "e = (x - x.amax(dim, keepdim=True)).exp()\nreturn "


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (
            "e = (x - x.amax(-1, keepdim=True)).exp()\nreturn e / e.sum(-1, True)",
            "dim-ignored",
        ),
        (
            "e = (x - x.amax(0, keepdim=True)).exp()\nreturn e / e.sum(0, True)",
            "always-the-first-axis",
        ),
        (
            "e = (x - x.amax(1, keepdim=True)).exp()\nreturn e / e.sum(1, True)",
            "always-axis-1",
        ),
        (SHIFTED + "e / e.sum(dim)", "sum-without-keepdim"),
        (
            "e = (x - x.amax(dim)).exp()\nreturn e / e.sum(dim, True)",
            "largest-without-keepdim",
        ),
        (
            "e = (x - x.max(dim, keepdim=True)).exp()\nreturn e / e.sum(dim)",
            "max-gives-two",
        ),
        ("x.exp() / x.exp().sum(dim, keepdim=True)", "nothing-taken-off"),
        (
            "e = (x - x.max()).exp()\nreturn e / e.sum(dim, keepdim=True)",
            "largest-of-all",
        ),
        (
            "e = (x - x.amax(-1, True)).exp()\nreturn e / e.sum(dim, True)",
            "largest-along-the-last-axis",
        ),
        (
            "e = (x - x.abs().amax(dim, True)).exp()\nreturn e / e.sum(dim, True)",
            "largest-magnitude",
        ),
        (
            "e = (x - x.mean(dim, keepdim=True)).exp()\nreturn e / e.sum(dim, True)",
            "mean-taken-off",
        ),
        (
            "e = (x - x.amin(dim, keepdim=True)).exp()\nreturn e / e.sum(dim, True)",
            "smallest-taken-off",
        ),
        (
            "e = x.clamp(max=50).exp()\nreturn e / e.sum(dim, keepdim=True)",
            "scores-clamped",
        ),
        (
            "x = x.clamp(min=-1e4)\n" + SHIFTED + "e / e.sum(dim, True)",
            "minus-infinity-as-a-number",
        ),
        (
            "e = (x.amin(dim, keepdim=True) - x).exp()\nreturn e / e.sum(dim, True)",
            "signs-turned",
        ),
        (
            "e = 2 ** (x - x.amax(dim, keepdim=True))\nreturn e / e.sum(dim, True)",
            "base-two",
        ),
        ("(x - x.amax(dim, keepdim=True)).exp()", "not-divided"),
        (SHIFTED + "e / e.amax(dim, keepdim=True)", "not-divided"),
        (SHIFTED + "e / e.mean(dim, keepdim=True)", "divided-by-the-mean"),
        (SHIFTED + "F.normalize(e, dim=dim)", "divided-by-the-length"),
        (SHIFTED + "e / e.sum()", "sum-of-all"),
        (SHIFTED + "e / e.sum(-1, keepdim=True)", "sum-along-the-last-axis"),
        (SHIFTED + "e / e.sum(dim, keepdim=True).detach()", "total-cut-off"),
        (SHIFTED + "(e / e.sum(dim, keepdim=True)).log()", "logarithm"),
        ("x - x.logsumexp(dim, keepdim=True)", "logarithm"),
        ("x.sigmoid()", "sigmoid"),
        (
            "x = x / x.amax(dim, True)\n" + SHIFTED + "e / e.sum(dim, True)",
            "scaled-not-shifted",
        ),
        (SHIFTED + "e / e.sum(dim, keepdim=True).float()", "wrong-dtype"),
        ("x = x.float()\n" + SHIFTED + "e / e.sum(dim, keepdim=True)", "wrong-dtype"),
        (
            "x -= 1\nx += 1\n" + SHIFTED + "e / e.sum(dim, keepdim=True)",
            "input-changed",
        ),
        (SHIFTED + "e / (e.sum(dim, keepdim=True) + 0.01)", "rows-not-one"),
        ("torch.softmax(x, dim)", "forbidden-built-in"),
        ("F.log_softmax(x, dim=dim).exp()", "forbidden-built-in"),
        ("torch.nn.Softmax(dim)(x)", "forbidden-built-in"),
        ("torch.ops.aten._softmax(x, dim, False)", "forbidden-built-in"),
    ],
)
def test_slip_in_choosing_is_named(body, mistake):
    verdict = judged("stable_softmax(x, dim=-1)", body)
    assert not verdict.passed
    assert verdict.message
    assert verdict.mistake == mistake


@pytest.mark.parametrize(
    "body",
    [
        SHIFTED + "e / e.sum(dim, keepdim=True)",
        SHIFTED + "e / e.sum(dim).unsqueeze(dim)",
        SHIFTED + "F.normalize(e, p=1, dim=dim)",
        "e = torch.exp(x - x.max(dim, keepdim=True).values)\n"
        "return e * e.sum(dim, True).reciprocal()",
        "e = torch.exp(x - x.max(dim, True)[0].detach())\nreturn e / e.sum(dim, True)",
        "torch.exp(x - torch.logsumexp(x, dim, keepdim=True))",
        "z = x - x.amax(dim, True)\nreturn (z - z.logsumexp(dim, True)).exp()",
        "z = x.float()\ne = (z - z.amax(dim, True)).exp()\n"
        "return (e / e.sum(dim, True)).to(x.dtype)",
        "z = x.double().movedim(dim, -1)\ne = (z - z.amax(-1, True)).exp()\n"
        "return (e / e.sum(-1, True)).movedim(-1, dim).to(x.dtype)",
        "z = x.transpose(dim, 0)\ne = torch.exp(z - z.amax(0))\n"
        "return (e / e.sum(0)).transpose(0, dim)",
        "e = math.e ** (x - x.amax(dim, keepdim=True))\nreturn e / e.sum(dim, True)",
        "m = torch.full_like(x.amax(dim, True), -math.inf)\n"
        "for part in x.split(1, dim):\n    m = torch.maximum(m, part)\n"
        "e = (x - m).exp()\nreturn e / e.sum(dim, True)",
        "e = (x - x.amax(dim, True)).exp()\ne = torch.where(x == -math.inf, 0 * e, e)\n"
        "return e / e.sum(dim, True)",
        "e = (x - x.amax(dim, True)).exp()\nreturn e / (e.sum(dim, True) + 1e-9)",
        "x = x.clamp(min=torch.finfo(x.dtype).min)\n"
        "e = (x - x.amax(dim, True)).exp()\nreturn e / e.sum(dim, True)",
    ],
)
def test_unusual_choosing_is_accepted(body):
    verdict = judged("stable_softmax(x, dim=-1)", body)
    assert verdict.status == "passed", verdict.message
