"""Attention with a switch wherever people slip, and the slips by name.

What builds on attention passes its switches down and inherits the rows.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.definition import Mistake

Scale = Callable[[Tensor, Tensor], float]


def root(x: Tensor, axis: int = -1) -> float:
    return math.sqrt(x.shape[axis])


def fits(
    Q: Tensor,
    K: Tensor,
    *,
    scale: Scale = lambda Q, K: 1 / root(Q),
    turned: Callable[[Tensor], Tensor] = lambda K: K.mT,
    exchanged: bool = False,
    after: Callable[[Tensor], Tensor] = lambda scores: scores,
) -> Tensor:
    """The twin of attention_scores."""
    if exchanged:
        Q, K = K, Q
    return after(Q @ turned(K) * scale(Q, K))


#: What goes wrong with the scores.
SCORES = [
    Mistake(
        "unscaled-scores",
        "The scores are not divided by √d_k.",
        scale=lambda Q, K: 1.0,
    ),
    Mistake(
        "divided-by-d_k",
        "The scores are divided by d_k, not by its square root, as happens too if √d_k "
        "divides in two places.",
        scale=lambda Q, K: 1 / root(Q) ** 2,
    ),
    Mistake(
        "divided-by-twice-d_k",
        "The scores are divided by 2 d_k, as `/ d_k ** 1 / 2` does, since ** comes "
        "before /: the square root, √d_k, is d_k ** 0.5.",
        scale=lambda Q, K: 0.5 / root(Q) ** 2,
    ),
    Mistake(
        "divided-by-half-d_k",
        "The scores are divided by d_k / 2, as `/ (d_k ** 1 / 2)` does, since ** comes "
        "before /: the square root, √d_k, is d_k ** 0.5.",
        scale=lambda Q, K: 2 / root(Q) ** 2,
    ),
    Mistake(
        "divided-by-the-fourth-root",
        "The scores are divided by the fourth root of d_k: a square root too many, or "
        "d_k ** 0.25 for one of Q and K only. It should be √d_k.",
        scale=lambda Q, K: root(Q) ** -0.5,
    ),
    Mistake(
        "root-cut-to-an-integer",
        "√d_k has lost its fraction: it is rounded down to an integer (int, isqrt, "
        "//). The scores are divided by the square root as it is.",
        scale=lambda Q, K: 1 / int(root(Q)),
    ),
    Mistake(
        "divided-by-8",
        "The scores are divided by 8, a constant that is √d_k at d_k = 64 only: take "
        "d_k from the vectors, Q.shape[-1].",
        scale=lambda Q, K: 1 / 8,
    ),
    Mistake(
        "multiplied-by-root",
        "The scores are multiplied by √d_k instead of divided: d_k ** -0.5 is already "
        "the reciprocal.",
        scale=lambda Q, K: root(Q),
    ),
    Mistake(
        "divided-by-root-of-keys",
        "The scores are divided by the square root of the number of keys; it should be "
        "√d_k, the vectors' length: Q.shape[-1].",
        scale=lambda Q, K: 1 / root(K, -2),
    ),
    Mistake(
        "divided-by-root-of-queries",
        "The scores are divided by the square root of the number of queries; it should "
        "be √d_k, the vectors' length: Q.shape[-1].",
        scale=lambda Q, K: 1 / root(Q, -2),
    ),
    Mistake(
        "divided-by-root-of-axis-1",
        "The scores are divided by the square root of Q.shape[1]; √d_k is that of the "
        "last axis, Q.shape[-1], however many axes there are.",
        scale=lambda Q, K: 1 / root(Q, 1),
    ),
    Mistake(
        "divided-by-root-of-axis-0",
        "The scores are divided by the square root of the first axis, len(Q) or "
        "Q.shape[0]; √d_k is that of the last axis, Q.shape[-1].",
        scale=lambda Q, K: 1 / root(Q, 0),
    ),
    Mistake(
        "queries-and-keys-exchanged",
        "Queries and keys are exchanged: this is K Qᵀ, with a row for each key. The "
        "scores are Q Kᵀ, with a row for each query.",
        exchanged=True,
    ),
    Mistake(
        "reshaped-not-transposed",
        "K is given another shape (view, reshape) where its last two axes should be "
        "transposed: the numbers of different keys are mixed. Take K.mT.",
        turned=lambda K: K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]),
    ),
    Mistake(
        "all-axes-reversed",
        "K.T reverses all axes of a batch, not only the last two: take K.mT, or "
        "K.transpose(-2, -1).",
        turned=lambda K: K.permute(*range(K.dim())[::-1]),
    ),
    Mistake(
        "axes-counted-from-the-front",
        "K.transpose(1, 2) is right for three axes only: count from the end, "
        "K.transpose(-2, -1), so that any number of leading axes works.",
        turned=lambda K: K.transpose(1, 2),
    ),
    Mistake(
        "first-axes-transposed",
        "K.transpose(0, 1) is right for two axes only: count from the end, "
        "K.transpose(-2, -1), so that any number of leading axes works.",
        turned=lambda K: K.transpose(0, 1),
    ),
]


def softmax(scores: Tensor) -> Tensor:
    return scores.softmax(dim=-1)


def weigh(weights: Tensor, K: Tensor, V: Tensor) -> Tensor:
    return weights @ V


def weigh_repeated(weights: Tensor, K: Tensor, V: Tensor) -> Tensor:
    """The same by einsum, which repeats an axis of one where `@` raises."""
    return torch.einsum("...nm,...md->...nd", weights, V)


def attend(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    mask: Tensor | None = None,
    *,
    blocked: Callable[[Tensor], Tensor] = lambda mask: mask == 0,
    fill: float = -torch.inf,
    bias: Callable[[Tensor], Tensor] | None = None,
    late: bool = False,
    squash: Callable[[Tensor], Tensor] = softmax,
    weaken: Callable[[Tensor, Tensor], Tensor] = lambda weights, Q: weights,
    drop: float = 0.0,
    causal: bool = False,
    late_fill: float = 0.0,
    mix: Callable[[Tensor, Tensor, Tensor], Tensor] = weigh,
    gives: str = "output weights",
    **switches: Any,
) -> tuple[Tensor, ...]:
    """The twin of scaled_dot_product_attention; `switches` are those of the scores."""
    scores = fits(Q, K, **switches)
    unmasked = squash(scores)
    if causal:
        square = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
        scores = scores.masked_fill(~square.tril(), -torch.inf)
    if mask is not None and bias is not None:
        scores = scores + bias(mask)
    elif mask is not None and not late:
        scores = scores.masked_fill(blocked(mask), fill)
    weights = weaken(squash(scores), Q)
    if mask is not None and late:
        weights = weights.masked_fill(blocked(mask), late_fill)
    weights = F.dropout(weights, drop) if drop else weights
    made = {
        "output": mix(weights, K, V),
        "weights": weights,
        "scores": scores,
        "unmasked": unmasked,
        "mixed": mix(scores, K, V),
    }
    return tuple(made[name] for name in gives.split())


#: What goes wrong between scores and weights.
WEIGHTS = [
    Mistake(
        "softmax-over-queries",
        "The softmax runs over the queries; it should run over the keys, the last "
        "axis: dim=-1.",
        squash=lambda scores: scores.softmax(dim=-2),
    ),
    Mistake(
        "softmax-over-axis-1",
        "The softmax runs over axis 1; it should run over the keys, the last axis: "
        "dim=-1.",
        squash=lambda scores: scores.softmax(dim=1),
    ),
    Mistake(
        "softmax-over-axis-0",
        "The softmax runs over axis 0, across the batch; it should run over the "
        "keys, the last axis: dim=-1.",
        squash=lambda scores: scores.softmax(dim=0),
    ),
    Mistake(
        "softmax-over-everything",
        "The softmax runs over all scores of a matrix at once; each query's own "
        "weights should add up to 1.",
        squash=lambda scores: scores.flatten(-2).softmax(-1).view_as(scores),
    ),
    Mistake(
        "no-softmax",
        "The scores themselves are used as weights: the softmax is missing.",
        squash=lambda scores: scores,
    ),
    Mistake(
        "scaled-after-the-softmax",
        "The scores go unscaled into the softmax and the weights are divided by √d_k "
        "after it, so their rows don't add up to 1: scale before the softmax.",
        scale=lambda Q, K: 1.0,
        weaken=lambda weights, Q: weights / root(Q),
    ),
    Mistake(
        "sum-without-keepdim",
        "The exponentials are divided by a sum that has lost its axis: it needs "
        "keepdim=True.",
        squash=lambda scores: scores.exp() / scores.exp().sum(dim=-1),
    ),
    Mistake(
        "softmax-twice",
        "The softmax is taken twice, the second time of the weights, which flattens "
        "them: once is right.",
        squash=lambda scores: scores.softmax(dim=-1).softmax(dim=-1),
    ),
    Mistake(
        "divided-by-the-sum-of-scores",
        "The scores are divided by their sum, without exp: some are negative, so these "
        "are no shares. Take the softmax.",
        squash=lambda scores: scores / scores.sum(dim=-1, keepdim=True),
    ),
    Mistake(
        "not-divided-by-the-sum",
        "The weights are exponentials that are never divided by their sum, so rows "
        "don't add up to 1: that is the other half of the softmax.",
        squash=torch.exp,
    ),
    Mistake(
        "logarithm",
        "The weights are logarithms, a log-softmax; leave the logarithm out: softmax.",
        squash=lambda scores: scores.log_softmax(dim=-1),
    ),
    Mistake(
        "dropout-left-in",
        "A dropout is at work on the weights; the exercise has none.",
        drop=0.1,
    ),
]

#: What goes wrong with a mask.
MASKS = [
    Mistake(
        "mask-inverted",
        "The mask is inverted: True or 1 means may attend, and yours blocks there, "
        "as nn.MultiheadAttention does.",
        blocked=lambda mask: mask != 0,
    ),
    Mistake(
        "mask-ignored",
        "The mask has no effect: the result is the same with and without it.",
        blocked=lambda mask: torch.zeros_like(mask, dtype=torch.bool),
    ),
    Mistake(
        "mask-must-be-boolean",
        "A mask of 0 and 1 is allowed too, and ~ doesn't turn numbers around: "
        "`mask == 0` finds what is blocked in both.",
        blocked=lambda mask: ~mask,
    ),
    Mistake(
        "blocked-scores-zero",
        "Blocked scores become 0, and a score of 0 still weighs e⁰ = 1: fill in "
        "-inf before the softmax.",
        fill=0.0,
    ),
    Mistake(
        "blocked-scores-not-low-enough",
        "Blocked scores become -10, which is not low enough: blocked keys still get "
        "some weight. Fill in -inf before the softmax.",
        fill=-10.0,
    ),
    Mistake(
        "blocked-scores-minus-one",
        "Blocked scores become -1, which is not low enough: blocked keys still get "
        "weight. Fill in -inf before the softmax.",
        fill=-1.0,
    ),
    Mistake(
        "blocked-scores-very-high",
        "Blocked scores become very large (1e9, finfo.max), the wrong sign, so blocked "
        "keys get all the weight: fill in -inf, which gets none.",
        fill=1e4,  # which half precision has, too
    ),
    Mistake(
        "blocked-scores-highest",
        "Blocked scores become +inf, the wrong sign, and the softmax turns them into "
        "NaN; it is -inf that gets weight 0.",
        fill=torch.inf,
    ),
    Mistake(
        "mask-transposed",
        "The mask is transposed: its rows belong to the queries and its columns, the "
        "last axis, to the keys, as in the scores.",
        blocked=lambda mask: mask.mT == 0,
    ),
    Mistake(
        "blocked-too-low-for-half",
        "What is filled in for blocked scores, such as -1e9, doesn't fit into half "
        "precision: take -torch.inf.",
        fill=-1e9,
    ),
    Mistake(
        "mask-added",
        "The mask is added to the scores as it is, 0 or 1; blocked ones must lose "
        "all their weight: fill in -inf.",
        bias=lambda mask: mask,
    ),
    Mistake(
        "zero-times-infinity",
        "What blocks is multiplied with -inf and added, and where nothing is blocked "
        "0 times -inf is NaN: take masked_fill, or torch.where.",
        bias=lambda mask: (mask == 0) * -torch.inf,
    ),
    Mistake(
        "mask-after-softmax",
        "The mask is applied after the softmax, so the rows no longer add up to 1: "
        "block the scores before it.",
        late=True,
    ),
    Mistake(
        "infinity-after-softmax",
        "Blocked keys get -inf after the softmax, as their weight, and the output is "
        "NaN or infinite: fill it into the scores, before the softmax.",
        late=True,
        late_fill=-torch.inf,
    ),
]

#: What goes wrong with the values, or with what is given back.
RESULTS = [
    Mistake(
        "weights-transposed",
        "The weights are transposed before they meet the values: the output is "
        "weights @ V.",
        mix=lambda weights, K, V: weights.mT @ V,
    ),
    Mistake(
        "scores-mixed",
        "The output is made with the scores; the weights, which come out of the "
        "softmax, mix the values: weights @ V.",
        gives="mixed weights",
    ),
    Mistake(
        "keys-mixed",
        "The output mixes the keys; it should mix the values: weights @ V.",
        mix=lambda weights, K, V: weights @ K,
    ),
    Mistake(
        "results-exchanged",
        "The results are swapped: return the output first, then the weights.",
        gives="weights output",
    ),
    Mistake(
        "weights-before-the-mask",
        "The second result holds the weights as they are without the mask; return "
        "those that the output is made with, where blocked keys have weight 0.",
        gives="output unmasked",
    ),
    Mistake(
        "scores-returned",
        "The second result holds the scores; it should hold the weights, which "
        "come out of the softmax.",
        gives="output scores",
    ),
]
