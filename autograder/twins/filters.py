"""Filters of logits with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.nucleus import nucleus

Keep = Callable[..., Tensor]


def largest(logits: Tensor, k: int, dim: int = -1) -> Tensor:
    """Where the k largest stand."""
    k = min(k, logits.shape[dim])
    best = logits.topk(k, dim=dim).indices
    return torch.zeros_like(logits, dtype=torch.bool).scatter(dim, best, True)


def masked(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.masked_fill(~kept, -torch.inf)


def filtered(
    logits: Tensor,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    keep_k: Keep = largest,
    keep_p: Keep = nucleus,
    p_after: Callable[[Tensor, Tensor], Tensor] = masked,
    uses_k: Callable[[Any], bool] = lambda top_p: True,
    uses_p: Callable[[Any], bool] = lambda top_k: True,
    give: Callable[[Tensor, Tensor], Any] = masked,
) -> Any:
    """The twin of filter_logits."""
    kept = torch.ones_like(logits, dtype=torch.bool)
    if top_k is not None and uses_k(top_p):
        kept = keep_k(logits, top_k)
    if top_p is not None and uses_p(top_k):
        kept = kept & keep_p(p_after(logits, kept), top_p)
    return give(logits, kept)


def filled(value: float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda logits, kept: logits.masked_fill(~kept, value)


def _not_bounded(logits: Tensor, k: int) -> Tensor:
    return logits >= logits.topk(k).values[..., -1:]


def _of_all_rows(logits: Tensor, k: int) -> Tensor:
    flat = logits.flatten()
    return logits >= flat.topk(min(k, len(flat))).values[-1]


def _of_first_row(logits: Tensor, k: int) -> Tensor:
    k = min(k, logits.shape[-1])
    return logits >= logits.reshape(-1, logits.shape[-1])[0].topk(k).values[-1]


def _smallest(logits: Tensor, k: int) -> Tensor:
    return largest(-logits, k)


def _one_less(logits: Tensor, k: int) -> Tensor:
    return largest(logits, min(k, logits.shape[-1]) - 1)


def _from_the_largest(logits: Tensor, k: int) -> Tensor:
    return logits >= logits.amax(-1, keepdim=True)


def _across(logits: Tensor, k: int) -> Tensor:
    return largest(logits, k, dim=0)


def _kept_at_index_k(logits: Tensor, k: int) -> Tensor:
    return torch.arange(logits.shape[-1], device=logits.device).expand_as(logits) < k


def _up_to_the_kth(logits: Tensor, k: int) -> Tensor:
    return logits <= logits.topk(min(k, logits.shape[-1])).values[..., -1:]


def _from_kth_smallest(logits: Tensor, k: int) -> Tensor:
    k = min(k, logits.shape[-1])
    return logits >= logits.topk(k, largest=False).values.amax(-1, keepdim=True)


def _sorted_by_top_p(
    logits: Tensor, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    found: Tensor = filtered(logits, top_k, top_p)
    return found if top_p is None else found.sort(dim=-1, descending=True).values


def _sorted(logits: Tensor, kept: Tensor) -> Tensor:
    return masked(logits, kept).sort(dim=-1, descending=True).values


#: How the filled-in value and the form of the result go wrong.
RESULTS = [
    Mistake(
        "excluded-are-zero",
        "The tokens left out get the logit 0, or nearly 0 such as 1e-10 (or are "
        "multiplied by a 0/1 mask). Softmax gives such a logit a good share, the "
        "largest where all others are negative. Fill in -inf: e^-inf is 0.",
        give=filled(0.0),
    ),
    Mistake(
        "excluded-low-not-inf",
        "The tokens left out get a large negative number such as -1e9; what is asked "
        "for is -inf, float('-inf'), which is out of the question in every dtype.",
        give=filled(-1e9),
    ),
    Mistake(
        "excluded-at-lowest-number",
        "The tokens left out get the lowest number of the dtype, finfo.min; what is "
        "asked for is -inf, which is out of the question whatever is added to it.",
        give=lambda logits, kept: logits.masked_fill(
            ~kept, torch.finfo(logits.dtype).min
        ),
    ),
    Mistake(
        "excluded-at-plus-infinity",
        "The tokens left out get +inf: the sign is wrong, it must be -inf.",
        give=filled(torch.inf),
    ),
    Mistake(
        "kept-and-excluded-exchanged",
        "The tokens that should stay get -inf and the others stay: the mask is "
        "inverted.",
        give=lambda logits, kept: masked(logits, ~kept),
    ),
    Mistake(
        "probabilities-returned",
        "What comes back are probabilities (a softmax); return the logits, those kept "
        "as they were and the others -inf.",
        give=lambda logits, kept: masked(logits, kept).softmax(-1),
    ),
    Mistake(
        "log-probabilities-returned",
        "What comes back are log-probabilities (a log_softmax): the logits kept must "
        "stay as they are.",
        give=lambda logits, kept: masked(logits, kept).log_softmax(-1),
    ),
    Mistake(
        "result-in-sorted-order",
        "The result comes back sorted, the largest first, so a token's place no longer "
        "says which token it is. Scatter it back into the original order.",
        give=_sorted,
    ),
    Mistake(
        "sorted-by-top-p",
        "With top_p the result comes back sorted, the largest first, so a token's "
        "place no longer says which token it is: scatter it back into the original "
        "order.",
        wrong=_sorted_by_top_p,
    ),
    Mistake(
        "mask-returned",
        "What comes back is the mask of the tokens kept; return the logits, with -inf "
        "where the mask says no.",
        give=lambda logits, kept: kept,
    ),
]

#: How top-k goes wrong.
TOP_K = [
    Mistake(
        "top-k-ignored",
        "top_k has no effect: only the k largest logits may stay.",
        uses_k=lambda top_p: False,
    ),
    Mistake(
        "top-k-beyond-the-vocabulary",
        "A top_k larger than the vocabulary makes topk raise an error; it keeps all "
        "tokens: take min(top_k, logits.shape[-1]).",
        keep_k=_not_bounded,
    ),
    Mistake(
        "top-k-of-the-smallest",
        "The k smallest logits are kept; it should be the k largest.",
        keep_k=_smallest,
    ),
    Mistake(
        "top-k-excludes-the-largest",
        "The logits above the k-th largest are excluded and those below it kept: the "
        "comparison is the wrong way round.",
        keep_k=_up_to_the_kth,
    ),
    Mistake(
        "top-k-threshold-among-the-smallest",
        "The threshold is the k-th smallest logit; it should be the k-th largest.",
        keep_k=_from_kth_smallest,
    ),
    Mistake(
        "top-k-one-too-few",
        "k - 1 tokens remain: the k-th largest is excluded as well. Leave out what is "
        "less than it (<), not what is equal to it (<=).",
        keep_k=_one_less,
    ),
    Mistake(
        "top-k-threshold-the-largest",
        "Only the largest logit remains, whatever k is: the threshold is the first of "
        "the k values that topk returns; it should be the last, values[..., -1:].",
        keep_k=_from_the_largest,
    ),
    Mistake(
        "top-k-one-too-many",
        "k + 1 tokens remain; it should be k. The k-th largest stands at index k - 1.",
        keep_k=lambda logits, k: largest(logits, k + 1),
    ),
    Mistake(
        "top-k-over-the-batch",
        "The k largest are searched for over all rows together; each row keeps k of "
        "its own (dim=-1).",
        keep_k=_of_all_rows,
    ),
    Mistake(
        "top-k-along-first-axis",
        "The k largest are searched for along the first axis, across the batch; it is "
        "the last axis, the vocabulary.",
        keep_k=_across,
    ),
    Mistake(
        "top-k-threshold-of-first-row",
        "All rows are measured by the first row's k-th largest logit; each row of the "
        "batch has a threshold of its own.",
        keep_k=_of_first_row,
    ),
    Mistake(
        "first-k-tokens-kept",
        "The first k tokens of the vocabulary are kept; it should be the k with the "
        "largest logits, wherever they stand. Sorted places must be scattered back.",
        keep_k=_kept_at_index_k,
    ),
]
