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
from autograder.twins.online import ONLINE, online
from autograder.twins.tiles import TILED, tiled
from solutions.attention import attention_scores
from solutions.masks import causal_mask

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
        "more tokens than features": {"n": 9000, "d_model": 64},
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
        "narrower inside": {"n": 7, "ff_dim": 11, "d_model": 64},
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


def climbing(shape: str, scale: float = 3.0, mean: float = 0.0) -> Draw:
    """Scores whose highest comes late in half of the rows, and early in the others."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        numbers = torch.randn(sizes, generator=generator) * scale
        slope = torch.linspace(-scale, scale, sizes[-1])
        rows = torch.arange(sizes[-2])[:, None] % 2 * 2 - 1
        return ((numbers - rows * slope) * 10).round() / 10 + mean

    return Draw(shape, make)


def blocked(shape: str, keys: slice) -> Draw:
    """Scores of which some are -inf, in some rows or in all."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        scores = climbing(shape).make(sizes, generator)
        scores[..., keys] = -torch.inf
        scores[..., :1, 3:5] = -torch.inf
        return scores

    return Draw(shape, make)


TWELVE = {"scores": climbing("... n 12"), "values": normal("... 12 d_v")}

online_softmax_sum = Exercise(
    solutions.online_softmax_sum,
    points=3,
    minutes=20,
    difficulty=4,
    probe="in_blocks",
    forbids=["attention"],
    inputs={
        "three blocks of 4 keys": TWELVE | {"blocks": "4 4 4"},
        "ragged blocks of 5, 1, 3, 3 keys": TWELVE | {"blocks": "5 1 3 3"},
        "one block": TWELVE | {"blocks": "12"},
        "large scores": TWELVE
        | {"scores": climbing("... n 12", 90.0), "blocks": "4 4 4"},
        "scores far below zero": TWELVE
        | {"scores": climbing("... n 12", mean=-300.0), "blocks": "4 4 4"},
        "a block of -inf in the middle": TWELVE
        | {"scores": blocked("... n 12", slice(3, 7)), "blocks": "3 4 5"},
        "a first block of -inf": TWELVE
        | {"scores": blocked("... n 12", slice(0, 3)), "blocks": "3 4 5"},
        "eight blocks": {
            "scores": climbing("... n 24"),
            "values": normal("... 24 d_v"),
            "blocks": "3 3 3 3 3 3 3 3",
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


CROSS = {"Q": normal("... n d_k"), "K": normal("... m d_k"), "V": normal("... m d_v")}
SELF = {"Q": normal("... T d_k"), "K": normal("... T d_k"), "V": normal("... T d_v")}
LONG = {name: normal("1 1 64 d_k") for name in "QKV"}

tiled_attention = Exercise(
    solutions.tiled_attention,
    points=3,
    minutes=20,
    difficulty=4,
    probe="in_tiles",
    forbids=["attention"],
    uses=[attention_scores, causal_mask, solutions.online_softmax_sum],
    inputs={
        "blocks of 2": SELF | {"block_size": 2},
        "causal": SELF | {"block_size": 2, "causal": True},
        "n is no multiple of block_size": SELF | {"block_size": 3},
        "causal, and n is no multiple of block_size": SELF
        | {"block_size": 3, "causal": True},
        "more keys than queries": CROSS | {"block_size": 4},
        "one block for all": SELF | {"block_size": 20},
        "blocks of one": SELF | {"block_size": 1, "causal": True},
        "large scores": SELF | {"Q": normal("... T d_k", 40.0), "block_size": 3},
        "a long sequence": LONG | {"block_size": 4},
        "a long causal sequence": LONG | {"block_size": 4, "causal": True},
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
    forbids=["attention"],
    inputs={
        "eight positions": {
            "Q": normal("... T d_k"),
            "K": normal("... T d_k"),
            "V": normal("... T d_v"),
        },
        "small numbers": {
            "Q": normal("... T d", 0.1),
            "K": normal("... T d", 0.1),
            "V": normal("... T d"),
        },
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
