"""Chapter 4: positions."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import solutions.positions as solutions
from autograder.definition import Chapter, Exercise, Mistake
from autograder.inputs import Draw, normal, size
from autograder.properties import same
from autograder.twins import bucket_bias, buckets, learned, sinusoids

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
        "two pairs, a longer table": {"max_seq": 30, "d_model": 4},
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
    twin=sinusoids.sinusoids,
    mistakes=sinusoids.SINUSOIDS,
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
    twin=learned.learned,
    mistakes=learned.LEARNED,
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
    kinds = [far, further, near, middle, [0]]

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
            "m": 25,
            "num_buckets": 16,
            "max_distance": 24,
            "bidirectional": True,
        },
    },
    properties=[constant_along_diagonals],
    twin=bucket_bias.bias,
    mistakes=[
        *bucket_bias.BIASES,
        *bucket_bias.INHERITED,
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
