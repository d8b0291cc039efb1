"""The Llama block with a switch wherever people slip, and the slips by name.

Wiring, attention, rotation, norm and gate pass their own twins' switches down. Each try
builds a block, so of the slips that have a chapter of their own the commonest are here.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

import solutions.modern as solutions
from autograder.definition import Mistake
from autograder.twins.attention import MASKS, SCORES, WEIGHTS
from autograder.twins.blocks import (
    Change,
    Norm,
    Place,
    back,
    chain,
    pre,
    rows_for,
)
from autograder.twins.built import built
from autograder.twins.gates import GATES, through_the_gate
from autograder.twins.heads import CUTS, JOINS, along
from autograder.twins.multihead import LAYER, SHARED, heads_attend
from autograder.twins.norms import rms
from autograder.twins.rms_norm import RMS
from autograder.twins.rope import ROTATIONS, rotate
from autograder.twins.rows import chosen
from autograder.twins.wirings import ENCODER

Rotation = Callable[[Tensor, Tensor], Tensor]

repeated = along(1)


def as_given(positions: Tensor | None, x: Tensor) -> Tensor:
    """The positions, or 0…T-1."""
    return from_0(positions, x) if positions is None else positions


def from_0(positions: Tensor | None, x: Tensor) -> Tensor:
    return torch.arange(x.shape[1], device=x.device)


def llama(
    module: Any,
    x: Tensor,
    positions: Tensor | None = None,
    *,
    order: str = "af",
    norm_a: int = 1,
    norm_f: int = 2,
    place_a: Place = pre,
    place_f: Place = pre,
    normed: Norm = lambda norm, x: norm(x),
    end: Callable[[Any, Tensor], Tensor] = lambda module, x: x,
    counted: Callable[[Tensor | None, Tensor], Tensor] = as_given,
    sees: Callable[[Tensor, Tensor | None], Tensor | None] = lambda causal, p: causal,
    turned: str = "qk",
    rotated: Rotation = rotate,
    share_q: Callable[[Tensor, int], Tensor] = lambda Q, groups: Q,
    share_k: Callable[[Tensor, int], Tensor] = repeated,
    share_v: Callable[[Tensor, int], Tensor] = repeated,
    feed: Callable[[Any, Tensor], Tensor] = through_the_gate,
    **switches: Any,
) -> Tensor:
    """The twin of LlamaBlock; `switches` are those of attention."""
    at = counted(positions, x)
    mask = sees(back(x.shape[1], x.device), positions)

    def after_turning(
        name: str, share: Callable[[Tensor, int], Tensor]
    ) -> Callable[[Tensor, int], Tensor]:
        if name not in turned:
            return share
        return lambda heads, groups: share(rotated(heads, at), groups)

    shares: dict[str, Any] = {
        "share_q": after_turning("q", share_q),
        "share_k": after_turning("k", share_k),
        "share_v": after_turning("v", share_v),
    }
    sublayers: dict[str, Change] = {
        "a": lambda x: heads_attend(
            module.attn,
            rotated(x, at) if turned == "x" else x,
            mask,
            **shares,
            **switches,
        ),
        "f": lambda x: feed(module.ff, x),
    }
    return chain(
        module,
        x,
        sublayers,
        order=order,
        norms={"a": norm_a, "f": norm_f},
        places={"a": place_a, "f": place_f},
        normed=normed,
        end=end,
    )


def biased(*names: str) -> Callable[..., nn.Module]:
    """A block in which these projections have biases."""

    def change(block: Any) -> None:
        for name in names:
            part, _, layer = name.partition(".")
            plain = getattr(getattr(block, part), layer)
            layers = nn.Linear(plain.in_features, plain.out_features)
            setattr(getattr(block, part), layer, layers)

    return built(solutions.LlamaBlock, change)


def across_heads(heads: Tensor, at: Tensor) -> Tensor:
    """The rotation of all features at once, before they are cut into heads."""
    B, h, T, d_k = heads.shape
    features = heads.transpose(1, 2).reshape(B, T, h * d_k)
    return rotate(features, at).view(B, T, h, d_k).transpose(1, 2)


def by_head(heads: Tensor, at: Tensor) -> Tensor:
    """The rotation along the wrong axis: position 0, 1, 2 … for head 0, 1, 2 …"""
    number = torch.arange(heads.shape[1], device=heads.device)
    return rotate(heads.transpose(1, 2), number).transpose(1, 2)


def with_base(base: float) -> Rotation:
    return partial(rotate, base=base)


def rms_norms(**switches: Any) -> Norm:
    eps = switches.pop("eps", 1e-6)
    return lambda norm, x: rms(x, norm.weight, eps, **switches)


_ATTENTION = ("attn.W_q", "attn.W_k", "attn.W_v", "attn.W_o")
_FEED_FORWARD = ("ff.W_gate", "ff.W_up", "ff.W_down")
_ONLY = "x + attn(norm1(x), positions), then x + ff(norm2(x))"

#: Who sees whom, and where.
PLACED = [
    Mistake(
        "not-causal",
        "The block is not causal: positions see later ones, the very tokens they are "
        "to predict. Inside the block attention needs a causal mask, tril.",
        sees=lambda causal, positions: None,
    ),
    Mistake(
        "causal-only-without-positions",
        "Where positions are given the causal mask is left out, so positions see later "
        "ones: the mask is needed with and without them.",
        sees=lambda causal, positions: causal if positions is None else None,
    ),
    Mistake(
        "triangle-flipped",
        "The causal mask's triangle is flipped: positions see themselves and the "
        "future. Take the lower triangle: tril.",
        sees=lambda causal, positions: causal.mT,
    ),
    Mistake(
        "diagonal-missing",
        "The causal mask lacks its diagonal: a position doesn't see itself, and the "
        "first sees nothing, which makes NaN. The diagonal is True.",
        sees=lambda causal, positions: causal.tril(-1),
    ),
    Mistake(
        "one-ahead",
        "Positions see one step ahead, the very token they are to predict: the causal "
        "mask is off by one, j <= i.",
        sees=lambda causal, positions: torch.ones_like(causal).tril(1),
    ),
    Mistake(
        "positions-ignored",
        "The positions that are given have no effect, and 0, 1, 2 … are counted "
        "instead; they may start anywhere and have gaps. Count only where positions "
        "is None.",
        counted=from_0,
    ),
]

#: What is turned, and how.
TURNED = [
    Mistake(
        "nothing-turned",
        "RoPE is missing: neither queries nor keys are turned, so the block can't "
        "tell how far apart two positions are. Turn both, after the heads are cut.",
        turned="",
    ),
    Mistake(
        "values-turned-too",
        "The values are turned too; RoPE turns queries and keys only, since it is "
        "their product that tells the distance.",
        turned="qkv",
    ),
    Mistake(
        "keys-not-turned",
        "The queries are turned, the keys are not; both get the turn of their "
        "position, so that the score depends on the distance.",
        turned="q",
    ),
    Mistake(
        "queries-not-turned",
        "The keys are turned, the queries are not; both get the turn of their "
        "position, so that the score depends on the distance.",
        turned="k",
    ),
    Mistake(
        "turned-twice",
        "Queries and keys are turned twice, so that they turn by two angles; once "
        "each.",
        rotated=lambda x, at: rotate(rotate(x, at), at),
    ),
    Mistake(
        "turned-before-the-cut",
        "The rotation comes before the heads are cut, over all features at once, so "
        "each head turns at other speeds: cut into heads first, then turn each head's "
        "d_k features.",
        rotated=across_heads,
    ),
    Mistake(
        "turned-by-head",
        "The rotation goes by the heads' axis: the angle follows the number of the "
        "head, not the position. Turn (B, h, T, d_k), after axes 1 and 2 are "
        "exchanged.",
        rotated=by_head,
    ),
    Mistake(
        "turned-before-the-projections",
        "The rotation comes before the projections: the block turns norm1(x), and W_q "
        "and W_k then mix the turned features. Turn queries and keys, once their heads "
        "are cut.",
        turned="x",
    ),
    Mistake(
        "base-500000",
        "RoPE's base is 500,000, as in Llama 3; here it is 10,000.",
        rotated=with_base(5e5),
    ),
    Mistake(
        "base-1000000",
        "RoPE's base is 1,000,000, as in Qwen2.5; here it is 10,000.",
        rotated=with_base(1e6),
    ),
    Mistake(
        "exponent-doubled",
        "RoPE's exponents are doubled, -4i/d_k: arange(0, d_k, 2) counts in twos "
        "already, so it is divided by d_k as it stands, -2i/d_k.",
        rotated=with_base(1e8),
    ),
    Mistake(
        "exponent-halved",
        "RoPE's exponents are half as large, -i/d_k: for pair i they are -2i/d_k, "
        "arange(0, d_k, 2) divided by d_k.",
        rotated=with_base(1e2),
    ),
    *(
        Mistake(
            row.id, row.message, rotated=row.wrong or partial(rotate, **row.switches)
        )
        for row in chosen(
            ROTATIONS,
            "half-split",
            "mixed-layouts",
            "direction-reversed",
            "sine-part-missing",
        )
    ),
]

#: The norms.
NORMED = [
    Mistake(
        "layer-norm-for-rms-norm",
        "The norms are LayerNorms: they subtract the mean. This block has RMSNorms, x "
        "/ sqrt(mean(x²) + eps) * weight.",
        normed=rms_norms(eps=1e-5, centred=torch.sub, deviation=torch.sub),
    ),
    Mistake(
        "layer-norm-for-rms-norm-with-eps-1e-6",
        "The norms subtract the mean, as LayerNorm does. RMSNorm doesn't: x / "
        "sqrt(mean(x²) + eps) * weight.",
        normed=rms_norms(centred=torch.sub, deviation=torch.sub),
    ),
    Mistake(
        "eps-1e-5",
        "The norms' eps is 1e-5, as in Llama 2; here it is 1e-6.",
        normed=rms_norms(eps=1e-5),
    ),
    Mistake(
        "eps-vanishing",
        "The norms' eps is far too small, or left to nn.RMSNorm, which takes 1e-7 by "
        "itself; here it is 1e-6: nn.RMSNorm(d_model, eps=1e-6).",
        normed=rms_norms(eps=1.2e-7),
    ),
    *(
        Mistake(row.id, row.message, normed=rms_norms(**row.switches))
        for row in chosen(
            RMS,
            "eps-outside-the-root",
            "weight-missing",
            "one-plus-weight",
            "sum-for-mean",
            "multiplied-by-the-root",
        )
    ),
    *chosen(ENCODER, "norm1-for-both", "norms-exchanged", "norm-at-the-end"),
]

#: The sublayers and their order.
WIRED = [
    *chosen(
        rows_for({"a": "attention", "f": "feed-forward network"}, _ONLY),
        "post-norm",
        "norm-on-the-branch",
        "skip-from-the-normed-input",
        "no-residual",
        "norms-unused",
        "no-residual-attention",
        "no-residual-feed-forward",
        "skip-from-the-normed-input-attention",
        "skip-from-the-normed-input-feed-forward",
    ),
    *chosen(
        ENCODER,
        "skip-from-the-block-s-input",
        "sublayers-side-by-side",
        "order-reversed",
        "feed-forward-missing",
    ),
    Mistake(
        "attention-missing",
        "The attention is never applied: the first sublayer, x + attn(norm1(x), "
        "positions), is missing.",
        order="f",
    ),
]

#: Projections with biases, which nothing loads.
BIASED = [
    Mistake(
        "biases-everywhere",
        "The projections have biases; this block has none: nn.Linear(…, bias=False), "
        "seven times.",
        wrong=biased(*_ATTENTION, *_FEED_FORWARD),
    ),
    Mistake(
        "biases-in-attention",
        "W_q, W_k, W_v and W_o have biases, as in chapter 3; in this block they have "
        "none: nn.Linear(…, bias=False).",
        wrong=biased(*_ATTENTION),
    ),
    Mistake(
        "biases-of-q-k-v",
        "W_q, W_k and W_v have biases, as in Qwen2.5; in this block they have none: "
        "nn.Linear(…, bias=False).",
        wrong=biased(*_ATTENTION[:3]),
    ),
]

LLAMA = [
    *PLACED,
    *TURNED,
    *NORMED,
    *WIRED,
    *chosen(SHARED, "tiled-heads", "values-tiled", "v-from-w-k", "k-and-v-exchanged"),
    *chosen(CUTS, "cut-by-view"),
    *chosen(JOINS, "joined-by-reshape"),
    *chosen(LAYER, "divided-by-root-d_model", "no-output-projection"),
    *chosen(SCORES, "unscaled-scores", "divided-by-d_k"),
    *chosen(WEIGHTS, "softmax-over-queries", "softmax-over-axis-1"),
    *chosen(
        MASKS, "blocked-scores-zero", "blocked-too-low-for-half", "mask-after-softmax"
    ),
    *(
        Mistake(row.id, row.message, feed=partial(through_the_gate, **row.switches))
        for row in chosen(
            GATES,
            "gate-and-up-exchanged",
            "sigmoid-gate",
            "gelu-gate",
            "relu-gate",
            "no-activation",
            "added",
            "silu-on-the-product",
        )
    ),
    *BIASED,
]
