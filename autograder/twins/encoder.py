"""The published encoder with a switch wherever people slip."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from autograder.twins.blocks import (
    Change,
    Norm,
    Place,
    chain,
    feed,
    post,
    with_eps,
)
from autograder.twins.minigpt import at, from_0
from autograder.twins.multihead import heads_attend

Stack = Callable[[Any, Tensor, Callable[[Any, Tensor], Tensor]], Tensor]


def in_order(
    model: Any,
    x: Tensor,
    run: Callable[[Any, Tensor], Tensor],
    count: int | None = None,
) -> Tensor:
    for block in list(model.blocks)[:count]:
        x = run(block, x)
    return x


def of_type_0(model: Any) -> Tensor:
    row: Tensor = model.type_embed.weight[0]
    return row


def vectors(
    model: Any,
    tokens: Tensor,
    mask: Tensor,
    *,
    placed: Callable[[Any, Tensor], Tensor] = from_0,
    kind: Callable[[Any], Tensor | float] = of_type_0,
    scale: Callable[[Any], float] = lambda model: 1.0,
    start: Callable[[Any, Tensor, Norm], Tensor] = lambda model, x, normed: normed(
        model.norm, x
    ),
    sees: Callable[[Tensor], Tensor | None] = lambda mask: mask[:, None, None, :],
    order: str = "af",
    norm_a: int = 1,
    norm_f: int = 2,
    place_a: Place = post,
    place_f: Place = post,
    normed: Norm = lambda norm, x: norm(x),
    eps: float = 1e-12,
    eps_start: float = 1e-12,
    bend: Change = F.gelu,
    drop: float = 0.0,
    run: Stack = in_order,
    end: Callable[[Any, Tensor], Tensor] = lambda model, x: x,
    **switches: Any,
) -> Tensor:
    """The twin of MiniLMEncoder; `switches` are those of attention."""
    x = model.embed(tokens) * scale(model) + placed(model, tokens) + kind(model)
    x = start(model, x, with_eps(eps_start) if eps_start != 1e-12 else normed)
    normed = with_eps(eps) if eps != 1e-12 else normed
    seen = sees(mask)

    def through(block: Any, x: Tensor) -> Tensor:
        return chain(
            block,
            x,
            {
                "a": lambda x: heads_attend(block.attn, x, seen, **switches),
                "f": lambda x: feed(block.ff, x, bend),
            },
            order=order,
            norms={"a": norm_a, "f": norm_f},
            places={"a": place_a, "f": place_f},
            normed=normed,
            drop=drop,
        )

    return end(model, run(model, x, through))


def norm_early(model: Any) -> None:
    def forward(tokens: Tensor, mask: Tensor) -> Tensor:
        def start(model: Any, x: Tensor, normed: Norm) -> Tensor:
            words: Tensor = model.norm(model.embed(tokens))
            return words + from_0(model, tokens) + of_type_0(model)

        return vectors(model, tokens, mask, start=start)

    model.forward = forward


def types_from_mask(model: Any) -> None:
    model.forward = lambda tokens, mask: vectors(
        model, tokens, mask, kind=lambda model: model.type_embed(mask.long())
    )


def real_ones_counted(model: Any) -> None:
    def forward(tokens: Tensor, mask: Tensor) -> Tensor:
        places = (mask.long().cumsum(-1) - 1).clamp(min=0)
        return vectors(model, tokens, mask, placed=at(lambda tokens: places))

    model.forward = forward


def zeroed_first(model: Any) -> None:
    def forward(tokens: Tensor, mask: Tensor) -> Tensor:
        def start(model: Any, x: Tensor, normed: Norm) -> Tensor:
            return normed(model.norm, x) * mask[..., None]

        return vectors(model, tokens, mask, start=start)

    model.forward = forward


def zeroed_last(model: Any) -> None:
    model.forward = lambda tokens, mask: vectors(model, tokens, mask) * mask[..., None]


def skipless(x: Tensor, sublayer: Change, norm: Change, start: Tensor) -> Tensor:
    return norm(sublayer(x))


def twelve_heads(model: Any) -> None:
    for block in model.blocks:
        block.attn.num_heads = 12


def one_type(model: Any) -> None:
    model.type_embed = nn.Embedding(1, model.embed.embedding_dim)
