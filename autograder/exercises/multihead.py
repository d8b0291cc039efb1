"""Chapter 3: multi-head attention."""

from collections.abc import Callable
from typing import Any

import torch

import solutions.multihead as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import normal, size, some
from autograder.properties import same
from autograder.twins.heads import (
    CUTS,
    JOINS,
    MERGES,
    REPEATS,
    SPLITS,
    merge,
    repeated,
    split,
)
from autograder.twins.multihead import (
    EXCHANGED,
    INHERITED,
    LAYER,
    SHARED,
    grouped,
    heads_attend,
)
from autograder.twins.parameters import COUNTS, count
from solutions.attention import scaled_dot_product_attention

CHAPTER = Chapter(3, "Multi-head attention", "03_multihead")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]


def nothing_lost(theirs: Theirs, x: Inputs) -> bool:
    """the heads hold the numbers of x, each once"""
    heads = theirs(**x)
    return same(heads.flatten().sort().values, x["x"].flatten().sort().values)


split_heads = Exercise(
    solutions.split_heads,
    points=1,
    minutes=6,
    difficulty=2,
    inputs={
        "several heads": {"x": normal("B T C"), "num_heads": size("h")},
        "one head": {"x": normal("B T C"), "num_heads": 1},
        "heads of one feature": {"x": normal("B T d"), "num_heads": size("d")},
    },
    refuses={"10 features in 4 heads": {"x": normal("B T 10"), "num_heads": 4}},
    properties=[nothing_lost],
    twin=split,
    mistakes=[
        *CUTS,
        *SPLITS,
    ],
    hints=[
        "C features are h slices of d_k features. Which axis has to be cut in two, and "
        "which of the two new axes has to move?",
        "Cut the last axis, (B, T, C) to (B, T, h, d_k), then move the heads in front "
        "of the positions. Check before that C % num_heads is 0.",
        "With einops: `rearrange(x, 'B T (h d_k) -> B h T d_k', h=num_heads)`. In "
        "torch: `x.view(B, T, num_heads, -1).transpose(1, 2)`.",
    ],
)


def features_first(theirs: Theirs, x: Inputs) -> bool:
    """the first features of the result are head 0's"""
    heads = x["x"]
    return same(theirs(**x)[..., : heads.shape[-1]], heads[:, 0])


merge_heads = Exercise(
    solutions.merge_heads,
    points=1,
    minutes=4,
    difficulty=1,
    inputs={
        "several heads": {"x": normal("B h T d_k")},
        "as many heads as positions": {"x": normal("B T T d_k")},
        "one head": {"x": normal("B 1 T d_k")},
    },
    properties=[features_first],
    twin=merge,
    mistakes=[
        *JOINS,
        *MERGES,
    ],
    hints=[
        "Read split_heads backwards. What was its last step? Undo that first.",
        "Move the heads' axis behind the positions, (B, T, h, d_k), then make one axis "
        "of the last two.",
        "With einops: `rearrange(x, 'B h T d_k -> B T (h d_k)')`. In torch: "
        "`x.transpose(1, 2).flatten(2)`.",
    ],
)


def order_of_tokens(theirs: Theirs, x: Inputs) -> bool:
    """without a mask, tokens in another order give the same results in that order"""
    return same(theirs(x=x["x"]).flip(1), theirs(x=x["x"].flip(1)))


def batch_apart(theirs: Theirs, x: Inputs) -> bool:
    """sequences of a batch don't see each other"""
    return same(theirs(x=x["x"])[:1], theirs(x=x["x"][:1]))


X = {"x": normal("B T C")}
MASKED = {
    "a mask": X | {"mask": some("T T")},
    "a mask of 0 and 1, one row a sequence": X | {"mask": some("B 1 1 T", torch.int64)},
    # Large numbers spread the scores, so that a blocked score that is merely low tells.
    "a mask for each head": {
        "x": normal("B T C", scale=1.6),
        "mask": some("B h T T"),
    },
}

MultiHeadAttention = Exercise(
    solutions.MultiHeadAttention,
    points=4,
    minutes=20,
    difficulty=3,
    make={"d_model": "C", "num_heads": "h"},
    keeps=["num_heads"],
    uses=[
        scaled_dot_product_attention,
        solutions.split_heads,
        solutions.merge_heads,
    ],
    forbids=["attention"],
    inputs={
        "no mask": X,
        **MASKED,
        "one head": X | {"num_heads": 1},
        "as many heads as positions": {
            "x": normal("B T 24"),
            "d_model": 24,
            "num_heads": "T",
        },
    },
    refuses={"d_model = 10 with 4 heads": {"d_model": 10, "num_heads": 4}},
    properties=[order_of_tokens, batch_apart],
    twin=heads_attend,
    mistakes=[*CUTS, *JOINS, *LAYER, *EXCHANGED, *INHERITED],
    hints=[
        "Four steps: project, cut, attend, join. You have written three of them "
        "already; which matrix comes after the join?",
        "Make four nn.Linear(d_model, d_model), called W_q, W_k, W_v and W_o, and keep "
        "num_heads. Cut the projections, not x; the mask goes on as it is.",
        "Q is `split_heads(self.W_q(x), self.num_heads)`, K and V likewise. Return "
        "`self.W_o(merge_heads(output))`, where `output, _` comes from "
        "`scaled_dot_product_attention(Q, K, V, mask)`.",
    ],
)


attention_parameters = Exercise(
    solutions.attention_parameters,
    points=2,
    minutes=8,
    difficulty=2,
    inputs={
        "multi-head": {"d_model": 60, "num_heads": 6},
        "without biases": {"d_model": 60, "num_heads": 6, "bias": False},
        "grouped": {"d_model": 60, "num_heads": 6, "num_kv_heads": 3},
        "multi-query": {"d_model": 60, "num_heads": 6, "num_kv_heads": 1},
        "as large as Llama 2 70B's": {
            "d_model": 8192,
            "num_heads": 64,
            "num_kv_heads": 8,
            "bias": False,
        },
    },
    twin=count,
    mistakes=COUNTS,
    hints=[
        "How many outputs does each of the four matrices have? How many inputs?",
        "All four have d_model inputs. W_q and W_o have d_model outputs, W_k and W_v "
        "have num_kv_heads * d_k; a bias has a number for each output.",
        "Add up the outputs, 2 * d_model + 2 * kv_dim with kv_dim = num_kv_heads * "
        "(d_model // num_heads), and multiply by d_model, or by d_model + 1 with "
        "biases. num_kv_heads=None means num_heads.",
    ],
)


def one_group(theirs: Theirs, x: Inputs) -> bool:
    """with groups = 1 nothing changes"""
    return same(theirs(**x | {"groups": 1}), x["x"])


repeat_kv = Exercise(
    solutions.repeat_kv,
    points=1,
    minutes=5,
    difficulty=2,
    inputs={
        "groups of two": {"x": normal("B kv T d_k"), "groups": size("groups")},
        "groups of four": {"x": normal("B kv T d_k"), "groups": 4},
        "one key/value head": {"x": normal("B 1 T d_k"), "groups": 4},
    },
    properties=[one_group],
    twin=repeated,
    mistakes=REPEATS,
    hints=[
        "For two heads and groups = 3 the order is 0 0 0 1 1 1. Which axis grows?",
        "Each head is repeated before the next one comes. torch has a function for "
        "that order, and it isn't `repeat`.",
        "`x.repeat_interleave(groups, dim=1)`; with einops: "
        "`repeat(x, 'B h T d -> B (h g) T d', g=groups)`.",
    ],
)


GroupedQueryAttention = Exercise(
    solutions.GroupedQueryAttention,
    points=3,
    minutes=15,
    difficulty=3,
    make={"d_model": "C", "num_heads": "h", "num_kv_heads": "kv"},
    uses=[
        scaled_dot_product_attention,
        solutions.split_heads,
        solutions.merge_heads,
        solutions.repeat_kv,
    ],
    forbids=["attention"],
    inputs={
        "groups of two": X,
        **MASKED,
        "one key/value head": X | {"num_kv_heads": 1},
        "a key/value head for each": X | {"num_kv_heads": "h"},
    },
    refuses={
        "d_model = 10 with 4 heads": {
            "d_model": 10,
            "num_heads": 4,
            "num_kv_heads": 2,
        },
        "4 key/value heads for 6 heads": {
            "d_model": 60,
            "num_heads": 6,
            "num_kv_heads": 4,
        },
    },
    properties=[order_of_tokens, batch_apart],
    twin=grouped,
    mistakes=[
        *SHARED,
        *CUTS,
        *JOINS,
        *LAYER,
        *INHERITED,
    ],
    hints=[
        "It is MultiHeadAttention with two lines more. Which matrices get smaller, and "
        "what has to happen to K and V before they meet the query heads?",
        "W_k and W_v have num_kv_heads * d_k outputs with d_k = d_model // num_heads. "
        "Cut them into num_kv_heads heads, not num_heads.",
        "K is `repeat_kv(split_heads(self.W_k(x), self.num_kv_heads), groups)` with "
        "`groups = self.num_heads // self.num_kv_heads`; V likewise.",
    ],
)
