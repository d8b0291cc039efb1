"""Top-p with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake

Keep = Callable[..., Tensor]


def back(kept: Tensor, order: Tensor) -> Tensor:
    """From sorted places to the tokens' own."""
    return torch.zeros_like(kept).scatter(-1, order, kept)


def nucleus(
    logits: Tensor,
    p: float,
    *,
    descending: bool = True,
    chances: Callable[[Tensor], Tensor] = lambda logits: logits.softmax(-1),
    total: Callable[[Tensor], Tensor] = lambda each: each.cumsum(-1),
    keep: Callable[[Tensor, Tensor, float], Tensor] = lambda total, one, p: (
        total - one < p
    ),
    one_at_least: bool = True,
    back: Callable[[Tensor, Tensor], Tensor] = back,
) -> Tensor:
    """Where the fewest most probable tokens stand that together reach p."""
    ordered, order = logits.sort(dim=-1, descending=descending)
    each = chances(ordered)
    kept = keep(total(each), each, p)
    if one_at_least:
        kept[..., 0] = True
    return back(kept, order)


def _at_least(least: Callable[[Tensor, float], Any], one_kept: bool = False) -> Keep:
    """Keep by each token's own probability."""

    def keep(logits: Tensor, p: float) -> Tensor:
        each = logits.softmax(-1)
        kept: Tensor = each >= least(each, p)
        return kept | (each == each.amax(-1, keepdim=True)) if one_kept else kept

    return keep


def _in_all_rows(kept: Tensor, order: Tensor) -> Tensor:
    """What one row excludes is excluded in every row."""
    kept = back(kept, order)
    return kept.all(tuple(range(kept.dim() - 1)), keepdim=True).expand(kept.shape)


def _through_order(kept: Tensor, order: Tensor) -> Tensor:
    return kept.gather(-1, order)


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
        "excluded-in-all-rows",
        "What is excluded in one row is excluded in every row, as "
        "logits[..., order[mask]] does: each row has a mask of its own, "
        "mask.scatter(-1, order, mask).",
        keep_p=partial(nucleus, back=_in_all_rows),
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
        "top-p-sum-over-the-batch",
        "The cumulative sum runs along the first axis, the batch (cumsum(0)); it must "
        "run over the vocabulary, dim=-1.",
        keep_p=partial(
            nucleus,
            total=lambda each: each.cumsum(0),
            keep=lambda total, one, p: _shifted(total <= p),
        ),
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
