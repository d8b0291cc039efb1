"""Chapter 4: positions."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import solutions.positions as solutions
from autograder.definition import Chapter, Exercise, Mistake
from autograder.inputs import Draw, normal, size
from autograder.properties import TheirError, same
from autograder.twins import alibi, buckets, positions, rope, scaled_rope

CHAPTER = Chapter(4, "Positions", "04_positions")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]


def pairs_lie_on_a_circle(theirs: Theirs, x: Inputs) -> bool:
    """sine and cosine of a pair belong together: their squares add up to 1"""
    squares = theirs(**x) ** 2
    together = squares[:, 0::2] + squares[:, 1::2]
    return same(together, torch.ones_like(together))


sinusoidal_positions = Exercise(
    solutions.sinusoidal_positions,
    points=2,
    minutes=12,
    difficulty=2,
    words={"T": ("position", "positions"), "d": ("feature", "features")},
    inputs={
        # Frequencies that grow by mistake make angles too large for float32 to agree
        # on; not here.
        "two pairs": {"max_seq": size("T"), "d_model": 4},
        "a small table": {"max_seq": size("T"), "d_model": size("d")},
        "more positions than features": {"max_seq": 40, "d_model": 6},
        "more features than positions": {"max_seq": 5, "d_model": 64},
        "as many positions as features": {"max_seq": 16, "d_model": 16},
        "one pair": {"max_seq": 9, "d_model": 2},
    },
    refuses={
        "d_model = 7": {"max_seq": 4, "d_model": 7},
        "d_model = 1": {"max_seq": 4, "d_model": 1},
    },
    properties=[pairs_lie_on_a_circle],
    # float32 angles of up to 39 radians are good to some 1e-5.
    tolerance=1e-4,
    twin=positions.sinusoids,
    mistakes=positions.SINUSOIDS,
    hints=[
        "How many different frequencies are there among d_model features? Which "
        "features share one?",
        "The angles are a table of positions times frequencies, (max_seq, d_model/2): "
        "`torch.arange(max_seq)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / "
        "d_model)`. Their sines go to the even features, their cosines to the odd.",
        "Make `table = torch.zeros(max_seq, d_model)`, then `table[:, 0::2] = "
        "angles.sin()` and `table[:, 1::2] = angles.cos()`. Raise ValueError before, "
        "if d_model % 2.",
    ],
)


def next_to_x(theirs: Theirs, x: Inputs) -> bool:
    """the same positions are added to every sequence, whatever it holds"""
    added = theirs(**x) - x["x"]
    return same(added, theirs(x=torch.zeros_like(x["x"])))


LearnedPositions = Exercise(
    solutions.LearnedPositions,
    points=1,
    minutes=6,
    difficulty=1,
    make={"max_seq": "H", "d_model": "d"},
    inputs={
        "fewer tokens than max_seq": {"x": normal("B T d")},
        "as many tokens as max_seq": {"x": normal("B H d")},
        "as many sequences as tokens": {"x": normal("T T d")},
    },
    refuses={
        "12 tokens and max_seq = 11": {"x": normal("B 12 12")},
        "30 tokens and max_seq = 11": {"x": normal("B 30 12")},
    },
    properties=[next_to_x],
    twin=positions.learned,
    mistakes=positions.LEARNED,
    hints=[
        "An nn.Embedding is a table with a row for each number. Which numbers does a "
        "sequence of T tokens look up?",
        "The positions are torch.arange(T), on x's device. Their rows are (T, C); what "
        "happens when that is added to (B, T, C)?",
        "In forward: `T = x.shape[1]`, raise ValueError if it is larger than "
        "self.embedding.num_embeddings, and return `x + "
        "self.embedding(torch.arange(T, device=x.device))`.",
    ],
)


def distances(
    N: int, max_distance: int, shape: str = "n m", dtype: torch.dtype = torch.int64
) -> Draw:
    """Distances of every kind, both signs: 0, near, far, further than max_distance.

    N are the buckets left for one direction. Where a bucket of the logarithm begins
    right answers may differ by a rounding, so such distances are left out.
    """
    exact = N // 2

    def safe(a: int) -> bool:
        place = math.log(a / exact) / math.log(max_distance / exact) * exact
        return abs(place - round(place)) > 1e-3

    near = list(range(1, exact))
    far = [a for a in range(exact, max_distance) if safe(a)]
    further = [max_distance + 1, 2 * max_distance, 3 * max_distance + 7, 10_000]
    middle = [a for a in far if a < 2 * exact]
    kinds = [far, near, middle, [0], further]

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        def below(n: int) -> int:
            return int(torch.randint(n, (), generator=generator))

        found = []
        for i in range(math.prod(sizes)):
            kind = kinds[i // 2 % len(kinds)]
            found.append((-1) ** i * kind[below(len(kind))])
        return torch.tensor(found).to(dtype).reshape(sizes)

    return Draw(shape, make)


def never_further_apart(theirs: Theirs, x: Inputs) -> bool:
    """among the keys before the query a further one is in no lower bucket"""
    found = theirs(distance=-torch.arange(0, 300))
    return bool((found.diff() >= 0).all())


relative_position_bucket = Exercise(
    solutions.relative_position_bucket,
    points=3,
    minutes=20,
    difficulty=4,
    words={"n": ("row", "rows"), "m": ("distance", "distances")},
    probe="any_width",
    inputs={
        "a few, both ways": {"distance": distances(16, 128, "m")},
        "both ways": {"distance": distances(16, 128)},
        "one way": {"distance": distances(32, 128), "bidirectional": False},
        "other sizes": {
            "distance": distances(10, 60),
            "num_buckets": 20,
            "max_distance": 60,
            "bidirectional": True,
        },
        "other sizes, one way": {
            "distance": distances(12, 50),
            "num_buckets": 12,
            "max_distance": 50,
            "bidirectional": False,
        },
        "a row of int32": {"distance": distances(16, 128, "d", torch.int32)},
    },
    properties=[never_further_apart],
    twin=buckets.bucket,
    mistakes=buckets.BUCKETS,
    hints=[
        "Take the distances apart: the sign first, then how far. How many buckets are "
        "left for each direction, and how many of those hold one distance each?",
        "Both ways, halve num_buckets and give positive distances that half as an "
        "offset; one way, a is (-distance).clamp(min=0). Then torch.where(a < N/2, a, "
        "far), where far is N/2 plus the floor of a logarithm, at most N - 1.",
        "With `exact = N // 2`: `far = exact + (torch.log(a.clamp(min=exact) / exact) "
        "/ math.log(max_distance / exact) * exact).long()`, then "
        "`far.clamp(max=N - 1)`.",
    ],
)


def constant_along_diagonals(theirs: Theirs, x: Inputs) -> bool:
    """the bias depends on the distance only: it is the same along a diagonal"""
    bias = theirs(n=9, m=9)
    return same(bias[..., 1:, 1:], bias[..., :-1, :-1])


def one_way_by_default(
    num_heads: int,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = False,
) -> Any:
    return solutions.RelativePositionBias(
        num_heads, num_buckets, max_distance, bidirectional
    )


OTHERS = {"num_buckets": 40, "max_distance": 60}

RelativePositionBias = Exercise(
    solutions.RelativePositionBias,
    points=2,
    minutes=12,
    difficulty=3,
    make={"num_heads": "h"},
    uses=[solutions.relative_position_bucket],
    inputs={
        "more keys than queries": {"n": size("n"), "m": size("m")},
        # Distances up to 15: those from 9 on tell one direction from two.
        "more queries than keys": {"n": 16, "m": 13},
        "as many queries as keys": {"n": size("T"), "m": size("T")},
        "other sizes": {"n": 25, "m": 30, **OTHERS, "bidirectional": True},
        "one way": {"n": 30, "m": 25, **OTHERS, "bidirectional": False},
        "beyond max_distance": {
            "n": 30,
            "m": 28,
            "num_buckets": 16,
            "max_distance": 24,
            "bidirectional": True,
        },
    },
    properties=[constant_along_diagonals],
    twin=buckets.bias,
    mistakes=[
        *buckets.BIASES,
        *buckets.INHERITED,
        Mistake(
            "one-way-by-default",
            "Without bidirectional the buckets are those of one direction; its default "
            "is True.",
            wrong=one_way_by_default,
        ),
    ],
    hints=[
        "Which tensor has, for n queries and m keys, a number for each pair of "
        "positions? Which of the two is subtracted from the other?",
        "The distances are `torch.arange(m)[None, :] - torch.arange(n)[:, None]`, on "
        "the device of the weights. relative_position_bucket makes indices of them, "
        "and the embedding gives (n, m, h).",
        "Keep all four arguments in __init__, hand three of them on to "
        "relative_position_bucket, and return "
        "`self.bias(buckets).permute(2, 0, 1).unsqueeze(0)`.",
    ],
)


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
            return rope.ANGLES_IN_HALF
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
        "another base": {"positions": counted(1, 2, 5), "d_k": 12, "base": 500.0},
        "between whole numbers": {"positions": counted(0.5, 0.75), "d_k": size("d_k")},
        "far positions": {"positions": counted(9000, 1, 3), "d_k": size("d_k")},
        "as many positions as pairs": {"positions": counted(0, 1), "d_k": 16},
        "one pair": {"positions": counted(2, 1), "d_k": 2, "base": 100.0},
    },
    refuses=ODD,
    properties=[nothing_at_zero, float32_at_least],
    twin=rope.angles,
    mistakes=[*rope.FREQUENCIES, *rope.TABLES],
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
    mistakes=[*rope.ROTATIONS, *rope.FREQUENCIES],
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
    twin=alibi.slopes,
    mistakes=alibi.SLOPES,
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
    twin=alibi.bias,
    mistakes=[*alibi.BIASES, *alibi.INHERITED],
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
