"""How the sublayers of encoder and decoder blocks are wired wrongly, by name."""

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.attention import weigh, weigh_repeated
from autograder.twins.blocks import (
    INSIDE,
    all_from_start,
    back,
    causal_across,
    either,
    first_norm_s,
    from_branch,
    from_start,
    of_the_first,
    rows_for,
    start_again,
)
from autograder.twins.heads import CUTS, JOINS
from autograder.twins.multihead import INHERITED, LAYER

#: Slips of attention that a block shows which has attention written out inside.
WRITTEN_OUT = [
    row
    for row in [*CUTS[:1], *JOINS[:1], *LAYER, *INHERITED]
    if row.id
    in (
        "cut-by-view",
        "joined-by-reshape",
        "divided-by-root-d_model",
        "no-output-projection",
        "batch-taken-for-positions",
        "unscaled-scores",
        "divided-by-d_k",
        "queries-and-keys-exchanged",
        "softmax-over-queries",
        "softmax-over-axis-1",
        "blocked-scores-zero",
        "blocked-scores-very-high",
        "mask-added",
        "mask-must-be-boolean",
        "mask-after-softmax",
    )
]

_MASK_INVERTED = next(row for row in INHERITED if row.id == "mask-inverted")
_MASK_TRANSPOSED = next(row for row in INHERITED if row.id == "mask-transposed")

ENCODER = [
    *rows_for(
        {"a": "attention", "f": "feed-forward network"},
        "x + attn(norm1(x), mask), then x + ff(norm2(x))",
    ),
    Mistake(
        "skip-from-the-block-s-input",
        "The second skip connection starts from the block's input, so the attention's "
        "result is not carried on: x is what the first sublayer left.",
        place_f=from_start,
    ),
    Mistake(
        "sublayers-side-by-side",
        "Attention and feed-forward network both read the block's input, side by side "
        "(in parallel); the second reads what the first left.",
        place_f=all_from_start,
    ),
    Mistake(
        "feed-forward-reads-the-attention",
        "The feed-forward network reads the attention's result alone; it reads the "
        "residual stream, to which that result was added: x + ff(norm2(x)).",
        place_f=from_branch,
    ),
    Mistake(
        "feed-forward-reads-norm1-s-result",
        "The feed-forward network reads what norm1 gave to the attention, so it hears "
        "nothing of what the attention found; it reads the residual stream, to which "
        "that was added: x + ff(norm2(x)).",
        seen_f=first_norm_s,
    ),
    Mistake(
        "block-s-input-added-again",
        "The block's input is added twice: the second skip connection starts from what "
        "the first sublayer left, which holds the input already.",
        place_f=start_again,
    ),
    Mistake(
        "attention-s-result-indexed",
        "The attention's result is taken apart, [0], as if it were a pair; it is one "
        "tensor, and its first part is the first sequence's: add it whole.",
        taken=of_the_first,
    ),
    Mistake(
        "attention-twice",
        "The attention is applied twice, and then the feed-forward network; each "
        "sublayer runs once.",
        order="aaf",
    ),
    Mistake(
        "order-reversed",
        "The feed-forward network comes first; the order is attention, then "
        "feed-forward network.",
        order="fa",
    ),
    Mistake(
        "order-reversed-with-norms",
        "The feed-forward network comes first, with norm1; the order is attention, "
        "then feed-forward network.",
        order="fa",
        norm_f=1,
        norm_a=2,
    ),
    Mistake(
        "feed-forward-missing",
        "The feed-forward network is never applied: the second sublayer, "
        "x + ff(norm2(x)), is missing.",
        order="a",
    ),
    Mistake(
        "attention-missing",
        "The attention is never applied: the first sublayer, "
        "x + attn(norm1(x), mask), is missing.",
        order="f",
    ),
    Mistake(
        "norms-exchanged",
        "norm1 and norm2 are swapped: norm1 belongs to the attention, norm2 to the "
        "feed-forward network.",
        norm_a=2,
        norm_f=1,
    ),
    Mistake(
        "norm1-for-both",
        "norm1 is used in both places, and norm2 is unused: the feed-forward network "
        "has a norm of its own, norm2.",
        norm_f=1,
    ),
    Mistake(
        "norm2-for-both",
        "norm2 is used in both places, and norm1 is unused: the attention has a norm "
        "of its own, norm1.",
        norm_a=2,
    ),
    Mistake(
        "norm-at-the-end",
        "The block's result is normed once more, with norm2; it should leave the "
        "stream as it is.",
        end=lambda module, x: module.norm2(x),
    ),
    Mistake(
        "causal-encoder",
        "The attention is causal: positions see no later ones. An encoder is "
        "bidirectional, so attend everywhere unless the mask says otherwise.",
        causal=True,
    ),
    Mistake(
        "mask-not-passed",
        "The mask has no effect: pass it on to the attention, attn(norm1(x), mask).",
        blocked=lambda mask: torch.zeros_like(mask, dtype=torch.bool),
    ),
    _MASK_INVERTED,
    _MASK_TRANSPOSED,
    *INSIDE,
    *WRITTEN_OUT,
]


def _upper(causal: Tensor, memory_mask: Tensor | None) -> Tensor:
    return causal.mT


#: One query under a memory's mask: einsum goes on where `@` raises, so each has a row.
MASKS_EXCHANGED = [
    Mistake(
        id,
        "The two masks are swapped: the causal one belongs to the self-attention, "
        "memory_mask to the cross-attention.",
        sees=lambda causal, m: m,
        looks=lambda m, x, memory: back(x.shape[1], x.device),
        mix=mix,
    )
    for id, mix in {
        "masks-exchanged": weigh_repeated,
        "masks-exchanged-and-not-repeated": weigh,
    }.items()
]

DECODER = [
    *rows_for(
        {"s": "self-attention", "c": "cross-attention", "f": "feed-forward network"},
        "x + self_attn(norm1(x), causal), and so on with norm2 and norm3",
    ),
    Mistake(
        "not-causal",
        "The self-attention is not causal: positions see later ones, the very tokens "
        "they are to predict. Give it a causal mask.",
        sees=lambda causal, m: None,
    ),
    Mistake(
        "causal-mask-inverted",
        "The causal mask is inverted: positions see the future only, and the last sees "
        "nothing, which makes NaN. True means may attend: tril, not triu(diagonal=1).",
        sees=lambda causal, m: ~causal,
    ),
    Mistake(
        "triangle-flipped",
        "The causal mask's triangle is flipped: positions see themselves and the "
        "future. Take the lower triangle: tril.",
        sees=_upper,
    ),
    Mistake(
        "diagonal-missing",
        "The causal mask lacks its diagonal: a position doesn't see itself, and the "
        "first sees nothing, which makes NaN. The diagonal is True.",
        sees=lambda causal, m: causal.tril(-1),
    ),
    Mistake(
        "one-ahead",
        "The self-attention sees one step ahead, the very token it is to predict: the "
        "causal mask is off by one, j <= i.",
        sees=lambda causal, m: torch.ones_like(causal).tril(1),
    ),
    Mistake(
        "causal-over-memory",
        "The cross-attention is causal: position i of x sees the memory up to position "
        "i only. The source is there as a whole; the causal mask is the "
        "self-attention's.",
        looks=causal_across,
    ),
    Mistake(
        "causal-in-the-wrong-place",
        "The causal mask lies over the cross-attention instead of the self-attention: "
        "it is x that is written step by step, while the memory is there as a whole.",
        sees=lambda causal, m: None,
        looks=causal_across,
    ),
    Mistake(
        "causal-mask-for-the-memory",
        "The causal mask of x, T by T, is given to the cross-attention: it fits no "
        "memory of another length, and hides the end of one that is as long. The "
        "source is there as a whole: give it memory_mask.",
        looks=lambda m, x, memory: back(x.shape[1], x.device),
    ),
    *MASKS_EXCHANGED,
    Mistake(
        "memory-mask-ignored",
        "memory_mask has no effect: pass it on to the cross-attention.",
        looks=lambda m, x, memory: None,
    ),
    Mistake(
        "memory-mask-in-both",
        "memory_mask is used in the self-attention too, besides the cross-attention; "
        "it is about the memory only, the self-attention is causal and nothing else.",
        sees=either,
    ),
    Mistake(
        "memory-mask-for-self-attention",
        "memory_mask goes to the self-attention, where it doesn't belong; it is the "
        "cross-attention's, and the self-attention has the causal mask.",
        sees=lambda causal, m: causal if m is None else m,
        looks=lambda m, x, memory: None,
    ),
    Mistake(
        "memory-mask-inverted",
        "memory_mask is inverted: True or 1 means may attend, and yours blocks there.",
        looks=lambda m, x, memory: None if m is None else m == 0,
    ),
    Mistake(
        "memory-mask-transposed",
        "memory_mask is transposed: its rows belong to the queries and its columns, "
        "the last axis, to the memory.",
        looks=lambda m, x, memory: None if m is None else m.mT,
    ),
    Mistake(
        "memory-normed",
        "The memory goes through norm2 as well; it is used as it comes, and only x is "
        "normed.",
        prepared=lambda module, memory: module.norm2(memory),
    ),
    Mistake(
        "memory-ignored",
        "The cross-attention attends to x itself, and the memory has no effect: keys "
        "and values come from the memory.",
        reads="xxx",
    ),
    Mistake(
        "x-and-memory-exchanged",
        "x and memory are swapped in the cross-attention: it is x that asks, "
        "cross_attn(norm2(x), memory, memory_mask).",
        reads="mxx",
    ),
    Mistake(
        "values-from-x",
        "The cross-attention's values come from x; keys and values are both made from "
        "the memory.",
        reads="xmx",
    ),
    Mistake(
        "keys-from-x",
        "The cross-attention's keys come from x; keys and values are both made from "
        "the memory.",
        reads="xxm",
    ),
    Mistake(
        "cross-attention-first",
        "The cross-attention comes first; the order is self-attention, "
        "cross-attention, feed-forward network.",
        order="csf",
    ),
    Mistake(
        "cross-attention-first-with-norms",
        "The cross-attention comes first, with norm1; the order is self-attention, "
        "cross-attention, feed-forward network.",
        order="csf",
        norm_c=1,
        norm_s=2,
    ),
    Mistake(
        "cross-attention-last",
        "The cross-attention comes last; the order is self-attention, "
        "cross-attention, feed-forward network.",
        order="sfc",
    ),
    Mistake(
        "cross-attention-last-with-norms",
        "The cross-attention comes last, with norm3; the order is self-attention, "
        "cross-attention, feed-forward network.",
        order="sfc",
        norm_c=3,
        norm_f=2,
    ),
    Mistake(
        "cross-attention-missing",
        "The cross-attention is never applied, and the memory has no effect: its "
        "sublayer is missing.",
        order="sf",
    ),
    Mistake(
        "self-attention-missing",
        "The self-attention is never applied: its sublayer is missing.",
        order="cf",
    ),
    Mistake(
        "feed-forward-missing",
        "The feed-forward network is never applied: the third sublayer, "
        "x + ff(norm3(x)), is missing.",
        order="sc",
    ),
    Mistake(
        "skip-from-the-block-s-input",
        "The feed-forward network's skip connection starts from the block's input, so "
        "what the attentions found is not carried on.",
        place_f=from_start,
    ),
    Mistake(
        "cross-attention-reads-the-self-attention",
        "The cross-attention's queries come from the self-attention's result alone; "
        "they come from the residual stream, to which it was added: norm2(x).",
        place_c=from_branch,
    ),
    Mistake(
        "attentions-side-by-side",
        "Self-attention and cross-attention both read the block's input, side by side "
        "(in parallel); the cross-attention reads what the self-attention left.",
        place_c=all_from_start,
    ),
    Mistake(
        "attentions-exchanged",
        "self_attn and cross_attn are swapped: cross_attn attends within x, and "
        "self_attn reads the memory.",
        within="cross_attn",
        across="self_attn",
    ),
    Mistake(
        "self-attn-for-both",
        "self_attn reads the memory, too, and cross_attn is never used: each has "
        "weights of its own.",
        across="self_attn",
    ),
    Mistake(
        "memory-normed-by-norm1",
        "The memory goes through norm1; it is used as it comes, and only x is normed.",
        prepared=lambda module, memory: module.norm1(memory),
    ),
    Mistake(
        "memory-normed-by-norm3",
        "The memory goes through norm3; it is used as it comes, and only x is normed.",
        prepared=lambda module, memory: module.norm3(memory),
    ),
    Mistake(
        "cross-skip-from-the-block-s-input",
        "The cross-attention's skip connection starts from the block's input, so what "
        "the self-attention found is not carried on.",
        place_c=from_start,
    ),
    Mistake(
        "sublayers-side-by-side",
        "All sublayers read the block's input, side by side (in parallel); each reads "
        "what the one before it left.",
        place_c=all_from_start,
        place_f=all_from_start,
    ),
    Mistake(
        "norms-exchanged",
        "norm2 and norm3 are swapped: norm2 belongs to the cross-attention, norm3 to "
        "the feed-forward network.",
        norm_c=3,
        norm_f=2,
    ),
    Mistake(
        "norm1-and-norm2-exchanged",
        "norm1 and norm2 are swapped: norm1 belongs to the self-attention, norm2 to "
        "the cross-attention.",
        norm_s=2,
        norm_c=1,
    ),
    Mistake(
        "norm1-for-all",
        "norm1 is used everywhere, and norm2 and norm3 are unused: each sublayer has a "
        "norm of its own.",
        norm_c=1,
        norm_f=1,
    ),
    Mistake(
        "norm1-for-cross-attention",
        "The cross-attention uses norm1, and norm2 is unused: each sublayer has a norm "
        "of its own.",
        norm_c=1,
    ),
    Mistake(
        "norm2-for-feed-forward",
        "The feed-forward network uses norm2, and norm3 is unused: each sublayer has a "
        "norm of its own.",
        norm_f=2,
    ),
    Mistake(
        "norm1-for-feed-forward",
        "The feed-forward network uses norm1, and norm3 is unused: each sublayer has a "
        "norm of its own.",
        norm_f=1,
    ),
    Mistake(
        "norm-at-the-end",
        "The block's result is normed once more, with norm3; it should leave the "
        "stream as it is.",
        end=lambda module, x: module.norm3(x),
    ),
    *INSIDE,
    *WRITTEN_OUT,
]
