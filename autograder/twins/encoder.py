"""The published encoder with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import solutions.modern as solutions
from autograder.definition import Mistake
from autograder.twins.attention import MASKS, SCORES
from autograder.twins.blocks import (
    Change,
    Norm,
    Place,
    chain,
    feed,
    on_branch,
    post,
    pre,
    with_eps,
)
from autograder.twins.built import built, listed_wrongly
from autograder.twins.minigpt import at, counted, from_0
from autograder.twins.multihead import EXCHANGED, LAYER, heads_attend
from autograder.twins.rows import chosen
from autograder.twins.wirings import ENCODER

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
    place: Place = post,
    normed: Norm = lambda norm, x: norm(x),
    eps: float = 1e-12,
    bend: Change = F.gelu,
    drop: float = 0.0,
    run: Stack = in_order,
    end: Callable[[Any, Tensor], Tensor] = lambda model, x: x,
    **switches: Any,
) -> Tensor:
    """The twin of MiniLMEncoder; `switches` are those of attention."""
    normed = with_eps(eps) if eps != 1e-12 else normed
    x = model.embed(tokens) * scale(model) + placed(model, tokens) + kind(model)
    x = start(model, x, normed)
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
            places={"a": place, "f": place},
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


def twelve_heads(model: Any) -> None:
    for block in model.blocks:
        block.attn.num_heads = 12


def one_type(model: Any) -> None:
    model.type_embed = nn.Embedding(1, model.embed.embedding_dim)


_SUM = "norm(embed + pos_embed(0…T-1) + type_embed(0))"

ENCODED = [
    Mistake(
        "type-embedding-missing",
        "type_embed is never added: although there is one kind of segment only, its "
        f"row 0 is part of every token's vector: {_SUM}.",
        kind=lambda model: 0.0,
    ),
    Mistake(
        "type-embedding-of-row-1",
        "Row 1 of type_embed is added, which stands for a second segment; all tokens "
        "here are of type 0.",
        kind=lambda model: model.type_embed.weight[1],
    ),
    Mistake(
        "positions-missing",
        f"pos_embed is never added, so the order of the tokens has no effect: {_SUM}.",
        placed=lambda model, tokens: torch.zeros(
            (), dtype=model.embed.weight.dtype, device=tokens.device
        ),
    ),
    Mistake(
        "positions-from-1",
        "The positions start at 1; they are 0 to T - 1, torch.arange(T).",
        placed=at(lambda tokens: counted(tokens) + 1),
    ),
    Mistake(
        "embeddings-scaled",
        "The token embeddings are multiplied by √d_model, as in the paper of 2017; "
        "BERT has no such scaling (factor).",
        scale=lambda model: float(model.embed.embedding_dim**0.5),
    ),
    Mistake(
        "norm-of-the-embeddings-missing",
        "`norm` is never applied: the sum of the three embeddings is normed before the "
        f"first block, {_SUM}.",
        start=lambda model, x, normed: x,
    ),
    Mistake(
        "norm-at-the-end",
        "`norm` stands at the end, as in MiniGPT; here it norms the embeddings, before "
        f"the first block: {_SUM}.",
        start=lambda model, x, normed: x,
        end=lambda model, x: model.norm(x),
    ),
    Mistake(
        "norm-at-the-end-too",
        "`norm` is applied once more at the end; it norms the embeddings only, since "
        "each block ends with a norm of its own.",
        end=lambda model, x: model.norm(x),
    ),
    Mistake(
        "normed-before-positions",
        "Only the token embeddings are normed, before positions and type are added; "
        f"the sum of the three is normed: {_SUM}.",
        wrong=built(solutions.MiniLMEncoder, norm_early),
    ),
    Mistake(
        "pre-norm",
        "The blocks are pre-norm, x + sublayer(norm(x)), as in chapter 9; BERT is "
        "post-norm: norm1(x + attn(x, mask)), then norm2(x + ff(x)).",
        place=pre,
    ),
    Mistake(
        "norm-on-the-branch",
        "The norms stand on the branch, x + norm(sublayer(x)); BERT norms the sum: "
        "norm1(x + attn(x, mask)), then norm2(x + ff(x)).",
        place=on_branch,
    ),
    Mistake(
        "no-residual",
        "The residual connections are missing: it is norm1(x + attn(x, mask)), then "
        "norm2(x + ff(x)).",
        place=lambda x, sublayer, norm, start: norm(sublayer(x)),
    ),
    *chosen(ENCODER, "norms-exchanged"),
    Mistake(
        "eps-1e-5",
        "The norms' eps is 1e-5, what nn.LayerNorm takes by itself; the published "
        "weights were trained with 1e-12: nn.LayerNorm(d_model, eps=1e-12).",
        eps=1e-5,
    ),
    Mistake(
        "tanh-gelu",
        "The feed-forward network bends with GELU's tanh form; the published weights "
        "were trained with the exact one, as in FeedForward.",
        bend=lambda x: F.gelu(x, approximate="tanh"),
    ),
    Mistake(
        "sigmoid-approximation",
        "The feed-forward network bends with x * sigmoid(1.702 x), the sigmoid "
        "approximation of GELU; it should be the exact GELU.",
        bend=lambda x: x * torch.sigmoid(1.702 * x),
    ),
    Mistake(
        "padding-attended",
        "The mask has no effect: real tokens attend to the padding. Give every block "
        "mask[:, None, None, :].",
        sees=lambda mask: None,
    ),
    Mistake(
        "mask-inverted",
        "The mask is inverted: tokens attend to the padding and not to the real "
        "tokens. True means real, may attend.",
        sees=lambda mask: (mask == 0)[:, None, None, :],
    ),
    Mistake(
        "mask-on-the-queries",
        "The mask hides queries instead of keys: it is turned, mask[:, None, :, None]. "
        "Its last axis belongs to the keys: mask[:, None, None, :].",
        sees=lambda mask: mask[:, None, :, None],
    ),
    Mistake(
        "causal-encoder",
        "The attention is causal: tokens see no later ones. An encoder is "
        "bidirectional: every real token is seen by all.",
        causal=True,
    ),
    Mistake(
        "dropout-left-in",
        "A dropout is at work on the sublayers' results; this encoder has none.",
        drop=0.1,
    ),
    Mistake(
        "first-block-only",
        "Only the first block runs: `return` stands in the loop, or the loop is "
        "missing. All n_layers blocks follow one another.",
        run=lambda model, x, run: in_order(model, x, run, 1),
    ),
    Mistake(
        "last-block-only",
        "Every block reads the embeddings instead of what the block before it left: "
        "x = block(x, mask).",
        run=lambda model, x, run: run(model.blocks[-1], x),
    ),
    Mistake(
        "one-vector-a-text",
        "One vector a text comes back; the encoder gives one a token, (B, T, C), and "
        "mean_pool comes after it.",
        end=lambda model, x: x[:, 0],
    ),
    *chosen(EXCHANGED, "k-and-v-exchanged"),
    *chosen(LAYER, "no-output-projection"),
    *chosen(SCORES, "unscaled-scores"),
    *chosen(MASKS, "blocked-scores-zero", "mask-added", "mask-after-softmax"),
    *listed_wrongly(solutions.MiniLMEncoder),
    Mistake(
        "twelve-heads-always",
        "Every block has 12 heads, whatever num_heads says: pass num_heads on.",
        wrong=built(solutions.MiniLMEncoder, twelve_heads),
    ),
    Mistake(
        "one-type",
        "type_embed has one row; it has 2, as published, though only row 0 is used "
        "here.",
        wrong=built(solutions.MiniLMEncoder, one_type),
    ),
]
