"""Filters of logits with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake

Keep = Callable[..., Tensor]


def largest(logits: Tensor, k: int, dim: int = -1) -> Tensor:
    """Where the k largest stand."""
    k = min(k, logits.shape[dim])
    best = logits.topk(k, dim=dim).indices
    return torch.zeros_like(logits, dtype=torch.bool).scatter(dim, best, True)


def back(kept: Tensor, order: Tensor) -> Tensor:
    """From sorted places to the tokens' own."""
    return torch.zeros_like(kept).scatter(-1, order, kept)


def nucleus(
    logits: Tensor,
    p: float,
    *,
    descending: bool = True,
    chances: Callable[[Tensor], Tensor] = lambda logits: logits.softmax(-1),
    keep: Callable[[Tensor, Tensor, float], Tensor] = lambda total, one, p: (
        total - one < p
    ),
    one_at_least: bool = True,
    back: Callable[[Tensor, Tensor], Tensor] = back,
) -> Tensor:
    """Where the fewest most probable tokens stand that together reach p."""
    ordered, order = logits.sort(dim=-1, descending=descending)
    each = chances(ordered)
    kept = keep(each.cumsum(-1), each, p)
    if one_at_least:
        kept[..., 0] = True
    return back(kept, order)


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


def _at_least(least: Callable[[Tensor, float], Any], one_kept: bool = False) -> Keep:
    """Keep by each token's own probability."""

    def keep(logits: Tensor, p: float) -> Tensor:
        each = logits.softmax(-1)
        kept: Tensor = each >= least(each, p)
        return kept | (each == each.amax(-1, keepdim=True)) if one_kept else kept

    return keep


def _through_order(kept: Tensor, order: Tensor) -> Tensor:
    return kept.gather(-1, order)


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

#: How top-p goes wrong.
TOP_P = [
    Mistake(
        "top-p-ignored",
        "top_p has no effect: keep the fewest most probable tokens whose probabilities "
        "add up to p.",
        uses_p=lambda top_k: False,
    ),
    Mistake(
        "top-p-ignored-beside-top-k",
        "Where top_k is given, top_p has no effect (an elif, or an early return?); "
        "both filters apply, top-k first.",
        uses_p=lambda top_k: top_k is None,
    ),
    Mistake(
        "top-k-ignored-beside-top-p",
        "Where top_p is given, top_k has no effect (an elif, or the logits from before "
        "are used?); both filters apply, top-k first.",
        uses_k=lambda top_p: top_p is None,
    ),
    Mistake(
        "top-p-not-renormalised",
        "Top-p counts with the probabilities of all tokens, those that top-k has "
        "removed included. Top-k comes first; take the softmax again over what it "
        "leaves, so that it adds up to 1 (renormalised).",
        p_after=lambda logits, kept: logits,
    ),
    Mistake(
        "top-p-drops-the-crossing-token",
        "The token that crosses p is dropped, so what remains adds up to less than p. "
        "Exclude a token only if p was reached before it: compare the cumulative sum "
        "without the token's own probability.",
        keep_p=partial(nucleus, keep=lambda total, one, p: total <= p),
    ),
    Mistake(
        "top-p-can-keep-none",
        "The token that crosses p is dropped, and where the most probable token alone "
        "exceeds p none is left, all are -inf. Keep the crossing token, so at least "
        "one remains.",
        keep_p=partial(
            nucleus, keep=lambda total, one, p: total <= p, one_at_least=False
        ),
    ),
    Mistake(
        "top-p-one-too-many",
        "One token too many remains: after the token that crosses p another one is "
        "kept. Shift the mask by one place, or subtract the token's own probability, "
        "not both.",
        keep_p=partial(nucleus, keep=lambda total, one, p: _shifted(total - one < p)),
    ),
    Mistake(
        "top-p-complemented",
        "The threshold is 1 - p instead of p: top_p = 0.9 should keep 90% of the "
        "probability, not 10%.",
        keep_p=lambda logits, p: nucleus(logits, 1 - p),
    ),
    Mistake(
        "top-p-of-the-least-probable",
        "The tokens are added up from the least probable, and these are kept; sort "
        "with descending=True, since the most probable tokens make the nucleus.",
        keep_p=partial(nucleus, descending=False),
    ),
    Mistake(
        "top-p-excludes-the-nucleus",
        "The tokens that come after p is reached are kept and the most probable ones "
        "excluded: the comparison is the wrong way round.",
        keep_p=partial(
            nucleus, keep=lambda total, one, p: total > p, one_at_least=False
        ),
    ),
    Mistake(
        "top-p-excludes-the-nucleus-but-one",
        "The tokens that come after p is reached are kept, and of the most probable "
        "ones only the first: the comparison is the wrong way round.",
        keep_p=partial(nucleus, keep=lambda total, one, p: total - one >= p),
    ),
    Mistake(
        "sorted-by-top-p",
        "With top_p the result comes back sorted, the largest first, so a token's "
        "place no longer says which token it is: scatter it back into the original "
        "order.",
        wrong=_sorted_by_top_p,
    ),
    Mistake(
        "mask-in-sorted-order",
        "The mask is made for the sorted logits and laid over the unsorted ones, so it "
        "hits other tokens. Scatter it back to the original places: "
        "mask.scatter(-1, order, mask).",
        keep_p=partial(nucleus, back=lambda kept, order: kept),
    ),
    Mistake(
        "mask-gathered-not-scattered",
        "The mask is brought back from sorted order with gather (or mask[order]) and "
        "the sort's own indices, which permutes it once more. Use scatter, or gather "
        "with order.argsort().",
        keep_p=partial(nucleus, back=_through_order),
    ),
    Mistake(
        "top-p-of-raw-logits",
        "The cumulative sum runs over the logits themselves; p is a probability: take "
        "the softmax first.",
        keep_p=partial(nucleus, chances=lambda logits: logits),
    ),
    Mistake(
        "top-p-softmax-over-the-batch",
        "The softmax for top-p runs over the first axis, the batch; it must run over "
        "the vocabulary, dim=-1.",
        keep_p=partial(nucleus, chances=lambda logits: logits.softmax(0)),
    ),
    Mistake(
        "top-p-as-least-probability",
        "Each token's own probability is compared with p; top-p adds them up, from the "
        "most probable on (a cumulative sum), until they reach p.",
        keep_p=_at_least(lambda each, p: p),
    ),
    Mistake(
        "top-p-as-least-probability-but-one",
        "Each token's own probability is compared with p, and the largest kept anyway; "
        "top-p adds them up, from the most probable on (a cumulative sum), until they "
        "reach p.",
        keep_p=_at_least(lambda each, p: p, one_kept=True),
    ),
    Mistake(
        "min-p-instead-of-top-p",
        "Tokens are kept that have at least p times the largest probability: this is "
        "min-p. Top-p keeps the most probable tokens that together reach p.",
        keep_p=_at_least(lambda each, p: p * each.amax(-1, keepdim=True)),
    ),
]


def _shifted(kept: Tensor) -> Tensor:
    """Each place as the one before it; the first stays."""
    return torch.cat([kept[..., :1], kept[..., :-1]], dim=-1)
