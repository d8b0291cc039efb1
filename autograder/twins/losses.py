"""The loss of next tokens, with a switch wherever people slip."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]


def kept_mean(losses: Tensor, kept: Tensor) -> Tensor:
    return losses[kept].mean()


def mean_of_means(losses: Tensor, kept: Tensor) -> Tensor:
    """Each sequence's mean, then their mean."""
    sums = losses.masked_fill(~kept, 0).sum(-1)
    return (sums / kept.sum(-1)).mean()


def surprise(
    logits: Tensor,
    targets: Tensor,
    ignore_index: int = -100,
    *,
    before: Change = lambda logits: logits,
    over: int = -1,
    normed: Callable[[Tensor, int], Tensor] = torch.log_softmax,
    shift: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda logits, targets: (
        logits,
        targets,
    ),
    ignored: Callable[[int], int | None] = lambda ignore_index: ignore_index,
    mean: Callable[[Tensor, Tensor], Tensor] = kept_mean,
    after: Callable[[Tensor], Any] = lambda loss: loss,
) -> Any:
    """The twin of next_token_loss."""
    logits, targets = shift(logits, targets)
    index = ignored(ignore_index)
    kept = torch.ones_like(targets, dtype=torch.bool)
    if index is not None:
        kept = targets != index
    places = targets.clamp(min=0)[..., None]
    losses = -normed(before(logits), over).gather(-1, places)[..., 0]
    return after(mean(losses, kept))


def _above(
    logits: Tensor, targets: Tensor, ignore_index: int = -100, *, least: int = 0
) -> Any:
    """What is kept hangs on the size of a target, not on ignore_index."""
    kept = targets >= least
    return F.cross_entropy(logits[kept], targets[kept])


def _but_zero(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Any:
    return surprise(
        logits, targets.masked_fill(targets == 0, ignore_index), ignore_index
    )


def _three_axes(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Any:
    _B, _T, _V = logits.shape
    return surprise(logits, targets, ignore_index)


def _transposed(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Any:
    logits = logits.transpose(1, 2)
    return F.cross_entropy(logits, targets, ignore_index=ignore_index)


def _unflattened(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Any:
    return F.cross_entropy(logits, targets, ignore_index=ignore_index)


def _flat(logits: Tensor, targets: Tensor, ignore_index: int) -> Any:
    """What cross_entropy makes of logits and targets that were flattened somehow."""
    return F.cross_entropy(logits, targets.reshape(-1), ignore_index=ignore_index)


def _vocabulary_flattened(
    logits: Tensor, targets: Tensor, ignore_index: int = -100
) -> Any:
    return _flat(logits.mT.reshape(-1, logits.shape[-1]), targets, ignore_index)


def _vocabulary_first(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Any:
    return _flat(logits.reshape(logits.shape[-1], -1).T, targets, ignore_index)


def _over_all_tokens(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Any:
    flat = logits.reshape(-1, logits.shape[-1]).log_softmax(0)
    return F.nll_loss(flat, targets.reshape(-1), ignore_index=ignore_index)


def _shifted_literally(
    logits: Tensor, targets: Tensor, ignore_index: int = -100
) -> Any:
    return surprise(logits[:, :-1], targets[:, 1:], ignore_index)


LOSSES = [
    Mistake(
        "softmax-first",
        "A softmax is taken before cross_entropy, which takes one itself: hand it the "
        "logits as they are.",
        before=lambda logits: logits.softmax(-1),
    ),
    Mistake(
        "shifted",
        "Logits and targets are shifted against each other here, logits[:, :-1] and "
        "targets[:, 1:]; the targets are already shifted, so no shift is left to do.",
        shift=lambda logits, targets: (logits[..., :-1, :], targets[..., 1:]),
    ),
    Mistake(
        "shifted-by-axis-number",
        "Logits and targets are shifted against each other here, logits[:, :-1] and "
        "targets[:, 1:]; the targets are already shifted, so no shift is left to do.",
        wrong=_shifted_literally,
    ),
    Mistake(
        "shifted-backwards",
        "Logits and targets are shifted against each other here, logits[:, 1:] and "
        "targets[:, :-1]; the targets are already shifted, so no shift is left to do.",
        shift=lambda logits, targets: (logits[..., 1:, :], targets[..., :-1]),
    ),
    Mistake(
        "last-position-dropped",
        "The last position is dropped, logits[..., :-1, :] and targets[..., :-1]; the "
        "targets are shifted already, so every position counts.",
        shift=lambda logits, targets: (logits[..., :-1, :], targets[..., :-1]),
    ),
    Mistake(
        "first-position-dropped",
        "The first position is dropped, logits[..., 1:, :] and targets[..., 1:]; the "
        "targets are shifted already, so every position counts.",
        shift=lambda logits, targets: (logits[..., 1:, :], targets[..., 1:]),
    ),
    Mistake(
        "last-position-only",
        "Only the last position counts; the loss is the mean over all of them.",
        shift=lambda logits, targets: (logits[..., -1:, :], targets[..., -1:]),
    ),
    Mistake(
        "ignore-index-hard-coded",
        "The argument ignore_index is not used, -100 is ignored whatever it is: hand "
        "it on, ignore_index=ignore_index.",
        ignored=lambda ignore_index: -100,
    ),
    Mistake(
        "nothing-ignored",
        "Targets that are ignore_index are counted, as if they were token 0 or the "
        "token of that number; leave them out.",
        ignored=lambda ignore_index: None,
    ),
    Mistake(
        "zero-ignored",
        "Target 0 is ignored, whatever ignore_index is; 0 is a token like others.",
        ignored=lambda ignore_index: 0,
    ),
    Mistake(
        "zero-ignored-too",
        "Target 0 is ignored too, besides ignore_index; 0 is a token like others.",
        wrong=_but_zero,
    ),
    Mistake(
        "negative-ignored",
        "All targets below 0 are left out, and ignore_index has no effect; leave out "
        "those that equal it, whatever it is: ignore_index=ignore_index.",
        wrong=_above,
    ),
    Mistake(
        "only-positive-kept",
        "Only targets above 0 are kept, so token 0 is never learned, and ignore_index "
        "has no effect; leave out those that equal it, targets != ignore_index.",
        wrong=partial(_above, least=1),
    ),
    Mistake(
        "mean-over-all",
        "The sum of the kept losses is divided by the number of all targets, ignored "
        "ones included; divide by the number of kept ones.",
        mean=lambda losses, kept: losses.masked_fill(~kept, 0).mean(),
    ),
    Mistake(
        "sum",
        "The losses are added up (reduction='sum'); the mean is asked for.",
        mean=lambda losses, kept: losses[kept].sum(),
    ),
    Mistake(
        "sum-by-batch",
        "The sum of the losses is divided by the batch size; divide by the number of "
        "kept targets.",
        mean=lambda losses, kept: losses[kept].sum() / len(losses),
    ),
    Mistake(
        "mean-of-means",
        "Each sequence's mean is taken first and then the mean of these, so that a "
        "target in a short one weighs more; take one mean over all kept targets.",
        mean=mean_of_means,
    ),
    Mistake(
        "not-averaged",
        "Every target's loss comes back (reduction='none'); their mean is asked for, "
        "one number.",
        mean=lambda losses, kept: losses.masked_fill(~kept, 0),
    ),
    Mistake(
        "not-averaged-flat",
        "Every target's loss comes back in one row (reduction='none'); their mean is "
        "asked for, one number.",
        mean=lambda losses, kept: losses.masked_fill(~kept, 0).flatten(),
    ),
    Mistake(
        "median",
        "The median of the losses is taken; their mean is asked for.",
        mean=lambda losses, kept: losses[kept].median(),
    ),
    Mistake(
        "in-bits",
        "The loss is in bits (log2); it is asked for in nats, the natural logarithm.",
        after=lambda loss: loss / torch.log(loss.new_tensor(2.0)),
    ),
    Mistake(
        "sign",
        "The minus is missing: the loss is the mean of -log p.",
        after=lambda loss: -loss,
    ),
    Mistake(
        "perplexity",
        "The perplexity comes back, exp of the loss; the loss itself is asked for.",
        after=lambda loss: loss.exp(),
    ),
    Mistake(
        "number-for-tensor",
        "A plain number comes back (.item()); the loss must stay a tensor, or nothing "
        "can be learned from it.",
        after=lambda loss: loss.item(),
    ),
    Mistake(
        "detached",
        "The loss is detached: its value is right, but no gradient reaches the logits.",
        after=lambda loss: loss.detach(),
    ),
    Mistake(
        "no-log-softmax",
        "The logits are used as if they were log-probabilities: the log_softmax is "
        "missing.",
        normed=lambda logits, dim: logits,
    ),
    Mistake(
        "no-log",
        "The probabilities are averaged without a logarithm: the loss is the mean of "
        "-log p.",
        normed=torch.softmax,
    ),
    Mistake(
        "log-of-the-softmax",
        "The logarithm is taken of the softmax's result, where a small probability "
        "has become 0, so the loss of a certain error is infinite: log_softmax, or "
        "cross_entropy on the logits, takes both in one.",
        normed=lambda logits, over: logits.softmax(over).log(),
    ),
    Mistake(
        "softmax-over-positions",
        "The softmax runs over the positions, axis -2; it runs over the vocabulary, "
        "the last axis.",
        over=-2,
    ),
    Mistake(
        "softmax-over-the-first-axis",
        "The softmax runs over the first axis; it runs over the vocabulary, the last.",
        over=0,
    ),
    Mistake(
        "softmax-over-all-tokens",
        "The softmax runs over the flattened tokens, axis 0; it runs over the "
        "vocabulary, the last axis.",
        wrong=_over_all_tokens,
    ),
    Mistake(
        "transposed-before-flattening",
        "The logits are transposed before they are flattened to rows of V, so that the "
        "rows mix tokens; flatten the leading axes as they stand.",
        wrong=_vocabulary_flattened,
    ),
    Mistake(
        "vocabulary-cut-out",
        "reshape(V, -1).T gives the memory another shape and mixes tokens; flatten the "
        "leading axes: reshape(-1, V).",
        wrong=_vocabulary_first,
    ),
    Mistake(
        "one-more-in-the-log",
        "A small number is added to the probabilities before the logarithm, which "
        "bounds the loss of a certain error; take log_softmax of the logits.",
        normed=lambda logits, dim: (logits.softmax(dim) + 1e-6).log(),
    ),
    Mistake(
        "label-smoothing",
        "The targets are smoothed (label_smoothing = 0.1); the plain cross-entropy is "
        "asked for.",
        wrong=lambda logits, targets, ignore_index=-100: F.cross_entropy(
            logits.flatten(0, -2),
            targets.flatten(),
            ignore_index=ignore_index,
            label_smoothing=0.1,
        ),
    ),
    Mistake(
        "three-axes-only",
        "Only logits of three axes are taken (B, T, V = logits.shape); any number of "
        "leading axes is possible: logits.reshape(-1, logits.shape[-1]).",
        wrong=_three_axes,
    ),
    Mistake(
        "classes-moved-by-number",
        "transpose(1, 2) puts the vocabulary second only where logits have three axes; "
        "for any number of them use movedim(-1, 1), or flatten the leading ones.",
        wrong=_transposed,
    ),
    Mistake(
        "classes-not-second",
        "cross_entropy takes the second axis for the classes; flatten logits to "
        "(-1, V) and targets to (-1,), or move the vocabulary to axis 1.",
        wrong=_unflattened,
    ),
]
