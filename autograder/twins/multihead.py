"""Multi-head attention with a switch wherever people slip, and the slips by name.

The switches of attention itself pass through, so its rows are inherited here.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.attention import MASKS, RESULTS, SCORES, WEIGHTS, attend
from autograder.twins.heads import (
    Turn,
    along,
    as_they_are,
    cut,
    cut_dealt_out,
    cut_not_moved,
    join,
    join_dealt_out,
    tiled,
)


def heads_attend(
    module: Any,
    x: Tensor,
    mask: Tensor | None = None,
    *,
    memory: Tensor | None = None,
    reads: str = "xmm",
    axes: Turn = as_they_are,
    made_with: str = "qkv",
    cut: Callable[[Tensor, int], Tensor] = cut,
    share_q: Callable[[Tensor, int], Tensor] = lambda Q, groups: Q,
    share_k: Callable[[Tensor, int], Tensor] = lambda K, groups: K,
    share_v: Callable[[Tensor, int], Tensor] = lambda V, groups: V,
    by_head: bool = False,
    mask_seen: Callable[[Tensor, Tensor], Tensor] = lambda mask, Q: mask,
    causal: bool = False,
    join: Turn = join,
    last: Callable[[Any, Tensor], Any] = lambda module, x: module.W_o(x),
    plus: Callable[[Tensor], Tensor | float] = lambda x: 0.0,
    **switches: Any,
) -> Any:
    """The twin of MultiHeadAttention; `switches` are those of attention.

    With a memory it is CrossAttention's; `reads` says what Q, K and V are made from.
    """
    x = axes(x)
    given = {"x": x, "m": x if memory is None else axes(memory)}
    layers = {name: getattr(module, f"W_{name}") for name in "qkv"}
    num_heads: int = module.num_heads
    kv_heads: int = getattr(module, "num_kv_heads", num_heads)
    counts = (num_heads, kv_heads, kv_heads)
    cuts = {
        name: cut(layers[source](given[whose]), count)
        for name, source, whose, count in zip(
            "qkv", made_with, reads, counts, strict=True
        )
    }
    if by_head:
        made = [
            layers[name](given[whose]) for name, whose in zip("qkv", reads, strict=True)
        ]
        parts = cut(torch.cat(made, dim=-1), num_heads).chunk(3, dim=-1)
        cuts = dict(zip("qkv", parts, strict=True))
    K = share_k(cuts["k"], num_heads // kv_heads)
    V = share_v(cuts["v"], num_heads // kv_heads)
    if mask is not None:
        mask = mask_seen(mask, cuts["q"])
    if causal:
        shape = (x.shape[1], given["m"].shape[1])
        back = torch.ones(shape, dtype=torch.bool, device=x.device).tril()
        mask = back if mask is None else back & (mask != 0)
    Q = share_q(cuts["q"], num_heads // kv_heads)
    heads, _ = attend(Q, K, V, mask, **switches)
    # raises where a learner's reshape does
    joined = join(heads).reshape(given[reads[0]].shape)
    return axes(last(module, joined) + plus(x))


def grouped(module: Any, x: Tensor, mask: Tensor | None = None, **switches: Any) -> Any:
    """The twin of GroupedQueryAttention: heads share keys and values."""
    right = {"share_k": along(1), "share_v": along(1)}
    return heads_attend(module, x, mask, **(right | switches))


def mask_tiled(mask: Tensor, Q: Tensor) -> Tensor:
    """The mask that heads meet which lie sequence after sequence in one axis."""
    if mask.dim() < 4 or mask.shape[1] != 1:
        return mask
    wide = mask.expand(Q.shape[0], Q.shape[1], *mask.shape[2:])
    return wide.transpose(0, 1).reshape(wide.shape)


def unfolded(x: Tensor) -> Tensor:
    """Heads and batch, taken apart as if the heads came first."""
    B, h, *rest = x.shape
    return x.reshape(h, B, *rest).transpose(0, 1)


def first_for_all(x: Tensor, groups: int) -> Tensor:
    return x[:, :1].expand(-1, x.shape[1] * groups, -1, -1)


def without(rows: list[Mistake], *ids: str) -> list[Mistake]:
    """Rows but those that can't be told apart, or don't apply, here."""
    return [row for row in rows if row.id not in ids]


def averaged(Q: Tensor, groups: int) -> Tensor:
    B, h, T, d_k = Q.shape
    means = Q.reshape(B, h // groups, groups, T, d_k).mean(dim=2)
    return means.repeat_interleave(groups, dim=1)


#: What goes wrong in the layer as a whole.
LAYER = [
    Mistake(
        "divided-by-root-d_model",
        "The scores are divided by √d_model; each head's vectors have length d_k, so "
        "it should be √d_k.",
        scale=lambda Q, K: (Q.shape[1] * Q.shape[-1]) ** -0.5,
    ),
    Mistake(
        "no-output-projection",
        "W_o is never applied: the joined heads are returned as they are.",
        last=lambda module, x: x,
    ),
    Mistake(
        "output-projection-twice",
        "W_o is applied twice.",
        last=lambda module, x: module.W_o(module.W_o(x)),
    ),
    Mistake(
        "input-added",
        "The input is added to the result; the residual connection is the block's "
        "business, not the attention's.",
        plus=lambda x: x,
    ),
    Mistake(
        "causal-always",
        "Positions see no later ones although no mask says so: attend everywhere "
        "unless a mask is given.",
        causal=True,
    ),
    Mistake(
        "heads-attend-to-each-other",
        "The heads of one token attend to each other, not the tokens: the heads' axis "
        "was never moved in front of the positions. Exchange axes 1 and 2 after the "
        "cut, and back before the join.",
        cut=cut_not_moved,
        join=lambda x: x.flatten(2),
    ),
    Mistake(
        "batch-taken-for-positions",
        "The first axis is taken for the positions, so the sequences of a batch attend "
        "to each other; x is (B, T, C).",
        axes=lambda x: x.transpose(0, 1),
    ),
    Mistake(
        "mask-given-an-axis",
        "The mask gets an axis for the heads, but it is broadcastable to (B, h, T, T) "
        "as it comes: use it as it is.",
        mask_seen=lambda mask, Q: mask.unsqueeze(1),
    ),
    Mistake(
        "mask-tiled-over-the-heads",
        "Heads and batch share an axis, sequence after sequence, but the mask is tiled "
        "along it (repeat), so heads meet another sequence's mask. Repeat each "
        "sequence's mask for its heads: repeat_interleave(num_heads, dim=0).",
        mask_seen=mask_tiled,
    ),
    Mistake(
        "unfolded-in-the-other-order",
        "Heads and batch were folded into one axis, heads first, and are taken apart "
        "as if the batch came first: sequences mix. Unfold in the order of the fold.",
        join=lambda x: join(x.transpose(0, 1).reshape(x.shape)),
    ),
    Mistake(
        "unfolded-heads-first",
        "Heads and batch were folded into one axis, batch first, and are taken apart "
        "as if the heads came first: sequences mix. Unfold in the order of the fold.",
        join=lambda x: join(unfolded(x)),
    ),
    Mistake(
        "heads-dealt-out",
        "The heads take every num_heads-th feature, and are joined the same way, C as "
        "(d_k, h) both times; here head i is the i-th slice: cut and join C as "
        "(h, d_k), or the weights belong to other heads.",
        cut=cut_dealt_out,
        join=join_dealt_out,
    ),
]

#: Projections that take each other's place, where W_q, W_k and W_v have one shape.
EXCHANGED = [
    Mistake(
        "v-from-w-k",
        "What is mixed comes from W_k; W_v is never used: look for copy and paste.",
        made_with="qkk",
    ),
    Mistake(
        "k-from-w-q",
        "K is made with W_q; W_k is never used: look for copy and paste.",
        made_with="qqv",
    ),
    Mistake(
        "one-matrix-for-all",
        "Q, K and V are all made with W_q; each has a matrix of its own.",
        made_with="qqq",
    ),
    Mistake(
        "k-and-v-exchanged",
        "Keys and values are swapped: K is made with W_v and V with W_k.",
        made_with="qvk",
    ),
    Mistake(
        "heads-not-cut",
        "The heads are never split: one head as wide as d_model attends, whatever "
        "num_heads says. Cut the features into heads first.",
        cut=lambda x, num_heads: x[:, None],
    ),
    Mistake(
        "projections-cut-by-head",
        "Q, K and V lie one behind the other, (B, T, 3C), but are cut as if each "
        "head's three lay together: chunk(3, dim=-1) first, then cut the heads.",
        by_head=True,
    ),
]

#: Masks whose weights nobody sees: of a NaN in the output, it can't be said whence.
HIDDEN_MASKS = [
    *without(MASKS, "blocked-scores-highest", "infinity-after-softmax"),
    Mistake(
        "blocked-infinite",
        "Where a key is blocked the result is NaN: +inf is filled in, the wrong sign, "
        "or -inf comes after the softmax. It is -inf, in the scores, before it.",
        fill=torch.inf,
    ),
]

#: Rows of attention that show in a layer's output, each in its own way.
INHERITED = [
    *without(
        SCORES,
        "divided-by-root-of-queries",  # as many as keys
        "divided-by-root-of-axis-0",
        "divided-by-root-of-axis-1",  # which is that of the heads here
        "divided-by-the-fourth-root",
        "first-axes-transposed",
        "all-axes-reversed",
    ),
    Mistake(
        "divided-by-root-of-heads",
        "The scores are divided by √num_heads, or by the root of Q.shape[1], which is "
        "the same once the heads are cut; it should be √d_k: Q.shape[-1].",
        scale=lambda Q, K: Q.shape[1] ** -0.5,
    ),
    *without(WEIGHTS, "logarithm"),
    *HIDDEN_MASKS,
    *without(
        RESULTS,
        "scores-mixed",  # no softmax
        "keys-mixed",
        "results-exchanged",
        "scores-returned",
        "weights-before-the-mask",
    ),
]

#: How shared keys and values go wrong.
SHARED = [
    Mistake(
        "tiled-heads",
        "Keys and values are tiled, 0 1 2 0 1 2, so query heads meet the wrong "
        "ones. Neighbours share: repeat each, 0 0 1 1 2 2.",
        share_k=tiled,
        share_v=tiled,
    ),
    Mistake(
        "keys-tiled",
        "The keys are tiled, 0 1 2 0 1 2, while the values are repeated as they "
        "should be, 0 0 1 1 2 2.",
        share_k=tiled,
    ),
    Mistake(
        "values-tiled",
        "The values are tiled, 0 1 2 0 1 2, while the keys are repeated as they "
        "should be, 0 0 1 1 2 2.",
        share_v=tiled,
    ),
    Mistake(
        "first-head-for-all",
        "All query heads get key/value head 0; head i belongs to the query heads "
        "i*groups to i*groups + groups - 1.",
        share_k=first_for_all,
        share_v=first_for_all,
    ),
    Mistake(
        "not-repeated",
        "Keys or values still have num_kv_heads heads where they meet the num_heads "
        "query heads, not repeated or along another axis: repeat each head `groups` "
        "times, along the heads' axis, 1 in (B, h_kv, T, d_k).",
        share_k=lambda K, groups: K,
        share_v=lambda V, groups: V,
    ),
    Mistake(
        "repeated-num_kv_heads-times",
        "Each key/value head is repeated num_kv_heads times; there are num_heads // "
        "num_kv_heads query heads for each, and so many copies are needed.",
        share_k=lambda K, groups: K.repeat_interleave(K.shape[1], dim=1),
        share_v=lambda V, groups: V.repeat_interleave(V.shape[1], dim=1),
    ),
    Mistake(
        "v-from-w-k",
        "What is mixed comes from W_k; W_v is never used: look for copy and paste.",
        made_with="qkk",
    ),
    Mistake(
        "k-and-v-exchanged",
        "Keys and values are swapped: K is made with W_v and V with W_k.",
        made_with="qvk",
    ),
    Mistake(
        "divided-by-root-of-kv-width",
        "The scores are divided by √(num_kv_heads * d_k), the width of W_k; it should "
        "be √d_k, the length of one head's vectors.",
        share_q=lambda Q, groups: Q * (groups / Q.shape[1]) ** 0.5,
    ),
    Mistake(
        "queries-averaged",
        "The queries of a group are averaged, so its heads come out alike; the group "
        "shares keys and values only, and every head keeps its own query.",
        share_q=averaged,
    ),
]
