"""A softmax under a mask with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.masks import Form


def _lowest(scores: Tensor) -> float:
    return torch.finfo(scores.dtype).min


def dead_rows(blocked: Tensor) -> Tensor:
    return blocked.all(dim=-1, keepdim=True)


def shares(
    scores: Tensor,
    mask: Tensor,
    *,
    blocked: Callable[[Tensor], Tensor] = lambda mask: mask == 0,
    fill: Callable[[Tensor], float] = lambda scores: -torch.inf,
    squash: Form = lambda scores: scores.softmax(dim=-1),
    zero: Callable[[Tensor], Tensor] = dead_rows,
    late: bool = False,
) -> Tensor:
    """The twin of masked_softmax; `zero` says which rows are set to zero at the end."""
    hidden = blocked(mask)
    if late:
        return squash(scores).masked_fill(hidden, 0.0)
    # The gradient of a dead row's NaN is stopped by both fills, before and after.
    weights = squash(scores.masked_fill(hidden, fill(scores)))
    return weights.masked_fill(zero(hidden), 0.0)


def nothing(blocked: Tensor) -> Tensor:
    return torch.zeros_like(blocked)


def covered_up(scores: Tensor, mask: Tensor) -> Tensor:
    """-inf is added, and the NaN it makes replaced after the softmax."""
    minus = torch.zeros_like(scores).masked_fill(mask == 0, -torch.inf)
    return (scores + minus).softmax(dim=-1).nan_to_num(0.0)


def unmasked_where_dead(scores: Tensor, mask: Tensor) -> Tensor:
    hidden = mask == 0
    hidden = hidden & ~dead_rows(hidden)
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)


def by_small_sum(scores: Tensor, mask: Tensor) -> Tensor:
    """Renormalised by a sum to which 1e-9 is added: nothing at all in float16."""
    weights = scores.softmax(dim=-1) * (mask != 0)
    return weights / (weights.sum(dim=-1, keepdim=True) + 1e-9)


def by_the_largest_of_all(scores: Tensor, mask: Tensor) -> Tensor:
    powers = (scores - scores.amax()).exp() * (mask != 0)
    total = powers.sum(dim=-1, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)


def right_but(squash: Form) -> Callable[[Tensor, Tensor], Tensor]:
    """The reference, with another softmax."""

    def masked(scores: Tensor, mask: Tensor) -> Tensor:
        hidden = mask == 0
        live = hidden & ~dead_rows(hidden)
        weights = squash(scores.masked_fill(live, -torch.inf))
        return weights.masked_fill(hidden, 0.0)

    return masked


def plain_powers(scores: Tensor) -> Tensor:
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


def cut_again(
    scores: Tensor,
    mask: Tensor,
    fill: Callable[[Tensor], float] = _lowest,
    axis: int = -1,
) -> Tensor:
    """The weights of blocked keys are set to zero after the softmax, too."""
    weights = scores.masked_fill(mask == 0, fill(scores)).softmax(dim=axis)
    return weights.masked_fill(mask == 0, 0.0)


_LOW = (
    "which is not low enough: a real score may be lower, and blocked keys still get "
    "some weight. Fill in -inf before the softmax."
)

#: How a masked softmax goes wrong.
SHARES = [
    Mistake(
        "dead-rows-nan",
        "A fully masked row, one that may attend nothing, is left to the softmax: 0/0, "
        "NaN, where all is -inf. It should be all zeros.",
        zero=nothing,
    ),
    Mistake(
        "dead-rows-uniform",
        "A row that may attend nothing gets equal (uniform) weights, since its blocked "
        "scores are all the same large negative number. Such a fully masked row should "
        "be all zeros.",
        fill=_lowest,
        zero=nothing,
    ),
    Mistake(
        "dead-rows-unmasked",
        "A row that may attend nothing gets weights as if nothing were blocked. Such a "
        "fully masked row should be all zeros.",
        wrong=unmasked_where_dead,
    ),
    Mistake(
        "nan-covered-up",
        "A row that may attend nothing makes a NaN, which is replaced after the "
        "softmax; the backward pass still meets it, so the gradient is NaN. Keep it "
        "from arising: leave such a row its scores, or fill it with a finite number.",
        wrong=covered_up,
    ),
    Mistake(
        "rows-with-any-block-zero",
        "Every row in which anything is blocked becomes zero; only rows where all is "
        "blocked should: all, not any.",
        zero=lambda blocked: blocked.any(dim=-1, keepdim=True),
    ),
    Mistake(
        "mask-after-softmax",
        "The mask is applied after the softmax only, so rows no longer add up to 1: "
        "block the scores before it, or renormalise. If you do block them, look at the "
        "rows that are spared: those in which all keys are blocked, not any key.",
        late=True,
    ),
    Mistake(
        "mask-inverted",
        "The mask is inverted: True or 1 means may attend, and yours blocks there.",
        blocked=lambda mask: mask != 0,
    ),
    Mistake(
        "mask-ignored",
        "The mask has no effect: this is the plain softmax of all scores.",
        blocked=lambda mask: torch.zeros_like(mask, dtype=torch.bool),
    ),
    Mistake(
        "mask-must-be-boolean",
        "A mask of 0 and 1 is allowed too, and ~ doesn't turn numbers around: "
        "`mask == 0` finds what is blocked in both.",
        blocked=lambda mask: ~mask,
    ),
    Mistake(
        "mask-transposed",
        "The mask is transposed: its rows belong to the queries and its columns, the "
        "last axis, to the keys, as in the scores.",
        blocked=lambda mask: mask.mT == 0,
    ),
    Mistake(
        "mask-added",
        "The mask is added to the scores as it is, 0 or 1; blocked ones must lose all "
        "their weight: fill in -inf.",
        wrong=lambda scores, mask: (scores + mask).softmax(dim=-1),
    ),
    Mistake(
        "zero-times-infinity",
        "What blocks is multiplied with -inf and added, and where nothing is blocked "
        "0 times -inf is NaN: take masked_fill, or torch.where.",
        wrong=lambda scores, mask: (
            (scores + (mask == 0) * -torch.inf)
            .softmax(dim=-1)
            .masked_fill(mask == 0, 0.0)
        ),
    ),
    Mistake(
        "blocked-scores-zero",
        "Blocked scores become 0, and a score of 0 still weighs e⁰ = 1: fill in -inf "
        "before the softmax.",
        wrong=lambda scores, mask: (scores * mask).softmax(dim=-1),
    ),
    Mistake(
        "blocked-scores-zero-in-live-rows",
        "Blocked scores become 0, and a score of 0 still weighs e⁰ = 1: fill in -inf "
        "before the softmax. Rows that may attend nothing are right.",
        fill=lambda scores: 0.0,
    ),
    Mistake(
        "blocked-scores-zero-and-cut",
        "Blocked scores become 0 before the softmax, so they take their share of the "
        "sum, e⁰ = 1 each; cut off after it, it is missing, and rows don't add up to "
        "1. Fill in -inf before the softmax.",
        wrong=partial(cut_again, fill=lambda scores: 0.0),
    ),
    Mistake(
        "blocked-scores-not-low-enough",
        f"Blocked scores become a number such as -100 or -10,000, {_LOW}",
        fill=lambda scores: -1e4,
    ),
    Mistake(
        "blocked-too-low-for-half",
        "What is filled in for blocked scores, such as -1e9, doesn't fit into half "
        "precision: take -torch.inf, or torch.finfo(scores.dtype).min.",
        fill=lambda scores: -1e9,
    ),
    Mistake(
        "epsilon-lost-in-half",
        "In float16 the rows that may attend nothing become NaN: there 1e-9 is 0, so a "
        "sum of 0 stays 0, and -1e9 is -inf, and a softmax of -inf alone is 0/0. Set "
        "those rows to zero instead.",
        wrong=by_small_sum,
    ),
    Mistake(
        "largest-of-all",
        "The largest score of the whole tensor is taken off; in rows far below it all "
        "powers become 0. Take each row's own: amax(-1, keepdim=True).",
        wrong=by_the_largest_of_all,
    ),
    Mistake(
        "nothing-taken-off",
        "The softmax is made of plain powers, which overflow for large scores: take "
        "each row's largest off first, or use softmax.",
        wrong=right_but(plain_powers),
    ),
    Mistake(
        "largest-of-all-is-nan",
        "The largest score of the whole tensor is taken off; in rows far below it all "
        "powers become 0, and 0/0 is NaN. Take each row's own: amax(-1, keepdim=True).",
        wrong=right_but(lambda scores: plain_powers(scores - scores.amax())),
    ),
    Mistake(
        "softmax-over-queries",
        "The softmax runs over the queries; it should run over the keys, the last "
        "axis: dim=-1.",
        squash=lambda scores: scores.softmax(dim=-2),
    ),
    Mistake(
        "softmax-over-queries-and-cut",
        "The softmax runs over the queries; it should run over the keys, the last "
        "axis: dim=-1. Blocked weights are zero, as they should be.",
        wrong=partial(cut_again, axis=-2),
    ),
    Mistake(
        "softmax-over-queries-but-dead-rows",
        "The softmax runs over the queries; it should run over the keys, the last "
        "axis: dim=-1. Blocked weights are zero, as they should be.",
        wrong=right_but(lambda scores: scores.softmax(dim=-2)),
    ),
    Mistake(
        "softmax-over-axis-1",
        "The softmax runs over axis 1; it should run over the keys, the last axis: "
        "dim=-1.",
        squash=lambda scores: scores.softmax(dim=1),
    ),
    Mistake(
        "softmax-over-axis-0",
        "The softmax runs over axis 0; it should run over the keys, the last axis: "
        "dim=-1.",
        squash=lambda scores: scores.softmax(dim=0),
    ),
    Mistake(
        "no-softmax",
        "The scores are masked, but the softmax is missing.",
        squash=lambda scores: scores,
    ),
    Mistake(
        "logarithm",
        "These are logarithms of the weights, a log-softmax; leave the logarithm out.",
        squash=lambda scores: scores.log_softmax(dim=-1),
    ),
]
