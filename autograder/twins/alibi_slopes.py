"""ALiBi's slopes with a switch wherever people slip, and the slips by name."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake

Counts = Callable[[int], int]


def below(h: int) -> int:
    """The largest power of two up to h."""
    return int(2 ** int(math.log2(h)))


def above(h: int) -> int:
    """The smallest power of two from h."""
    return int(2 ** math.ceil(math.log2(h)))


def slopes(
    num_heads: int,
    *,
    near: Counts = below,
    first: int = 1,
    power: Callable[[int, int], float] = lambda k, p: 2.0 ** (-8 * k / p),
    step: slice = slice(0, None, 2),
    between_of: Counts = lambda p: 2 * p,
    ordered: Callable[[list[float], list[float]], list[float]] = lambda a, b: a + b,
    result: Callable[[Tensor], Any] = lambda s: s,
) -> Any:
    """The twin of alibi_slopes."""

    def of(p: int) -> list[float]:
        return [power(k, p) for k in range(first, first + p)]

    p = near(num_heads)
    own, more = of(p), of(between_of(p))[step][: max(num_heads - p, 0)]
    return result(torch.tensor(ordered(own, more)[:num_heads], dtype=torch.float32))


def _continued(num_heads: int) -> Tensor:
    p = below(num_heads)
    return torch.tensor([2.0 ** (-8 * k / p) for k in range(1, num_heads + 1)])


def _not_cut(num_heads: int) -> Any:
    p = below(num_heads)
    own = slopes(p)
    return own if p == num_heads else torch.cat([own, slopes(2 * p)[0::2]])


def _from_the_next_power(num_heads: int) -> Any:
    p = above(num_heads)
    if p == num_heads:
        return slopes(p)
    return torch.cat([slopes(p), slopes(2 * p)[0::2][: num_heads - p]])


def _bare(num_heads: int) -> Any:
    return slopes(num_heads).tolist()


#: How the slopes go wrong.
SLOPES = [
    Mistake(
        "slopes-of-8-heads",
        "The slopes are 2^-k, whatever h is, which holds for 8 heads only: the 8/h in "
        "the exponent is missing, 2^(-8k/h). And where h is no power of two, they are "
        "those of the largest power p below h, then every second one of 2p's.",
        wrong=lambda num_heads: 2.0 ** -torch.arange(1, num_heads + 1),
    ),
    Mistake(
        "slopes-from-1",
        "The slopes start at 2^0 = 1: k runs from 0 to h-1. It runs from 1 to h, so "
        "the first slope is 2^(-8/h).",
        first=0,
    ),
    Mistake(
        "formula-for-every-h",
        "The formula 2^(-8k/h) is used although h is no power of two. Then take the "
        "slopes of the largest power of two p below h, and after them every second one "
        "of alibi_slopes(2p).",
        near=lambda h: h,
    ),
    Mistake(
        "next-power-cut-off",
        "For h that is no power of two the slopes of the next larger power of two are "
        "cut off after h; take those of the largest power below h, then every second "
        "one of twice as many.",
        near=above,
    ),
    Mistake(
        "next-power-for-p",
        "p is the next larger power of two (ceil, or round); it is the largest one "
        "that is no larger than h: floor.",
        wrong=_from_the_next_power,
    ),
    Mistake(
        "every-second-from-the-second",
        "For the heads beyond p the slopes of p are used again, which are every second "
        "one of alibi_slopes(2p) from its second; take every second one from its "
        "first, [0::2], not [1::2].",
        step=slice(1, None, 2),
    ),
    Mistake(
        "not-every-second",
        "After the p slopes come the first ones of alibi_slopes(2p), one after the "
        "other; take every second of them, [0::2].",
        step=slice(0, None, 1),
    ),
    Mistake(
        "last-of-the-longer-list",
        "The slopes in between are the last ones of alibi_slopes(2p); take every "
        "second one from its first: [0::2][:h - p].",
        step=slice(-1, None, -2),
    ),
    Mistake(
        "slopes-of-p-every-second",
        "For the heads beyond p every second slope of p itself is taken; take every "
        "second one of alibi_slopes(2p).",
        between_of=lambda p: p,
    ),
    Mistake(
        "in-between-first",
        "The slopes in between come first; those of the power of two p come first, "
        "then those of 2p.",
        ordered=lambda a, b: b + a,
    ),
    Mistake(
        "slopes-sorted",
        "The slopes are sorted; those of the power of two p come first, then those in "
        "between, in the order in which alibi_slopes(2p) has them.",
        ordered=lambda a, b: sorted(a + b, reverse=True),
    ),
    Mistake(
        "exponent-positive",
        "The slopes grow above 1, 2^(+8k/h): the exponent is negative, 2^(-8k/h).",
        power=lambda k, p: 2.0 ** (8 * k / p),
    ),
    Mistake(
        "halved-each-head",
        "Each slope is half of the one before, 2^-k, whatever h is; the ratio is "
        "2^(-8/h), so that the last slope is always 2^-8.",
        power=lambda k, p: 2.0**-k,
    ),
    Mistake(
        "exponent-without-8",
        "The 8 is missing in the exponent: 2^(-8k/h), not 2^(-k/h).",
        power=lambda k, p: 2.0 ** (-k / p),
    ),
    Mistake(
        "base-8",
        "The base is 8, 8^(-k/h); it is 2^(-8k/h): 8 belongs to the exponent.",
        power=lambda k, p: 8.0 ** (-k / p),
    ),
    Mistake(
        "base-e",
        "The base is e, exp(-8k/h); it is 2^(-8k/h).",
        power=lambda k, p: math.exp(-8 * k / p),
    ),
    Mistake(
        "slope-halved-too-often",
        "Only the first slope is 2^(-8/h); each further one is half of the one before. "
        "The ratio is 2^(-8/h) too: a geometric sequence that starts with its ratio.",
        power=lambda k, p: 2.0 ** (-8 / p - (k - 1)),
    ),
    Mistake(
        "exponent-upside-down",
        "The exponent is -8h/k or -h k/8; it is -8k/h, the head's number over the "
        "number of heads.",
        power=lambda k, p: 2.0 ** (-p * k / 8),
    ),
    Mistake(
        "slopes-linear",
        "The slopes fall linearly (linspace); they are a geometric sequence, "
        "2^(-8k/h).",
        wrong=lambda num_heads: torch.linspace(2**-1, 2**-8, num_heads),
    ),
    Mistake(
        "continued-beyond-p",
        "For the heads beyond p the slopes go on getting smaller, 2^(-8k/p) with k > "
        "p; take slopes in between instead, every second one of alibi_slopes(2p).",
        wrong=_continued,
    ),
    Mistake(
        "not-cut-to-h",
        "There are more slopes than heads: of the slopes in between take only as many "
        "as are missing, [0::2][:h - p].",
        wrong=_not_cut,
    ),
    Mistake(
        "not-divided-by-h",
        "The exponent isn't divided by the number of heads, 2^(-8k); it is 2^(-8k/h).",
        power=lambda k, p: 2.0 ** (-8 * k),
    ),
    Mistake(
        "exponents-returned",
        "The exponents come back; raise 2 to them: 2^(-8k/h).",
        power=lambda k, p: -8 * k / p,
    ),
    Mistake(
        "slopes-reversed",
        "The slopes stand in reverse order; head 1 has the largest, 2^(-8/h).",
        result=lambda s: s.flip(0),
    ),
    Mistake(
        "slopes-negative",
        "The slopes are negative; they are positive, 2^(-8k/h), and the minus stands "
        "in the bias.",
        result=lambda s: -s,
    ),
    Mistake(
        "axes-added",
        "The slopes come with further axes, (h, 1, 1); one axis is asked for, (h,).",
        result=lambda s: s[:, None, None],
    ),
    Mistake(
        "float64",
        "The slopes are float64; they are asked for in float32.",
        result=lambda s: s.double(),
    ),
    Mistake(
        "a-list-returned",
        "The slopes come back as a list of numbers; a tensor is asked for: "
        "torch.tensor(slopes).",
        wrong=_bare,
    ),
]
