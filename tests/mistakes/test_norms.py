"""Chapter 5: slips are caught and named, unusual right answers are accepted."""

import pytest

from tests.mistakes.answers import check_source, slipped

LAYER_NORM = """
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean = wide.mean(dim=-1, keepdim=True)
    var = wide.var(dim=-1, keepdim=True, unbiased=False)
    normed = (wide - mean) / torch.sqrt(var + eps)
    out = normed * weight + bias
    return out.to(x.dtype)
"""

WIDE = "x.to(torch.promote_types(x.dtype, torch.float32))"
VAR = "wide.var(dim=-1, keepdim=True, unbiased=False)"
MEAN = "wide.mean(dim=-1, keepdim=True)"
DIVISION = "(wide - mean) / torch.sqrt(var + eps)"
AFFINE = "normed * weight + bias"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (VAR, "wide.var(dim=-1, keepdim=True)", "unbiased-variance"),
        (VAR, "((wide - mean) ** 2).sum(-1, True)", "sum-for-mean"),
        (VAR, "(wide ** 2).mean(-1, keepdim=True)", "variance-around-zero"),
        (VAR, "(wide - mean).abs().mean(-1, keepdim=True)", None),
        (VAR, "wide.var(unbiased=False)", None),
        (VAR, f"{VAR}.detach()", "variance-detached"),
        (MEAN, f"{MEAN}.detach()", "mean-detached"),
        (MEAN, "wide.detach().mean(-1, keepdim=True)", "mean-detached"),
        (MEAN, "wide.mean(dim=-1)", "no-keepdim"),
        ("torch.sqrt(var + eps)", "(torch.sqrt(var) + eps)", "eps-outside-the-root"),
        ("torch.sqrt(var + eps)", "torch.sqrt(var)", "eps-missing"),
        ("torch.sqrt(var + eps)", "var.sqrt().clamp(min=eps)", "eps-as-a-floor"),
        ("torch.sqrt(var + eps)", "var.clamp(min=eps).sqrt()", "eps-as-a-floor-inside"),
        ("torch.sqrt(var + eps)", "torch.sqrt(var + eps**2)", "eps-squared"),
        ("torch.sqrt(var + eps)", "torch.sqrt(var + 1e-5)", "eps-hard-coded"),
        ("torch.sqrt(var + eps)", "(var + eps)", "root-missing"),
        ("torch.sqrt(var + eps)", "(var + eps) ** 2", "squared-for-root"),
        ("/ torch.sqrt", "* torch.sqrt", "multiplied-by-the-root"),
        (DIVISION, "wide / torch.sqrt(var + eps)", "mean-not-subtracted"),
        (DIVISION, "(wide + mean) / torch.sqrt(var + eps)", "mean-added"),
        ("eps=1e-5", "eps=1e-6", "default-eps-of-rms-norm"),
        ("eps=1e-5", "eps=1e-12", "default-eps-of-bert"),
        ("eps=1e-5", "eps=1e-3", None),
        (AFFINE, "normed", "affine-missing"),
        (AFFINE, "normed + bias", "weight-missing"),
        (AFFINE, "normed * weight", "bias-missing"),
        (AFFINE, "normed * bias + weight", "weight-and-bias-exchanged"),
        (AFFINE, "(normed + bias) * weight", "bias-before-weight"),
        (AFFINE, "normed * (1 + weight) + bias", "one-plus-weight"),
        ("out.to(x.dtype)", "out", "left-in-float32"),
        ("out.to(x.dtype)", "out.float()", "always-float32"),
        (
            "x.to(torch.promote_types(x.dtype, torch.float32))",
            "x",
            "normalised-in-half",
        ),
        ("return out", "out = out.detach()\n    return out", "no-gradient"),
        ("return out.to(x.dtype)", "out.to(x.dtype)", "returns-nothing"),
        ("wide - mean", "wide.sub_(mean)", None),
    ],
)
def test_slip_in_layer_norm_is_named(right, slip, mistake):
    verdict = slipped(LAYER_NORM, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


@pytest.mark.parametrize(
    ("dim", "mistake"),
    [
        ("-2", "over-the-tokens"),
        ("0", "over-the-first-axis"),
        ("1", "over-axis-1"),
        ("(-2, -1)", "over-tokens-and-features"),
        ("tuple(range(1, x.dim()))", "over-the-whole-sequence"),
        ("None", "over-the-whole-tensor"),
    ],
)
def test_wrong_axis_of_layer_norm_is_named(dim, mistake):
    source = LAYER_NORM.replace("dim=-1", f"dim={dim}")
    assert check_source(source).mistake == mistake


LAYER_NORM_WRONGS = """
# unbiased-variance eps-outside-the-root
def layer_norm(x, weight, bias, eps=1e-5):  # as in the annotated Transformer
    wide = x.float() if x.dtype != torch.float64 else x
    mean = wide.mean(-1, keepdim=True)
    std = wide.std(-1, keepdim=True)
    return (weight * (wide - mean) / (std + eps) + bias).to(x.dtype)

# rms-norm-instead
def layer_norm(x, weight, bias, eps=1e-5):
    ms = x.double().pow(2).mean(-1, keepdim=True)
    return (x.double() * torch.rsqrt(ms + eps) * weight + bias).to(x.dtype)

# min-max
def layer_norm(x, weight, bias, eps=1e-5):
    low = x.min(-1, keepdim=True).values
    high = x.max(-1, keepdim=True).values
    return (x - low) / (high - low + eps) * weight + bias

# affine-before-the-norm
def layer_norm(x, weight, bias, eps=1e-5):
    y = x.double() * weight + bias
    y = y - y.mean(-1, keepdim=True)
    return (y / (y.var(-1, keepdim=True, correction=0) + eps).sqrt()).to(x.dtype)

# statistics-detached
def layer_norm(x, weight, bias, eps=1e-5):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    with torch.no_grad():
        var, mean = torch.var_mean(wide, -1, keepdim=True, correction=0)
    return ((wide - mean) * (var + eps).rsqrt() * weight + bias).to(x.dtype)

# input-changed
def layer_norm(x, weight, bias, eps=1e-5):
    dtype = x.dtype
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    x -= x.mean(-1, keepdim=True)
    return (x / (x.pow(2).mean(-1, True) + eps).sqrt() * weight + bias).to(dtype)

# forbidden-built-in
def layer_norm(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)

# forbidden-built-in
def layer_norm(x, weight, bias, eps=1e-5):
    norm = torch.nn.LayerNorm(x.shape[-1], eps=eps, elementwise_affine=False)
    return norm(x) * weight + bias
"""

IMPORTS = (
    "import math\nimport torch\nfrom einops import reduce\n"
    "from torch import nn\nfrom torch.nn import functional as F\n\n\n"
)


def told(sources):
    """Answers, each with its name: a name may stand for several."""
    blocks = sources.split("\n# ")[1:]
    return [(name, IMPORTS + source) for name, _, source in _cut(blocks)]


def _cut(blocks):
    return [block.partition("\n") for block in blocks]


@pytest.mark.parametrize(("mistakes", "source"), told(LAYER_NORM_WRONGS))
def test_wrong_layer_norm_is_named(mistakes, source):
    verdict = check_source(source)
    found = [one.mistake for one in verdict.diagnosis]
    assert set(found) == set(mistakes.split()), verdict.message


LAYER_NORMS = """
# E[x²] - E[x]²
def layer_norm(x, weight, bias, eps=1e-5):
    h = x.float()
    m = h.mean(-1, keepdim=True)
    v = (h * h).mean(-1, keepdim=True) - m * m
    return ((h - m) * torch.rsqrt(v + eps) * weight + bias).to(x.dtype)

# var_mean, cast before the affine part
def layer_norm(x, weight, bias, eps=1e-5):
    h = x.float()
    var, mean = torch.var_mean(h, dim=-1, keepdim=True, correction=0)
    return ((h - mean) / (var + eps) ** 0.5).to(x.dtype) * weight + bias

# std squared, float64 inside
def layer_norm(x, weight, bias, eps=1e-5):
    h = x.double()
    std = h.std(-1, keepdim=True, unbiased=False)
    y = (h - h.mean(-1, keepdim=True)) / (std**2 + eps).sqrt()
    return (y * weight.double() + bias.double()).type_as(x)

# group norm
def layer_norm(x, weight, bias, eps=1e-5):
    h = x.float().reshape(-1, x.shape[-1])
    y = F.group_norm(h, 1, eps=eps).reshape(x.shape)
    return torch.addcmul(bias.float(), y, weight.float()).to(x.dtype)

# RMSNorm of the centred
def layer_norm(x, weight, bias, eps=1e-5):
    h = x.float()
    h = h - h.mean(-1, keepdim=True)
    y = F.rms_norm(h, (h.shape[-1],), weight.float(), eps)
    return (y + bias).to(x.dtype)

# einsum and einops
def layer_norm(x, weight, bias, eps=1e-5):
    h = x.to(torch.float32)
    h = h - reduce(h, "... d -> ... 1", "mean")
    v = torch.einsum("...d,...d->...", h, h).unsqueeze(-1) / h.shape[-1]
    return (weight * h * (v + eps).pow(-0.5) + bias).to(x.dtype)

# the correction undone
def layer_norm(x, weight, bias, eps=1e-5):
    n = x.size(-1)
    h = x.float()
    v = h.var(-1, keepdim=True) * (n - 1) / n
    out = (h - h.sum(-1, keepdim=True) / n) / torch.sqrt(v + eps)
    return (out * weight.float() + bias.float()).to(x.dtype)

# the length of the centred
def layer_norm(x, weight, bias, eps=1e-5):
    h = x.float() - x.float().mean(-1, keepdim=True)
    length = torch.linalg.vector_norm(h, dim=-1, keepdim=True)
    return (h / (length**2 / h.shape[-1] + eps).sqrt() * weight + bias).to(x.dtype)

# only half precision is widened
def layer_norm(x, weight, bias, eps=1e-5):
    if x.dtype in (torch.float16, torch.bfloat16):
        return layer_norm(x.float(), weight.float(), bias.float(), eps).to(x.dtype)
    x = x - x.mean(-1, keepdim=True)
    return x / x.square().mean(-1, keepdim=True).add(eps).sqrt() * weight + bias

# features first inside
def layer_norm(x, weight, bias, eps=1e-5):
    h = x.movedim(-1, 0).float()
    h = (h - h.mean(0)) / torch.sqrt(h.var(0, correction=0) + eps)
    return (h.movedim(0, -1) * weight + bias).to(x.dtype)

# batch norm, every token a channel
def layer_norm(x, weight, bias, eps=1e-5):
    h = x.float().reshape(1, -1, x.shape[-1])
    y = F.batch_norm(h, None, None, training=True, eps=eps)
    return (y.view(x.shape) * weight + bias).to(x.dtype)

# a centring matrix
def layer_norm(x, weight, bias, eps=1e-5):
    n = x.shape[-1]
    h = x.float() @ (torch.eye(n, device=x.device) - 1 / n)
    squares = h.pow(2) @ torch.full((n, 1), 1 / n, device=x.device)
    return (h / torch.sqrt(squares + eps) * weight + bias).to(x.dtype)
"""


@pytest.mark.parametrize("source", [one for _, one in told(LAYER_NORMS)])
def test_unusual_layer_norm_is_accepted(source):
    verdict = check_source(source)
    assert verdict.status == "passed", verdict.message


RMS_NORM = """
import torch


def rms_norm(x, weight, eps=1e-6):
    h = x.to(torch.promote_types(x.dtype, torch.float32))
    ms = h.pow(2).mean(-1, keepdim=True)
    out = h * torch.rsqrt(ms + eps) * weight
    return out.to(x.dtype)
"""

SQUARES = "h.pow(2).mean(-1, keepdim=True)"
PRODUCT = "h * torch.rsqrt(ms + eps) * weight"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (SQUARES, "h.var(-1, keepdim=True, correction=0)", "variance-for-mean-square"),
        (SQUARES, "h.var(-1, keepdim=True)", "unbiased-standard-deviation"),
        (
            SQUARES,
            "h.pow(2).sum(-1, keepdim=True) / (h.shape[-1] - 1)",
            "squares-over-n-minus-1",
        ),
        (SQUARES, "h.pow(2).sum(-1, keepdim=True)", "sum-for-mean"),
        (SQUARES, "h.mean(-1, keepdim=True)**2", None),
        (SQUARES, "h.abs().mean(-1, keepdim=True)", None),
        (SQUARES, "h.abs().mean(-1, keepdim=True)**2", None),
        (SQUARES, "h.pow(2).mean(-1)", "no-keepdim"),
        (SQUARES, "h.pow(2).mean(-2, keepdim=True)", "over-the-tokens"),
        (SQUARES, "h.pow(2).mean(0, keepdim=True)", "over-the-first-axis"),
        (SQUARES, "h.pow(2).mean(1, keepdim=True)", "over-axis-1"),
        (SQUARES, "h.pow(2).mean()", "over-the-whole-tensor"),
        (SQUARES, f"{SQUARES}.detach()", "statistic-detached"),
        (SQUARES, "h.detach().square().mean(-1, keepdim=True)", "statistic-detached"),
        (PRODUCT, "h / (ms.sqrt() + eps) * weight", "eps-outside-the-root"),
        (PRODUCT, "h / ms.sqrt() * weight", "eps-missing"),
        (PRODUCT, "h / (ms + eps) * weight", "root-missing"),
        (PRODUCT, "h * (ms + eps).sqrt() * weight", "multiplied-by-the-root"),
        (PRODUCT, "h / ms.sqrt().clamp(min=eps) * weight", "eps-as-a-floor"),
        (PRODUCT, "h * torch.rsqrt(ms + eps)", "weight-missing"),
        (PRODUCT, "h * torch.rsqrt(ms + eps) + weight", "weight-added"),
        (PRODUCT, "h * torch.rsqrt(ms + eps) * (1 + weight)", "one-plus-weight"),
        (PRODUCT, "h * torch.rsqrt(ms + 1e-6) * weight", "eps-hard-coded"),
        ("eps=1e-6", "eps=1e-5", "default-eps-of-layer-norm"),
        ("eps=1e-6", "eps=1e-8", "default-eps-1e-8"),
        ("out.to(x.dtype)", "out", "left-in-float32"),
        ("out.to(x.dtype)", "out.type_as(weight)", "dtype-of-the-weight"),
        (
            "x.to(torch.promote_types(x.dtype, torch.float32))",
            "x",
            "normalised-in-half",
        ),
        (PRODUCT, "h.mul_(torch.rsqrt(ms + eps)) * weight", None),
    ],
)
def test_slip_in_rms_norm_is_named(right, slip, mistake):
    verdict = slipped(RMS_NORM, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


RMS_NORM_WRONGS = """
# layer-norm-instead
def rms_norm(x, weight, eps=1e-6):
    h = x.double()
    h = h - h.mean(-1, keepdim=True)
    ms = h.square().mean(-1, keepdim=True)
    return (h * torch.rsqrt(ms + eps) * weight).to(x.dtype)

# mean-subtracted
def rms_norm(x, weight, eps=1e-6):
    h = x.double()
    ms = h.square().mean(-1, keepdim=True)
    return ((h - h.mean(-1, keepdim=True)) / (ms + eps).sqrt() * weight).to(x.dtype)

# layer-norm-instead
def rms_norm(x, weight, eps=1e-6):
    h = x.float()
    return F.layer_norm(h, h.shape[-1:], weight.float(), None, eps).to(x.dtype)

# sum-for-mean eps-not-added
def rms_norm(x, weight, eps=1e-6):
    return (F.normalize(x.float(), dim=-1) * weight).to(x.dtype)

# eps-not-added
def rms_norm(x, weight, eps=1e-6):
    return (F.normalize(x.float(), dim=-1) * x.shape[-1] ** 0.5 * weight).to(x.dtype)

# sum-for-mean eps-missing
def rms_norm(x, weight, eps=1e-6):
    h = x.float()
    return (h / h.norm(dim=-1, keepdim=True) * weight).to(x.dtype)

# eps-outside-the-root
def rms_norm(x, weight, eps=1e-6):
    h = x.float()
    rms = h.norm(dim=-1, keepdim=True) * h.shape[-1] ** -0.5
    return (h / (rms + eps) * weight).to(x.dtype)

# eps-missing length-over-n
def rms_norm(x, weight, eps=1e-6):
    h = x.float()
    return (h / (h.norm(dim=-1, keepdim=True) / h.shape[-1]) * weight).to(x.dtype)

# dtype-of-the-weight
def rms_norm(x, weight, eps=1e-6):  # as in Llama
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)
    return weight * h.to(x.dtype)

# weight-before-the-norm
def rms_norm(x, weight, eps=1e-6):
    h = x.double() * weight
    return (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype)

# input-changed
def rms_norm(x, weight, eps=1e-6):
    dtype = x.dtype
    x = x.float()
    x.mul_(torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))
    return (x * weight).to(dtype)

# forbidden-built-in
def rms_norm(x, weight, eps=1e-6):
    return F.rms_norm(x, x.shape[-1:], weight.to(x.dtype), eps)

# forbidden-built-in
def rms_norm(x, weight, eps=1e-6):
    return nn.RMSNorm(x.shape[-1], eps=eps, elementwise_affine=False)(x) * weight
"""


@pytest.mark.parametrize(("mistakes", "source"), told(RMS_NORM_WRONGS))
def test_wrong_rms_norm_is_named(mistakes, source):
    verdict = check_source(source)
    found = [one.mistake for one in verdict.diagnosis]
    assert set(found) == set(mistakes.split()), verdict.message


RMS_NORMS = """
# the length inside the root
def rms_norm(x, weight, eps=1e-6):
    h = x.float()
    length = torch.linalg.vector_norm(h, dim=-1, keepdim=True)
    return (h / (length**2 / h.shape[-1] + eps).sqrt() * weight).to(x.dtype)

# divided by the root of the sum
def rms_norm(x, weight, eps=1e-6):
    n = x.shape[-1]
    h = x.float()
    return (n**0.5 * h / ((h * h).sum(-1, True) + n * eps).sqrt() * weight).to(x.dtype)

# cast twice
def rms_norm(x, weight, eps=1e-6):
    h = x.float()
    h = (h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)).to(x.dtype)
    return h * weight.to(x.dtype)

# float64 inside, einsum
def rms_norm(x, weight, eps=1e-6):
    h = x.double()
    ms = torch.einsum("...d,...d->...", h, h)[..., None] / h.size(-1)
    h = h * (ms + eps) ** -0.5
    return torch.einsum("...d,d->...d", h, weight.double()).to(x.dtype)

# type_as, power
def rms_norm(x, weight, eps=1e-6):
    def _norm(h):
        return h * torch.pow(h.pow(2).mean(-1, keepdim=True) + eps, -0.5)

    return (_norm(x.float()).type_as(x) * weight).type_as(x)

# variance plus squared mean
def rms_norm(x, weight, eps=1e-6):
    h = x.float()
    var, mean = torch.var_mean(h, -1, keepdim=True, correction=0)
    return (h / torch.sqrt(var + mean**2 + eps) * weight).to(x.dtype)

# each dtype its own way
def rms_norm(x, weight, eps=1e-6):
    if x.dtype in (torch.half, torch.bfloat16):
        return rms_norm(x.float(), weight.float(), eps).to(x.dtype)
    return x * weight * reduce(x * x, "... d -> ... 1", "mean").add(eps).rsqrt()

# autocast off, hypot-like
def rms_norm(x, weight, eps=1e-6):
    h = x.to(dtype=torch.float32)
    rms = torch.sqrt(torch.mean(torch.square(h), dim=-1, keepdim=True) + eps)
    out = torch.div(h, rms) * weight.to(torch.float32)
    return out.to(dtype=x.dtype)
"""


@pytest.mark.parametrize("source", [one for _, one in told(RMS_NORMS)])
def test_unusual_rms_norm_is_accepted(source):
    verdict = check_source(source)
    assert verdict.status == "passed", verdict.message


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("x = norm(x); return x + sublayer(x)", "skip-from-the-normed"),
        ("return norm(x) + sublayer(norm(x))", None),
        ("return sublayer(norm(x))", "skip-missing"),
        ("return norm(x + sublayer(x))", "post-norm-instead"),
        ("return x + norm(sublayer(x))", "norm-on-the-branch"),
        ("return x + sublayer(x)", "norm-missing"),
        ("norm(x); return x + sublayer(x)", "norm-unused"),
        ("return x + norm(x)", "sublayer-missing"),
        ("return norm(x) + sublayer(x)", "normed-plus-sublayer-of-x"),
        ("return norm(x + sublayer(norm(x)))", "normed-before-and-after"),
        ("return x + norm(sublayer(norm(x)))", "normed-on-both-sides"),
        ("return x + sublayer(norm(norm(x)))", "normed-twice"),
        ("return x + sublayer(sublayer(norm(x)))", "sublayer-twice-in-a-row"),
        ("return norm(sublayer(x))", "order-exchanged"),
        ("return 0.5 * x + sublayer(norm(x))", "skip-halved"),
        ("return x + 0.5 * sublayer(norm(x))", "branch-halved"),
        ("return 0.5 * (x + sublayer(norm(x)))", "averaged"),
        ("return (x + sublayer(norm(x))) * 0.5 ** 0.5", "sum-over-root-two"),
        ("return x + x + sublayer(norm(x))", "skip-twice"),
        ("return x * sublayer(norm(x))", "multiplied"),
        ("return x - sublayer(norm(x))", "branch-subtracted"),
        ("return x.detach() + sublayer(norm(x))", "skip-detached"),
        ("return x + sublayer(norm(x)).detach()", "branch-detached"),
        ("return x + sublayer(norm(x).detach())", "norm-detached"),
        ("return x + sublayer(norm(x.detach()))", "norm-input-detached"),
        ("x += sublayer(norm(x)); return x", "input-changed"),
        ("norm(x); return x + sublayer(norm(x))", "norm-runs-twice"),
        ("h = norm(x); sublayer(h); return x + sublayer(h)", "sublayer-runs-twice"),
        ("sublayer(norm(x)); return x + sublayer(norm(x))", "norm-runs-twice"),
        ("return torch.cat([x, sublayer(norm(x))], -1)", "wrong-shape"),
        ("x + sublayer(norm(x))", "returns-nothing"),
        ("return x, sublayer(norm(x))", "result-form"),
    ],
)
def test_wrong_pre_norm_is_named(body, mistake):
    verdict = check_source(
        f"import torch\n\n\ndef pre_norm(x, sublayer, norm):\n    {body}\n"
    )
    assert not verdict.passed
    assert verdict.message
    if mistake is not None:
        assert verdict.mistake == mistake


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("return x + sublayer(norm(x))", "pre-norm-instead"),
        ("return x + norm(sublayer(x))", "norm-on-the-branch"),
        ("return norm(sublayer(x))", "skip-missing"),
        ("return x + sublayer(x)", "norm-missing"),
        ("norm(x + sublayer(x)); return x + sublayer(x)", None),
        ("x = x + sublayer(x); norm(x); return x", "norm-unused"),
        ("return norm(x)", "sublayer-missing"),
        ("return x + norm(x + sublayer(x))", "skip-after-the-norm"),
        ("return norm(x + sublayer(norm(x)))", "normed-before-and-after"),
        ("return norm(x + norm(sublayer(x)))", "branch-normed-too"),
        ("return norm(norm(x + sublayer(x)))", "normed-twice"),
        ("return norm(x) + norm(sublayer(x))", "skip-and-branch-normed-apart"),
        ("return norm(x) + sublayer(x)", "normed-plus-sublayer"),
        ("h = norm(x); return h + sublayer(h)", "skip-from-the-normed"),
        ("return sublayer(norm(x))", "order-exchanged"),
        ("return norm(x + sublayer(sublayer(x)))", "sublayer-twice-in-a-row"),
        ("return norm(0.5 * x + sublayer(x))", "skip-halved"),
        ("return norm(x + 0.5 * sublayer(x))", "branch-halved"),
        ("return norm((x + sublayer(x)) / 2)", "averaged"),
        ("return norm((x + sublayer(x)) / math.sqrt(2))", "sum-over-root-two"),
        ("return norm(x * sublayer(x))", "multiplied"),
        ("return norm(x - sublayer(x))", "branch-subtracted"),
        ("return norm(x.detach() + sublayer(x))", "skip-detached"),
        ("return norm(x + sublayer(x.detach()))", "sublayer-input-detached"),
        ("x += sublayer(x); return norm(x)", "input-changed"),
        ("sublayer(x); return norm(x + sublayer(x))", "sublayer-runs-twice"),
        ("norm(x + sublayer(x))", "returns-nothing"),
    ],
)
def test_wrong_post_norm_is_named(body, mistake):
    verdict = check_source(
        f"import math\n\n\ndef post_norm(x, sublayer, norm):\n    {body}\n"
    )
    assert not verdict.passed
    assert verdict.message
    if mistake is not None:
        assert verdict.mistake == mistake


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("pre_norm", "h = norm(x); h = sublayer(h); return torch.add(h, x)"),
        ("pre_norm", "residual = x; x = sublayer(norm(x)); x = x + residual; return x"),
        ("pre_norm", "return sum([x, sublayer(norm(x))])"),
        ("pre_norm", "y = x.clone(); y += sublayer(norm(x)); return y"),
        ("pre_norm", "out = sublayer(norm(x)); out += x; return out"),
        ("post_norm", "h = sublayer(x); return norm(h + x)"),
        ("post_norm", "return norm(torch.stack([x, sublayer(x)]).sum(0))"),
        ("post_norm", "y = x.clone(); y = y.add_(sublayer(x)); return norm(y)"),
        ("post_norm", "skip, x = x, sublayer(x); x = skip + x; x = norm(x); return x"),
    ],
)
def test_unusual_connection_is_accepted(name, body):
    lines = "\n    ".join(body.split("; "))
    source = f"import torch\n\n\ndef {name}(x, sublayer, norm):\n    {lines}\n"
    verdict = check_source(source)
    assert verdict.status == "passed", verdict.message


def test_writing_into_the_input_is_told_besides_the_missing_gradient():
    verdict = check_source("""
    import torch

    def rms_norm(x, weight, eps=1e-6):
        wide = x.detach().float()
        wide *= torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
        return (wide * weight).to(x.dtype)
    """)
    assert [one.mistake for one in verdict.diagnosis] == [
        "no-gradient",
        "input-changed",
    ]
