"""The softmax in one pass, a switch wherever people slip, and the slips by name."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake

Blocks = Iterable[Tensor]
Highest = Callable[[Tensor, Tensor], Tensor]


def guarded(highest: Tensor) -> Tensor:
    """What is taken off: nothing where only -inf has come yet."""
    return highest.masked_fill(highest == -torch.inf, 0)


def online(
    score_blocks: Blocks,
    value_blocks: Blocks,
    *,
    highest_of: Callable[[Tensor, Tensor], Tensor] = torch.maximum,
    shift: Callable[[Tensor], Tensor] = guarded,
    weighed_from: Callable[[Tensor, Tensor], Tensor] = lambda scores, taken: taken,
    start: float = -torch.inf,
    fade: Callable[[Tensor, Tensor], Tensor] = lambda before, now: (before - now).exp(),
    fades: tuple[bool, bool] = (True, True),
    from_zero: bool = False,
    keeps: tuple[bool, bool] = (True, True),
    power: Callable[[Tensor], Tensor] = torch.exp,
    along: int = -1,
    end: Callable[[Tensor, Tensor], Any] = lambda mix, total: mix / total,
) -> Any:
    """The twin of online_softmax_sum; `fades` and `keeps` of the total and the mix."""
    highest: Any = None
    total: Any = None
    mix: Any = None
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        if total is None:
            before: Any = torch.full_like(scores.sum(along, keepdim=True), start)
        else:
            before = highest
        highest = highest_of(before, scores.amax(along, keepdim=True))
        taken = shift(highest)
        weights = power(scores - weighed_from(scores, taken))
        factor = fade(before, taken)
        new = weights.sum(dim=along, keepdim=True), weights @ values
        if total is None and not from_zero:
            total, mix = new
        else:
            if total is None:
                total, mix = (torch.zeros_like(one) for one in new)
            old = [
                one * factor if fading else one
                for one, fading in zip((total, mix), fades, strict=True)
            ]
            total, mix = (
                one + more if kept else more
                for one, more, kept in zip(old, new, keeps, strict=True)
            )
    return end(mix, total)


def _each(score_blocks: Blocks, value_blocks: Blocks) -> list[Tensor]:
    return [
        scores.softmax(dim=-1) @ values
        for scores, values in zip(score_blocks, value_blocks, strict=True)
    ]


def mean_of_softmaxes(score_blocks: Blocks, value_blocks: Blocks) -> Tensor:
    return torch.stack(_each(score_blocks, value_blocks)).mean(dim=0)


def sum_of_softmaxes(score_blocks: Blocks, value_blocks: Blocks) -> Tensor:
    return torch.stack(_each(score_blocks, value_blocks)).sum(dim=0)


def last_block_only(score_blocks: Blocks, value_blocks: Blocks) -> Tensor:
    return _each(score_blocks, value_blocks)[-1]


def weighted_by_length(score_blocks: Blocks, value_blocks: Blocks) -> Tensor:
    scores = list(score_blocks)
    lengths = torch.tensor([one.shape[-1] for one in scores]).to(scores[0])
    weights = (lengths / lengths.sum()).unbind()
    each = _each(scores, value_blocks)
    return torch.stack([w * one for w, one in zip(weights, each, strict=True)]).sum(0)


def divided_each_time(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    """Normalised after every block, and taken for unnormalised at the next."""
    highest: Any = None
    total: Any = None
    out: Any = None
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        now = scores.amax(dim=-1, keepdim=True)
        if total is None:
            taken = guarded(now)
            weights = (scores - taken).exp()
            total, mix = weights.sum(dim=-1, keepdim=True), weights @ values
        else:
            before, now = highest, torch.maximum(highest, now)
            taken = guarded(now)
            weights, factor = (scores - taken).exp(), (before - taken).exp()
            total = total * factor + weights.sum(dim=-1, keepdim=True)
            mix = out * factor + weights @ values
        highest, out = now, mix / total
    return out


def not_shifted(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    pairs = zip(score_blocks, value_blocks, strict=True)
    sums = [(s.exp().sum(-1, keepdim=True), s.exp() @ v) for s, v in pairs]
    return sum(mix for _, mix in sums) / sum(total for total, _ in sums)


def first_highest(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    """The first block's largest score is taken off every block."""
    scores = list(score_blocks)
    taken = scores[0].amax(dim=-1, keepdim=True)
    return not_shifted([one - taken for one in scores], value_blocks)


def one_highest(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    """One highest score so far, for all rows together."""
    highest = torch.tensor(-torch.inf)
    total: Any = 0
    mix: Any = 0
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        before, highest = highest, highest.maximum(scores.amax())
        taken = guarded(highest)
        weights, factor = (scores - taken).exp(), (before - taken).exp()
        total = total * factor + weights.sum(dim=-1, keepdim=True)
        mix = mix * factor + weights @ values
    return mix / total


def by_index(score_blocks: Any, value_blocks: Any) -> Any:
    _ = score_blocks[0], value_blocks[0]
    return online(score_blocks, value_blocks)


def by_length(score_blocks: Any, value_blocks: Any) -> Any:
    _ = len(score_blocks), len(value_blocks)
    return online(score_blocks, value_blocks)


def two_passes(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    score_blocks = list(score_blocks)
    highest = torch.stack([one.amax(-1, keepdim=True) for one in score_blocks]).amax(0)
    weights = [(one - highest).exp() for one in score_blocks]
    total = sum(one.sum(-1, keepdim=True) for one in weights)
    return sum(w @ v for w, v in zip(weights, value_blocks, strict=True)) / total


def joined(score_blocks: Blocks, value_blocks: Blocks) -> Tensor:
    return torch.cat(list(score_blocks), -1).softmax(-1) @ torch.cat(
        list(value_blocks), -2
    )


#: Those that attention in tiles inherits.
RESCALING = [
    Mistake(
        "never-rescaled",
        "What earlier blocks left is kept as it is when a larger score comes: the "
        "total and the sum both need the factor e^(old highest - new highest).",
        fades=(False, False),
    ),
    Mistake(
        "total-not-rescaled",
        "The denominator isn't rescaled when a larger score comes; like the sum of "
        "values it needs the factor e^(old highest - new highest).",
        fades=(False, True),
    ),
    Mistake(
        "sum-not-rescaled",
        "The weighted sum of values isn't rescaled when a larger score comes; like the "
        "denominator it needs the factor e^(old highest - new highest).",
        fades=(True, False),
    ),
    Mistake(
        "factor-inverted",
        "The factor is upside down: e^(old highest - new highest), which is 1 or less.",
        fade=lambda before, now: (now - before).exp(),
    ),
    Mistake(
        "factor-inverted-from-zero",
        "The factor is upside down: e^(old highest - new highest), which is 1 or less. "
        "Yours is e^∞ at the first block, and ∞ times 0 is NaN.",
        fade=lambda before, now: (now - before).exp(),
        from_zero=True,
    ),
    Mistake(
        "never-divided",
        "The final division by the denominator is missing: the weights must add up "
        "to 1.",
        end=lambda mix, total: mix,
    ),
]

ONLINE = [
    *RESCALING,
    Mistake(
        "earlier-total-forgotten",
        "The denominator is the last block's alone: add it to what came before.",
        keeps=(False, True),
    ),
    Mistake(
        "earlier-sum-forgotten",
        "The weighted sum is the last block's alone: add it to what came before.",
        keeps=(True, False),
    ),
    Mistake(
        "powers-of-two",
        "The weights are powers of 2, not of e. exp2 needs scores times log2(e), and "
        "so does the factor.",
        power=torch.exp2,
        fade=lambda before, now: (before - now).exp2(),
    ),
    Mistake(
        "nan-for-blocked-rows",
        "A row that has seen nothing but -inf has -inf for its highest score, and -inf "
        "minus -inf is NaN: take 0 off instead.",
        shift=lambda highest: highest,
    ),
    Mistake(
        "highest-starts-at-zero",
        "The highest score starts at 0, not at -inf: where all scores are far below "
        "it, every weight becomes 0, and 0 / 0 is NaN.",
        start=0.0,
    ),
    Mistake(
        "highest-of-the-block",
        "The highest score is the last block's alone. It has to be the highest so far, "
        "or what is kept from earlier blocks grows without bound, or is lost.",
        highest_of=lambda before, now: now,
    ),
    Mistake(
        "weighed-from-the-block",
        "A block's weights are e^(score - the block's highest); take off the highest "
        "so far, as it is for the sums.",
        weighed_from=lambda scores, taken: guarded(scores.amax(-1, keepdim=True)),
    ),
    Mistake(
        "one-highest-for-all-rows",
        "One highest score serves all rows; where a row lies far below it, every "
        "weight becomes 0, and 0 / 0 is NaN. Each row has its own: amax(-1, "
        "keepdim=True).",
        wrong=one_highest,
    ),
    Mistake(
        "blocks-by-index",
        "The blocks may come from a generator, which can't be indexed: go through "
        "both with zip.",
        wrong=by_index,
    ),
    Mistake(
        "number-of-blocks",
        "The blocks may come from a generator, which has no len: go through both with "
        "zip.",
        wrong=by_length,
    ),
    Mistake(
        "rows-not-by-themselves",
        "Highest score and denominator are taken over the queries; each query has its "
        "own, over its keys: dim=-1.",
        along=-2,
    ),
    Mistake(
        "returns-sum-and-total",
        "The sum and the denominator come back; divide, and return the result alone.",
        end=lambda mix, total: (mix, total),
    ),
    Mistake(
        "mean-of-softmaxes",
        "Each block is normalised by itself, and the results are averaged; there is "
        "one softmax over all blocks, with one denominator.",
        wrong=mean_of_softmaxes,
    ),
    Mistake(
        "sum-of-softmaxes",
        "Each block is normalised by itself, and the results are added; there is one "
        "softmax over all blocks, with one denominator.",
        wrong=sum_of_softmaxes,
    ),
    Mistake(
        "weighted-by-length",
        "Each block is normalised by itself, and counts by its length; what it counts "
        "is its share of the one denominator.",
        wrong=weighted_by_length,
    ),
    Mistake(
        "last-block-only",
        "This is the softmax of the last block alone: what came before is forgotten.",
        wrong=last_block_only,
    ),
    Mistake(
        "divided-each-time",
        "The sum is divided after every block, and then added to as if it weren't: "
        "divide once, at the end.",
        wrong=divided_each_time,
    ),
    Mistake(
        "not-shifted",
        "e^score overflows: take off the highest score so far before the exponential.",
        wrong=not_shifted,
    ),
    Mistake(
        "first-highest-for-all",
        "The first block's highest score is taken off every block; a later one may be "
        "larger, or the first block all -inf: let the highest score run along.",
        wrong=first_highest,
    ),
    Mistake(
        "two-passes",
        "The scores are gone through twice, once for the highest and once more; one "
        "pass is enough: rescale what is kept whenever a larger score comes.",
        wrong=two_passes,
    ),
    Mistake(
        "joined-first",
        "All blocks are joined before anything is calculated, so all scores are in "
        "memory at once; take block after block, and keep a running highest score, "
        "denominator and sum.",
        wrong=joined,
    ),
]
