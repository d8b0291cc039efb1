"""Cross-attention: how the two sequences get mixed up, by name.

Its twin is multi-head attention's, which takes a memory; the rows of attention and of
its heads are inherited.
"""

from typing import Any

from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.heads import CUTS, JOINS, cut_by_view, join
from autograder.twins.multihead import (
    EXCHANGED,
    INHERITED,
    LAYER,
    heads_attend,
    without,
)


def cross(
    module: Any,
    x: Tensor,
    memory: Tensor,
    mask: Tensor | None = None,
    **switches: Any,
) -> Any:
    """The twin of CrossAttention; `switches` are those of multi-head attention."""
    return heads_attend(module, x, mask, memory=memory, **switches)


def cut_again_by_view(heads: Tensor, groups: int) -> Tensor:
    return cut_by_view(join(heads), heads.shape[1])


#: How x and the memory take each other's place.
MEMORY = [
    Mistake(
        "memory-ignored",
        "Keys and values come from x, so this is self-attention, and the memory has no "
        "effect: make K and V from the memory.",
        reads="xxx",
    ),
    Mistake(
        "keys-from-x",
        "The keys come from x; keys and values are both made from the memory, so that "
        "each key has its value.",
        reads="xxm",
    ),
    Mistake(
        "values-from-x",
        "The values come from x; keys and values are both made from the memory, so "
        "that each key has its value.",
        reads="xmx",
    ),
    Mistake(
        "x-and-memory-exchanged",
        "x and memory are swapped: the queries come from the memory, keys and values "
        "from x. It is x that asks: Q from x, K and V from the memory.",
        reads="mxx",
    ),
    Mistake(
        "queries-from-memory",
        "The queries come from the memory, as keys and values do, so x has no effect: "
        "make Q from x.",
        reads="mmm",
    ),
    Mistake(
        "causal-over-memory",
        "A causal mask lies over the memory: position i of x sees the memory up to "
        "position i only. The source is there as a whole; attend everywhere unless a "
        "mask is given.",
        causal=True,
    ),
]

CROSSED = [
    *MEMORY,
    *CUTS,
    *JOINS,
    *without(LAYER, "causal-always"),
    *without(EXCHANGED, "projections-cut-by-head"),
    Mistake(
        "q-and-k-exchanged",
        "W_q and W_k are swapped: Q is made with W_k and K with W_q.",
        made_with="kqv",
    ),
    Mistake(
        "keys-and-values-cut-by-view",
        "The heads of keys and values are cut by view or reshape alone, (B, m, C) to "
        "(B, h, m, d_k), while those of the queries are right: cut the features "
        "first, (B, m, h, d_k), then exchange axes 1 and 2.",
        share_k=cut_again_by_view,
        share_v=cut_again_by_view,
    ),
    Mistake(
        "divided-by-root-of-queries",
        "The scores are divided by the square root of the number of queries; it should "
        "be √d_k, the vectors' length: Q.shape[-1].",
        scale=lambda Q, K: Q.shape[-2] ** -0.5,
    ),
    *INHERITED,
]
