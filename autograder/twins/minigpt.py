"""MiniGPT with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.blocks import back, encoder
from autograder.twins.built import BUILT
from autograder.twins.rows import chosen
from autograder.twins.wirings import WRITTEN_OUT

Stack = Callable[[Any, Tensor, Tensor | None], Tensor]


def counted(tokens: Tensor) -> Tensor:
    return torch.arange(tokens.shape[1], device=tokens.device)


def at(positions: Callable[[Tensor], Tensor]) -> Callable[[Any, Tensor], Tensor]:
    """The vectors of the positions that are given for the tokens."""
    return lambda model, tokens: model.pos_embed(positions(tokens))


from_0 = at(counted)


def in_order(model: Any, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in model.blocks:
        x = block(x, mask)
    return x


def backwards(model: Any, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in reversed(model.blocks):
        x = block(x, mask)
    return x


def only(which: int) -> Stack:
    return lambda model, x, mask: model.blocks[which](x, mask)


def again_and_again(which: int) -> Stack:
    def run(model: Any, x: Tensor, mask: Tensor | None) -> Tensor:
        for _ in model.blocks:
            x = model.blocks[which](x, mask)
        return x

    return run


def added(model: Any, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in model.blocks:
        x = x + block(x, mask)
    return x


def normed_between(model: Any, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in model.blocks:
        x = model.norm(block(x, mask))
    return x


def masked_once(model: Any, x: Tensor, mask: Tensor | None) -> Tensor:
    for i, block in enumerate(model.blocks):
        x = block(x, mask if i == 0 else None)
    return x


def per_sequence(model: Any, tokens: Tensor) -> Tensor:
    texts = torch.arange(tokens.shape[0], device=tokens.device)
    vectors: Tensor = model.pos_embed(texts)[:, None]
    return vectors


def placed_again(model: Any, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in model.blocks:
        x = block(x + model.pos_embed.weight[: x.shape[1]], mask)
    return x


def attending(**switches: Any) -> Stack:
    """Blocks whose attention has these slips."""

    def run(model: Any, x: Tensor, mask: Tensor | None) -> Tensor:
        for block in model.blocks:
            x = encoder(block, x, mask, **switches)
        return x

    return run


def logits_of(
    model: Any,
    tokens: Tensor,
    *,
    most: Callable[[int], float] = lambda max_seq: max_seq,
    placed: Callable[[Any, Tensor], Tensor] = from_0,
    scale: Callable[[Any], float] = lambda model: 1.0,
    join: Callable[[Tensor, Tensor], Tensor] = lambda e, p: e + p,
    start: Callable[[Any, Tensor], Tensor] = lambda model, x: x,
    sees: Callable[[Tensor], Tensor | None] = lambda causal: causal,
    run: Stack = in_order,
    normed: Callable[[Any, Tensor], Tensor] = lambda model, x: model.norm(x),
    head: Callable[[Any, Tensor], Tensor] = lambda model, x: model.head(x),
    end: Callable[[Tensor], Tensor] = lambda logits: logits,
) -> Tensor:
    """The twin of MiniGPT."""
    T = tokens.shape[1]
    if most(model.max_seq) < T:
        raise ValueError(f"T = {T} tokens, more than max_seq = {model.max_seq}")
    embedded = model.embed(tokens) * scale(model)
    x = start(model, join(embedded, placed(model, tokens)))
    x = run(model, x, sees(back(T, tokens.device)))
    return end(head(model, normed(model, x)))


def root(model: Any) -> float:
    return float(model.embed.embedding_dim**0.5)


_CAUSAL = "position t sees tokens 0 to t: causal_mask(T), the lower triangle, tril."

#: The mask: who sees whom.
MASKED = [
    Mistake(
        "not-causal",
        "The model is not causal: positions see later tokens, the very ones they are "
        f"to predict. Give every block a causal mask; {_CAUSAL}",
        sees=lambda causal: None,
    ),
    Mistake(
        "mask-in-the-first-block-only",
        "Only the first block gets the causal mask; in the others positions see later "
        "tokens. Pass the mask to every block.",
        run=masked_once,
    ),
    Mistake(
        "causal-mask-inverted",
        "The causal mask is inverted: positions see the future only, and the last sees "
        "nothing, which makes NaN. An additive mask, of 0 and -inf, does the same "
        f"here. True means may attend; {_CAUSAL}",
        sees=lambda causal: ~causal,
    ),
    Mistake(
        "triangle-flipped",
        "The causal mask's triangle is flipped (upper, or transposed): positions see "
        f"themselves and the future. True means may attend; {_CAUSAL}",
        sees=lambda causal: causal.mT,
    ),
    Mistake(
        "diagonal-missing",
        "The causal mask lacks its diagonal: a position doesn't see itself, and the "
        f"first sees nothing, which makes NaN. It is off by one: {_CAUSAL}",
        sees=lambda causal: causal.tril(-1),
    ),
    Mistake(
        "one-ahead",
        "The causal mask is off by one: positions see one step ahead, the very token "
        f"they are to predict; {_CAUSAL}",
        sees=lambda causal: torch.ones_like(causal).tril(1),
    ),
]

#: Positions and embeddings: what the first block reads.
EMBEDDED = [
    Mistake(
        "positions-missing",
        "The positions are missing: pos_embed is never added, so the model can't tell "
        "the order of the tokens but by the mask. It is embed(tokens) + "
        "pos_embed(positions).",
        placed=lambda model, tokens: torch.zeros(
            (), dtype=model.embed.weight.dtype, device=tokens.device
        ),
    ),
    Mistake(
        "positions-from-1",
        "The positions start at 1; they are 0 to T - 1, torch.arange(T). With 1 the "
        "last of max_seq tokens finds no vector.",
        placed=at(lambda tokens: counted(tokens) + 1),
    ),
    Mistake(
        "positions-reversed",
        "The positions are reversed, T - 1 down to 0; they count up, torch.arange(T).",
        placed=at(lambda tokens: counted(tokens).flip(0)),
    ),
    Mistake(
        "positions-all-0",
        "Every token gets the vector of position 0; the positions are 0 to T - 1, "
        "torch.arange(T).",
        placed=at(lambda tokens: torch.zeros_like(counted(tokens))),
    ),
    Mistake(
        "position-per-sequence",
        "Each text of the batch gets one position, the same for all its tokens "
        "(tokens.shape[0] is counted); positions run along axis 1, "
        "torch.arange(tokens.shape[1]).",
        placed=per_sequence,
    ),
    Mistake(
        "positions-in-every-block",
        "The positions are added again before every block; once is right, to the token "
        "embeddings, since the residual stream carries them on.",
        run=placed_again,
    ),
    Mistake(
        "positions-from-the-end",
        "The positions are the last T of max_seq; they are the first, 0 to T - 1, "
        "torch.arange(T).",
        placed=lambda model, tokens: model.pos_embed.weight[-tokens.shape[1] :],
    ),
    Mistake(
        "tokens-for-positions",
        "pos_embed is given the tokens; it should get the positions, torch.arange(T).",
        placed=at(lambda tokens: tokens),
    ),
    Mistake(
        "positions-multiplied",
        "The positions' vectors are multiplied with the tokens'; they are added.",
        join=lambda e, p: e * p,
    ),
    Mistake(
        "tokens-missing",
        "The tokens have no effect but their number: the blocks read the positions "
        "alone. It is embed(tokens) + pos_embed(positions).",
        join=lambda e, p: 0 * e + p,
    ),
    Mistake(
        "embeddings-scaled",
        "The token embeddings are multiplied by √d_model, as in the paper of 2017; "
        "this model has no such scaling (factor).",
        scale=root,
    ),
    Mistake(
        "embeddings-and-positions-scaled",
        "The sum of embeddings and positions is multiplied by √d_model; this model has "
        "no such scaling (factor).",
        start=lambda model, x: x * root(model),
    ),
    Mistake(
        "embeddings-shrunk",
        "The token embeddings are divided by √d_model; this model has no such scaling "
        "(factor).",
        scale=lambda model: 1 / root(model),
    ),
    Mistake(
        "normed-before-the-blocks",
        "The embeddings are normed before the first block, besides the norm at the "
        "end; `norm` comes once, after the last block.",
        start=lambda model, x: model.norm(x),
    ),
]

#: The blocks, and what comes after them.
STACKED = [
    Mistake(
        "blocks-backwards",
        "The blocks run in reverse order, the last one first.",
        run=backwards,
    ),
    Mistake(
        "first-block-only",
        "Only the first block runs: `return` stands in the loop, or the loop is "
        "missing. All n_layers blocks follow one another.",
        run=only(0),
    ),
    Mistake(
        "last-block-only",
        "Only the last block's result is used: every block reads the embeddings "
        "instead of what the block before it left. Write x = block(x, mask).",
        run=only(-1),
    ),
    Mistake(
        "first-block-repeated",
        "The first block runs n_layers times and the others never: each layer has a "
        "block of its own.",
        run=again_and_again(0),
    ),
    Mistake(
        "blocks-skipped",
        "The blocks are never run: the head reads the embeddings.",
        run=lambda model, x, mask: x,
    ),
    Mistake(
        "residual-around-the-blocks",
        "A residual connection is laid around each block, x + block(x, mask); a block "
        "has its own inside: x = block(x, mask).",
        run=added,
    ),
    Mistake(
        "normed-between-blocks",
        "The final norm is applied in the loop, after every block; it comes once, "
        "after the last.",
        run=normed_between,
        normed=lambda model, x: x,
    ),
    Mistake(
        "normed-between-blocks-too",
        "The final norm is applied after every block as well; it comes once, after the "
        "last.",
        run=normed_between,
    ),
    Mistake(
        "final-norm-missing",
        "The final norm is missing: `norm` is never applied. It stands between the "
        "last block and the head, head(norm(x)).",
        normed=lambda model, x: x,
    ),
    Mistake(
        "final-norm-twice",
        "The final norm is applied twice; once is enough, head(norm(x)).",
        normed=lambda model, x: model.norm(model.norm(x)),
    ),
    Mistake(
        "head-missing",
        "The head is never applied: what comes back are vectors of d_model numbers, "
        "not logits over the vocabulary.",
        head=lambda model, x: x,
    ),
    Mistake(
        "head-is-the-embedding",
        "The logits are made with the weights of embed, as if they were tied; the head "
        "is a layer of its own, head(norm(x)), not tied.",
        head=lambda model, x: x @ model.embed.weight.mT,
    ),
    Mistake(
        "softmax-at-the-end",
        "The results are probabilities: a softmax stands at the end. Return the "
        "logits; the loss and the sampling apply the softmax.",
        end=lambda logits: logits.softmax(-1),
    ),
    Mistake(
        "log-softmax-at-the-end",
        "The results are log-probabilities: a log_softmax stands at the end. Return "
        "the logits; the loss applies it.",
        end=lambda logits: logits.log_softmax(-1),
    ),
    Mistake(
        "last-position-only",
        "Only the last position's logits are returned; every position predicts, so "
        "return all of them: (B, T, vocab_size).",
        end=lambda logits: logits[:, -1],
    ),
    Mistake(
        "last-position-only-with-its-axis",
        "Only the last position's logits are returned, (B, 1, vocab_size); every "
        "position predicts, so return all of them: (B, T, vocab_size).",
        end=lambda logits: logits[:, -1:],
    ),
    Mistake(
        "predictions-returned",
        "The most probable tokens are returned (argmax); return the logits, a number "
        "for each token of the vocabulary.",
        end=lambda logits: logits.argmax(-1),
    ),
    Mistake(
        "axes-exchanged",
        "The logits come as (B, vocab_size, T), transposed; return them as they are, "
        "(B, T, vocab_size).",
        end=lambda logits: logits.mT,
    ),
    Mistake(
        "max_seq-refused",
        "A text of exactly max_seq tokens is refused, though it fits: raise only if "
        "T > max_seq. It is off by one.",
        most=lambda max_seq: max_seq - 1,
    ),
]

#: Slips of attention, which a model shows that has its blocks written out.
INSIDE = [
    Mistake(row.id, row.message, run=attending(**row.switches))
    for row in chosen(
        WRITTEN_OUT,
        "joined-by-reshape",
        "cut-by-view",
        "divided-by-root-d_model",
        "unscaled-scores",
        "softmax-over-queries",
        "softmax-over-axis-1",
        "blocked-scores-zero",
        "mask-added",
        "mask-after-softmax",
    )
]

MINIGPT = [*MASKED, *EMBEDDED, *STACKED, *INSIDE, *BUILT]
