"""Compare and mix once more, with a switch wherever people slip."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def compare(
    x: Tensor,
    y: Tensor,
    *,
    rows: Change = same,
    turn: Change = lambda y: y.mT,
    power: float = 0.0,
    swap: bool = False,
    after: Change = same,
) -> Tensor:
    """`pairwise_dots`: what is done to the rows, to y, and with the scores."""
    left, right = (rows(y), rows(x)) if swap else (rows(x), rows(y))
    factor: float = float(x.shape[-1]) ** power
    return after(left @ turn(right) * factor)


def _lengths_one(x: Tensor) -> Tensor:
    length: Tensor = x.norm(dim=-1, keepdim=True)
    return x / length


def _reshaped(y: Tensor) -> Tensor:
    return y.reshape(*y.shape[:-2], y.shape[-1], y.shape[-2])


def _all_reversed(y: Tensor) -> Tensor:
    return y.permute(*reversed(range(y.dim())))


COMPARE = [
    Mistake(
        "cosine",
        "The rows are brought to length 1 first, which gives cosines; a dot product "
        "takes them as they are.",
        rows=_lengths_one,
    ),
    Mistake(
        "all-axes-reversed",
        "`.T` reverses every axis, so this works for matrices only; `.mT` (or "
        "transpose(-2, -1)) exchanges the last two and leaves leading axes alone.",
        turn=_all_reversed,
    ),
    Mistake(
        "axes-counted-from-the-front",
        "Axes 0 and 1 of y are exchanged; with leading axes the rows and their numbers "
        "are the last two: count from the back, transpose(-2, -1).",
        turn=lambda y: y.transpose(0, 1),
    ),
    Mistake(
        "axes-1-and-2-exchanged",
        "Axes 1 and 2 of y are exchanged, which is right for one leading axis only: "
        "count from the back, transpose(-2, -1).",
        turn=lambda y: y.transpose(1, 2),
    ),
    Mistake(
        "reshaped-not-transposed",
        "y is reshaped to (..., d, m), which keeps the numbers in their old order; "
        "exchanging axes moves them: y.mT.",
        turn=_reshaped,
    ),
    Mistake(
        "not-transposed",
        "y is multiplied as it stands, not transposed; a row meets a row only if y's "
        "last two axes are exchanged first: x @ y.mT.",
        turn=same,
    ),
    Mistake(
        "rows-exchanged",
        "The result is transposed, (..., m, n): row i should belong to row i of x, so "
        "x comes first: x @ y.mT.",
        swap=True,
    ),
    Mistake(
        "scaled",
        "The dot products are divided by √d; that comes in chapter 2. Here they stay "
        "as they are.",
        power=-0.5,
    ),
    Mistake(
        "mean-of-products",
        "The products are averaged over d; a dot product adds them up: sum, not mean.",
        power=-1.0,
    ),
    Mistake(
        "softmax-already",
        "These are shares: the softmax comes later. The scores are the plain dot "
        "products.",
        after=lambda scores: scores.softmax(dim=-1),
    ),
    Mistake(
        "sign-lost",
        "The scores have lost their sign; rows that are opposed have a negative dot "
        "product.",
        after=torch.abs,
    ),
    Mistake(
        "centred",
        "Each row's mean is taken off first, as for a covariance; a dot product takes "
        "the rows as they are.",
        rows=lambda x: x - x.mean(dim=-1, keepdim=True),
    ),
    Mistake(
        "last-number-left-out",
        "The last number of each row is left out of the sum, off by one: range(d) "
        "already ends before d.",
        rows=lambda x: x[..., :-1],
    ),
    Mistake(
        "y-of-length-one",
        "The rows of y are brought to length 1 first, normalised; a dot product takes "
        "them as they are.",
        wrong=lambda x, y: x @ _lengths_one(y).mT,
    ),
    Mistake(
        "x-of-length-one",
        "The rows of x are brought to length 1 first, normalised; a dot product takes "
        "them as they are.",
        wrong=lambda x, y: _lengths_one(x) @ y.mT,
    ),
    Mistake(
        "batch-added-up",
        "The leading axes are summed away; each batch keeps a result of its own: "
        "`...` belongs into the result's pattern too.",
        wrong=lambda x, y: torch.einsum("...nd,...md->nm", x, y),
    ),
    Mistake(
        "row-with-its-partner",
        "Row i is multiplied with row i alone; every row of x should meet every row of "
        "y. Give each an axis of its own: x[..., :, None, :] * y[..., None, :, :].",
        wrong=lambda x, y: (x * y).sum(dim=-1),
    ),
    Mistake(
        "summed-over-rows",
        "The sum runs over the rows of x and y, so the result is (..., d, d); it "
        "should run over d, the numbers of a row: x @ y.mT.",
        wrong=lambda x, y: x.mT @ y,
    ),
    Mistake(
        "not-summed",
        "The products are there, but the axis d is still in the result: sum over it.",
        wrong=lambda x, y: x[..., :, None, :] * y[..., None, :, :],
    ),
    Mistake(
        "x-with-itself",
        "x is compared with itself; y is never used.",
        wrong=lambda x, y: x @ x.mT,
    ),
    Mistake(
        "distances",
        "These are distances, which are small where rows are alike; a dot product is "
        "large there.",
        wrong=lambda x, y: torch.cdist(x, y),
    ),
    Mistake(
        "every-batch-with-every-other",
        "With leading axes, every row meets the rows of the other batches too "
        "(tensordot and inner do that); rows should meet within their batch: x @ y.mT.",
        wrong=lambda x, y: torch.tensordot(x, y, dims=([-1], [-1])),
    ),
    Mistake(
        "matrices-only",
        "`mm` takes matrices only; `@` (torch.matmul) takes any leading axes.",
        wrong=lambda x, y: torch.mm(x, y.mT),
    ),
    Mistake(
        "one-batch-axis",
        "`bmm` takes exactly one batch axis; `@` (torch.matmul) takes any number of "
        "leading axes.",
        wrong=lambda x, y: torch.bmm(x, y.mT),
    ),
    Mistake(
        "pattern-for-matrices",
        "The einsum pattern names two axes for each tensor, so it fits matrices only: "
        "put `...` in front of all three patterns.",
        wrong=lambda x, y: torch.einsum("nd,md->nm", x, y),
    ),
    Mistake(
        "pattern-for-one-batch-axis",
        "The einsum pattern names one batch axis; leading axes may be none or several: "
        "write `...` in its place.",
        wrong=lambda x, y: torch.einsum("bnd,bmd->bnm", x, y),
    ),
]


def mix(
    weights: Tensor,
    values: Tensor,
    *,
    weigh: Change = same,
    hold: Change = same,
    after: Change = same,
    count: bool = False,
) -> Tensor:
    """`weighted_sum`: what is done to the weights, to the values, with the result."""
    mixed = weigh(weights) @ hold(values)
    return after(mixed / values.shape[-2] if count else mixed)


def _largest_only(weights: Tensor) -> Tensor:
    best = weights.argmax(dim=-1, keepdim=True)
    return torch.zeros_like(weights).scatter(-1, best, 1.0)


MIX = [
    Mistake(
        "averaged",
        "The result is divided by the sum of the weights, a weighted mean; a weighted "
        "sum isn't divided by anything, whatever the weights add up to.",
        weigh=lambda weights: weights / weights.sum(dim=-1, keepdim=True),
    ),
    Mistake(
        "averaged-without-keepdim",
        "The weights are divided by their sum, which isn't asked for, and without "
        "keepdim=True it lines up with the wrong axis: weights @ values and no more.",
        weigh=lambda weights: weights / weights.sum(dim=-1),
    ),
    Mistake(
        "last-value-left-out",
        "The last value is left out, off by one: range(m) already ends before m.",
        weigh=lambda weights: weights[..., :-1],
        hold=lambda values: values[..., :-1, :],
    ),
    Mistake(
        "first-value-left-out",
        "The first value is left out, off by one: counting starts at 0.",
        weigh=lambda weights: weights[..., 1:],
        hold=lambda values: values[..., 1:, :],
    ),
    Mistake(
        "columns-normalised",
        "The weights are divided by the sums of their columns; they are to be used as "
        "they are.",
        weigh=lambda weights: weights / weights.sum(dim=-2, keepdim=True),
    ),
    Mistake(
        "softmax-first",
        "The weights go through a softmax first; they are weights already and are to "
        "be used as they are.",
        weigh=lambda weights: weights.softmax(dim=-1),
    ),
    Mistake(
        "largest-only",
        "Each row takes the value of its largest weight alone; all values count, each "
        "as much as its weight says.",
        weigh=_largest_only,
    ),
    Mistake(
        "sign-lost",
        "The weights have lost their sign; a negative weight takes away.",
        weigh=torch.abs,
    ),
    Mistake(
        "negatives-dropped",
        "Negative weights are set to 0; they count like any other number.",
        weigh=torch.relu,
    ),
    Mistake(
        "weights-transposed",
        "The weights are transposed: row i of the weights says what goes into row i of "
        "the result, so it is weights @ values.",
        weigh=lambda weights: weights.mT,
    ),
    Mistake(
        "values-transposed",
        "The values are transposed: their rows are mixed, so they stay as they are, "
        "(..., m, d).",
        hold=lambda values: values.mT,
    ),
    Mistake(
        "divided-by-m",
        "The result is divided by m, the number of values: a mean, where a sum is "
        "asked for.",
        count=True,
    ),
    Mistake(
        "result-transposed",
        "The result stands as (..., d, n); rows come first: (..., n, d).",
        after=lambda mixed: mixed.mT,
    ),
    Mistake(
        "multiplied-by-place",
        "This multiplies place by place; each row of the result is a sum over all "
        "values: a matrix product, weights @ values.",
        wrong=lambda weights, values: weights * values,
    ),
    Mistake(
        "values-lack-an-axis",
        "With leading axes the weights (..., n, m, 1) don't line up with the values "
        "(..., m, d): the values need an axis for n, values[..., None, :, :].",
        wrong=lambda weights, values: (weights[..., None] * values).sum(dim=-2),
    ),
    Mistake(
        "not-summed",
        "The weighted values are there, but the axis m is still in the result: sum "
        "over it.",
        wrong=lambda weights, values: weights[..., None] * values[..., None, :, :],
    ),
    Mistake(
        "summed-over-rows",
        "The sum runs over the rows of the weights; it should run over m, the axis "
        "that weights and values share.",
        wrong=lambda weights, values: weights.sum(dim=-2).unsqueeze(-1) * values,
    ),
    Mistake(
        "matrices-only",
        "`mm` takes matrices only; `@` (torch.matmul) takes any leading axes.",
        wrong=lambda weights, values: torch.mm(weights, values),
    ),
    Mistake(
        "one-batch-axis",
        "`bmm` takes exactly one batch axis; `@` (torch.matmul) takes any number of "
        "leading axes.",
        wrong=lambda weights, values: torch.bmm(weights, values),
    ),
    Mistake(
        "pattern-for-matrices",
        "The einsum pattern names two axes for each tensor, so it fits matrices only: "
        "put `...` in front of all three patterns.",
        wrong=lambda weights, values: torch.einsum("nm,md->nd", weights, values),
    ),
    Mistake(
        "pattern-for-one-batch-axis",
        "The einsum pattern names one batch axis; leading axes may be none or several: "
        "write `...` in its place.",
        wrong=lambda weights, values: torch.einsum("bnm,bmd->bnd", weights, values),
    ),
]
