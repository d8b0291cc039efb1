"""Chapter 0: compare, choose, mix."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import solutions.warmup as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import Draw, normal, positive
from autograder.properties import same
from autograder.twins.softmax import CHOOSE, choose
from autograder.twins.warmup import COMPARE, MIX, compare, mix

CHAPTER = Chapter(0, "Warm-up: compare, choose, mix", "00_warmup")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]


def twice_gives_twice(theirs: Theirs, x: Inputs) -> bool:
    """twice the rows give twice the scores"""
    return same(2 * theirs(**x), theirs(**x | {"y": 2 * x["y"]}))


pairwise_dots = Exercise(
    solutions.pairwise_dots,
    points=1,
    minutes=5,
    difficulty=1,
    inputs={
        "rows and columns": {"x": normal("... n d"), "y": normal("... m d")},
        "as many rows in x as in y": {"x": normal("... n d"), "y": normal("... n d")},
        "as many rows as numbers in a row": {
            "x": normal("... d d"),
            "y": normal("... d d"),
        },
    },
    words={"n": ("row of x", "rows of x"), "m": ("row of y", "rows of y")},
    properties=[twice_gives_twice],
    twin=compare,
    mistakes=COMPARE,
    hints=[
        "Do it for one row of x and one row of y first: which axis is gone afterwards? "
        "And where do n and m stay?",
        "In einsum, the axis that both share and that the result lacks is summed over. "
        "`...` in front of each pattern stands for any leading axes.",
        'The patterns are "... n d" for x and "... m d" for y, and "... n m" comes '
        "out. With `@`, y's last two axes must be exchanged first: `y.mT`.",
    ],
)


def one_weight_picks(theirs: Theirs, x: Inputs) -> bool:
    """a weight of 1 on one row, 0 elsewhere, gives that row"""
    first = torch.zeros_like(x["weights"])
    first[..., 0] = 1
    picked = theirs(**x | {"weights": first})
    return same(picked, x["values"][..., :1, :].expand_as(picked))


weighted_sum = Exercise(
    solutions.weighted_sum,
    points=1,
    minutes=5,
    difficulty=1,
    inputs={
        "rows and columns": {
            "weights": positive("... n m"),
            "values": normal("... m d"),
        },
        "weights of either sign": {
            "weights": normal("... n m", mean=0.5),
            "values": normal("... m d"),
        },
        "as many rows out as in": {
            "weights": positive("... n n"),
            "values": normal("... n d"),
        },
        "as many rows as numbers in a row": {
            "weights": positive("... d d"),
            "values": normal("... d d"),
        },
    },
    words={"n": ("row of weights", "rows of weights"), "m": ("value", "values")},
    properties=[one_weight_picks],
    twin=mix,
    mistakes=MIX,
    hints=[
        "Row i of the result is made of all rows of values. Which axis do the weights "
        "and the values share?",
        "The shared axis m is summed over, and it isn't the last axis of values. Which "
        "matrix product adds up over the last axis of one and the last but one of the "
        "other?",
        'With einsum: "... n m" and "... m d" go in, "... n d" comes out. With `@` the '
        "two are multiplied as they stand; nothing is divided afterwards.",
    ],
)


def around_ten_thousand(sizes: list[int], generator: torch.Generator) -> Tensor:
    """Rows near 10,000 and rows near -10,000, a clear winner in each."""
    rank = torch.rand(sizes, generator=generator).argsort(dim=-1)
    high = torch.rand([*sizes[:-1], 1], generator=generator) < 0.5
    return torch.where(high, 10_000 - 256.0 * rank, -10_000 + 256.0 * rank)


def with_minus_infinity(sizes: list[int], generator: torch.Generator) -> Tensor:
    """Half the scores -inf, never a whole row; in some rows all but one of -10,000."""
    scores = (torch.randn(sizes, generator=generator) * 10).round() / 10
    place = torch.randint(sizes[-1], [*sizes[:-1], 1], generator=generator)
    kept = torch.zeros(sizes, dtype=torch.bool).scatter(-1, place, True)
    others = torch.rand(sizes, generator=generator) < 0.5
    low = torch.rand([*sizes[:-1], 1], generator=generator) < 0.5
    scores = torch.where(low, torch.full_like(scores, -10_000.0), scores)
    return scores.masked_fill(~(kept | others & ~low), -torch.inf)


def adding_changes_nothing(theirs: Theirs, x: Inputs) -> bool:
    """adding 8 to every score changes no share"""
    return same(theirs(**x), theirs(**x | {"x": x["x"] + 8}))


stable_softmax = Exercise(
    solutions.stable_softmax,
    points=2,
    minutes=10,
    difficulty=2,
    forbids=["softmax"],
    inputs={
        "along the last axis": {"x": normal("... n m", scale=2.0)},
        "along the last but one": {"x": normal("... n m", scale=2.0), "dim": -2},
        "along the first axis": {"x": normal("T n m", scale=2.0), "dim": 0},
        "a square, along the last axis": {"x": normal("n n", scale=2.0)},
        "a square, along the first axis": {"x": normal("n n", scale=2.0), "dim": 0},
        "scores around 10,000 and -10,000": {"x": Draw("... n m", around_ten_thousand)},
        "scores of -inf": {"x": Draw("... n m", with_minus_infinity)},
    },
    words={"n": ("row", "rows"), "m": ("column", "columns")},
    properties=[adding_changes_nothing],
    twin=choose,
    mistakes=CHOOSE,
    hints=[
        "Which power of e is the largest you can have without trouble, and what must "
        "be taken off the scores so that none is larger?",
        "Take each row's own largest score off it, along `dim`, and keep that axis so "
        "that rows line up: `x.amax(dim, keepdim=True)`. What must the total be taken "
        "along, and does it have to keep its axis too?",
        "`powers = (x - x.amax(dim, keepdim=True)).exp()`; then divide by "
        "`powers.sum(dim, keepdim=True)`.",
    ],
)
