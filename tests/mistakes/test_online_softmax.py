"""Chapter 12, the softmax in one pass: slips are named, right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

ONLINE = """
import torch

def online_softmax_sum(score_blocks, value_blocks):
    m = l = o = None
    for s, v in zip(score_blocks, value_blocks):
        if m is None:
            m = torch.full_like(s[..., :1], -torch.inf)
            l = torch.zeros_like(m)
            o = 0
        m_new = torch.maximum(m, s.amax(dim=-1, keepdim=True))
        safe = torch.where(m_new == -torch.inf, torch.zeros_like(m_new), m_new)
        alpha = torch.exp(m - safe)
        p = torch.exp(s - safe)
        l = l * alpha + p.sum(dim=-1, keepdim=True)
        o = o * alpha + p @ v
        m = m_new
    return o / l
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("m = m_new", "m = safe", "zero-kept-as-the-highest"),
        ("alpha = torch.exp(m - safe)", "alpha = 1", "never-rescaled"),
        ("l = l * alpha +", "l = l +", "total-not-rescaled"),
        ("o = o * alpha +", "o = o +", "sum-not-rescaled"),
        ("exp(m - safe)", "exp(safe - m)", "factor-inverted-from-zero"),
        ("return o / l", "return o", "never-divided"),
        ("l = l * alpha + p", "l = p", "earlier-total-forgotten"),
        ("o = o * alpha + p @ v", "o = p @ v", "earlier-sum-forgotten"),
        (
            "torch.where(m_new == -torch.inf, torch.zeros_like(m_new), m_new)",
            "m_new",
            "nan-for-blocked-rows",
        ),
        (
            "torch.full_like(s[..., :1], -torch.inf)",
            "torch.zeros_like(s[..., :1])",
            "highest-starts-at-zero",
        ),
        ("return o / l", "return o, l", "returns-sum-and-total"),
        (
            "torch.maximum(m, s.amax(dim=-1, keepdim=True))",
            "s.amax(dim=-1, keepdim=True)",
            "highest-of-the-block",
        ),
        (
            "p = torch.exp(s - safe)",
            "top = s.amax(-1, keepdim=True)\n"
            "        p = torch.exp(s - top.nan_to_num(neginf=0))",
            "weighed-from-the-block",
        ),
        ("s.amax(dim=-1, keepdim=True))", "s.max())", "one-highest-for-all-rows"),
        ("m = l = o = None", "m = l = o = None; score_blocks[0]", "blocks-by-index"),
        ("m = l = o = None", "m = l = o = None; len(score_blocks)", "number-of-blocks"),
        ("        m = m_new\n", "        o = o / l\n        m = m_new\n", None),
        ("    return o / l\n", "    o / l\n", "returns-nothing"),
        (
            "l = torch.zeros_like(m)",
            "l = torch.zeros(s.shape[:-1] + (1,), dtype=s.dtype)",
            "left-on-cpu",
        ),
        ("return o / l", "return (o / l).float()", "wrong-dtype"),
        ("return o / l", "return (o / l).detach()", "no-gradient"),
        ("p = torch.exp(s - safe)", "s -= safe\n        p = s.exp()", "input-changed"),
        ("torch.exp(s - safe)", "torch.exp2(s - safe)", None),
    ],
)
def test_slip_in_the_online_softmax_is_named(right, slip, mistake):
    verdict = slipped(ONLINE, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake, verdict.message


WRONG = named(
    """
# mean-of-softmaxes
def online_softmax_sum(score_blocks, value_blocks):
    outs = [s.softmax(-1) @ v for s, v in zip(score_blocks, value_blocks)]
    return sum(outs) / len(outs)

# sum-of-softmaxes
def online_softmax_sum(score_blocks, value_blocks):
    return sum(s.softmax(-1) @ v for s, v in zip(score_blocks, value_blocks))

# last-block-only
def online_softmax_sum(score_blocks, value_blocks):
    for s, v in zip(score_blocks, value_blocks):
        out = s.softmax(-1) @ v
    return out

# not-shifted
def online_softmax_sum(score_blocks, value_blocks):
    l = o = 0
    for s, v in zip(score_blocks, value_blocks):
        e = s.exp()
        l, o = l + e.sum(-1, keepdim=True), o + e @ v
    return o / l

# joined-first
def online_softmax_sum(score_blocks, value_blocks):
    scores = torch.cat(list(score_blocks), dim=-1)
    values = torch.cat(list(value_blocks), dim=-2)
    return torch.softmax(scores, dim=-1) @ values

# two-passes
def online_softmax_sum(score_blocks, value_blocks):
    score_blocks = list(score_blocks)
    m = torch.cat([s.amax(-1, keepdim=True) for s in score_blocks], -1)
    m = m.amax(-1, keepdim=True)
    l = o = 0
    for s, v in zip(score_blocks, value_blocks):
        p = torch.exp(s - m)
        l, o = l + p.sum(-1, keepdim=True), o + p @ v
    return o / l

# weighted-by-length
def online_softmax_sum(score_blocks, value_blocks):
    out = n = 0
    for s, v in zip(score_blocks, value_blocks):
        out, n = out + s.softmax(-1) @ v * s.shape[-1], n + s.shape[-1]
    return out / n

# divided-each-time
def online_softmax_sum(score_blocks, value_blocks):
    m, l, o = torch.tensor(-torch.inf), 0.0, 0.0
    for s, v in zip(score_blocks, value_blocks):
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        safe = new.masked_fill(new == -torch.inf, 0)
        p, alpha = (s - safe).exp(), (m - safe).exp()
        l = alpha * l + p.sum(-1, keepdim=True)
        o = (alpha * o + p @ v) / l
        m = new
    return o
"""
)


@pytest.mark.parametrize("mistake", WRONG)
def test_another_way_of_going_wrong_is_named(mistake):
    verdict = check_source("import torch\n\n" + WRONG[mistake])
    assert verdict.mistake == mistake, verdict.message


RIGHT = named(
    """
# local softmaxes merged by their logsumexp
def online_softmax_sum(score_blocks, value_blocks):
    lse = out = None
    for s, v in zip(score_blocks, value_blocks):
        new = s.logsumexp(-1, keepdim=True)
        local = (s - new.nan_to_num(neginf=0.0)).exp() @ v
        if lse is None:
            lse, out = new, local
            continue
        both = torch.logaddexp(lse, new)
        safe = both.nan_to_num(neginf=0.0)
        out = out * (lse - safe).exp() + local * (new - safe).exp()
        lse = both
    return out

# the average is kept, not the sum
def online_softmax_sum(score_blocks, value_blocks):
    m, l, o = None, 0.0, 0.0
    for s, v in zip(score_blocks, value_blocks):
        new = s.max(-1, keepdim=True).values.clamp(min=torch.finfo(s.dtype).min)
        if m is not None:
            new = torch.maximum(new, m)
            l = l * torch.exp(m - new)
        fade = l
        p = torch.exp(s - new)
        l = fade + p.sum(-1, keepdim=True)
        tiny = l.clamp(min=torch.finfo(s.dtype).tiny)
        o = o * (fade / tiny) + (p / tiny) @ v
        m = new
    return o

# blocks made float64, then back
def online_softmax_sum(score_blocks, value_blocks):
    top = total = mix = None
    for s, v in zip(score_blocks, value_blocks):
        dtype, s, v = v.dtype, s.double(), v.double()
        new = s.amax(-1, True)
        if top is not None:
            new = torch.max(top, new)
        base = torch.where(torch.isfinite(new), new, 0.0)
        w = torch.exp(s - base)
        t, x = w.sum(-1, True), torch.einsum("...nb,...bd->...nd", w, v)
        if top is None:
            total, mix = t, x
        else:
            fade = torch.exp(top - base)
            total, mix = total * fade + t, mix * fade + x
        top = new
    return (mix / total).to(dtype)

# a column of ones carries the denominator
def online_softmax_sum(score_blocks, value_blocks):
    m, acc = None, 0
    for s, v in zip(score_blocks, value_blocks):
        v = torch.cat([v, torch.ones_like(v[..., :1])], -1)
        new = s.detach().amax(-1, keepdim=True)
        new = new if m is None else torch.maximum(m, new)
        safe = new.clamp_min(-1e4)
        fade = 0 if m is None else torch.exp(m - safe)
        acc = acc * fade + torch.exp(s - safe) @ v
        m = new
    return acc[..., :-1] / acc[..., -1:]

# key by key
def online_softmax_sum(score_blocks, value_blocks):
    m = l = o = None
    for s, v in zip(score_blocks, value_blocks):
        for j in range(s.shape[-1]):
            one, value = s[..., j : j + 1], v[..., j : j + 1, :]
            if m is None:
                m, l = torch.full_like(one, -torch.inf), torch.zeros_like(one)
                o = one.new_zeros(*s.shape[:-1], v.shape[-1])
            new = torch.maximum(m, one)
            safe = new.masked_fill(new == -torch.inf, 0)
            fade, w = (m - safe).exp(), (one - safe).exp()
            m, l, o = new, l * fade + w, o * fade + w * value
    return o / l

# exponentials of base 2
def online_softmax_sum(score_blocks, value_blocks):
    log2e = 1.4426950408889634
    m, l, o = torch.tensor(-torch.inf), 0, 0
    for s, v in zip(score_blocks, value_blocks):
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        safe = new.where(new > -torch.inf, torch.zeros_like(new))
        w, fade = torch.exp2((s - safe) * log2e), torch.exp2((m - safe) * log2e)
        l, o, m = l * fade + w.sum(-1, keepdim=True), o * fade + w @ v, new
    return o / l

# every block by itself, merged in the end
def online_softmax_sum(score_blocks, value_blocks):
    found = []
    for s, v in zip(score_blocks, value_blocks):
        top = s.amax(-1, keepdim=True)
        w = (s - top.nan_to_num(neginf=0.0)).exp()
        found.append((top, w.sum(-1, keepdim=True), w @ v))
    best = torch.stack([top for top, _, _ in found]).amax(0)
    fades = [(top - best).exp() for top, _, _ in found]
    mix = sum(f * x for f, (_, _, x) in zip(fades, found))
    return mix / sum(f * t for f, (_, t, _) in zip(fades, found))

# lists first, and in place on what is its own
def online_softmax_sum(score_blocks, value_blocks):
    score_blocks, value_blocks = list(score_blocks), list(value_blocks)
    first = score_blocks[0]
    m = torch.full(first.shape[:-1], -torch.inf, dtype=first.dtype, device=first.device)
    l = torch.zeros_like(m)
    o = first.new_zeros(*first.shape[:-1], value_blocks[0].shape[-1])
    for i in range(len(score_blocks)):
        s, v = score_blocks[i], value_blocks[i]
        new = torch.maximum(m, s.amax(-1))
        safe = torch.where(new.isinf(), torch.zeros_like(new), new)
        p = s.sub(safe.unsqueeze(-1)).exp_()
        fade = m.sub(safe).exp_()
        l = l.mul(fade).add_(p.sum(-1))
        o = o.mul(fade.unsqueeze(-1)).add_(p.matmul(v))
        m = new
    return o.div_(l.unsqueeze(-1))
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_online_softmax_is_accepted(source):
    verdict = check_source("import torch\n\n" + source)
    assert verdict.passed, verdict.message


def test_a_guard_for_the_first_block_alone_is_not_enough():
    source = ONLINE.replace("m = l = o = None", "m = l = o = None\n    guard = True")
    source = source.replace("        m = m_new\n", "        m, guard = m_new, False\n")
    right = "m_new == -torch.inf"
    verdict = slipped(source, right, f"torch.tensor(guard) & ({right})")
    assert verdict.mistake == "nan-for-blocked-rows"
