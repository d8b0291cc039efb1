"""Chapter 7: masks."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

import solutions.masks as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import Draw, normal, size, some
from autograder.properties import same
from autograder.twins.masked_softmax import SHARES, shares
from autograder.twins.masks import (
    CAUSAL,
    FORMS,
    PREFIXES,
    SQUARE,
    WINDOWS,
    causal,
    prefixed,
    sliding,
)
from autograder.twins.padding import PADDINGS, padded

CHAPTER = Chapter(7, "Masks", "07_masks")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]

#: A mask is whole on its own: no batch, no numbers that a gradient could flow to.
N = {"n": size("T")}

causal_mask = Exercise(
    solutions.causal_mask,
    points=1,
    minutes=4,
    difficulty=1,
    inputs={"a few positions": N, "two positions": {"n": 2}, "many": {"n": 140}},
    twin=causal,
    mistakes=[*CAUSAL, *SQUARE],
    hints=[
        "Draw it for n = 3: rows are queries, columns are keys. Which of the nine "
        "places may be True, if nothing is to see what comes after it?",
        "It is a square of True, of which the lower triangle is kept, the diagonal "
        "with it. torch has a function for triangles.",
        "`torch.ones(n, n, dtype=torch.bool).tril()`; or compare positions with "
        "`torch.arange(n)` as a column and as a row: key <= query.",
    ],
)


def lengths_of(dtype: torch.dtype) -> Draw:
    """Lengths from 1 to the second size, as many as the first says."""

    def make(sizes: list[int], generator: Generator) -> Tensor:
        batch, most = sizes
        return torch.randint(1, most + 1, (batch,), generator=generator).to(dtype)

    return Draw("B T", make)


padding_mask = Exercise(
    solutions.padding_mask,
    points=1,
    minutes=6,
    difficulty=2,
    inputs={
        "a batch of sequences": {
            "lengths": lengths_of(torch.int64),
            "max_len": size("T"),
        },
        "lengths 0 and max_len too": {
            "lengths": torch.tensor([3, 0, 8, 1, 7]),
            "max_len": 8,
        },
        "room beyond the longest": {"lengths": torch.tensor([4, 2, 5]), "max_len": 9},
        "lengths of 32 bits": {
            "lengths": lengths_of(torch.int32),
            "max_len": size("T"),
        },
    },
    twin=padded,
    mistakes=[*PADDINGS, *FORMS],
    hints=[
        "A sequence of length 3 has real tokens at keys 0, 1 and 2. How do you tell "
        "from a key's position whether it is real?",
        "Compare `torch.arange(max_len)`, a row, with the lengths, a column. Make the "
        "positions where the lengths are: device=lengths.device.",
        "`keys < lengths[:, None]` is (B, max_len). Put in an axis each for heads and "
        "queries: `[:, None, None, :]`.",
    ],
)

sliding_window_mask = Exercise(
    solutions.sliding_window_mask,
    points=2,
    minutes=8,
    difficulty=2,
    uses=[solutions.causal_mask],
    inputs={
        "a window of three": {"n": size("T"), "window": 3},
        "a window of one": {"n": size("T"), "window": 1},
        "a window of all": {"n": size("T"), "window": size("T")},
        "a window longer than the text": {"n": size("T"), "window": 20},
        "a window of four": {"n": 9, "window": 4},
    },
    refuses={
        "window = 0": {"n": size("T"), "window": 0},
        "window = -2": {"n": size("T"), "window": -2},
    },
    twin=sliding,
    mistakes=[*WINDOWS, *SQUARE],
    hints=[
        "With window = 1 a position sees itself and nothing else. What does that say "
        "about how far back a window of 3 goes?",
        "Two conditions hold at once: key j isn't after query i, and it is less than "
        "`window` steps before it.",
        "With i as a column and j as a row, `(j <= i) & (j > i - window)`; or "
        "`causal_mask(n).triu(1 - window)`. Raise a ValueError if window < 1.",
    ],
)

prefix_mask = Exercise(
    solutions.prefix_mask,
    points=2,
    minutes=8,
    difficulty=2,
    uses=[solutions.causal_mask],
    inputs={
        "a prefix of three": {"n": size("T"), "prefix": 3},
        "no prefix": {"n": size("T"), "prefix": 0},
        "a prefix of one": {"n": size("T"), "prefix": 1},
        "all but one in the prefix": {"n": 6, "prefix": 5},
        "all in the prefix": {"n": size("T"), "prefix": size("T")},
        "a prefix longer than the text": {"n": size("T"), "prefix": 20},
    },
    twin=prefixed,
    mistakes=[*PREFIXES, *SQUARE],
    hints=[
        "Start from a causal mask. Which places must become True besides, and what "
        "shape do they have together?",
        "It is the square in the upper left corner, `prefix` rows by `prefix` columns. "
        "Everything else stays causal.",
        "`mask = causal_mask(n)`, then `mask[:prefix, :prefix] = True`; or "
        "`causal_mask(n) | (inside[:, None] & inside)` with "
        "`inside = torch.arange(n) < prefix`.",
    ],
)


def some_dead(shape: str, dtype: torch.dtype = torch.bool) -> Draw:
    """A mask in which every third row, from the second on, may attend nothing."""

    def make(sizes: list[int], generator: Generator) -> Tensor:
        mask = some(shape).make(sizes, generator)
        mask[..., 1::3, :] = False
        return mask.to(dtype)

    return Draw(shape, make)


def first_dead(shape: str, dtype: torch.dtype = torch.bool) -> Draw:
    """A mask whose first sequence may attend nothing at all."""

    def make(sizes: list[int], generator: Generator) -> Tensor:
        mask = some(shape).make(sizes, generator)
        mask[0] = False
        return mask.to(dtype)

    return Draw(shape, make)


#: Scores as large as they come, one allowed key far above the others in each such row,
#: and a mask for them; what is blocked is nowhere the largest by far.
FAR = {
    "scores": torch.tensor(
        [
            [1e4, 0.0, -1e4, 0.5],
            [-3e4, -3e4, -2e4, -3e4],
            [1e4, -1e4, 0.0, 1.0],
            [0.4, -0.3, 1.2, 0.9],
        ]
    ),
    "mask": torch.tensor([[1, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1]]) > 0,
}


def rows_add_up(theirs: Theirs, x: Inputs) -> bool:
    """each row adds up to 1, or to 0 where nothing may be attended"""
    weights = theirs(**x)
    alive = (x["mask"] != 0).any(dim=-1).to(weights.dtype)
    return same(weights.sum(dim=-1), alive.expand(weights.shape[:-1]))


def blocked_keys_weigh_nothing(theirs: Theirs, x: Inputs) -> bool:
    """a blocked key gets no weight"""
    weights = theirs(**x)
    blocked = (x["mask"] == 0).expand(weights.shape)
    return same(weights[blocked], torch.zeros_like(weights[blocked]))


masked_softmax = Exercise(
    solutions.masked_softmax,
    points=3,
    minutes=15,
    difficulty=3,
    inputs={
        "rows that may attend nothing": {
            "scores": normal("... n m"),
            "mask": some_dead("n m"),
        },
        "no such rows": {"scores": normal("... n m"), "mask": some("n m")},
        "one row of the mask for all": {"scores": normal("... n m"), "mask": some("m")},
        "a sequence of padding alone, mask of 0 and 1": {
            "scores": normal("B h n m"),
            "mask": first_dead("B 1 1 m", torch.int64),
        },
        "a square mask of floats": {
            "scores": normal("... T T"),
            "mask": some_dead("T T", torch.float32),
        },
        "scores of 10,000 and -20,000": FAR,
    },
    properties=[blocked_keys_weigh_nothing, rows_add_up],
    twin=shares,
    mistakes=SHARES,
    hints=[
        "Blocked scores become -inf before the softmax. What does the softmax make of "
        "a row that is -inf throughout, and what does the gradient make of that?",
        "Find the rows that may attend nothing: `(mask == 0).all(dim=-1, "
        "keepdim=True)`. Don't fill those with -inf, so that no NaN arises.",
        "With blocked = mask == 0 and dead as above: "
        "`scores.masked_fill(blocked & ~dead, -torch.inf).softmax(-1)`, then "
        "`.masked_fill(blocked, 0.0)`.",
    ],
)
