"""The entropy of attention weights, with a switch wherever people slip."""

from collections.abc import Callable
from math import log

import torch
from torch import Tensor

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]


def plain(x: Tensor) -> Tensor:
    return x


def _surprise(weights: Tensor) -> Tensor:
    return weights.masked_fill(weights == 0, 1.0).log()


def entropy(
    weights: Tensor,
    *,
    before: Change = plain,
    logs: Change = _surprise,
    base: float = 1.0,
    sign: int = -1,
    weighed: bool = True,
    over: int = -1,
    total: Callable[[Tensor, int], Tensor] = lambda x, dim: x.sum(dim),
    each: Change = plain,
    average: Change = lambda entropies: entropies.mean(-1),
    after: Change = plain,
) -> Tensor:
    """The twin of attention_entropy."""
    w = before(weights)
    terms = w * logs(w) if weighed else logs(w)
    entropies = sign * total(terms, over) / base
    return after(average(each(entropies)))


ENTROPY = [
    Mistake(
        "small-number-lost-in-half",
        "What keeps the log from 0, such as 1e-9, is itself 0 in float16, and 0 · log "
        "0 is NaN there: put 1 in place of a weight of 0, or clamp at "
        "torch.finfo(weights.dtype).tiny.",
        logs=lambda w: w.clamp(min=1e-9).log(),
    ),
    Mistake(
        "zeros-not-handled",
        "Where a weight is 0, 0 · log 0 is NaN, and under a causal mask many are. A "
        "weight of 0 adds nothing: put 1 in its place inside the log.",
        logs=lambda w: w.log(),
    ),
    Mistake(
        "in-bits",
        "The logarithm is that of base 2, which gives bits; nats are asked for, the "
        "natural logarithm.",
        base=log(2),
    ),
    Mistake(
        "base-10",
        "The logarithm is that of base 10; nats are asked for, the natural logarithm.",
        base=log(10),
    ),
    Mistake(
        "sign-missing",
        "The sign is missing: logarithms of weights are negative, and an entropy is "
        "not. It is minus the sum.",
        sign=1,
    ),
    Mistake(
        "weights-forgotten",
        "The logarithms are summed as they are; each is to be multiplied by its weight "
        "first.",
        weighed=False,
    ),
    Mistake(
        "summed-over-queries",
        "The sum runs over the queries' axis; a query's weights lie along the last "
        "axis, dim=-1, and they sum to 1.",
        over=-2,
    ),
    Mistake(
        "averaged-over-keys",
        "The terms of one query are averaged over the keys; they are summed. Only the "
        "queries are averaged.",
        total=lambda x, dim: x.mean(dim),
    ),
    Mistake(
        "queries-summed",
        "The queries' entropies are summed; their mean is asked for, so that long and "
        "short texts compare.",
        average=lambda e: e.sum(-1),
    ),
    Mistake(
        "queries-kept",
        "The entropy of every query is returned, (B, h, n); their mean is asked for, "
        "one number a head, (B, h).",
        average=plain,
    ),
    Mistake(
        "heads-averaged",
        "The heads are averaged too, so the result is (B,); each head has an entropy "
        "of its own, (B, h).",
        average=lambda e: e.mean((-1, -2)),
    ),
    Mistake(
        "batch-averaged",
        "The batch is averaged too, so the result is (h,); each sequence keeps its "
        "own, (B, h).",
        average=lambda e: e.mean((0, -1)),
    ),
    Mistake(
        "all-averaged",
        "Everything is averaged to one number; one a sequence and head is asked for, "
        "(B, h).",
        average=lambda e: e.mean(),
    ),
    Mistake(
        "first-query-only",
        "Only the first query is looked at; the mean runs over all of them.",
        average=lambda e: e[..., 0],
    ),
    Mistake(
        "last-query-only",
        "Only the last query is looked at; the mean runs over all of them.",
        average=lambda e: e[..., -1],
    ),
    Mistake(
        "entropy-of-the-mean",
        "The weights are averaged over the queries first, and the entropy taken of "
        "that. Sharp queries that look at different keys would seem flat: take each "
        "query's entropy, then the mean.",
        before=lambda w: w.mean(-2, keepdim=True),
    ),
    Mistake(
        "softmax-again",
        "The weights go through a softmax once more, which makes them nearly even. "
        "They are weights already: their rows sum to 1.",
        before=lambda w: w.softmax(-1),
    ),
    Mistake(
        "log-softmax-of-weights",
        "The logarithm is that of a softmax of the weights, log_softmax. They are "
        "weights already: their rows sum to 1, so take their logarithm.",
        logs=lambda w: w.log_softmax(-1),
    ),
    Mistake(
        "divided-by-its-most",
        "The entropy is divided by the most that it can be, ln m; the entropy itself "
        "is asked for, in nats.",
        wrong=lambda weights: entropy(weights) / log(max(weights.shape[-1], 2)),
    ),
    Mistake(
        "exponential",
        "The exponential of the entropy is returned, a number of keys; the entropy is "
        "asked for, in nats.",
        after=torch.exp,
    ),
    Mistake(
        "mean-of-exponentials",
        "Each query's entropy goes through exp before the mean; the entropies are "
        "averaged as they are, in nats.",
        each=torch.exp,
    ),
]
