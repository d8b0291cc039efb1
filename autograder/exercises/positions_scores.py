"""Chapter 4, continued: positions at work in the scores, RoPE and ALiBi."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import solutions.positions as solutions
from autograder.definition import Exercise, Mistake
from autograder.exercises.positions import CHAPTER as CHAPTER
from autograder.inputs import Draw, normal, size
from autograder.properties import TheirError, same
from autograder.twins import angles, rope, scaled_rope
from autograder.twins.alibi_bias import BIASES, INHERITED, bias
from autograder.twins.alibi_slopes import SLOPES, slopes

Theirs = Callable[..., Any]
Inputs = dict[str, Any]


def counted(start: float, *steps: float) -> Draw:
    """Positions from `start`, with these steps between them, again and again."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        places = [start]
        while len(places) < sizes[0]:
            places.append(places[-1] + steps[(len(places) - 1) % len(steps)])
        return torch.tensor(places[: sizes[0]])

    return Draw("T", make)


def float32_at_least(theirs: Theirs, x: Inputs) -> bool | Mistake:
    """positions in half precision get angles in float32"""
    for dtype in (torch.bfloat16, torch.float16):
        places = torch.tensor([2.5, 20.0, 250.0], dtype=dtype)
        found = theirs(positions=places, d_k=x["d_k"])
        wanted = theirs(positions=places.float(), d_k=x["d_k"])
        if found.dtype != torch.float32 or not same(found, wanted, 1e-5):
            return angles.ANGLES_IN_HALF
    return True


def nothing_at_zero(theirs: Theirs, x: Inputs) -> bool:
    """at position 0 nothing turns"""
    found = theirs(positions=torch.tensor([0]), d_k=x["d_k"])
    return same(found, torch.zeros_like(found))


ODD = {
    "d_k = 7": {"positions": counted(0, 1), "d_k": 7},
    "d_k = 1": {"positions": counted(0, 1), "d_k": 1},
}

rope_angles = Exercise(
    solutions.rope_angles,
    points=2,
    minutes=10,
    difficulty=2,
    probe="any_width",
    # Nobody learns positions; halves are a property, since the angles are float32.
    without=["gradients", "dtypes"],
    inputs={
        "later positions": {"positions": counted(3, 1), "d_k": size("d_k")},
        "another base": {
            "positions": counted(1, 2, 5),
            "d_k": size("d_k"),
            "base": 500.0,
        },
        "between whole numbers": {"positions": counted(0.5, 0.75), "d_k": size("d_k")},
        "far positions": {"positions": counted(9000, 1, 3), "d_k": size("d_k")},
        "as many positions as pairs": {"positions": counted(0, 1), "d_k": 16},
        "one pair": {"positions": counted(2, 1), "d_k": 2, "base": 100.0},
    },
    refuses=ODD,
    properties=[nothing_at_zero, float32_at_least],
    twin=angles.angles,
    mistakes=[*angles.FREQUENCIES, *angles.TABLES],
    hints=[
        "A pair of features has one frequency. How many are there for d_k features, "
        "and how fast does the first one turn?",
        "The frequencies are `base ** (-torch.arange(0, d_k, 2) / d_k)`, (d_k/2,), on "
        "the device of positions. Every position meets every frequency: an outer "
        "product.",
        "Raise ValueError if d_k % 2; then `positions.float()[:, None] * frequencies`, "
        "(T, 1) * (d_k/2,).",
    ],
)


def far_in_half_precision(theirs: Theirs, x: Inputs) -> bool | Mistake:
    """x in half precision is turned by angles computed in float32"""
    T = x["x"].shape[-2]
    for dtype, start in ((torch.bfloat16, 401), (torch.float16, 3001)):
        half, places = x["x"].to(dtype), torch.arange(T) * 2 + start
        wanted = theirs(x=half.float(), positions=places)
        if not same(wanted, theirs(x=half, positions=places), 5e-2):
            return rope.TURNED_IN_HALF
    return True


def lengths_kept(theirs: Theirs, x: Inputs) -> bool:
    """turning keeps the length of every vector"""
    return same(theirs(**x).norm(dim=-1), x["x"].norm(dim=-1))


def distance_alone(theirs: Theirs, x: Inputs) -> bool:
    """scores of turned queries and keys depend on the distance only"""
    one = theirs(**x)
    other = theirs(**x | {"positions": x["positions"] + 7})
    return same(one @ one.mT, other @ other.mT)


def two_halves(theirs: Theirs, x: Inputs) -> bool | Mistake:
    """turning by half a position twice is turning by one"""
    half = torch.arange(x["x"].shape[-2]) / 2
    try:
        twice = theirs(x=theirs(x=x["x"], positions=half), positions=half)
    except TheirError:
        return True  # positions that are indices must be whole, and may be
    return same(twice, theirs(x=x["x"], positions=2 * half)) or rope.ROUNDED


X = {"x": normal("... T d_k")}

apply_rope = Exercise(
    solutions.apply_rope,
    points=3,
    minutes=20,
    difficulty=3,
    uses=[solutions.rope_angles],
    inputs={
        "two pairs": {"x": normal("B T 4"), "positions": counted(1, 1)},
        "from position 0": X | {"positions": counted(0, 1)},
        "later positions": X | {"positions": counted(9, 1)},
        "positions with gaps": X | {"positions": counted(2, 1, 3)},
        "another base": X | {"positions": counted(4, 1, 2), "base": 50.0},
        "one pair": {
            "x": normal("B T 2"),
            "positions": counted(1, 1),
            "base": 100.0,
        },
        "as many heads as positions": {
            "x": normal("B T T d_k"),
            "positions": counted(5, 1),
        },
    },
    refuses={
        "d_k = 7": {"x": normal("B T 7"), "positions": counted(0, 1)},
        "d_k = 1": {"x": normal("B T 1"), "positions": counted(0, 1)},
    },
    properties=[lengths_kept, distance_alone, two_halves, far_in_half_precision],
    tolerance=3e-5,
    twin=rope.rotate,
    mistakes=[*rope.ROTATIONS, *angles.FREQUENCIES],
    hints=[
        "Which two features make pair 0, and which pair 1? How is a point (a, b) in "
        "the plane turned by an angle?",
        "`x[..., 0::2]` holds the a of all pairs, `x[..., 1::2]` the b, each "
        "(..., T, d_k/2), as the cosines and sines of the angles are.",
        "Put the two results next to each other again: `torch.stack((a * cos - b * "
        "sin, a * sin + b * cos), dim=-1).flatten(-2)`, and return it in x's dtype.",
    ],
)


alibi_slopes = Exercise(
    solutions.alibi_slopes,
    points=2,
    minutes=10,
    difficulty=3,
    inputs={
        "8 heads": {"num_heads": 8},
        "2 heads": {"num_heads": 2},
        "16 heads": {"num_heads": 16},
        "one head": {"num_heads": 1},
        "6 heads": {"num_heads": 6},
        "12 heads": {"num_heads": 12},
        "3 heads": {"num_heads": 3},
        "15 heads": {"num_heads": 15},
    },
    twin=slopes,
    mistakes=SLOPES,
    hints=[
        "For 8 heads the slopes are 1/2, 1/4, … 1/256. What is the ratio for 4 heads, "
        "if the last slope is the same?",
        "For a power of two, slope k of h is 2 ** (-8 * k / h), k from 1. Else find "
        "the largest power of two p below h; the h - p slopes that are missing come "
        "from alibi_slopes(2 * p).",
        "`p = 2 ** math.floor(math.log2(num_heads))`, then "
        "`torch.cat([alibi_slopes(p), alibi_slopes(2 * p)[0::2][: num_heads - p]])`.",
    ],
)


def nothing_on_the_diagonal(theirs: Theirs, x: Inputs) -> bool:
    """a query's own key has no penalty"""
    own = theirs(**x).diagonal(dim1=-2, dim2=-1)
    return same(own, torch.zeros_like(own))


alibi_bias = Exercise(
    solutions.alibi_bias,
    points=1,
    minutes=8,
    difficulty=2,
    uses=[solutions.alibi_slopes],
    words={"n": ("position", "positions")},
    inputs={
        "8 heads": {"num_heads": 8, "n": size("n")},
        "as many heads as positions": {"num_heads": 8, "n": 8},
        "6 heads": {"num_heads": 6, "n": size("m")},
        "12 heads": {"num_heads": 12, "n": size("T")},
        "one head": {"num_heads": 1, "n": size("m")},
    },
    properties=[nothing_on_the_diagonal],
    twin=bias,
    mistakes=[*BIASES, *INHERITED],
    hints=[
        "How far is key j behind query i? What should happen where j comes later?",
        "`i - j` for all pairs is `torch.arange(n)[:, None] - torch.arange(n)`; "
        ".clamp(min=0) makes it 0 for later keys. The slopes need two more axes to "
        "meet it.",
        "`-alibi_slopes(num_heads)[:, None, None] * distance`, (h, 1, 1) * (n, n).",
    ],
)


def nothing_at_scale_1(theirs: Theirs, x: Inputs) -> bool:
    """with scale = 1 both methods leave the angles as they are"""
    plain = theirs(positions=x["positions"], d_k=x["d_k"])
    one = theirs(**x | {"scale": 1.0, "method": "ntk"})
    return same(plain, one)


scaled_rope_angles = Exercise(
    solutions.scaled_rope_angles,
    optional=True,
    points=2,
    minutes=12,
    difficulty=3,
    probe="any_width",
    without=["gradients", "dtypes"],
    uses=[solutions.rope_angles],
    inputs={
        "linear": {"positions": counted(3, 1), "d_k": size("d_k"), "scale": 4.0},
        "ntk": {
            "positions": counted(3, 1),
            "d_k": size("d_k"),
            "scale": 4.0,
            "method": "ntk",
        },
        "the defaults": {"positions": counted(2, 3), "d_k": size("d_k")},
        "linear, by name": {
            "positions": counted(1, 2, 5),
            "d_k": 16,
            "base": 500.0,
            "scale": 8,
            "method": "linear",
        },
        "ntk, another base": {
            "positions": counted(1, 2, 5),
            "d_k": 16,
            "base": 500.0,
            "scale": 2.5,
            "method": "ntk",
        },
        "ntk, two pairs": {
            "positions": counted(3, 1),
            "d_k": 4,
            "scale": 2.0,
            "method": "ntk",
        },
        "linear, one pair": {"positions": counted(3, 1), "d_k": 2, "scale": 2.0},
    },
    refuses={
        "linear and d_k = 7": ODD["d_k = 7"],
        "ntk and d_k = 7": ODD["d_k = 7"] | {"method": "ntk", "scale": 2.0},
        "ntk and d_k = 2": ODD["d_k = 7"] | {"d_k": 2, "method": "ntk", "scale": 2.0},
        "another method": ODD["d_k = 7"] | {"d_k": 8, "method": "yarn"},
    },
    properties=[nothing_at_scale_1],
    twin=scaled_rope.scaled,
    mistakes=scaled_rope.SCALINGS,
    hints=[
        "One method changes the positions and leaves the base, the other changes the "
        "base and leaves the positions. Which is which?",
        "Linear: rope_angles of positions / scale. NTK: rope_angles with a larger "
        "base, so that the slowest pair turns `scale` times slower and the fastest as "
        "before.",
        "The larger base is `base * scale ** (d_k / (d_k - 2))`. Raise ValueError for "
        "d_k <= 2 there, and for a method that is neither.",
    ],
)
