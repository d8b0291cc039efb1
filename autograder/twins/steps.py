"""A training step in micro-batches, with a switch wherever people slip."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.definition import Mistake


def by_tokens(loss: Tensor, kept: int, total: int, pieces: int, size: int) -> Tensor:
    return loss / total


def by_pieces(loss: Tensor, kept: int, total: int, pieces: int, size: int) -> Tensor:
    return loss / kept / pieces


def clipped(model: nn.Module, max_norm: float) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)


def clipped_apart(model: nn.Module, max_norm: float) -> None:
    for p in model.parameters():
        nn.utils.clip_grad_norm_([p], max_norm)


def scaled_always(model: nn.Module, max_norm: float) -> None:
    norm = _square(model) ** 0.5
    _scale(model, max_norm / norm)


def squared_norm(model: nn.Module, max_norm: float) -> None:
    _scale(model, min(1.0, max_norm / _square(model)))


def added_norms(model: nn.Module, max_norm: float) -> None:
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    norms = sum(float(grad.norm()) for grad in grads)
    _scale(model, min(1.0, max_norm / norms))


def _square(model: nn.Module) -> float:
    """The square of the global norm."""
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    return float(torch.stack([grad.square().sum() for grad in grads]).sum())


def _scale(model: nn.Module, factor: float) -> None:
    for p in model.parameters():
        if p.grad is not None:
            p.grad.mul_(factor)


def stepped(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    micro_batches: list[tuple[Tensor, Tensor]],
    max_norm: float = 1.0,
    *,
    clears: str = "before",
    weigh: Callable[..., Tensor] = by_tokens,
    shift: int = 0,
    limit: Callable[[float], float] = lambda max_norm: max_norm,
    clip: Callable[[nn.Module, float], Any] = clipped,
    clips: str = "once",
    steps: str = "once",
    mode: Callable[[nn.Module], Any] = lambda model: None,
    used: Callable[[list[Any]], list[Any]] = lambda pieces: pieces,
    counted: Callable[[list[float], list[int]], Any] = lambda sums, kept: (
        sum(sums) / sum(kept)
    ),
    gives: Callable[[Any], Any] = lambda loss: loss,
) -> Any:
    """The twin of train_step: what is cleared, weighed, clipped, and given back."""
    mode(model)
    pieces = used(micro_batches)
    if clears == "before":
        optimizer.zero_grad()
    kept = [int((targets != -100).sum()) for _, targets in pieces]
    sums = []
    for (inputs, targets), count in zip(pieces, kept, strict=True):
        if clears == "each":
            optimizer.zero_grad()
        if clips == "early":
            clip(model, limit(max_norm))
        logits = model(inputs)
        if shift:
            logits, targets = logits[:, :-shift], targets[:, shift:]
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
        weigh(loss, count, sum(kept), len(pieces), targets.numel()).backward()  # type: ignore[no-untyped-call]
        sums.append(loss.item())
        if clips == "each":
            clip(model, limit(max_norm))
        if steps == "each":
            optimizer.step()
    if clears == "late":
        optimizer.zero_grad()
    if clips == "once":
        clip(model, limit(max_norm))
    if steps == "once":
        optimizer.step()
    return gives(counted(sums, kept))


def _shifted_and_counted(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    micro_batches: list[tuple[Tensor, Tensor]],
    max_norm: float = 1.0,
) -> Any:
    """The first position's target and the last one's logits are never looked at."""
    ahead = [(x, F.pad(y[:, 1:], (0, 1), value=-100)) for x, y in micro_batches]
    return stepped(model, optimizer, ahead, max_norm)


STEPS = [
    Mistake(
        "stale-gradients",
        "Stale gradients, there before the step, are not cleared, so the new ones are "
        "added to them: call optimizer.zero_grad() first.",
        clears="never",
    ),
    Mistake(
        "cleared-each-time",
        "The gradients are cleared for every micro-batch, so only the last one's are "
        "left: call zero_grad once, before the loop, and let them accumulate. Or "
        "does backward stand behind the loop? It belongs in it.",
        clears="each",
    ),
    Mistake(
        "cleared-before-the-step",
        "The gradients are cleared between backward and optimizer.step(), so the step "
        "is taken with none: call zero_grad before the first backward.",
        clears="late",
    ),
    Mistake(
        "mean-of-means",
        "Each micro-batch's mean loss weighs the same, a mean of means; weigh each by "
        "its number of kept targets, so that every token counts alike.",
        weigh=by_pieces,
        counted=lambda sums, kept: (
            sum(s / k for s, k in zip(sums, kept, strict=True)) / len(kept)
        ),
    ),
    Mistake(
        "gradient-mean-of-means",
        "The gradient is a mean of means: each micro-batch's mean weighs the same. "
        "Weigh each by its number of kept targets.",
        weigh=by_pieces,
    ),
    Mistake(
        "means-added",
        "The micro-batches' mean losses are added up, neither divided by their number "
        "nor weighed; the mean is over all kept targets.",
        weigh=lambda loss, kept, total, pieces, size: loss / kept,
        counted=lambda sums, kept: sum(s / k for s, k in zip(sums, kept, strict=True)),
    ),
    Mistake(
        "gradient-of-means-added",
        "The gradients of the micro-batches' means are added up, undivided; weigh each "
        "by its share of all kept targets.",
        weigh=lambda loss, kept, total, pieces, size: loss / kept,
    ),
    Mistake(
        "gradient-of-means-added-mean-returned",
        "The gradients of the micro-batches' means are added up, undivided, and a mean "
        "of means comes back; weigh each by its share of all kept targets.",
        weigh=lambda loss, kept, total, pieces, size: loss / kept,
        counted=lambda sums, kept: (
            sum(s / k for s, k in zip(sums, kept, strict=True)) / len(kept)
        ),
    ),
    Mistake(
        "losses-added",
        "The losses are added up and never divided by the number of kept targets; "
        "their mean is minimised.",
        weigh=lambda loss, kept, total, pieces, size: loss,
    ),
    Mistake(
        "mean-over-all",
        "The losses are divided by the number of all targets, ignored ones included; "
        "divide by the number of kept ones.",
        weigh=lambda loss, kept, total, pieces, size: loss / (pieces * size),
        counted=lambda sums, kept: sum(sums) / (18 * len(kept)),
    ),
    Mistake(
        "divided-by-all-of-its-own",
        "Each micro-batch's loss is divided by the number of its own targets, ignored "
        "ones included; divide by the number of kept targets of all micro-batches.",
        weigh=lambda loss, kept, total, pieces, size: loss / size,
        counted=lambda sums, kept: sum(sums) / 18,
    ),
    Mistake(
        "divided-once-more",
        "The mean loss is divided by the number of micro-batches once more before it "
        "comes back.",
        counted=lambda sums, kept: sum(sums) / sum(kept) / len(kept),
    ),
    Mistake(
        "shares-divided-once-more",
        "Each micro-batch's share of the mean is divided by their number "
        "once more; the shares add up to the mean as they are.",
        weigh=lambda loss, kept, total, pieces, size: loss / total / pieces,
        counted=lambda sums, kept: sum(sums) / sum(kept) / len(kept),
    ),
    Mistake(
        "gradient-divided-once-more",
        "What is returned is right, but each micro-batch's share of the mean is "
        "divided by their number before backward, so the gradient is too small; the "
        "shares add up to the mean as they are.",
        weigh=lambda loss, kept, total, pieces, size: loss / total / pieces,
    ),
    Mistake(
        "shifted-and-counted-again",
        "Logits and targets are shifted against each other once more, and so many "
        "targets fewer are counted; the targets of a micro-batch are already one token "
        "later.",
        wrong=_shifted_and_counted,
    ),
    Mistake(
        "shifted-again",
        "Logits and targets are shifted against each other once more; the targets of a "
        "micro-batch are already one token later.",
        shift=1,
    ),
    Mistake(
        "unclipped",
        "The step is taken with gradients that are not clipped: clip_grad_norm_ with "
        "max_norm belongs after the last backward and before optimizer.step().",
        clips="never",
    ),
    Mistake(
        "clipped-each-time",
        "The gradients are clipped after every micro-batch; clip once, when all have "
        "been accumulated.",
        clips="each",
    ),
    Mistake(
        "clipped-before-backward",
        "The gradients are clipped before backward, so the last micro-batch's come to "
        "them unclipped; clip once, after the last backward.",
        clips="early",
    ),
    Mistake(
        "clipped-by-value",
        "Each number of the gradient is clipped by itself (clip_grad_value_), which "
        "turns its direction; scale by the global norm: clip_grad_norm_.",
        clip=lambda model, most: nn.utils.clip_grad_value_(model.parameters(), most),
    ),
    Mistake(
        "clipped-by-parameter",
        "Each parameter's gradient is clipped by a norm of its own; the global norm is "
        "over all of them together.",
        clip=clipped_apart,
    ),
    Mistake(
        "clipped-by-largest",
        "The gradient is clipped by its largest number (norm_type inf); the global "
        "norm is the root of the sum of squares.",
        clip=lambda model, most: nn.utils.clip_grad_norm_(
            model.parameters(), most, norm_type=torch.inf
        ),
    ),
    Mistake(
        "norms-added",
        "The gradient is clipped by the sum of the tensors' norms; the global norm is "
        "the root of the sum of their squares, as of one long vector.",
        clip=added_norms,
    ),
    Mistake(
        "norm-not-rooted",
        "The gradient is clipped by its squared norm; the root is missing.",
        clip=squared_norm,
    ),
    Mistake(
        "always-scaled",
        "The gradient is always scaled to max_norm, small ones up, too; clipping only "
        "scales down what is longer.",
        clip=scaled_always,
    ),
    Mistake(
        "norm-hard-coded",
        "The argument max_norm is not used: the gradients are clipped to a norm of 1, "
        "whatever is given.",
        limit=lambda max_norm: 1.0,
    ),
    Mistake(
        "stepped-each-time",
        "The optimiser takes a step after every micro-batch; it takes one, when all "
        "gradients have been accumulated.",
        steps="each",
        clips="each",
    ),
    Mistake(
        "small-steps",
        "Every micro-batch is a step of its own, gradients cleared, clipped and "
        "applied; accumulate the gradients of all and take one step.",
        steps="each",
        clips="each",
        clears="each",
        weigh=lambda loss, kept, total, pieces, size: loss / kept,
        counted=lambda sums, kept: (
            sum(s / k for s, k in zip(sums, kept, strict=True)) / len(kept)
        ),
    ),
    Mistake(
        "no-step",
        "The optimiser never takes a step: optimizer.step() is missing.",
        steps="never",
    ),
    Mistake(
        "set-to-training",
        "The model is set to training mode (model.train()); its mode is the caller's "
        "business, leave it alone.",
        mode=lambda model: model.train(),
    ),
    Mistake(
        "set-to-evaluation",
        "The model is set to evaluation mode (model.eval()); its mode is the caller's "
        "business, leave it alone.",
        mode=lambda model: model.eval(),
    ),
    Mistake(
        "first-only",
        "Only the first micro-batch is used; a step takes all of them.",
        used=lambda pieces: pieces[:1],
    ),
    Mistake(
        "last-only",
        "Only the last micro-batch is used; a step takes all of them.",
        used=lambda pieces: pieces[-1:],
    ),
    Mistake(
        "last-loss-returned",
        "The last micro-batch's loss comes back; the mean over all of them is asked "
        "for.",
        counted=lambda sums, kept: sums[-1] / kept[-1],
    ),
    Mistake(
        "last-share-returned",
        "Only the last micro-batch's share of the loss comes back; add up all shares.",
        counted=lambda sums, kept: sums[-1] / sum(kept),
    ),
    Mistake(
        "sum-returned",
        "The sum of all losses comes back; their mean over the kept targets is asked "
        "for.",
        counted=lambda sums, kept: sum(sums),
    ),
    Mistake(
        "mean-of-means-returned",
        "The step is right, but the mean of the micro-batches' means comes back; the "
        "mean over all kept targets is asked for.",
        counted=lambda sums, kept: (
            sum(s / k for s, k in zip(sums, kept, strict=True)) / len(kept)
        ),
    ),
    Mistake(
        "sum-of-means-returned",
        "The step is right, but the sum of the micro-batches' means comes back; the "
        "mean over all kept targets is asked for.",
        counted=lambda sums, kept: sum(s / k for s, k in zip(sums, kept, strict=True)),
    ),
    Mistake(
        "tensor-returned",
        "A tensor comes back; a float is asked for: add up loss.item().",
        gives=torch.tensor,
    ),
    Mistake(
        "tensor-with-graph-returned",
        "A tensor that hangs on the graph comes back, which keeps it all in memory; a "
        "float is asked for: add up loss.item().",
        gives=lambda loss: torch.tensor(loss, requires_grad=True),
    ),
    Mistake(
        "nothing-returned",
        "Nothing comes back; the mean loss is asked for, a float.",
        gives=lambda loss: None,
    ),
    Mistake(
        "list-returned",
        "A list of losses comes back; their mean over all kept targets is asked for.",
        counted=lambda sums, kept: [s / k for s, k in zip(sums, kept, strict=True)],
    ),
]
