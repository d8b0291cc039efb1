"""The stable softmax once more, with a switch wherever people slip."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]
Along = Callable[[Tensor, int], Tensor]


def _largest(x: Tensor, dim: int) -> Tensor:
    return x.amax(dim, keepdim=True)


def _sum(powers: Tensor, dim: int) -> Tensor:
    return powers.sum(dim, keepdim=True)


def choose(
    x: Tensor,
    dim: int = -1,
    *,
    along: Callable[[Tensor, int], int] = lambda x, dim: dim,
    before: Change = lambda x: x,
    shift: Along = _largest,
    power: Change = torch.exp,
    total: Along = _sum,
    after: Change = lambda shares: shares,
) -> Tensor:
    """`stable_softmax`: the axis, what is taken off, the powers, what divides them."""
    dim = along(x, dim)
    x = before(x)
    powers = power(x - shift(x, dim))
    return after(powers / total(powers, dim))


CHOOSE = [
    Mistake(
        "dim-ignored",
        "The shares always add up along the last axis, whatever the argument `dim` "
        "says: use it for the largest and for the sum.",
        along=lambda x, dim: -1,
    ),
    Mistake(
        "always-the-first-axis",
        "The shares always add up along axis 0, whatever the argument `dim` says.",
        along=lambda x, dim: 0,
    ),
    Mistake(
        "always-axis-1",
        "The shares always add up along axis 1, whatever the argument `dim` says.",
        along=lambda x, dim: 1,
    ),
    Mistake(
        "sum-without-keepdim",
        "The sum is taken without keepdim=True, so its axis is gone and it lines up "
        "with another axis; in a square that even runs.",
        total=lambda powers, dim: powers.sum(dim),
    ),
    Mistake(
        "largest-without-keepdim",
        "The largest is taken without keepdim=True, so its axis is gone and it lines "
        "up with another axis; in a square that even runs.",
        shift=lambda x, dim: x.amax(dim),
    ),
    Mistake(
        "max-gives-two",
        "`max` with a dim returns two things, values and indices: take its `.values`, "
        "or use `amax`.",
        wrong=lambda x, dim=-1: x - x.max(dim, keepdim=True),
    ),
    Mistake(
        "nothing-taken-off",
        "The largest score isn't taken off: nothing is, or its index is (argmax), or "
        "it is added. So powers of e overflow (float32 from 89, float16 from 12) or "
        "all become 0: take each row's largest score off first.",
        shift=lambda x, dim: torch.zeros((), dtype=x.dtype, device=x.device),
    ),
    Mistake(
        "logarithm-of-the-sum-overflows",
        "The logarithm of the sum is taken off, log(sum(exp(x))), but the powers in it "
        "overflow just the same: take each row's largest score off first.",
        wrong=lambda x, dim=-1: (x - x.exp().sum(dim, keepdim=True).log()).exp(),
    ),
    Mistake(
        "overflow-covered-up",
        "Powers of e overflow, and the NaN they make is replaced afterwards "
        "(nan_to_num), so the shares are wrong: take each row's largest score off "
        "first.",
        wrong=lambda x, dim=-1: (x.exp() / x.exp().sum(dim, keepdim=True)).nan_to_num(),
    ),
    Mistake(
        "axis-put-back-at-the-end",
        "The lost axis is put back at the end, unsqueeze(-1), which is right for the "
        "last axis only: keep it, keepdim=True, or unsqueeze(dim).",
        shift=lambda x, dim: x.amax(dim).unsqueeze(-1),
        total=lambda powers, dim: powers.sum(dim).unsqueeze(-1),
    ),
    Mistake(
        "largest-of-all",
        "The largest score of the whole tensor is taken off; in rows far below it all "
        "powers become 0, and 0/0 is NaN. Take each row's own, along `dim`.",
        shift=lambda x, dim: x.amax(),
    ),
    Mistake(
        "largest-along-the-last-axis",
        "The largest is always taken along the last axis; it must be taken along "
        "`dim`, as the sum is.",
        shift=lambda x, dim: x.amax(-1, keepdim=True),
    ),
    Mistake(
        "largest-magnitude",
        "The largest magnitude is taken off; for rows of negative scores that pushes "
        "all powers to 0. Take the largest score, with its sign.",
        shift=lambda x, dim: x.abs().amax(dim, keepdim=True),
    ),
    Mistake(
        "mean-taken-off",
        "The mean is taken off; scores far above it still overflow. Take the largest.",
        shift=lambda x, dim: x.mean(dim, keepdim=True),
    ),
    Mistake(
        "smallest-taken-off",
        "The smallest score is taken off, which makes the others larger; take the "
        "largest.",
        shift=lambda x, dim: x.amin(dim, keepdim=True),
    ),
    Mistake(
        "scores-clamped",
        "Large scores are clamped, so those above the limit come out alike; shift them "
        "instead: take each row's largest off.",
        before=lambda x: x.clamp(max=80.0),
        shift=lambda x, dim: torch.zeros((), dtype=x.dtype, device=x.device),
    ),
    Mistake(
        "clamped-on-both-sides",
        "Large scores are clamped on both sides, so those beyond the limits come out "
        "alike; shift them instead: take each row's largest off.",
        before=lambda x: x.clamp(-50.0, 50.0),
    ),
    Mistake(
        "default-axis-0",
        "Without the argument `dim` the shares add up along axis 0; the default is the "
        "last axis: dim=-1.",
        wrong=lambda x, dim=0: choose(x, dim),
    ),
    Mistake(
        "default-axis-1",
        "Without the argument `dim` the shares add up along axis 1; the default is the "
        "last axis: dim=-1.",
        wrong=lambda x, dim=1: choose(x, dim),
    ),
    Mistake(
        "minus-infinity-as-a-number",
        "-inf is replaced by -10,000, which a real score may have too; e to the power "
        "-inf is 0 by itself.",
        before=lambda x: x.clamp(min=-10_000.0),
    ),
    Mistake(
        "signs-turned",
        "The scores are negated, so the smallest gets the largest share.",
        before=torch.neg,
    ),
    Mistake(
        "base-two",
        "The powers are of 2; the softmax takes powers of e: exp.",
        power=torch.exp2,
    ),
    Mistake(
        "not-divided",
        "The powers aren't divided by their sum (or only by the largest, which is 1), "
        "so the shares don't add up to 1.",
        total=lambda powers, dim: torch.ones_like(powers),
    ),
    Mistake(
        "divided-by-the-mean",
        "The powers are divided by their mean; divide by their sum, so that the shares "
        "add up to 1.",
        total=lambda powers, dim: powers.mean(dim, keepdim=True),
    ),
    Mistake(
        "divided-by-the-length",
        "The powers are divided by the root of their squares' sum; divide by their "
        "plain sum.",
        total=lambda powers, dim: powers.norm(dim=dim, keepdim=True),
    ),
    Mistake(
        "sum-of-all",
        "The powers are divided by the sum of the whole tensor; each row needs its "
        "own, along `dim`.",
        total=lambda powers, dim: powers.sum(),
    ),
    Mistake(
        "sum-along-the-last-axis",
        "The sum is always taken along the last axis; it must be taken along `dim`.",
        total=lambda powers, dim: powers.sum(-1, keepdim=True),
    ),
    Mistake(
        "total-cut-off",
        "The total is detached: the values are right, but the gradient lacks the part "
        "that flows through the sum.",
        total=lambda powers, dim: powers.sum(dim, keepdim=True).detach(),
    ),
    Mistake(
        "logarithm",
        "These are the logarithms of the shares (a log-softmax); leave the logarithm "
        "out.",
        after=torch.log,
    ),
    Mistake(
        "scaled-not-shifted",
        "The scores are divided by the largest, which changes their differences and so "
        "the shares; take the largest off instead.",
        wrong=lambda x, dim=-1: choose(x / x.amax(dim, keepdim=True), dim),
    ),
    Mistake(
        "sigmoid",
        "This is the sigmoid, which looks at each score alone; shares depend on the "
        "whole row.",
        wrong=lambda x, dim=-1: torch.sigmoid(x),
    ),
]
