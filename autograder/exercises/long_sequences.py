"""Chapter 12: long sequences."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import solutions.long_sequences as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import Draw, normal
from autograder.properties import same
from autograder.twins.flops import ATTENTION, FEED_FORWARD, attention, feed_forward
from autograder.twins.linear import LINEAR, linear
from autograder.twins.online import online
from autograder.twins.online_slips import ONLINE
from autograder.twins.tiles import tiled
from autograder.twins.tiles_slips import TILED
from solutions.attention import attention_scores, scaled_dot_product_attention
from solutions.masks import causal_mask, masked_softmax
from solutions.warmup import stable_softmax

CHAPTER = Chapter(12, "Long sequences", "12_long_sequences")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]

attention_flops = Exercise(
    solutions.attention_flops,
    points=1,
    minutes=6,
    difficulty=2,
    probe="amount",
    inputs={
        "five tokens": {"n": 5, "d_model": 12},
        "GPT-2's width, its longest text": {"n": 1024, "d_model": 768},
        "more tokens than features": {"n": 1024, "d_model": 64},
        "one token": {"n": 1, "d_model": 10},
    },
    twin=attention,
    mistakes=ATTENTION,
    hints=[
        "How many multiply-adds does one token's product with a C by C matrix take? "
        "How many such matrices has attention, and which products grow with n²?",
        "Four projections of n tokens: 4 · n C² multiply-adds. Scores and weighted "
        "sum: n² C each, over all heads together. A multiply-add counts as 2.",
        "`8 * n * d_model**2 + 4 * n**2 * d_model`.",
    ],
)

feed_forward_flops = Exercise(
    solutions.feed_forward_flops,
    points=1,
    minutes=4,
    difficulty=1,
    probe="amount",
    inputs={
        "five tokens": {"n": 5, "ff_dim": 30, "d_model": 12},
        "GPT-2's": {"n": 1024, "ff_dim": 3072, "d_model": 768},
        "narrower inside": {"n": 5, "ff_dim": 11, "d_model": 64},
        "one token": {"n": 1, "ff_dim": 48, "d_model": 10},
    },
    twin=feed_forward,
    mistakes=FEED_FORWARD,
    hints=[
        "Each token goes through two matrices. How many multiply-adds is that?",
        "W_1 and W_2 have C · ff_dim numbers each, and each number is used once a "
        "token. A multiply-add counts as 2.",
        "`4 * n * d_model * ff_dim`.",
    ],
)


def climbing(shape: str) -> Draw:
    """Scores whose highest comes late in half of the rows, and early in the others."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        numbers = torch.randn(sizes, generator=generator) * 2
        slope = torch.linspace(-3, 3, sizes[-1])
        rows = torch.arange(sizes[-2])[:, None] % 2 * 2 - 1
        return ((numbers - rows * slope) * 10).round() / 10

    return Draw(shape, make)


def far_apart(shape: str, mean: int, between_rows: int = 0) -> Draw:
    """Scores that are 32 apart in a row: one weighs all, in any dtype and rounding."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        order = torch.rand(sizes, generator=generator).argsort(dim=-1)
        rows = torch.arange(sizes[-2])[:, None] % 2 * between_rows
        return (order - sizes[-1] + 1) * 32.0 - rows + mean

    return Draw(shape, make)


def far_below_after_nothing(shape: str, nothing: int) -> Draw:
    """Scores far below zero, the first of them -inf."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        scores = far_apart(shape, mean=-160).make(sizes, generator)
        scores[..., :nothing] = -torch.inf
        return scores

    return Draw(shape, make)


def blocked(shape: str, *blocks: slice) -> Draw:
    """Scores of which some are -inf, in one row or in all."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        scores = climbing(shape).make(sizes, generator)
        for keys in blocks:
            scores[..., keys] = -torch.inf
        scores[..., :1, 4] = -torch.inf
        return scores

    return Draw(shape, make)


VALUES = normal("2 3 12 9")

online_softmax_sum = Exercise(
    solutions.online_softmax_sum,
    points=3,
    minutes=20,
    difficulty=4,
    probe="in_blocks",
    uses=[stable_softmax],
    inputs={
        "three blocks of 2 keys": {
            "scores": climbing("... n 6"),
            "values": normal("... 6 d_v"),
            "blocks": "2 2 2",
        },
        "six blocks, counted": {"blocks": "4 4 4 4 4 4"},
        "blocks of 5, 1, 4, 2 keys": {
            "scores": climbing("2 3 5 12"),
            "values": VALUES,
            "blocks": "5 1 4 2",
        },
        "blocks that come from a generator": {
            "scores": climbing("2 3 5 12"),
            "values": VALUES,
            "blocks": "4 4 4 from a generator",
        },
        "one block": {
            "scores": climbing("2 3 5 12"),
            "values": VALUES,
            "blocks": "12",
        },
        "large scores": {
            "scores": far_apart("2 3 5 12", mean=352, between_rows=320),
            "values": VALUES,
            "blocks": "4 4 4",
        },
        "scores far below zero": {
            "scores": far_apart("2 3 5 12", mean=-160),
            "values": VALUES,
            "blocks": "4 4 4",
        },
        "two blocks of -inf, then scores far below zero": {
            "scores": far_below_after_nothing("2 3 5 12", nothing=8),
            "values": VALUES,
            "blocks": "4 4 4",
        },
        "whole blocks of -inf, the first one too": {
            "scores": blocked("2 3 5 12", slice(0, 3), slice(6, 8)),
            "values": VALUES,
            "blocks": "1 2 3 2 4",
        },
    },
    twin=online,
    mistakes=ONLINE,
    hints=[
        "e^(s - highest) is right whatever the highest is, as long as it is the same "
        "for all. What do you have to do with sums that were made with a lower one?",
        "Keep for each row the highest score so far, the sum of e^(s - highest), and "
        "the weighted sum of values. When the highest changes from a to b, both sums "
        "are multiplied by e^(a - b). Divide once, at the end.",
        "Start with -inf, 0 and 0. In the loop `new = torch.maximum(old, scores.amax("
        "-1, keepdim=True))`; take off 0 where new is -inf; `fade = (old - shift)"
        ".exp()`, then `total = fade * total + weights.sum(-1, keepdim=True)`.",
    ],
)


def ones_give_ones(theirs: Theirs, x: Inputs) -> bool:
    """values of all ones come back as ones"""
    output = theirs(**x | {"V": torch.ones_like(x["V"])})
    return same(output, torch.ones_like(output))


FEW = {
    "Q": normal("B h n d_k"),
    "K": normal("B h n d_k"),
    "V": normal("B h n d_v"),
}
SELF = {
    "Q": normal("B h T d_k"),
    "K": normal("B h T d_k"),
    "V": normal("B h T d_v"),
}

tiled_attention = Exercise(
    solutions.tiled_attention,
    points=3,
    minutes=20,
    difficulty=4,
    probe="in_tiles",
    forbids=["attention"],
    words={"n": ("position", "positions")},
    uses=[
        stable_softmax,
        attention_scores,
        scaled_dot_product_attention,
        causal_mask,
        masked_softmax,
        solutions.online_softmax_sum,
    ],
    inputs={
        "n is no multiple of block_size": FEW | {"block_size": 3},
        "causal, and n is no multiple of block_size": FEW
        | {"block_size": 3, "causal": True},
        "three blocks": {"drawn": "2 3 8 8 10 9", "block_size": 3},
        "three blocks, causal": {
            "drawn": "2 3 8 8 10 9",
            "block_size": 3,
            "causal": True,
        },
        "more keys than queries": {"drawn": "2 3 5 7 10 9", "block_size": 5},
        "one block for all": {
            "drawn": "2 3 5 5 10 9",
            "block_size": 20,
            "causal": True,
        },
        "blocks of one": {"drawn": "2 3 4 4 10 9", "block_size": 1, "causal": True},
        "large scores": {"drawn": "2 3 8 8 4 9", "block_size": 4, "apart": True},
        "40 positions, counted": {"block_size": 8, "causal": True, "length": 40},
    },
    properties=[ones_give_ones],
    twin=tiled,
    mistakes=TILED,
    hints=[
        "Some queries at a time, and for them some keys at a time: what you need to "
        "put the pieces together you have written already.",
        "For each block of queries go through the blocks of K and V. Slices may be "
        "shorter at the end, so any n is fine. If causal, compare positions in the "
        "whole sequence: a tile starts at its own offsets.",
        "Per block of queries: scores for each block of keys, masked if causal, into "
        "`online_softmax_sum` with the blocks of V; then `torch.cat(outputs, dim=-2)`. "
        "Tiles that hold only later keys can be skipped.",
    ],
)

linear_attention = Exercise(
    solutions.linear_attention,
    points=2,
    minutes=15,
    difficulty=4,
    optional=True,
    probe="grown",
    inputs={
        "eight positions": SELF,
        "small numbers": {
            "Q": normal("2 3 5 12", 0.1),
            "K": normal("2 3 5 12", 0.1),
            "V": normal("2 3 5 9"),
        },
        "384 positions, counted": {"length": 384},
    },
    properties=[ones_give_ones],
    twin=linear,
    mistakes=LINEAR,
    hints=[
        "With weights φ(q)·φ(k) the sum over the past, Σ (φ(q)·φ(k)) v, can be written "
        "with φ(q) in front of the bracket. What is left inside, and does it depend on "
        "the query?",
        "Inside are Σ φ(k) vᵀ, a d by d_v matrix, and for the denominator Σ φ(k), a "
        "vector. Both are running sums over positions: cumsum.",
        "`q, k = F.elu(Q) + 1, F.elu(K) + 1`; `state = (k[..., :, None] * V[..., None, "
        ":]).cumsum(-3)`; numerator `(q[..., None, :] @ state).squeeze(-2)`, "
        "denominator `(q * k.cumsum(-2)).sum(-1, keepdim=True)`.",
    ],
)
