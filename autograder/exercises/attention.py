"""Chapter 2: queries, keys, values."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

import solutions.attention as solutions
from autograder.definition import Chapter, Exercise, Mistake
from autograder.inputs import normal, some
from autograder.properties import same
from autograder.twins.attention import (
    MASKS,
    RESULTS,
    SCORES,
    WEIGHTS,
    attend,
    fits,
)

CHAPTER = Chapter(2, "Queries, keys, values", "02_attention")

Theirs = Callable[..., Any]
Inputs = dict[str, Tensor]


def projections(
    x: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    *,
    made_with: str = "qkv",
    order: str = "qkv",
    product: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
    factor: Callable[[Tensor, Tensor], float] = lambda x, W_q: 1.0,
) -> tuple[Tensor, ...]:
    """The reference's twin; `made_with` says which matrix makes Q, which K, which V."""
    matrices = {"q": W_q, "k": W_k, "v": W_v}
    made = {
        name: product(x, matrices[used])
        for name, used in zip("qkv", made_with, strict=True)
    }
    made["q"] = made["q"] * factor(x, W_q)
    return tuple(made[name] for name in order)


def every_third(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> tuple[Tensor, ...]:
    joint = x @ torch.cat((W_q, W_k, W_v), dim=1)
    return tuple(joint[..., start::3] for start in range(3))


def twice_gives_twice(theirs: Theirs, x: Inputs) -> bool:
    """twice the token gives twice the query, key and value"""
    once, double = theirs(**x), theirs(**x | {"x": 2 * x["x"]})
    return all(same(2 * a, b) for a, b in zip(once, double, strict=True))


project_qkv = Exercise(
    solutions.project_qkv,
    points=1,
    minutes=5,
    difficulty=1,
    returns=("Q", "K", "V"),
    inputs={
        "square matrices": {
            "x": normal("... T C"),
            **{name: normal("C C") for name in ("W_q", "W_k", "W_v")},
        },
        "shorter vectors": {
            "x": normal("... T C"),
            **{name: normal("C d_k") for name in ("W_q", "W_k", "W_v")},
        },
        "one token alone": {
            "x": normal("C"),
            **{name: normal("C d_k") for name in ("W_q", "W_k", "W_v")},
        },
    },
    properties=[twice_gives_twice],
    twin=projections,
    mistakes=[
        Mistake(
            "v-from-w-k",
            "V is made with W_k; W_v is never used: look for copy and paste.",
            made_with="qkk",
        ),
        Mistake(
            "v-from-w-q",
            "V is made with W_q; W_v is never used: look for copy and paste.",
            made_with="qkq",
        ),
        Mistake(
            "k-from-w-q",
            "K is made with W_q; W_k is never used: look for copy and paste.",
            made_with="qqv",
        ),
        Mistake(
            "k-from-w-v",
            "K is made with W_v; W_k is never used: look for copy and paste.",
            made_with="qvv",
        ),
        Mistake(
            "q-from-w-k",
            "Q is made with W_k; W_q is never used: look for copy and paste.",
            made_with="kkv",
        ),
        Mistake(
            "one-matrix-for-all",
            "Q, K and V are all made with W_q; each has a matrix of its own.",
            made_with="qqq",
        ),
        Mistake(
            "q-and-k-exchanged",
            "Q and K are swapped: return Q, K, V in this order.",
            order="kqv",
        ),
        Mistake(
            "k-and-v-exchanged",
            "K and V are swapped: return Q, K, V in this order.",
            order="qvk",
        ),
        Mistake(
            "q-and-v-exchanged",
            "Q and V are swapped: return Q, K, V in this order.",
            order="vkq",
        ),
        Mistake(
            "order-v-q-k",
            "The three are in another order, V, Q, K: return Q, K, V.",
            order="vqk",
        ),
        Mistake(
            "order-k-v-q",
            "The three are in another order, K, V, Q: return Q, K, V.",
            order="kvq",
        ),
        Mistake(
            "weight-transposed",
            "The matrices are used transposed, as nn.Linear keeps them; here they are "
            "(C, d), so it is x @ W.",
            product=lambda x, W: x @ W.T,
        ),
        Mistake(
            "multiplied-by-place",
            "This multiplies place by place; a projection is a matrix product, x @ W.",
            product=torch.mul,
        ),
        Mistake(
            "scaled-already",
            "Q is divided by √d_k here; that comes once, later, with the scores.",
            factor=lambda x, W_q: float(W_q.shape[-1]) ** -0.5,
        ),
        Mistake(
            "divided-by-root-c",
            "Q is divided by √C; the projection is x @ W and nothing else.",
            factor=lambda x, W_q: float(x.shape[-1]) ** -0.5,
        ),
        Mistake(
            "projections-interleaved",
            "The joint product is cut as if Q, K and V were interleaved, every third "
            "number to each; they lie one behind the other: chunk(3, dim=-1).",
            wrong=every_third,
        ),
        Mistake(
            "negatives-dropped",
            "Negative numbers come back as 0, as from a ReLU; a projection has no "
            "activation: x @ W and nothing else.",
            product=lambda x, W: (x @ W).relu(),
        ),
        Mistake(
            "v-not-projected",
            "V is x itself; W_v is never used: V is x @ W_v.",
            wrong=lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_k, x),
        ),
    ],
    hints=[
        "Each token is a row of C numbers, and each matrix has C rows. Which product "
        "of a row and a matrix gives a row of d numbers?",
        "It is the same product three times, once for each matrix. Any leading axes "
        "come along by themselves with `@`; with einsum, `...` stands for them.",
        "Q is `x @ W_q`. Do the same with the other two, each with its own matrix, and "
        "return the three as a tuple.",
    ],
)


def cosine(Q: Tensor, K: Tensor) -> Tensor:
    return F.normalize(Q, dim=-1) @ F.normalize(K, dim=-1).mT


def twice_the_query(theirs: Theirs, x: Inputs) -> bool:
    """twice the query gives twice the scores"""
    return same(2 * theirs(**x), theirs(**x | {"Q": 2 * x["Q"]}))


LONGER = {"Q": normal("... n d"), "K": normal("... m d")}

attention_scores = Exercise(
    solutions.attention_scores,
    points=2,
    minutes=8,
    difficulty=2,
    inputs={
        "more keys than queries": {"Q": normal("... n d_k"), "K": normal("... m d_k")},
        "longer vectors": LONGER,
        "as many keys as queries": {"Q": normal("... T d_k"), "K": normal("... T d_k")},
    },
    properties=[twice_the_query],
    twin=fits,
    mistakes=[
        *SCORES,
        Mistake(
            "softmax-already",
            "These are weights: the softmax comes later. The scores are the dot "
            "products over √d_k and nothing else.",
            after=lambda scores: scores.softmax(dim=-1),
        ),
        Mistake(
            "cosine",
            "The vectors are brought to length 1 first, which gives cosines; the score "
            "is the dot product over √d_k.",
            wrong=cosine,
        ),
    ],
    hints=[
        "What is the variance of q·k, if the numbers in q and k have variance 1? By "
        "what must you divide to bring it back to 1?",
        "Every query meets every key: that is one matrix product, with the last two "
        "axes of K exchanged. d_k is the size of the last axis.",
        "Exchange the last two axes of K with `K.mT`, multiply from the left with Q, "
        "and divide by `Q.shape[-1] ** 0.5`.",
    ],
)


def ones_give_ones(theirs: Theirs, x: Inputs) -> bool:
    """values of all ones come back as ones"""
    output, _ = theirs(**x | {"V": torch.ones_like(x["V"])})
    return same(output, torch.ones_like(output))


def rows_add_up(theirs: Theirs, x: Inputs) -> bool:
    """each query's weights add up to 1"""
    _, weights = theirs(**x)
    return same(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))


def by_the_values(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, ...]:
    return attend(Q, K, V, mask, scale=lambda Q, K: V.shape[-1] ** -0.5)


QKV = {"Q": normal("... n d_k"), "K": normal("... m d_k"), "V": normal("... m d_v")}

scaled_dot_product_attention = Exercise(
    solutions.scaled_dot_product_attention,
    points=3,
    minutes=15,
    difficulty=3,
    uses=[solutions.attention_scores],
    forbids=["attention"],
    returns=("output", "weights"),
    inputs={
        "self-attention": {
            "Q": normal("... T d_k"),
            "K": normal("... T d_k"),
            "V": normal("... T d_v"),
        },
        "more keys than queries": QKV,
        "with a mask": QKV | {"mask": some("n m")},
        "a square mask": {
            "Q": normal("... T d_k"),
            "K": normal("... T d_k"),
            "V": normal("... T d"),
            "mask": some("T T"),
        },
        "a mask of 0 and 1, one row a text": {
            "Q": normal("B h n d"),
            "K": normal("B h m d"),
            "V": normal("B h m d_v"),
            "mask": some("B 1 1 m", torch.int64),
        },
    },
    properties=[ones_give_ones, rows_add_up],
    twin=attend,
    mistakes=[
        *SCORES,
        *WEIGHTS,
        *MASKS,
        *RESULTS,
        Mistake(
            "causal-always",
            "The attention is causal although no mask says so: queries see no later "
            "keys. Attend everywhere unless a mask is given.",
            causal=True,
        ),
        Mistake(
            "divided-by-root-of-d_v",
            "The scores are divided by √d_v, the length of the values; it should be "
            "√d_k, the length of queries and keys: Q.shape[-1].",
            wrong=by_the_values,
        ),
    ],
    hints=[
        "Three steps: score, weigh, mix. The first is your `attention_scores`. Along "
        "which axis do the weights of one query lie?",
        "A blocked key must get weight 0, and the others must still add up to 1. So "
        "block it before the softmax: which score gives e^score = 0?",
        "Use `scores.masked_fill(mask == 0, -torch.inf)` if there is a mask, then "
        "`softmax(dim=-1)`, then `weights @ V`; return output and weights.",
    ],
)
