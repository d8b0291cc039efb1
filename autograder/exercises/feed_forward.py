"""Chapter 6: feed-forward networks."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import solutions.feed_forward as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import Draw, normal
from autograder.properties import same
from autograder.twins.feed_forward import NETWORKS, rework
from autograder.twins.gates import GATES, through_the_gate
from autograder.twins.gelu import GELUS, let_through
from autograder.twins.widths import SHARES, WIDTHS, fitted, share

CHAPTER = Chapter(6, "Feed-forward networks", "06_feed_forward")

Theirs = Callable[..., Any]
Inputs = dict[str, Tensor]

WORDS = {"T": ("token", "tokens"), "d": ("feature", "features")}


def mostly_negative(sizes: list[int], generator: torch.Generator) -> Tensor:
    """Numbers from -3 to 0.5, where GELU is small and its forms are furthest apart."""
    return torch.randint(-30, 5, sizes, generator=generator) / 10 + 0.05


def both_sides(theirs: Theirs, x: Inputs) -> bool:
    """gelu(x) - gelu(-x) is x"""
    return same(theirs(**x) - theirs(x=-x["x"]), x["x"])


gelu = Exercise(
    solutions.gelu,
    points=1,
    minutes=6,
    difficulty=2,
    forbids=["gelu"],
    tolerance=3e-6,
    words={"d": ("number", "numbers")},
    inputs={
        # 0 is never tried: a form in two pieces may have another slope just there.
        "numbers": {"x": normal("... d", scale=2.0, mean=0.1)},
        "mostly negative numbers": {"x": Draw("... d", mostly_negative)},
        "large numbers": {"x": normal("... d", scale=3e3, mean=100.0)},
    },
    properties=[both_sides],
    twin=let_through,
    mistakes=GELUS,
    hints=[
        "Φ(x) is the chance that a standard normal draw lies below x. What is it at 0, "
        "far to the right, far to the left?",
        "torch has no Φ under that name, but `torch.erf`: Φ(x) is (1 + erf(x / √2)) / "
        "2. The form with tanh is an approximation.",
        "`x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))`.",
    ],
)


def tokens_apart(theirs: Theirs, x: Inputs) -> bool:
    """a token's result depends on no other token"""
    other = x["x"].clone()
    other[..., 0, :] += 1
    return same(theirs(**x)[..., 1:, :], theirs(x=other)[..., 1:, :])


#: Modules are given (B, T, C); any other number of axes is asked of functions only.
TOKENS: dict[str, dict[str, Any]] = {
    "tokens": {"x": normal("B T d")},
    "as many hidden features as features": {"x": normal("B T d"), "ff_dim": "d"},
    "one token alone": {"x": normal("1 1 d")},
    "larger numbers": {"x": normal("B T d", scale=2.0)},
}

FeedForward = Exercise(
    solutions.FeedForward,
    points=2,
    minutes=8,
    difficulty=2,
    make={"d_model": "d", "ff_dim": 30},
    uses=[solutions.gelu],
    # GELU's tanh form is 2e-4 of the largest result off, rounding 3e-7.
    tolerance=1.5e-6,
    words=WORDS,
    inputs=TOKENS,
    properties=[tokens_apart],
    twin=rework,
    mistakes=NETWORKS,
    hints=[
        "Two matrices and something between them. What would two matrices with nothing "
        "between them be?",
        "Make W_1 from d_model to ff_dim and W_2 back, both nn.Linear with a bias, and "
        "use the exact GELU between.",
        "In `__init__`: `self.W_1 = nn.Linear(d_model, ff_dim)`, `self.W_2 = "
        "nn.Linear(ff_dim, d_model)`. In `forward`: W_2 of gelu of W_1 of x.",
    ],
)


SwiGLU = Exercise(
    solutions.SwiGLU,
    points=2,
    minutes=10,
    difficulty=2,
    make={"d_model": "d", "ff_dim": 30},
    words=WORDS,
    inputs=TOKENS,
    properties=[tokens_apart],
    twin=through_the_gate,
    mistakes=GATES,
    hints=[
        "Two projections of x meet. One says what there is, the other how much of it "
        "gets through: which of them is bent?",
        "SiLU is `F.silu`, z * sigmoid(z); a sigmoid alone would be GLU. The two meet "
        "place by place, before W_down. `bias=False`, three times.",
        "In `forward`: `hidden = F.silu(self.W_gate(x)) * self.W_up(x)`, then W_down.",
    ],
)


# Llama's own code takes int(2 * (4 * d_model) / 3) before it rounds up, which differs
# where 8 d_model / 3 lies less than 1 above a multiple: no such size is tried.
swiglu_dim = Exercise(
    solutions.swiglu_dim,
    points=1,
    minutes=6,
    difficulty=2,
    inputs={
        "Llama 7B": {"d_model": 4096},
        "Llama 13B": {"d_model": 5120},
        "Llama 65B": {"d_model": 8192},
        "a multiple already": {"d_model": 768},
        "just below a multiple": {"d_model": 2303},
        "one multiple exactly": {"d_model": 96},
        "a small model": {"d_model": 10},
        "multiples of 64": {"d_model": 512, "multiple_of": 64},
        "multiples of 100": {"d_model": 768, "multiple_of": 100},
        "multiples of 1": {"d_model": 300, "multiple_of": 1},
        "a multiple of 32 already": {"d_model": 2304, "multiple_of": 32},
    },
    twin=fitted,
    mistakes=WIDTHS,
    hints=[
        "A 4x network has two matrices of 4 * d_model * d_model. SwiGLU has three. How "
        "wide may they be if all is to cost the same?",
        "2/3 of 4 * d_model, then up to the next multiple, unless it is one already. "
        "Whole numbers can be divided upwards: -(-a // b).",
        "How many multiples? `math.ceil(8 * d_model / (3 * multiple_of))`. That many "
        "times multiple_of.",
    ],
)


feed_forward_share = Exercise(
    solutions.feed_forward_share,
    points=1,
    minutes=4,
    difficulty=1,
    inputs={
        "a wide network": {"d_model": 12, "ff_dim": 30},
        "four times as wide": {"d_model": 512, "ff_dim": 2048},
        "as wide as the model": {"d_model": 12, "ff_dim": 12},
        "narrower than the model": {"d_model": 64, "ff_dim": 20},
        "as large as Llama 7B's": {"d_model": 4096, "ff_dim": 11008},
    },
    twin=share,
    mistakes=SHARES,
    hints=[
        "How many matrices has attention, and how large is each? How many has the "
        "feed-forward network?",
        "Attention has four matrices of d_model * d_model, the feed-forward network "
        "two of d_model * ff_dim. A share is a part over the whole.",
        "`ff / (ff + attention)` with `ff = 2 * d_model * ff_dim` and `attention = 4 * "
        "d_model**2`.",
    ],
)
