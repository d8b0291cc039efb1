"""Sizes and shares of feed-forward networks, counted with a switch for every slip."""

import math
from collections.abc import Callable

from autograder.definition import Mistake


def up(width: float, multiple: int) -> int:
    return math.ceil(width / multiple) * multiple


def fitted(
    d_model: int,
    multiple_of: int = 256,
    *,
    width: Callable[[int], float] = lambda C: 8 * C / 3,
    used: Callable[[int], int] = lambda multiple: multiple,
    rounded: Callable[[float, int], float] = up,
    cast: Callable[[float], float] = int,
) -> float:
    """The twin of swiglu_dim."""
    return cast(rounded(width(d_model), used(multiple_of)))


def _first_rounded(d_model: int, multiple_of: int = 256) -> int:
    return up(4 * d_model, multiple_of) * 2 // 3


def _rounded_twice(d_model: int, multiple_of: int = 256) -> int:
    return up(_first_rounded(d_model, multiple_of), multiple_of)


def _model_rounded(d_model: int, multiple_of: int = 256) -> int:
    return 8 * up(d_model, multiple_of) // 3


def _by_64(d_model: int, multiple_of: int = 64) -> int:
    return up(8 * d_model / 3, multiple_of)


def _by_1(d_model: int, multiple_of: int = 1) -> int:
    return up(8 * d_model // 3, multiple_of)


def _by_128(d_model: int, multiple_of: int = 128) -> int:
    return up(8 * d_model / 3, multiple_of)


#: How swiglu_dim goes wrong.
WIDTHS = [
    Mistake(
        "rounded-down",
        "The size is rounded down to a multiple; it should be rounded up: -(-a // b) * "
        "b or math.ceil.",
        rounded=lambda width, m: width // m * m,
    ),
    Mistake(
        "rounded-before-and-after",
        "4 * d_model is rounded up to a multiple first, and the two thirds of it once "
        "more; round once, in the end.",
        wrong=_rounded_twice,
    ),
    Mistake(
        "two-thirds-is-0",
        "2 // 3, like int(2 / 3), is 0, so the result is 0: multiply first, 8 * "
        "d_model, and divide by 3 then.",
        width=lambda C: 0,
    ),
    Mistake(
        "rounded-to-the-nearest",
        "The size is rounded to the nearest multiple; it should always be rounded up: "
        "math.ceil, not round.",
        rounded=lambda width, m: round(width / m) * m,
    ),
    Mistake(
        "one-multiple-too-many",
        "A size that is a multiple already gets one more; it should stay as it is: "
        "round up with (a + b - 1) // b * b, not (a // b + 1) * b. Writing 2/3 "
        "as 0.6667 has the same effect.",
        rounded=lambda width, m: (width // m + 1) * m,
    ),
    Mistake(
        "not-rounded",
        "The size isn't rounded to a multiple of multiple_of.",
        rounded=lambda width, m: width,
    ),
    Mistake(
        "rounded-up-to-an-int-only",
        "The size is rounded up to a whole number, but not to a multiple of "
        "multiple_of.",
        rounded=lambda width, m: math.ceil(width),
    ),
    Mistake(
        "multiple-ignored",
        "The argument multiple_of has no effect: it is always 256 here.",
        used=lambda multiple: 256,
    ),
    Mistake(
        "multiples-counted",
        "This is the number of multiples, not the size: multiply by multiple_of again.",
        rounded=lambda width, m: math.ceil(width / m),
    ),
    Mistake(
        "two-thirds-missing",
        "The factor 2/3 is missing: three matrices of 4 * d_model cost half as much "
        "again as two. The size is 2/3 of it.",
        width=lambda C: 4 * C,
    ),
    Mistake(
        "four-missing",
        "The factor 4 is missing: the size is 2/3 of 4 * d_model.",
        width=lambda C: 2 * C / 3,
    ),
    Mistake(
        "three-halves",
        "The factor is 3/2, upside down; it should be 2/3 of 4 * d_model: three "
        "matrices must share what two had.",
        width=lambda C: 6 * C,
    ),
    Mistake(
        "one-third",
        "The factor is 1/3; it should be 2/3 of 4 * d_model.",
        width=lambda C: 4 * C / 3,
    ),
    Mistake(
        "half",
        "The factor is 1/2; it should be 2/3 of 4 * d_model.",
        width=lambda C: 2 * C,
    ),
    Mistake(
        "three-quarters",
        "The factor is 3/4; it should be 2/3 of 4 * d_model.",
        width=lambda C: 3 * C,
    ),
    Mistake(
        "two-thirds-approximated",
        "The factor 2/3 is written as a rounded decimal (0.67, 0.667), which lies "
        "above it, so that a size can land one multiple too high: take 8 * d_model / "
        "3.",
        width=lambda C: 0.667 * 4 * C,
    ),
    Mistake(
        "two-thirds-as-0.67",
        "The factor 2/3 is written as 0.67, which lies above it, so that a size can "
        "land one multiple too high: take 8 * d_model / 3.",
        width=lambda C: 0.67 * 4 * C,
    ),
    Mistake(
        "two-thirds-cut-off",
        "The factor 2/3 is written as a decimal below it (0.66), so that a size can "
        "land one multiple too low: take 8 * d_model / 3.",
        width=lambda C: 0.66 * 4 * C,
    ),
    Mistake(
        "rounded-before-two-thirds",
        "The order is wrong: 4 * d_model is rounded up first and 2/3 of it taken "
        "afterwards, which is no multiple; round last.",
        wrong=_first_rounded,
    ),
    Mistake(
        "d-model-rounded",
        "The order is wrong: d_model is rounded up before it is multiplied; round "
        "last.",
        wrong=_model_rounded,
    ),
    Mistake(
        "power-of-two",
        "The size is rounded up to a power of two; it should be to the next multiple "
        "of multiple_of.",
        rounded=lambda width, m: 2 ** math.ceil(math.log2(width)),
    ),
    Mistake(
        "default-multiple-of-64",
        "multiple_of is 64 where none is given; its default is 256.",
        wrong=_by_64,
    ),
    Mistake(
        "default-multiple-of-1",
        "multiple_of is 1 where none is given, so nothing is rounded; its default is "
        "256.",
        wrong=_by_1,
    ),
    Mistake(
        "default-multiple-of-128",
        "multiple_of is 128 where none is given; its default is 256.",
        wrong=_by_128,
    ),
    Mistake(
        "float-result",
        "The result is a float; a size is an int: int(…), or // and math.ceil.",
        cast=float,
    ),
]


def share(
    d_model: int,
    ff_dim: int,
    *,
    feed_forward: Callable[[int, int], float] = lambda C, ff: 2 * C * ff,
    attention: Callable[[int, int], float] = lambda C, ff: 4 * C * C,
    others: Callable[[int, int], float] = lambda C, ff: 0,
    ratio: Callable[[float, float], float] = lambda ff, rest: ff / (ff + rest),
    shown: Callable[[float], float] = lambda part: part,
) -> float:
    """The twin of feed_forward_share."""
    network, rest = feed_forward(d_model, ff_dim), attention(d_model, ff_dim)
    return shown(ratio(network, rest + others(d_model, ff_dim)))


#: How feed_forward_share goes wrong.
SHARES = [
    Mistake(
        "two-thirds-always",
        "The result is always 2/3, as if ff_dim were always 4 * d_model; the argument "
        "ff_dim has no effect.",
        ratio=lambda ff, rest: 2 / 3,
    ),
    Mistake(
        "ratio-to-attention",
        "This is the ratio of the feed-forward network to attention; its share is of "
        "the whole block, both in total: ff / (ff + attention).",
        ratio=lambda ff, rest: ff / rest,
    ),
    Mistake(
        "attention-share",
        "This is attention's share; asked for is the feed-forward network's, 1 minus "
        "it.",
        ratio=lambda ff, rest: rest / (ff + rest),
    ),
    Mistake(
        "upside-down",
        "The fraction is upside down: the whole over the part. It should be ff / (ff + "
        "attention).",
        ratio=lambda ff, rest: (ff + rest) / ff,
    ),
    Mistake(
        "attention-over-network",
        "This is attention over the feed-forward network; asked for is ff / (ff + "
        "attention).",
        ratio=lambda ff, rest: rest / ff,
    ),
    Mistake(
        "attention-left-out",
        "Attention is left out of the whole, so the share is always 1: a block has "
        "attention's four matrices too, 4 * d_model².",
        attention=lambda C, ff: 0,
    ),
    Mistake(
        "one-matrix",
        "Only one of the two matrices W_1 and W_2 is counted: 2 * d_model * ff_dim.",
        feed_forward=lambda C, ff: C * ff,
    ),
    Mistake(
        "three-matrices",
        "Three matrices are counted, as SwiGLU has; this network has two, W_1 and W_2.",
        feed_forward=lambda C, ff: 3 * C * ff,
    ),
    Mistake(
        "output-projection-forgotten",
        "Attention is counted with three matrices; W_o is the fourth: 4 * d_model².",
        attention=lambda C, ff: 3 * C * C,
    ),
    Mistake(
        "one-attention-matrix",
        "Attention is counted with one matrix; it has four, W_q, W_k, W_v and W_o: "
        "4 * d_model².",
        attention=lambda C, ff: C * C,
    ),
    Mistake(
        "as-many-matrices",
        "Attention and the feed-forward network are counted with equally many "
        "matrices; attention has four (W_q, W_k, W_v and W_o), the network two.",
        attention=lambda C, ff: 2 * C * C,
    ),
    Mistake(
        "attention-of-ff-dim",
        "Attention's matrices are counted with ff_dim; they are (d_model, d_model): "
        "4 * d_model².",
        attention=lambda C, ff: 4 * ff * ff,
    ),
    Mistake(
        "attention-not-squared",
        "Attention's matrices are counted as 4 * d_model; each has d_model² weights.",
        attention=lambda C, ff: 4 * C,
    ),
    Mistake(
        "biases-counted",
        "The biases are counted too; matrices only are asked for.",
        feed_forward=lambda C, ff: 2 * C * ff + ff + C,
        attention=lambda C, ff: 4 * C * C + 4 * C,
    ),
    Mistake(
        "feed-forward-biases-counted",
        "The feed-forward network's biases are counted too; matrices only are asked "
        "for.",
        feed_forward=lambda C, ff: 2 * C * ff + ff + C,
    ),
    Mistake(
        "attention-biases-or-norms-counted",
        "4 * d_model more are counted in the whole, as many as attention's biases, or "
        "the two norms' weights and biases, have; matrices only are asked for.",
        others=lambda C, ff: 4 * C,
    ),
    Mistake(
        "norm-gains-counted",
        "The two norms' weights are counted too; matrices only are asked for.",
        others=lambda C, ff: 2 * C,
    ),
    Mistake(
        "percent",
        "The result is in percent; a fraction between 0 and 1 is asked for.",
        shown=lambda part: 100 * part,
    ),
    Mistake(
        "whole-division",
        "The division is a whole one (// or int), so the result is 0; a fraction "
        "between 0 and 1 is asked for: /.",
        shown=lambda part: int(part),
    ),
    Mistake(
        "rounded",
        "The result is rounded to two decimals; return it as it is.",
        shown=lambda part: round(part, 2),
    ),
    Mistake(
        "brackets-missing",
        "The sum in the denominator has no brackets, ff / ff + attention, which is 1 + "
        "attention, since / comes before +: ff / (ff + attention).",
        ratio=lambda ff, rest: ff / ff + rest,
    ),
]
