"""Chapter 7, the softmax under a mask: slips named, unusual right answers accepted."""

import pytest

from tests.mistakes.test_masks import judged

BLOCKED = "blocked = mask == 0\n"
MINUS = "s = scores.masked_fill(mask == 0, -torch.inf)\n"
LOW = "s = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)\n"
EVERY = "alive = (mask != 0).any(-1, keepdim=True)\n"


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (f"{MINUS}s.softmax(-1)", "dead-rows-nan"),
        (f"{LOW}s.softmax(-1)", "dead-rows-uniform"),
        (
            "s = torch.where(mask == 0, torch.finfo(scores.dtype).min, scores)\n"
            "F.softmax(s, dim=-1)",
            "dead-rows-uniform",
        ),
        (
            f"{BLOCKED}dead = blocked.all(-1, keepdim=True)\n"
            "scores.masked_fill(blocked & ~dead, -torch.inf).softmax(-1)",
            "dead-rows-unmasked",
        ),
        (
            "bias = torch.zeros_like(scores).masked_fill(mask == 0, -torch.inf)\n"
            "torch.nan_to_num((scores + bias).softmax(-1), nan=0.0)",
            "nan-covered-up",
        ),
        (
            f"{EVERY}bias = torch.where(mask == 0, -torch.inf, 0.0).to(scores.dtype)\n"
            "w = (scores + bias).softmax(-1)\ntorch.where(alive, w, 0.0)",
            "nan-covered-up",
        ),
        (
            f"{BLOCKED}{MINUS}"
            "s.softmax(-1).masked_fill(blocked.any(-1, keepdim=True), 0.0)",
            "rows-with-any-block-zero",
        ),
        ("scores.softmax(-1) * mask", "mask-after-softmax"),
        ("scores.softmax(-1).masked_fill(mask == 0, 0.0)", "mask-after-softmax"),
        (f"{MINUS.replace('==', '!=')}s.softmax(-1)", None),
        (
            f"{MINUS.replace('==', '!=')}w = s.softmax(-1)\n"
            "w.masked_fill((mask != 0).all(-1, keepdim=True), 0.0)",
            "mask-inverted",
        ),
        ("scores.softmax(-1)", "mask-ignored"),
        (
            "w = scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "w.masked_fill((~mask).all(-1, keepdim=True), 0.0)",
            "mask-must-be-boolean",
        ),
        ("(scores + mask).softmax(-1)", "mask-added"),
        ("(scores * mask).softmax(-1)", "blocked-scores-zero"),
        (
            "(scores * mask).softmax(-1) * (mask != 0)",
            "blocked-scores-zero-and-cut",
        ),
        (
            "scores.masked_fill(mask == 0, -1e4).softmax(-2) * (mask != 0)",
            "softmax-over-queries-and-cut",
        ),
        (
            f"{EVERY}(scores * mask).softmax(-1).masked_fill(~alive, 0.0)",
            "blocked-scores-zero-in-live-rows",
        ),
        (
            f"{EVERY}s = scores.masked_fill(mask == 0, -1e4)\n"
            "s.softmax(-1).masked_fill(~alive, 0.0)",
            "blocked-scores-not-low-enough",
        ),
        (
            "s = scores.masked_fill(mask == 0, -1e9)\n"
            "s.softmax(-1).masked_fill(mask == 0, 0.0)",
            "blocked-too-low-for-half",
        ),
        (
            "w = scores.softmax(-1) * (mask != 0)\n"
            "w / (w.sum(-1, keepdim=True) + 1e-9)",
            "epsilon-lost-in-half",
        ),
        (
            "w = (scores - scores.max()).exp() * (mask != 0)\n"
            "t = w.sum(-1, keepdim=True)\nw / torch.where(t == 0, 1.0, t)",
            "largest-of-all",
        ),
        (
            "w = scores.exp() * (mask != 0)\n"
            "t = w.sum(-1, keepdim=True)\nw / torch.where(t == 0, 1.0, t)",
            "not-finite",
        ),
        (
            "w = (scores - scores.amax(-1, True)).exp() * (mask != 0)\n"
            "w / w.sum(-1, keepdim=True)",
            None,
        ),
        (f"{EVERY}{MINUS}s.softmax(-2).masked_fill(~alive, 0.0)", None),
        (
            f"{EVERY}{MINUS}torch.log_softmax(s, -1).masked_fill(~alive, 0.0)",
            "logarithm",
        ),
        (f"{EVERY}{MINUS}s.masked_fill(~alive, 0.0)", "no-softmax"),
        (
            "scores[(mask == 0).expand_as(scores)] = -torch.inf\n"
            "scores.softmax(-1).nan_to_num()",
            None,
        ),
        (f"{MINUS}s.softmax(-1).nan_to_num().detach()", "no-gradient"),
        (f"{MINUS}s.float().softmax(-1).nan_to_num()", "wrong-dtype"),
        (
            f"{MINUS}w = s.softmax(-1)\nw[w.isnan()] = 0\nreturn w",
            "no-gradient",
        ),
        (
            "if (mask == 0).all():\n    return torch.zeros_like(scores)\n"
            f"{MINUS}return s.softmax(-1)",
            None,
        ),
        (f"{MINUS}s.softmax(-1).nan_to_num(), mask", "result-form"),
        (f"{EVERY}{LOW}s.softmax(-1) * alive / scores.shape[-1]", "constant-factor"),
        ("F.gumbel_softmax(scores, dim=-1) * mask", None),
        (f"{MINUS}torch.sigmoid(s)", None),
    ],
)
def test_slip_under_a_mask_is_named(body, mistake):
    verdict = judged("masked_softmax(scores, mask)", body)
    assert not verdict.passed
    if mistake is not None:
        assert verdict.mistake == mistake
    assert verdict.message


def test_a_gradient_that_is_nan_is_told_as_such():
    verdict = judged(
        "masked_softmax(scores, mask)",
        f"{EVERY}bias = torch.where(mask == 0, -torch.inf, 0.0).to(scores.dtype)\n"
        "w = (scores + bias).softmax(-1)\n"
        "torch.where(alive, w, 0.0 * scores.detach())",
    )
    assert verdict.mistake in ("nan-covered-up", "gradient-not-finite")
    assert "NaN" in verdict.message


@pytest.mark.parametrize(
    "body",
    [
        # masked_fill and where stop a dead row's NaN in the backward pass too
        f"{MINUS}s.softmax(-1).nan_to_num(0.0)",
        f"{MINUS}torch.nan_to_num(F.softmax(s, dim=-1))",
        f"{EVERY}{MINUS}torch.where(alive, s.softmax(-1), 0.0)",
        f"{EVERY}{MINUS}s.softmax(-1).masked_fill(~alive, 0)",
        f"{LOW}s.softmax(-1) * mask",
        f"{LOW}s.softmax(-1) * (mask != 0).to(scores.dtype)",
        f"{LOW}torch.where(mask != 0, s.softmax(-1), torch.zeros_like(scores))",
        f"{EVERY}s = torch.where(mask.bool(), scores, -torch.inf)\n"
        "s = torch.where(alive, s, torch.zeros_like(scores))\n"
        "torch.softmax(s, -1) * alive",
        # softmax, then mask, then renormalise
        "w = scores.softmax(-1) * mask\nt = w.sum(-1, keepdim=True)\n"
        "w / torch.where(t > 0, t, torch.ones_like(t))",
        "w = scores.softmax(-1).masked_fill(mask == 0, 0)\n"
        "w / w.sum(-1, keepdim=True).clamp(min=torch.finfo(w.dtype).tiny)",
        "w = scores.double().softmax(-1) * mask\n"
        "(w / (w.sum(-1, keepdim=True) + 1e-12)).to(scores.dtype)",
        # by hand
        f"{MINUS}top = s.amax(-1, keepdim=True)\n"
        "top = top.masked_fill(top == -torch.inf, 0.0)\ne = (s - top).exp()\n"
        "t = e.sum(-1, keepdim=True)\ne / t.masked_fill(t == 0, 1.0)",
        f"{LOW}e = (s - s.max(-1, keepdim=True).values).exp() * mask\n"
        "t = e.sum(-1, True)\ne / (t + (t == 0))",
        f"{LOW}e = torch.exp(s - torch.logsumexp(s, -1, keepdim=True))\ne * mask",
        # in float32 inside
        f"{BLOCKED}s = scores.float().masked_fill(blocked, -1e30)\n"
        "s.softmax(-1).masked_fill(blocked, 0.0).to(scores.dtype)",
        "dtype = scores.dtype\nm = mask.to(torch.bool).expand(scores.shape)\n"
        "s = scores.double().masked_fill(~m, float('-inf'))\n"
        "out = torch.zeros_like(s)\nrows = m.any(-1)\n"
        "out[rows] = s[rows].softmax(-1)\nreturn out.to(dtype)",
        "out = scores.clone()\nout = out.masked_fill(mask.logical_not(), -torch.inf)\n"
        "out = out.softmax(dim=-1)\n"
        "return out.masked_fill(torch.isnan(out), 0.0)",
        "low = torch.finfo(scores.dtype).min / 2\n"
        "s = scores + (1.0 - mask.to(scores.dtype)) * low\n"
        "s.softmax(-1) * mask",
    ],
)
def test_unusual_masked_softmax_is_accepted(body):
    verdict = judged("masked_softmax(scores, mask)", body)
    assert verdict.passed, verdict.message


def test_weight_on_blocked_keys_is_told_where_the_numbers_tell_no_more():
    verdict = judged(
        "masked_softmax(scores, mask)", "(scores - 3 * (mask == 0)).softmax(-1)"
    )
    assert "blocked key" in verdict.message
