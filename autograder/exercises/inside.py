"""Chapter 14: looking inside."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import solutions.inside as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import Draw, normal, positive, whole
from autograder.probes.small_gpt import count
from autograder.properties import same
from autograder.twins.entropy import ENTROPY, entropy
from autograder.twins.induction import INDUCTION, induction
from autograder.twins.lens import LENS, lens
from autograder.twins.rollout import ROLLOUT, rolled
from solutions.feed_forward import FeedForward
from solutions.masks import causal_mask
from solutions.minigpt import MiniGPT, TransformerBlock
from solutions.multihead import MultiHeadAttention

CHAPTER = Chapter(14, "Looking inside", "14_looking_inside")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]

#: Weights are counted in parts: a row's sum is 1 exactly, in half precision too.
PARTS = 32


def weights_of(shape: str, least: int = 1) -> Draw:
    """Attention weights, each a number of 32nds; with least = 0 about half are 0."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        m = sizes[-1]
        fit = torch.rand(sizes, generator=generator)
        if least == 0:
            fit = fit * (fit > 0.5)
        fit[..., 0] += 0.01  # somebody gets something
        left = PARTS - least * m
        parts = least + (fit * left / fit.sum(-1, keepdim=True)).floor()
        best = parts.argmax(-1, keepdim=True)
        rest = PARTS - parts.sum(-1, keepdim=True)
        return parts.scatter_add(-1, best, rest) / PARTS

    return Draw(shape, make)


def even_weights(sizes: list[int], generator: torch.Generator) -> Tensor:
    """Every key the same weight."""
    return torch.full(sizes, 1 / sizes[-1])


def keys_in_any_order(theirs: Theirs, x: Inputs) -> bool:
    """the order of the keys makes no difference"""
    return same(theirs(weights=x["weights"].flip(-1)), theirs(**x))


attention_entropy = Exercise(
    solutions.attention_entropy,
    points=2,
    minutes=8,
    difficulty=2,
    probe="spread",
    inputs={
        "weights above 0": {"weights": weights_of("B h n m")},
        "many weights of 0": {"weights": weights_of("B h n m", least=0)},
        "even weights": {"weights": Draw("B h n 4", even_weights)},
    },
    properties=[keys_in_any_order],
    twin=entropy,
    mistakes=ENTROPY,
    hints=[
        "One query's entropy is −Σ w ln w over its keys. What is w ln w at w = 0, and "
        "what does a computer make of it?",
        "Sum over the keys, dim=-1, then take the mean over the queries. A weight of 0 "
        "must add 0: inside the log put a 1 in its place, or use a function that knows "
        "the limit.",
        "`safe = weights.masked_fill(weights == 0, 1.0)`, then `-(weights * "
        "safe.log()).sum(-1).mean(-1)`. Or `torch.special.entr(weights)`, which is "
        "−w ln w, summed and averaged.",
    ],
)


def turning(period: int, T: int = 9) -> dict[str, Any]:
    """Weights over T positions; sequences that repeat after `period` tokens."""
    return {"weights": weights_of(f"B h {T} {T}"), "period": period}


induction_score = Exercise(
    solutions.induction_score,
    points=2,
    minutes=10,
    difficulty=3,
    inputs={
        "9 positions, a period of 3": turning(3),
        "12 positions, a period of 5": turning(5, T=12),
        "one position that counts": turning(8),
        "a period of 1": turning(1),
    },
    twin=induction,
    mistakes=INDUCTION,
    hints=[
        "Write down a sequence of period 3, A B C A B C. At the second B, where did "
        "the token before this one's repetition end, and which position held what "
        "comes next?",
        "The position t stood for the same token at t - period, and what followed it "
        "there is at t - period + 1. Which t have such a past? Take those weights of "
        "every head, and average over them and over the batch.",
        "`t = torch.arange(period, T)`, then `weights[:, :, t, t - period + 1]` is "
        "(B, h, T - period); its mean over the first and the last axis is (h,).",
    ],
)


def rows_sum_to_1(theirs: Theirs, x: Inputs) -> bool:
    """each row of the result sums to 1"""
    sums = theirs(**x).sum(-1)
    return same(sums, torch.ones_like(sums))


attention_rollout = Exercise(
    solutions.attention_rollout,
    points=2,
    minutes=12,
    difficulty=3,
    probe="layered",
    inputs={
        "three layers": {"layers": weights_of("3 B h T T")},
        "one layer": {"layers": weights_of("1 B h T T")},
        "weights after a dropout, whose rows don't sum to 1": {
            "layers": positive("2 B h T T")
        },
    },
    properties=[rows_sum_to_1],
    twin=rolled,
    mistakes=ROLLOUT,
    hints=[
        "What does one layer do to the mixture that a position holds? Half of it stays "
        "where it is. And what do two layers do, one after the other?",
        "A layer's step is 0.5 A + 0.5 I, with A the mean over the heads; divide its "
        "rows by their sums (keepdim=True). Steps are chained by the matrix product: "
        "the layer that comes later stands on the left.",
        "Start with `rollout = torch.eye(T)` in the weights' dtype and device. For "
        "each `weights`: `step = 0.5 * weights.mean(1) + 0.5 * eye`, `step = step / "
        "step.sum(-1, keepdim=True)`, `rollout = step @ rollout`.",
    ],
)


def looking(T: int, mode: str = "eval", max_seq: int = 9) -> dict[str, Any]:
    """A text of T tokens, and a MiniGPT of two blocks whose weights are given."""
    return {
        "tokens": whole(f"3 {T}", 0, 13),
        "weights": normal(str(count(max_seq))),
        "max_seq": max_seq,
        "mode": mode,
    }


logit_lens = Exercise(
    solutions.logit_lens,
    points=3,
    minutes=15,
    difficulty=3,
    probe="lens",
    without=["gradients"],
    tolerance=3e-5,
    uses=[MiniGPT, TransformerBlock, MultiHeadAttention, FeedForward, causal_mask],
    inputs={
        "a model in eval mode": looking(7),
        "a model in training mode": looking(5, mode="train"),
        "as long as max_seq": looking(6, max_seq=6),
    },
    twin=lens,
    mistakes=LENS,
    hints=[
        "Follow MiniGPT's forward. Between which lines does the stream exist, and how "
        "often? What does the model do with it at the very end?",
        "Keep x after embed + pos_embed and after each block (with its causal mask); "
        "what is kept must not be what goes on. Call model.eval() first, and set the "
        "mode back to what it was.",
        "`stream = [x]`; `for block in model.blocks: stream.append(block(stream[-1], "
        "mask))`; the result is `model.head(model.norm(torch.stack(stream)))`. Around "
        "it: `was = model.training; model.eval(); …; model.train(was)`.",
    ],
)
