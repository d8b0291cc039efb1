"""ALiBi's bias with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.alibi_slopes import SLOPES, slopes


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


def _slopes_by_key(num_heads: int, n: int) -> Tensor:
    i, j = torch.arange(n)[:, None], torch.arange(n)
    return -slopes(num_heads) * (i - j).clamp(min=0)  # type: ignore[no-any-return]


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
        "slopes-along-the-keys",
        "The slopes, (h,), line up with the last axis, the keys; give them two more "
        "axes, so that each head has its own table: slopes[:, None, None].",
        wrong=_slopes_by_key,
    ),
    Mistake(
        "heads-last",
        "The heads are the last axis, shape (n, n, h); they are the first: (h, n, n), "
        "with slopes[:, None, None].",
        moved=lambda b: b.permute(1, 2, 0),
    ),
    Mistake(
        "batch-axis-added",
        "There is an axis for the batch, shape (1, h, n, n); (h, n, n) is asked for.",
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
