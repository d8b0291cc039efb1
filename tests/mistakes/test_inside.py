"""Chapter 14: slips in looking inside are named, unusual right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

HEAD = """
import torch
import torch.nn.functional as F
from einops import einsum, rearrange, reduce
from torch.distributions import Categorical

"""

ENTROPY = """
import torch

def attention_entropy(weights):
    logs = torch.where(weights > 0, weights, torch.ones_like(weights)).log()
    per_query = -(weights * logs).sum(dim=-1)
    return per_query.mean(dim=-1)
"""

ROLLOUT = """
import torch

def attention_rollout(layers):
    B, h, T, _ = layers[0].shape
    eye = torch.eye(T, dtype=layers[0].dtype, device=layers[0].device)
    rollout = eye.expand(B, T, T)
    for weights in layers:
        A = weights.mean(dim=1)
        A = 0.5 * A + 0.5 * eye
        A = A / A.sum(dim=-1, keepdim=True)
        rollout = A @ rollout
    return rollout
"""

INDUCTION = """
import torch

def induction_score(weights, period):
    T = weights.shape[-1]
    total = 0
    for t in range(period, T):
        total = total + weights[:, :, t, t - period + 1]
    return (total / (T - period)).mean(dim=0)
"""

DIAGONAL = """
def induction_score(weights, period):
    return weights.diagonal(1 - period, -2, -1)[..., 1:].mean((0, 2))
"""

LENS = """
import torch

def logit_lens(model, tokens):
    was_training = model.training
    model.eval()
    T = tokens.shape[1]
    x = model.embed(tokens) + model.pos_embed(torch.arange(T, device=tokens.device))
    mask = torch.ones(T, T, dtype=torch.bool, device=tokens.device).tril()
    readings = [model.head(model.norm(x))]
    for block in model.blocks:
        x = block(x, mask)
        readings.append(model.head(model.norm(x)))
    model.train(was_training)
    return torch.stack(readings)
"""


@pytest.mark.parametrize(
    ("source", "right", "slip", "mistake"),
    [
        (
            LENS,
            "readings = [model.head(model.norm(x))]",
            "readings = [model.head(x)]",
            "final-norm-missing-at-first",
        ),
        (
            LENS,
            "        readings.append(model.head(model.norm(x)))\n",
            "        readings.append(x)\n"
            "    readings = [readings[0], *map(model.head, readings[1:-1]),\n"
            "                model.head(model.norm(x))]\n",
            None,
        ),
        (
            LENS,
            "    return torch.stack(readings)",
            "    last, norm = x, model.norm\n"
            "    xs = [model.embed(tokens) + model.pos_embed(torch.arange(T))]\n"
            "    model.eval()\n"
            "    for block in model.blocks:\n"
            "        xs.append(block(xs[-1], mask))\n"
            "    model.train(was_training)\n"
            "    mean = last.mean(-1, keepdim=True)\n"
            "    var = last.var(-1, correction=0, keepdim=True) + norm.eps\n"
            "    return torch.stack([model.head((x - mean) / var.sqrt() * norm.weight\n"
            "                                   + norm.bias) for x in xs])",
            "last-statistics-for-all",
        ),
        (ENTROPY, "(weights > 0, weights,", "(weights >= 0, weights,", None),
        (ENTROPY, ".log()\n", ".log2()\n", "in-bits"),
        (ENTROPY, "= -(", "= (", "sign-missing"),
        (ENTROPY, ".sum(dim=-1)", ".sum(dim=-2)", "summed-over-queries"),
        (ENTROPY, ".sum(dim=-1)", ".mean(dim=-1)", "averaged-over-keys"),
        (ENTROPY, ".mean(dim=-1)\n", ".sum(dim=-1)\n", "queries-summed"),
        (ENTROPY, "per_query.mean(dim=-1)", "per_query", "queries-kept"),
        (ENTROPY, ".mean(dim=-1)\n", ".mean(dim=(1, 2))\n", "heads-averaged"),
        (ENTROPY, ".mean(dim=-1)\n", ".mean(dim=1)\n", "wrong-shape"),
        (ENTROPY, ".mean(dim=-1)\n", ".mean(dim=-1).exp()\n", "exponential"),
        (ENTROPY, "weights * logs", "logs", "weights-forgotten"),
        (ENTROPY, "    logs =", "    weights = weights.softmax(-1)\n    logs =", None),
        (ENTROPY, ".mean(dim=-1)\n", ".mean(dim=-1).item()\n", "error"),
        (ROLLOUT, "A @ rollout", "rollout @ A", "layers-reversed"),
        (ROLLOUT, "A @ rollout", "A * rollout", "identity-times-elements"),
        (ROLLOUT, "0.5 * A + 0.5 * eye", "A", "residual-missing"),
        (ROLLOUT, "0.5 * A + 0.5 * eye", "0.5 * A", "residual-missing"),
        (ROLLOUT, "A / A.sum(dim=-1, keepdim=True)", "A", "rows-not-scaled"),
        (
            ROLLOUT,
            "A = 0.5 * A + 0.5 * eye\n        A = A / A.sum(dim=-1, keepdim=True)",
            "A = A + eye",
            "identity-added-unscaled",
        ),
        (ROLLOUT, "A.sum(dim=-1, keepdim", "A.sum(dim=-2, keepdim", "columns-scaled"),
        (
            ROLLOUT,
            "A = A / A.sum(dim=-1, keepdim=True)",
            "A = torch.stack([one / one.sum(-1) for one in A])",
            "scaled-without-keepdim",
        ),
        (ROLLOUT, "weights.mean(dim=1)", "weights.sum(dim=1)", "heads-summed"),
        (ROLLOUT, "weights.mean(dim=1)", "weights.amax(dim=1)", "largest-head"),
        (ROLLOUT, "weights.mean(dim=1)", "weights[:, 0]", "first-head-only"),
        (ROLLOUT, "= A @ rollout", "= A", "last-layer-only"),
        (ROLLOUT, "return rollout", "return rollout.mT", "rollout-transposed"),
        (ROLLOUT, "in layers:", "in layers[1:]:", "first-layer-left-out"),
        (INDUCTION, "t - period + 1]", "t - period]", "one-too-early"),
        (INDUCTION, "t - period + 1]", "t - period - 1]", "two-too-early"),
        (DIAGONAL, "[..., 1:]", "", "starts-one-early"),
        (DIAGONAL, "[..., 1:]", "[..., 2:]", "starts-one-late"),
        (INDUCTION, "t, t - period + 1", "t - period + 1, t", "turned-around"),
        (INDUCTION, " / (T - period)", "", "positions-summed"),
        (INDUCTION, "(T - period)", "T", "divided-by-all-positions"),
        (INDUCTION, ".mean(dim=0)", "", "batch-kept"),
        (INDUCTION, ".mean(dim=0)", "[0]", "first-of-the-batch"),
        (INDUCTION, ".mean(dim=0)", ".mean()", "heads-averaged"),
        (INDUCTION, ".mean(dim=0)", ".mean(dim=1)", "heads-for-batch"),
        (INDUCTION, "t, t - period + 1", "t, t - 1", "previous-token-score"),
        (
            LENS,
            "return torch.stack(readings)",
            "xs = [model.embed(tokens) + model.pos_embed.weight[:T]]\n"
            "    for block in model.blocks:\n"
            "        xs.append(block(xs[-1], mask))\n"
            "    return torch.stack([*map(model.head, xs[:-1]), readings[-1]])",
            "final-norm-at-the-end-only",
        ),
        (LENS, "readings = [model.head(model.norm(x))]", "readings = []", None),
        (LENS, "torch.stack(readings)", "torch.stack(readings, 1)", None),
        (LENS, "torch.stack(readings)", "readings", "result-form"),
        (LENS, "[model.head(model.norm(x))]", "[model.head(x)]", None),
        (LENS, "block(x, mask)", "block(x)", "not-causal"),
        (LENS, "block(x, mask)", "block(model.norm(x), mask)", "normed-as-it-goes"),
        (LENS, "    model.eval()\n", "", None),
        (LENS, "model.train(was_training)", "pass", "left-in-eval-mode"),
        (LENS, "model.train(was_training)", "model.train()", "left-in-training-mode"),
        (
            LENS,
            " + model.pos_embed(torch.arange(T, device=tokens.device))",
            "",
            "positions-missing",
        ),
        (
            LENS,
            "    for block in model.blocks:\n",
            "    for block in model.blocks:\n"
            "        block.register_forward_hook(lambda *given: None)\n",
            "hooks-left-behind",
        ),
        (LENS, "arange(T, device=tokens.device)", "arange(T)", "left-on-cpu"),
        (
            ENTROPY,
            "torch.where(weights > 0, weights, torch.ones_like(weights)).log()",
            "(weights + 1e-9).log()",
            "small-number-lost-in-half",
        ),
    ],
)
def test_slip_in_looking_inside_is_caught(source, right, slip, mistake):
    verdict = slipped(source, right, slip)
    if mistake == "error":
        assert verdict.status == "error"
    elif mistake is not None:
        assert verdict.mistake == mistake, verdict.message
    else:
        assert verdict.mistake, verdict.message


RIGHT = named(
    """
# entropy: torch's own
def attention_entropy(weights):
    return torch.special.entr(weights).sum(-1).mean(-1)

# entropy: xlogy
def attention_entropy(weights):
    return -torch.xlogy(weights, weights).sum(-1).mean(dim=2)

# entropy: NaN taken for 0
def attention_entropy(weights):
    return -torch.nansum(weights * torch.log(weights), dim=-1).mean(-1)

# entropy: a tiny number added
def attention_entropy(weights):
    wide = weights.float() if weights.dtype.itemsize < 4 else weights
    return -(wide * (wide + 1e-9).log()).sum(-1).mean(-1).to(weights.dtype)

# entropy: clamped, as an einsum
def attention_entropy(weights):
    logs = weights.clamp(min=torch.finfo(weights.dtype).tiny).log()
    return -einsum(weights, logs, "b h n m, b h n m -> b h") / weights.shape[-2]

# entropy: a distribution of torch
def attention_entropy(weights):
    return Categorical(probs=weights).entropy().mean(-1)

# entropy: query by query
def attention_entropy(weights):
    total = 0
    for i in range(weights.shape[2]):
        row = weights[:, :, i]
        total = total - torch.where(row == 0, 0.0, row * row.clamp(min=1e-30).log()
                                    if row.dtype != torch.float16 else
                                    row * row.clamp(min=1e-7).log()).sum(-1)
    return total / weights.shape[2]

# rollout: A + I, then divided
def attention_rollout(layers):
    out = None
    for w in layers:
        S = w.mean(1) + torch.eye(w.shape[-1]).to(w)
        S = S / S.sum(-1)[..., None]
        out = S if out is None else torch.bmm(S, out)
    return out

# rollout: recursive
def attention_rollout(layers):
    *below, top = layers
    step = (top.mean(1) + torch.eye(top.shape[-1], dtype=top.dtype,
                                    device=top.device)) / 2
    step = step / step.sum(-1, keepdim=True)
    return step @ attention_rollout(below) if below else step

# rollout: linalg.multi_dot, sequence by sequence
def attention_rollout(layers):
    steps = []
    for w in reversed(layers):
        S = reduce(w, "b h i j -> b i j", "mean") * 0.5
        S = S + 0.5 * torch.eye(S.shape[-1], device=S.device, dtype=S.dtype)
        steps.append(F.normalize(S, p=1, dim=-1))
    if len(steps) == 1:
        return steps[0]
    return torch.stack([torch.linalg.multi_dot(list(each)) for each in zip(*steps)])

# induction: a mask
def induction_score(weights, period):
    T = weights.shape[-1]
    t, s = torch.meshgrid(torch.arange(T), torch.arange(T), indexing="ij")
    hit = ((s == t - period + 1) & (t >= period)).to(weights)
    return (weights * hit).sum((-2, -1)).mean(0) / hit.sum()

# induction: gather
def induction_score(weights, period):
    B, h, T, _ = weights.shape
    index = torch.arange(1, T - period + 1, device=weights.device)
    index = index.view(1, 1, -1, 1).expand(B, h, -1, 1)
    return weights[:, :, period:].gather(-1, index).mean(dim=(0, 2, 3))

# lens: hooks, removed
def logit_lens(model, tokens):
    stream, hooks, mode = [], [], model.training
    keep = lambda module, inputs, output: stream.append(output)
    first = lambda module, inputs: stream.append(inputs[0])
    hooks.append(model.blocks[0].register_forward_pre_hook(first))
    hooks += [block.register_forward_hook(keep) for block in model.blocks]
    try:
        model.eval()
        with torch.no_grad():
            model(tokens)
    finally:
        for hook in hooks:
            hook.remove()
        model.train(mode)
    return torch.stack([model.head(model.norm(x)) for x in stream])

# lens: into a tensor made before
@torch.no_grad()
def logit_lens(model, tokens):
    modes = {m: m.training for m in model.modules()}
    model.eval()
    B, T = tokens.shape
    W = model.head.weight
    out = W.new_empty(len(model.blocks) + 1, B, T, W.shape[0])
    x = model.embed(tokens) + model.pos_embed.weight[:T]
    mask = torch.tril(torch.ones(T, T, device=tokens.device))
    out[0] = model.norm(x) @ W.T
    for i, block in enumerate(model.blocks, 1):
        x = block(x, mask)
        out[i] = F.linear(model.norm(x), W)
    for m, mode in modes.items():
        m.training = mode
    return out

# lens: the block written out, without its dropout
def logit_lens(model, tokens):
    x = model.embed(tokens) + model.pos_embed(
        torch.arange(tokens.shape[1], device=tokens.device))
    T = tokens.shape[1]
    causal = torch.ones(T, T, device=tokens.device).tril().bool()[None, None]
    levels = [x]
    for b in model.blocks:
        x = x + b.attn(b.norm1(x), causal)
        x = x + b.ff(b.norm2(x))
        levels.append(x)
    return model.head(model.norm(torch.stack(levels, 0)))
"""
)


@pytest.mark.parametrize("name", RIGHT)
def test_unusual_answer_is_accepted(name):
    verdict = check_source(HEAD + RIGHT[name])
    assert verdict.passed, verdict.message


def test_nan_at_zero_is_named_only_where_zeros_are():
    verdict = slipped(
        ENTROPY,
        "torch.where(weights > 0, weights, torch.ones_like(weights)).log()",
        "weights.log()",
    )
    assert verdict.mistake == "zeros-not-handled"
    passed = {check.name for check in verdict.checks if check.passed}
    assert "weights above 0" in passed


def test_an_unscaled_rollout_hears_that_true_weights_hide_it():
    verdict = slipped(ROLLOUT, "A = A / A.sum(dim=-1, keepdim=True)", "pass")
    assert "after a dropout" in verdict.message
