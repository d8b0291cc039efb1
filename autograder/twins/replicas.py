"""Averaged gradients and pipelines' bubbles, with a switch wherever people slip."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake

Lists = list[list[Tensor]]


def mean_of(
    gradients: Lists,
    *,
    ranks: Callable[[Lists], Lists] = list,
    reduce: Callable[[list[Tensor]], Tensor] = lambda same: sum(same[1:], same[0]),
    by: Callable[[Lists], float] = len,
    give: Callable[[list[Tensor]], Any] = list,
) -> Any:
    """The twin of all_reduce_mean."""
    gradients = ranks(gradients)
    tensors = zip(*gradients, strict=True)
    return give([reduce(list(same)) / by(gradients) for same in tensors])


def _over_the_tensors(gradients: Lists) -> list[Tensor]:
    return [torch.stack([one.mean() for one in rank]).mean() for rank in gradients]


def _tensors_added(gradients: Lists) -> list[Any]:
    return [sum(rank) / len(rank) for rank in gradients]


def _tensors_averaged(gradients: Lists) -> list[Tensor]:
    return [torch.stack(rank).mean(0) for rank in gradients]


def _copies(gradients: Lists) -> list[Any]:
    return [mean_of(gradients) for _ in gradients]


def _running(same: list[Tensor]) -> Tensor:
    total = same[0]
    for one in same[1:]:
        total = (total + one) / 2
    return total


_OVER = (
    "The tensors of one rank are averaged with each other. They are gradients of "
    "different parameters: average each tensor with the same one of the other ranks."
)

#: How all_reduce_mean goes wrong.
MEANS = [
    Mistake(
        "summed",
        "The gradients are added up over the ranks, but not divided by their number.",
        by=lambda gradients: 1,
    ),
    Mistake(
        "divided-twice",
        "The sum over ranks is divided by the number of ranks twice.",
        by=lambda gradients: len(gradients) ** 2,
    ),
    Mistake(
        "divided-by-tensors",
        "The sum over ranks is divided by the number of tensors; divide by the number "
        "of ranks, len(gradients).",
        by=lambda gradients: len(gradients[0]),
    ),
    Mistake(
        "root-of-ranks",
        "The sum is divided by the root of the number of ranks; a mean divides by the "
        "number itself.",
        by=lambda gradients: len(gradients) ** 0.5,
    ),
    Mistake("over-the-tensors", _OVER, wrong=_over_the_tensors),
    Mistake("tensors-added", _OVER, wrong=_tensors_added),
    Mistake("tensors-averaged", _OVER, wrong=_tensors_averaged),
    Mistake(
        "a-copy-for-every-rank",
        "The result is a list of lists, one for each rank. The average is the same for "
        "all of them: return it once, as one list of tensors.",
        wrong=_copies,
    ),
    Mistake(
        "halved-again-and-again",
        "A running value is averaged with each next rank, ((a + b) / 2 + c) / 2, so "
        "that later ranks weigh more. Add up all, then divide once.",
        reduce=_running,
        by=lambda gradients: 1,
    ),
    Mistake(
        "first-rank-only",
        "The result is the first rank's gradients; the others have no say.",
        ranks=lambda gradients: gradients[:1],
    ),
    Mistake(
        "last-rank-only",
        "The result is the last rank's gradients; the others have no say.",
        ranks=lambda gradients: gradients[-1:],
    ),
    Mistake(
        "first-rank-left-out",
        "The first rank is left out: the mean is over the others.",
        ranks=lambda gradients: gradients[1:] or gradients,
    ),
    Mistake(
        "first-rank-twice",
        "The sum starts with the first rank's gradients and then adds all ranks, so "
        "the first one counts twice.",
        reduce=lambda same: sum(same, same[0]),
    ),
    Mistake(
        "one-number-a-tensor",
        "Each tensor is averaged over all its numbers; the mean is over the ranks "
        "only, and keeps the tensor's shape: torch.stack(…).mean(dim=0).",
        reduce=lambda same: torch.stack(same).mean(),
        by=lambda gradients: 1,
    ),
    Mistake(
        "rank-axis-kept",
        "The stack's first axis, the ranks, is still there with size 1: take the mean "
        "without keepdim.",
        reduce=lambda same: torch.stack(same).sum(0, keepdim=True),
    ),
    Mistake(
        "wrong-axis",
        "The mean is over the last axis of the stacked gradients; the ranks are its "
        "first: dim=0.",
        reduce=lambda same: torch.stack(same).mean(-1),
        by=lambda gradients: 1,
    ),
    Mistake(
        "flattened",
        "The tensors come back flattened; each keeps its shape.",
        give=lambda tensors: [one.flatten() for one in tensors],
    ),
    Mistake(
        "one-long-vector",
        "The result is one long vector of all gradients; asked for is a list of "
        "tensors with their shapes.",
        give=lambda tensors: torch.cat([one.flatten() for one in tensors]),
    ),
    Mistake(
        "first-tensor-only",
        "The result holds the first tensor only; average every tensor of the list.",
        give=lambda tensors: tensors[:1],
    ),
]


def bubble(
    n_stages: int,
    n_microbatches: int,
    *,
    idle: Callable[[int, int], float] = lambda p, m: p - 1,
    total: Callable[[int, int], float] = lambda p, m: m + p - 1,
    give: Callable[[float], float] = float,
) -> float:
    """The twin of pipeline_bubble."""
    p, m = n_stages, n_microbatches
    return give(idle(p, m) / total(p, m))


def _integers(n_stages: int, n_microbatches: int) -> int:
    return (n_stages - 1) // (n_microbatches + n_stages - 1)


#: How pipeline_bubble goes wrong.
BUBBLES = [
    Mistake(
        "all-stages-idle",
        "The numerator is p; a stage stands idle for p - 1 steps: it waits for the "
        "other stages, not for itself.",
        idle=lambda p, m: p,
    ),
    Mistake(
        "busy-share",
        "This is the busy share, m / (m + p - 1); the bubble is the rest, 1 minus it.",
        idle=lambda p, m: m,
    ),
    Mistake(
        "idle-to-busy",
        "This is idle time over busy time, (p - 1) / m, as some papers state the "
        "bubble. Asked for is the share of the whole time, which is m + p - 1 steps.",
        total=lambda p, m: m,
    ),
    Mistake(
        "last-step-counted-twice",
        "The denominator is m + p, one step too many: the last micro-batch starts "
        "after m - 1 steps and then passes p stages, m + p - 1 together.",
        total=lambda p, m: m + p,
    ),
    Mistake(
        "steps-multiplied",
        "The denominator is m times p, the busy slots of all stages. Per stage the "
        "schedule takes m + p - 1 steps.",
        total=lambda p, m: m * p,
    ),
    Mistake(
        "brackets-missing",
        "Brackets are missing around the denominator: (p - 1) / m + p - 1 divides by m "
        "alone. It is (p - 1) / (m + p - 1).",
        wrong=lambda p, m: (p - 1) / m + p - 1,
    ),
    Mistake(
        "arguments-exchanged",
        "The stages are taken for micro-batches and these for stages: the bubble is "
        "(n_stages - 1) / (n_microbatches + n_stages - 1).",
        idle=lambda p, m: m - 1,
    ),
    Mistake(
        "one-batch",
        "This is (p - 1) / p, the bubble without micro-batches; m of them keep a stage "
        "busy for m steps.",
        total=lambda p, m: p,
    ),
    Mistake(
        "counted-twice",
        "The idle steps are counted for the forward and the backward pass, the total "
        "for one of them only: both double.",
        idle=lambda p, m: 2 * (p - 1),
    ),
    Mistake(
        "two-steps-of-warm-up",
        "The numerator is p - 2; a stage stands idle for p - 1 steps.",
        idle=lambda p, m: p - 2,
    ),
    Mistake(
        "total-without-fill",
        "The denominator is m - p + 1: the steps in which all stages work. The whole "
        "schedule takes m + p - 1.",
        total=lambda p, m: m - p + 1 or 1,
    ),
    Mistake(
        "idle-slots-of-all-stages",
        "The numerator counts the idle slots of all p stages, p (p - 1), and the "
        "denominator the steps of one of them. Take both per stage, or both for all.",
        idle=lambda p, m: p * (p - 1),
    ),
    Mistake(
        "idle-steps",
        "This is the number of idle steps, p - 1; asked for is their share of m + p - "
        "1.",
        total=lambda p, m: 1,
    ),
    Mistake(
        "in-percent",
        "The result is in percent; asked for is a fraction between 0 and 1.",
        give=lambda share: 100 * share,
    ),
    Mistake(
        "whole-number-division",
        "// divides to whole numbers, here 0; / gives the fraction.",
        wrong=_integers,
    ),
    Mistake(
        "rounded",
        "The result is rounded to two decimals; asked for is the fraction itself.",
        give=lambda share: round(share, 2),
    ),
]
