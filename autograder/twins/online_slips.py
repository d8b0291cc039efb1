"""The slips with the softmax in one pass, by name."""

import torch

from autograder.definition import Mistake
from autograder.twins.online import (
    by_index,
    by_length,
    divided_each_time,
    first_highest,
    guarded,
    joined,
    last_block_only,
    mean_of_softmaxes,
    not_shifted,
    one_highest,
    stuck_at_zero,
    sum_of_softmaxes,
    two_passes,
    weighted_by_length,
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
    Mistake(
        "highest-starts-at-zero",
        "The highest score starts at 0, not at -inf: where all scores are far below "
        "it, every weight becomes 0, and 0 / 0 is NaN.",
        start=0.0,
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
        "zero-kept-as-the-highest",
        "Where only -inf has come, 0 is taken off instead, and then kept as the "
        "highest score so far: scores far below 0 that come later all weigh 0, and "
        "0 / 0 is NaN. Keep -inf; take 0 off.",
        wrong=stuck_at_zero,
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
