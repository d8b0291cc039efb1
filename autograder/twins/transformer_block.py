"""The Transformer block with a switch wherever people slip, and the slips by name.

It is EncoderBlock with dropout; where that stands, and at which rate, are switches.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.definition import Mistake
from autograder.twins.blocks import (
    Change,
    Norm,
    Place,
    Seen,
    chain,
    feed,
    pre,
    rows_for,
    stream,
    whole,
)
from autograder.twins.multihead import heads_attend
from autograder.twins.wirings import ENCODER

#: What a dropout does: `drop(x, p, training)`.
Drop = Callable[[Tensor, float, bool], Tensor]


def usual(x: Tensor, p: float, training: bool) -> Tensor:
    return F.dropout(x, p, training)


def none(x: Tensor, p: float, training: bool) -> Tensor:
    return x


def always(x: Tensor, p: float, training: bool) -> Tensor:
    return F.dropout(x, p, True)


def twice(x: Tensor, p: float, training: bool) -> Tensor:
    return F.dropout(F.dropout(x, p, training), p, training)


def unscaled(x: Tensor, p: float, training: bool) -> Tensor:
    return F.dropout(x, p, training) * (1 - p if training else 1)


def of_vectors(x: Tensor, p: float, training: bool) -> Tensor:
    return x * F.dropout(torch.ones_like(x[..., :1]), p, training)


def block(
    module: Any,
    x: Tensor,
    mask: Tensor | None = None,
    *,
    order: str = "af",
    norm_a: int = 1,
    norm_f: int = 2,
    place_a: Place = pre,
    place_f: Place = pre,
    seen_f: Seen = stream,
    taken: Change = whole,
    bend: Change = F.gelu,
    normed: Norm = lambda norm, x: norm(x),
    end: Callable[[Any, Tensor], Tensor] = lambda module, x: x,
    rate: Callable[[float], float] = lambda p: p,
    drop_a: Drop = usual,
    drop_f: Drop = usual,
    read_a: Drop = none,
    read_f: Drop = none,
    inside_f: Drop = none,
    inside_a: Drop = none,
    sum_a: Drop = none,
    sum_f: Drop = none,
    **switches: Any,
) -> Tensor:
    """The twin of TransformerBlock.

    `drop_` is the dropout on a sublayer's result, `read_` on what it reads, `inside_`
    on the attention's weights or the hidden layer, `sum_` on the stream behind it.
    """
    how = rate(module.drop.p), bool(module.training)
    if inside_a is not none:
        switches["weaken"] = lambda weights, Q: inside_a(weights, *how)

    def attend(x: Tensor) -> Tensor:
        out = taken(heads_attend(module.attn, read_a(x, *how), mask, **switches))
        return drop_a(out, *how)

    def forward(x: Tensor) -> Tensor:
        hidden = feed(module.ff, read_f(x, *how), lambda x: inside_f(bend(x), *how))
        return drop_f(hidden, *how)

    def then(place: Place, drop: Drop, *given: Any) -> Tensor:
        return drop(place(*given), *how)

    return chain(
        module,
        x,
        {"a": attend, "f": forward},
        order=order,
        norms={"a": norm_a, "f": norm_f},
        places={"a": partial(then, place_a, sum_a), "f": partial(then, place_f, sum_f)},
        normed=normed,
        seen_f=seen_f,
        end=end,
    )


_RIGHT = "x + drop(attn(norm1(x), mask)), then x + drop(ff(norm2(x)))"

DROPPED = [
    Mistake(
        "no-dropout",
        "In training nothing is dropped: the dropout is never applied. `drop` belongs "
        f"on each sublayer's result: {_RIGHT}.",
        drop_a=none,
        drop_f=none,
    ),
    Mistake(
        "no-dropout-attention",
        "The attention's result has no dropout: x + drop(attn(norm1(x), mask)).",
        drop_a=none,
    ),
    Mistake(
        "no-dropout-feed-forward",
        "The feed-forward network's result has no dropout: x + drop(ff(norm2(x))).",
        drop_f=none,
    ),
    Mistake(
        "dropout-on-the-sum",
        "The dropout falls on the sum, the residual stream itself, drop(x + "
        f"sublayer(norm(x))); it should fall on the sublayer's result only: {_RIGHT}.",
        drop_a=none,
        drop_f=none,
        sum_a=usual,
        sum_f=usual,
    ),
    Mistake(
        "dropout-on-the-sum-attention",
        "The dropout falls on the sum, the residual stream itself, drop(x + attn(…)); "
        "it should fall on the attention's result only, x + drop(attn(…)).",
        drop_a=none,
        sum_a=usual,
    ),
    Mistake(
        "dropout-on-the-sum-feed-forward",
        "The dropout falls on the sum, the residual stream itself, drop(x + ff(…)); "
        "it should fall on the feed-forward network's result only, x + drop(ff(…)).",
        drop_f=none,
        sum_f=usual,
    ),
    Mistake(
        "dropout-inside-the-sublayers",
        "The dropout falls inside the sublayers, on what they read or on the "
        "attention's weights and the hidden layer, and not on their results: "
        f"{_RIGHT}.",
        drop_a=none,
        drop_f=none,
        read_a=usual,
        read_f=usual,
    ),
    Mistake(
        "dropout-inside-the-attention",
        "The dropout falls inside the attention, on what it reads or on its weights, "
        "and not on its result: x + drop(attn(norm1(x), mask)).",
        drop_a=none,
        read_a=usual,
    ),
    Mistake(
        "dropout-inside-the-feed-forward",
        "The dropout falls inside the feed-forward network, on what it reads or on the "
        "hidden layer, and not on its result: x + drop(ff(norm2(x))).",
        drop_f=none,
        read_f=usual,
    ),
    Mistake(
        "dropout-twice",
        "Each sublayer's result goes through a dropout twice; once is asked for, and "
        f"no other dropout: {_RIGHT}.",
        drop_a=twice,
        drop_f=twice,
    ),
    Mistake(
        "another-dropout-in-attention",
        "Besides `drop` on the attention's result there is another dropout on its way, "
        "on the weights, on what it reads, or on the result again; there is no other "
        "dropout in this block.",
        inside_a=usual,
    ),
    Mistake(
        "another-dropout-in-feed-forward",
        "Besides `drop` on the feed-forward network's result there is another dropout "
        "on its way, on the hidden layer, or on what it reads; there is no other "
        "dropout in this block.",
        inside_f=usual,
    ),
    Mistake(
        "another-dropout-at-the-end",
        "The block's result goes through one more dropout at the end, on the residual "
        f"stream itself; there is no other than {_RIGHT}.",
        sum_f=usual,
    ),
    Mistake(
        "dropout-in-eval-mode",
        "The dropout is at work in eval mode too, so results are drawn at random: it "
        "belongs to training. Use nn.Dropout, or F.dropout with "
        "training=self.training.",
        drop_a=always,
        drop_f=always,
    ),
    Mistake(
        "dropout-not-scaled",
        "The dropout doesn't scale what is left by 1 / (1 - p), so the results are too "
        "small on average: nn.Dropout does both.",
        drop_a=unscaled,
        drop_f=unscaled,
    ),
    Mistake(
        "dropout-fixed",
        "The dropout's rate is 0.1, whatever `dropout` says: pass it on, "
        "nn.Dropout(dropout).",
        rate=lambda p: 0.1,
    ),
    Mistake(
        "dropout-of-half",
        "The dropout's rate is 0.5, what nn.Dropout() takes by itself: pass it on, "
        "nn.Dropout(dropout).",
        rate=lambda p: 0.5,
    ),
    Mistake(
        "no-dropout-by-default",
        "Where `dropout` is left out nothing is dropped; its default is 0.1.",
        rate=lambda p: 0.0 if p == 0.1 else p,
    ),
    Mistake(
        "dropout-of-1-p",
        "The dropout's rate is 1 - dropout; `dropout` is the share that is dropped, "
        "not the one that is kept.",
        rate=lambda p: 1 - p,
    ),
]

#: Rows of EncoderBlock in words that fit a block with dropout.
_REWORDED = {
    row.id: row
    for row in [
        *rows_for({"a": "attention", "f": "feed-forward network"}, _RIGHT),
        Mistake(
            "causal-encoder",
            "The attention is causal although no mask says so: positions see no later "
            "ones. The block attends everywhere; MiniGPT gives it a causal mask.",
            causal=True,
        ),
    ]
}

BLOCK = [
    *(_REWORDED.get(row.id, row) for row in ENCODER if row.id != "dropout-left-in"),
    *DROPPED,
]
