"""ALiBi with a switch wherever people slip, and the slips by name."""

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


def bias(
    num_heads: int,
    n: int,
    *,
    distance: Callable[[Tensor, Tensor], Tensor] = lambda i, j: (i - j).clamp(min=0),
    factor: float = -1.0,
    used: Callable[[Tensor], Tensor] = lambda s: s,
    moved: Callable[[Tensor], Any] = lambda b: b,
    **switches: Any,
) -> Any:
    """The twin of alibi_bias; `switches` are those of the slopes."""
    i, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
    far = distance(i, j).float().expand(n, n)
    return moved(factor * used(slopes(num_heads, **switches))[:, None, None] * far)


def _masked(num_heads: int, n: int) -> Tensor:
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    return bias(num_heads, n).masked_fill(future, -torch.inf)  # type: ignore[no-any-return]


def _very_negative(num_heads: int, n: int) -> Tensor:
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    return bias(num_heads, n).masked_fill(future, -1e9)  # type: ignore[no-any-return]


#: How the bias goes wrong around the slopes.
BIASES = [
    Mistake(
        "bias-positive",
        "The bias is positive and rewards distance; it is -slope * (i - j), so that "
        "keys further back count less.",
        factor=1.0,
    ),
    Mistake(
        "later-keys-positive",
        "For later keys the bias is positive, -slope * (i - j) with j > i; it should "
        "be 0 there: (i - j).clamp(min=0), or tril.",
        distance=lambda i, j: i - j,
    ),
    Mistake(
        "later-keys-rewarded",
        "The sign of the distance is reversed, slope * (i - j), and later keys are not "
        "set to 0; it is -slope * (i - j) for j up to i, else 0.",
        distance=lambda i, j: j - i,
    ),
    Mistake(
        "symmetric",
        "The bias is symmetric, -slope * |i - j|, so later keys get a penalty too; "
        "here it is 0 for them, since a causal mask removes them: "
        "(i - j).clamp(min=0) instead of abs.",
        distance=lambda i, j: (i - j).abs(),
    ),
    Mistake(
        "transposed",
        "Queries and keys are exchanged: later keys are penalised and earlier ones are "
        "not. Rows are queries i, columns keys j, and the penalty goes to j < i.",
        distance=lambda i, j: (j - i).clamp(min=0),
    ),
    Mistake(
        "later-keys-masked",
        "Later keys get -inf, as under a causal mask; the mask is applied elsewhere, "
        "and here they get 0.",
        wrong=_masked,
    ),
    Mistake(
        "later-keys-very-negative",
        "Later keys get -1e9, as under a causal mask; the mask is applied elsewhere, "
        "and here they get 0.",
        wrong=_very_negative,
    ),
    Mistake(
        "distance-from-1",
        "The distance is counted from 1, i - j + 1; a query's own key has distance 0 "
        "and gets no penalty.",
        distance=lambda i, j: (i - j + 1).clamp(min=0),
    ),
    Mistake(
        "key-positions-only",
        "The bias depends on the key's position j alone, as in the authors' shortcut "
        "slope * j, which is right only after a softmax; here it is "
        "-slope * (i - j), 0 on the diagonal.",
        distance=lambda i, j: -j,
    ),
    Mistake(
        "from-the-last-query",
        "The distance is counted from the last position, n - 1 - j, in every row; it "
        "is counted from the query of the row, i - j.",
        distance=lambda i, j: i.max() - j,
    ),
    Mistake(
        "query-positions-only",
        "The bias depends on the query's position i alone, so it adds the same to all "
        "keys of a row; it is -slope * (i - j).",
        distance=lambda i, j: i,
    ),
    Mistake(
        "distance-squared",
        "The distance is squared; the penalty is linear, -slope * (i - j).",
        distance=lambda i, j: (i - j).clamp(min=0) ** 2,
    ),
    Mistake(
        "distance-of-1-only",
        "Every earlier key gets the same penalty, -slope; it grows with the distance: "
        "-slope * (i - j).",
        distance=lambda i, j: (i > j).float(),
    ),
    Mistake(
        "slopes-unused",
        "Every head has the same bias, -(i - j): the slopes are missing.",
        used=torch.ones_like,
    ),
    Mistake(
        "divided-by-slopes",
        "The distance is divided by the slope; it is multiplied: -slope * (i - j).",
        used=lambda s: 1 / s,
    ),
    Mistake(
        "first-slope-for-all",
        "Every head has the slope of the first one; each has its own.",
        used=lambda s: s[:1].expand_as(s),
    ),
    Mistake(
        "heads-last",
        "The heads are the last axis, (n, n, h); they are the first: (h, n, n), with "
        "slopes[:, None, None].",
        moved=lambda b: b.permute(1, 2, 0),
    ),
    Mistake(
        "batch-axis-added",
        "There is an axis for the batch, (1, h, n, n); (h, n, n) is asked for.",
        moved=lambda b: b[None],
    ),
    Mistake(
        "one-row-only",
        "Only one row comes back, (h, 1, n); there is a row for each query, (h, n, n).",
        moved=lambda b: b[:, -1:],
    ),
    Mistake(
        "bias-float64",
        "The bias is float64; it is asked for in float32.",
        moved=lambda b: b.double(),
    ),
]

#: Rows of the slopes that another row of the bias says better, or that don't show.
_LEFT_OUT = (
    "exponent-positive",
    "slopes-negative",
    "axes-added",
    "float64",
    "a-list-returned",
    "not-cut-to-h",
    "slopes-of-8-heads",
    "slopes-linear",
    "continued-beyond-p",
)

#: Rows of the slopes that show in the bias, each in its own way.
INHERITED = [row for row in SLOPES if row.id not in _LEFT_OUT]
