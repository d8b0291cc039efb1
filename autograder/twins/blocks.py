"""Encoder and decoder blocks with a switch wherever people slip, and the slips by name.

A block is a chain of sublayers on a stream. What each of them does, which norm it has
and where that stands are switches; those of attention pass through.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.definition import Mistake
from autograder.twins.multihead import heads_attend

Change = Callable[[Tensor], Tensor]
#: Puts a sublayer and its norm on the stream: `place(x, sublayer, norm, first x)`.
Place = Callable[[Tensor, Change, Change, Tensor], Tensor]


def pre(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    return x + sublayer(norm(x))


def post(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    return norm(x + sublayer(x))


def on_branch(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    return x + norm(sublayer(x))


def from_normed(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    return norm(x) + sublayer(norm(x))


def no_skip(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    return sublayer(norm(x))


def no_norm(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    return x + sublayer(x)


def from_start(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    return start + sublayer(norm(x))


def all_from_start(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    """Side by side: every sublayer reads the block's input, and all are added up."""
    return x + sublayer(norm(start))


def from_branch(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    """The second sublayer reads the first one's result, not the stream."""
    return x + sublayer(norm(x - start))


def start_again(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    """The block's input, which the stream holds already, is added once more."""
    return start + x + sublayer(norm(x))


#: What a sublayer's norm is given: `seen(module, stream, first x)`.
Seen = Callable[[Any, Tensor, Tensor], Tensor]


def stream(module: Any, x: Tensor, start: Tensor) -> Tensor:
    return x


def first_norm_s(module: Any, x: Tensor, start: Tensor) -> Tensor:
    """What the first sublayer was given, under a name that was used again."""
    given: Tensor = module.norm1(start)
    return given


def whole(out: Tensor) -> Tensor:
    return out


def of_the_first(out: Tensor) -> Tensor:
    """As if the attention returned its result and its weights."""
    return out[0]


Norm = Callable[[Any, Tensor], Tensor]


def with_eps(eps: float) -> Norm:
    return lambda norm, x: F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias, eps)


def unbiased(norm: Any, x: Tensor) -> Tensor:
    length = x.shape[-1]
    variance = x.var(dim=-1, keepdim=True, correction=0) * length / max(length - 1, 1)
    spread = variance.sqrt() + norm.eps
    normed = (x - x.mean(dim=-1, keepdim=True)) / spread
    scaled: Tensor = normed * norm.weight + norm.bias
    return scaled


def chain(
    module: Any,
    x: Tensor,
    sublayers: dict[str, Change],
    *,
    order: str,
    norms: dict[str, int],
    places: dict[str, Place],
    normed: Norm = lambda norm, x: norm(x),
    seen_f: Seen = stream,
    drop: float = 0.0,
    end: Callable[[Any, Tensor], Tensor] = lambda module, x: x,
) -> Tensor:
    """Each sublayer of `order` in turn; `seen_f` is what the norm of f is given."""
    start = x

    def dropped(sublayer: Change) -> Change:
        return lambda x: F.dropout(sublayer(x), drop) if drop else sublayer(x)

    for name in order:
        norm = partial(normed, getattr(module, f"norm{norms[name]}"))
        if name == "f" and seen_f is not stream:
            norm = partial(_of_another, norm, seen_f(module, x, start))
        x = places[name](x, dropped(sublayers[name]), norm, start)
    return end(module, x)


def _of_another(norm: Change, other: Tensor, x: Tensor) -> Tensor:
    return norm(other)


def feed(ff: Any, x: Tensor, bend: Change) -> Tensor:
    out: Tensor = ff.W_2(bend(ff.W_1(x)))
    return out


def encoder(
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
    drop: float = 0.0,
    end: Callable[[Any, Tensor], Tensor] = lambda module, x: x,
    **switches: Any,
) -> Tensor:
    """The twin of EncoderBlock: attention (a), then the feed-forward network (f)."""
    sublayers: dict[str, Change] = {
        "a": lambda x: taken(heads_attend(module.attn, x, mask, **switches)),
        "f": lambda x: feed(module.ff, x, bend),
    }
    return chain(
        module,
        x,
        sublayers,
        order=order,
        norms={"a": norm_a, "f": norm_f},
        places={"a": place_a, "f": place_f},
        normed=normed,
        seen_f=seen_f,
        drop=drop,
        end=end,
    )


def back(n: int, device: torch.device) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


def decoder(
    module: Any,
    x: Tensor,
    memory: Tensor,
    memory_mask: Tensor | None = None,
    *,
    order: str = "scf",
    norm_s: int = 1,
    norm_c: int = 2,
    norm_f: int = 3,
    place_s: Place = pre,
    place_c: Place = pre,
    place_f: Place = pre,
    sees: Callable[[Tensor, Tensor | None], Tensor | None] = lambda causal, m: causal,
    looks: Callable[[Tensor | None, Tensor, Tensor], Tensor | None] = (
        lambda m, x, memory: m
    ),
    prepared: Callable[[Any, Tensor], Tensor] = lambda module, memory: memory,
    reads: str = "xmm",
    within: str = "self_attn",
    across: str = "cross_attn",
    bend: Change = F.gelu,
    normed: Norm = lambda norm, x: norm(x),
    drop: float = 0.0,
    end: Callable[[Any, Tensor], Tensor] = lambda module, x: x,
    **switches: Any,
) -> Tensor:
    """The twin of DecoderBlock: self-attention (s), cross-attention (c), then f.

    `sees` gives the self-attention's mask, `looks` the cross-attention's; `switches`
    are those of both.
    """
    causal = back(x.shape[1], x.device)
    sublayers: dict[str, Change] = {
        "s": lambda x: heads_attend(
            getattr(module, within), x, sees(causal, memory_mask), **switches
        ),
        "c": lambda x: heads_attend(
            getattr(module, across),
            x,
            looks(memory_mask, x, memory),
            memory=prepared(module, memory),
            reads=reads,
            **switches,
        ),
        "f": lambda x: feed(module.ff, x, bend),
    }
    return chain(
        module,
        x,
        sublayers,
        order=order,
        norms={"s": norm_s, "c": norm_c, "f": norm_f},
        places={"s": place_s, "c": place_c, "f": place_f},
        normed=normed,
        drop=drop,
        end=end,
    )


def causal_across(
    memory_mask: Tensor | None, x: Tensor, memory: Tensor
) -> Tensor | None:
    """The causal mask laid over the memory too."""
    shape = (x.shape[1], memory.shape[1])
    over = torch.ones(shape, dtype=torch.bool, device=x.device).tril()
    return over if memory_mask is None else over & (memory_mask != 0)


def either(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    """Both masks at once, where both are given."""
    if one is None or other is None:
        return other if one is None else one
    return (one != 0) & (other != 0)


def rows_for(names: dict[str, str], only: str) -> list[Mistake]:
    """How norms and skips go wrong: everywhere, and in one sublayer alone.

    `names` says what the sublayers are called; `only` the block's first equation.
    """
    everywhere = [
        (
            "post-norm",
            "This is post-norm, norm(x + sublayer(x)), as in the paper of 2017; the "
            f"block is pre-norm: {only}.",
            post,
        ),
        (
            "norm-on-the-branch",
            "The norms stand on the branch, behind each sublayer, x + "
            f"norm(sublayer(x)); the block is pre-norm: {only}.",
            on_branch,
        ),
        (
            "skip-from-the-normed-input",
            "The skip connections start from the normed input: x was overwritten by "
            f"norm(x). The residual stream itself goes on as it is: {only}.",
            from_normed,
        ),
        (
            "no-residual",
            "The residual connections are missing: each sublayer's result takes the "
            f"place of x instead of being added to it, {only}.",
            no_skip,
        ),
        (
            "norms-unused",
            "The norms are made, but never used: each sublayer reads the stream "
            f"normed, {only}.",
            no_norm,
        ),
    ]
    found = [
        Mistake(id, message, **{f"place_{key}": place for key in names})
        for id, message, place in everywhere
    ]
    for key, name in names.items():
        found += _rows_of(key, name)
    return found


def _rows_of(key: str, name: str) -> list[Mistake]:
    """The same for one sublayer."""
    text = [
        (
            "post-norm",
            f"The norm of the {name} stands behind the sum, post-norm: it should be "
            "pre-norm, x + sublayer(norm(x)).",
            post,
        ),
        (
            "norm-on-the-branch",
            f"The norm of the {name} stands behind it, on the branch: it should be "
            "pre-norm, x + sublayer(norm(x)).",
            on_branch,
        ),
        (
            "skip-from-the-normed-input",
            f"The skip connection around the {name} starts from the normed input; the "
            "residual stream goes on as it is, x + sublayer(norm(x)).",
            from_normed,
        ),
        (
            "no-residual",
            f"The residual connection around the {name} is missing: its result takes "
            "the place of x instead of being added to it.",
            no_skip,
        ),
        (
            "norm-unused",
            f"The {name} reads the stream without its norm: it should be "
            "x + sublayer(norm(x)).",
            no_norm,
        ),
    ]
    slug = name.split()[0]
    return [
        Mistake(f"{id}-{slug}", message, **{f"place_{key}": place})
        for id, message, place in text
    ]


#: What goes wrong in the feed-forward network, with the norms and with dropout.
INSIDE = [
    Mistake(
        "relu-for-gelu",
        "The feed-forward network bends with ReLU; it should be GELU, as in "
        "FeedForward.",
        bend=F.relu,
    ),
    Mistake(
        "tanh-approximation",
        "The feed-forward network bends with GELU's tanh approximation; it should be "
        "the exact GELU, as in FeedForward (F.gelu without approximate='tanh').",
        bend=lambda x: F.gelu(x, approximate="tanh"),
    ),
    Mistake(
        "sigmoid-approximation",
        "The feed-forward network bends with x * sigmoid(1.702 x), the sigmoid "
        "approximation of GELU; it should be the exact GELU, as in FeedForward.",
        bend=lambda x: x * torch.sigmoid(1.702 * x),
    ),
    Mistake(
        "extra-norm-at-the-end",
        "The block's result is normed once more, by an extra norm at the end; it "
        "should leave the stream as it is: the model has one final norm, after all "
        "its blocks.",
        end=lambda module, x: F.layer_norm(x, x.shape[-1:]),
    ),
    Mistake(
        "silu-for-gelu",
        "The feed-forward network bends with SiLU; it should be GELU, as in "
        "FeedForward.",
        bend=F.silu,
    ),
    Mistake(
        "no-activation",
        "The feed-forward network has no activation: GELU belongs between W_1 and W_2.",
        bend=lambda x: x,
    ),
    Mistake(
        "eps-1e-6",
        "The norms' eps is 1e-6; it should be 1e-5, as nn.LayerNorm has it.",
        normed=with_eps(1e-6),
    ),
    Mistake(
        "eps-vanishing",
        "The norms' eps is far too small, such as 1e-12; it should be 1e-5, as "
        "nn.LayerNorm has it.",
        normed=with_eps(1e-12),
    ),
    Mistake(
        "unbiased-variance",
        "The norms divide by the unbiased standard deviation (n - 1); LayerNorm takes "
        "the mean of the squares (n), and eps inside the root.",
        normed=unbiased,
    ),
    Mistake(
        "dropout-left-in",
        "A dropout is at work on the sublayers' results; this block has none.",
        drop=0.1,
    ),
]
