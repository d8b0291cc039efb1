"""The induction score with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake


def induction(
    weights: Tensor,
    period: int,
    *,
    shift: int = 1,
    first: Callable[[int], int] = lambda period: period,
    turned: bool = False,
    average: Callable[[Tensor, int], Tensor] = lambda w, T: w.mean(-1),
    batch: Callable[[Tensor], Tensor] = lambda scores: scores.mean(0),
) -> Tensor:
    """The twin of induction_score."""
    T = weights.shape[-1]
    t = torch.arange(first(period), T, device=weights.device)
    looked = weights.mT if turned else weights
    return batch(average(looked[..., t, t - period + shift], T))


def _previous(weights: Tensor, period: int) -> Tensor:
    return weights.diagonal(-1, -2, -1)[..., period - 1 :].mean((0, -1))


INDUCTION = [
    Mistake(
        "one-too-early",
        "The weight is that to t - period, the same token a period ago; an induction "
        "head looks at what followed it, t - period + 1.",
        shift=0,
    ),
    Mistake(
        "two-too-early",
        "The weight is that to t - period - 1; what followed the token a period ago "
        "stands at t - period + 1.",
        shift=-1,
    ),
    Mistake(
        "one-too-late",
        "The weight is that to t - period + 2; what followed the token a period ago "
        "stands at t - period + 1.",
        shift=2,
    ),
    Mistake(
        "starts-one-early",
        "The position t = period - 1 counts too (a whole diagonal has it); nothing "
        "has been repeated yet there. The mean runs over t >= period.",
        first=lambda period: period - 1,
    ),
    Mistake(
        "starts-one-late",
        "The mean leaves out t = period, the first repeated token; it runs over all "
        "t >= period.",
        first=lambda period: period + 1,
    ),
    Mistake(
        "starts-at-the-beginning",
        "All positions count, and for the early ones t - period + 1 is negative and "
        "wraps around to the end. The mean runs over t >= period.",
        first=lambda period: 0,
    ),
    Mistake(
        "turned-around",
        "The weights are read the other way round, from t - period + 1 to t; queries "
        "are the rows, so it is weights[..., t, t - period + 1].",
        turned=True,
    ),
    Mistake(
        "positions-summed",
        "The weights are summed over the positions; their mean is asked for.",
        average=lambda w, T: w.sum(-1),
    ),
    Mistake(
        "divided-by-all-positions",
        "The sum is divided by all T positions; only T - period of them count.",
        average=lambda w, T: w.sum(-1) / T,
    ),
    Mistake(
        "largest-position",
        "The largest weight is taken; the mean over the positions is asked for.",
        average=lambda w, T: w.amax(-1),
    ),
    Mistake(
        "last-position-only",
        "Only the last position is looked at; the mean runs over all t >= period.",
        average=lambda w, T: w[..., -1],
    ),
    Mistake(
        "positions-kept",
        "The positions aren't averaged; one number a head is asked for, (h,).",
        average=lambda w, T: w,
    ),
    Mistake(
        "batch-kept",
        "The result has a row for each sequence of the batch, (B, h); the mean runs "
        "over the batch too, (h,).",
        batch=lambda scores: scores,
    ),
    Mistake(
        "first-of-the-batch",
        "Only the first sequence of the batch is looked at; the mean runs over the "
        "whole batch.",
        batch=lambda scores: scores[0],
    ),
    Mistake(
        "batch-summed",
        "The batch is summed; the mean over the batch is asked for.",
        batch=lambda scores: scores.sum(0),
    ),
    Mistake(
        "heads-averaged",
        "The heads are averaged too; each head has a score of its own, (h,).",
        batch=lambda scores: scores.mean(),
    ),
    Mistake(
        "heads-for-batch",
        "The heads are averaged and the sequences of the batch kept, (B,); it is the "
        "other way round, one score a head, (h,).",
        batch=lambda scores: scores.mean(1),
    ),
    Mistake(
        "previous-token-score",
        "The weight is that to the token before, t - 1; what followed last time stands "
        "at t - period + 1.",
        wrong=_previous,
    ),
]
