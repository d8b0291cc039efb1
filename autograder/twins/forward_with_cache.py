"""A MiniGPT with caches, with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.cached_attention import attend_with_cache

Change = Callable[[Tensor], Tensor]


def forward(
    model: Any,
    tokens: Tensor,
    caches: Any,
    *,
    past: Callable[[Any, Tensor], int] = lambda caches, tokens: len(caches[0]),
    refuse: Callable[[int, int, int], bool] = lambda past, T_new, most: (
        past + T_new > most
    ),
    places: Callable[[int, int], tuple[int, int]] = lambda past, T_new: (past, T_new),
    embedded: Callable[[Tensor, Tensor], Tensor] = lambda words, places: words + places,
    cache_of: Callable[[Any, int], Any] = lambda caches, i: caches[i],
    norm1: Callable[[Any, Tensor], Tensor] = lambda block, x: block.norm1(x),
    norm2: Callable[[Any, Tensor], Tensor] = lambda block, x: block.norm2(x),
    stream1: Change = lambda x: x,
    stream2: Change = lambda x: x,
    ff: Callable[[Any, Tensor], Tensor] = lambda block, x: block.ff(x),
    block: Callable[..., Tensor] | None = None,
    blocks: Callable[[Any], Any] = lambda model: model.blocks,
    norm: Callable[[Any, Tensor], Tensor] = lambda model, x: model.norm(x),
    head: Callable[[Any, Tensor], Tensor] = lambda model, x: model.head(x),
    give: Change = lambda logits: logits,
) -> Any:
    """The twin of forward_with_cache."""
    before, T_new = past(caches, tokens), tokens.shape[1]
    if refuse(before, T_new, model.max_seq):
        raise ValueError(before, T_new)
    start, count = places(before, T_new)
    positions = torch.arange(start, start + count, device=tokens.device)
    x = embedded(model.embed(tokens), model.pos_embed(positions))
    for i, one in enumerate(blocks(model)):
        cache = cache_of(caches, i)
        if block is not None:
            x = block(one, x, cache)
            continue
        x = stream1(x) + attend_with_cache(one.attn, norm1(one, x), cache)
        x = stream2(x) + ff(one, norm2(one, x))
    return give(head(model, norm(model, x)))


def _post_norm(one: Any, x: Tensor, cache: Any) -> Any:
    x = one.norm1(x + attend_with_cache(one.attn, x, cache))
    return one.norm2(x + one.ff(x))


def _norms_exchanged(one: Any, x: Tensor, cache: Any) -> Any:
    x = x + attend_with_cache(one.attn, one.norm2(x), cache)
    return x + one.ff(one.norm1(x))


def _side_by_side(one: Any, x: Tensor, cache: Any) -> Any:
    return x + attend_with_cache(one.attn, one.norm1(x), cache) + one.ff(one.norm2(x))


def _skip_from_normed(one: Any, x: Tensor, cache: Any) -> Any:
    x = one.norm1(x)
    x = one.norm2(x + attend_with_cache(one.attn, x, cache))
    return x + one.ff(x)


def _attention_skip_from_normed(one: Any, x: Tensor, cache: Any) -> Any:
    x = one.norm1(x)
    x = x + attend_with_cache(one.attn, x, cache)
    return x + one.ff(one.norm2(x))


def _feed_forward_skip_from_normed(one: Any, x: Tensor, cache: Any) -> Any:
    x = one.norm2(x + attend_with_cache(one.attn, one.norm1(x), cache))
    return x + one.ff(x)


def _whole_block(one: Any, x: Tensor, cache: Any) -> Any:
    T = x.shape[1]
    return one(x, torch.ones(T, T, dtype=torch.bool, device=x.device).tril())


#: How a MiniGPT with caches goes wrong.
FORWARD = [
    Mistake(
        "positions-restart",
        "The positions start at 0 in every call; they go on from the cache's length: "
        "torch.arange(past, past + T_new).",
        places=lambda past, T_new: (0, T_new),
    ),
    Mistake(
        "positions-one-too-far",
        "The positions are off by one after the first chunk, one too far: the first "
        "new token stands at the cache's length.",
        places=lambda past, T_new: (past + (past > 0), T_new),
    ),
    Mistake(
        "positions-from-1",
        "The positions are off by one, counted from 1: the first token of all stands "
        "at 0, the first new one at the cache's length.",
        places=lambda past, T_new: (past + 1, T_new),
    ),
    Mistake(
        "positions-one-short",
        "The positions are off by one after the first chunk: they start at the last "
        "old token's place, past - 1; the first new token stands at past.",
        places=lambda past, T_new: (max(0, past - 1), T_new),
    ),
    Mistake(
        "one-position-for-all",
        "All new tokens of a chunk get one position, past; they stand at past, "
        "past + 1, … : torch.arange(past, past + T_new).",
        places=lambda past, T_new: (past, 1),
    ),
    Mistake(
        "positions-forgotten",
        "No positions are added: x is embed(tokens) + pos_embed(positions).",
        embedded=lambda words, places: words,
    ),
    Mistake(
        "positions-after-appending",
        "The cache's length is read too late or too far, as if the new tokens were in "
        "it already: the positions start at the length before, not after.",
        places=lambda past, T_new: (past + T_new, T_new),
        refuse=lambda past, T_new, most: past + 2 * T_new > most,
    ),
    Mistake(
        "one-cache-for-all-blocks",
        "All blocks use the first cache; each block has its own, caches[i].",
        cache_of=lambda caches, i: caches[0],
    ),
    Mistake(
        "cache-ignored",
        "The blocks run on the new tokens alone, and the caches stay unused, as "
        "if nothing had come before: give cached_attention(block.attn, block.norm1(x), "
        "cache) the cache that belongs to the block.",
        block=_whole_block,
    ),
    Mistake(
        "first-norm-forgotten",
        "The attention gets x itself; the block is pre-norm: give it block.norm1(x).",
        norm1=lambda block, x: x,
    ),
    Mistake(
        "second-norm-forgotten",
        "The feed-forward network gets x itself; the block is pre-norm: give it "
        "block.norm2(x).",
        norm2=lambda block, x: x,
    ),
    Mistake(
        "norms-exchanged",
        "The block's two norms are swapped: norm1 comes before the attention, norm2 "
        "before the feed-forward network.",
        block=_norms_exchanged,
    ),
    Mistake(
        "norm1-twice",
        "norm1 is used before the feed-forward network too; that is norm2's place: "
        "look for copy and paste.",
        norm2=lambda block, x: block.norm1(x),
    ),
    Mistake(
        "post-norm",
        "The norms come after the additions (post-norm); MiniGPT's blocks are "
        "pre-norm: x + attn(norm1(x)), then x + ff(norm2(x)).",
        block=_post_norm,
    ),
    Mistake(
        "side-by-side",
        "Attention and feed-forward network both read the same x; the feed-forward "
        "network comes after, and reads the sum: x + ff(norm2(x)) with the new x.",
        block=_side_by_side,
    ),
    Mistake(
        "first-residual-forgotten",
        "The attention's result replaces x; it should be added to it, the residual "
        "connection: x = x + ….",
        stream1=torch.zeros_like,
    ),
    Mistake(
        "second-residual-forgotten",
        "The feed-forward network's result replaces x; it should be added to it, the "
        "residual connection: x = x + ….",
        stream2=torch.zeros_like,
    ),
    Mistake(
        "feed-forward-forgotten",
        "The block's feed-forward network is left out: x + block.ff(block.norm2(x)).",
        ff=lambda block, x: torch.zeros_like(x),
    ),
    Mistake(
        "final-norm-forgotten",
        "The final norm is left out: the head reads model.norm(x).",
        norm=lambda model, x: x,
    ),
    Mistake(
        "head-forgotten",
        "The head is left out: what comes back are features, (B, T_new, C), not "
        "logits.",
        head=lambda model, x: x,
    ),
    Mistake(
        "head-tied",
        "The logits are made with the embedding's weights; here they are not tied: the "
        "model has a head of its own, model.head(model.norm(x)).",
        head=lambda model, x: x @ model.embed.weight.mT,
    ),
    Mistake(
        "first-block-only",
        "Only the first block is run; run all of model.blocks, each with its cache.",
        blocks=lambda model: model.blocks[:1],
    ),
    Mistake(
        "last-token-only",
        "Only the last token's logits come back; those of all new tokens are asked "
        "for, (B, T_new, vocab).",
        give=lambda logits: logits[:, -1:],
    ),
    Mistake(
        "last-token-without-axis",
        "Only the last token's logits come back, (B, vocab); those of all new tokens "
        "are asked for, (B, T_new, vocab).",
        give=lambda logits: logits[:, -1],
    ),
    Mistake(
        "probabilities-returned",
        "What comes back are probabilities; return the logits, without a softmax.",
        give=lambda logits: logits.softmax(-1),
    ),
    Mistake(
        "log-probabilities-returned",
        "What comes back are log-probabilities; return the logits, without a "
        "log_softmax.",
        give=lambda logits: logits.log_softmax(-1),
    ),
    Mistake(
        "number-of-caches-for-length",
        "len(caches) counts the blocks, which have a cache each, and not the tokens: "
        "the positions start at the length of one cache, len(caches[0]).",
        past=lambda caches, tokens: len(caches),
    ),
    Mistake(
        "embeddings-scaled",
        "The token embeddings are multiplied by √d_model, as in the paper of 2017; "
        "MiniGPT has no such scaling (factor).",
        embedded=lambda words, places: words * words.shape[-1] ** 0.5 + places,
    ),
    Mistake(
        "skip-from-the-normed-input",
        "The skip connections start from the normed input: x was overwritten by "
        "norm(x). The residual stream itself goes on as it is: x + attn(norm1(x)), "
        "then x + ff(norm2(x)).",
        block=_skip_from_normed,
    ),
    Mistake(
        "skip-from-the-normed-input-attention",
        "The skip connection around the attention starts from norm1(x); the residual "
        "stream itself goes on as it is: x + attn(norm1(x)).",
        block=_attention_skip_from_normed,
    ),
    Mistake(
        "skip-from-the-normed-input-feed-forward",
        "The skip connection around the feed-forward network starts from norm2(x); the "
        "residual stream itself goes on as it is: x + ff(norm2(x)).",
        block=_feed_forward_skip_from_normed,
    ),
    Mistake(
        "new-tokens-alone-checked",
        "Only the number of new tokens is compared with max_seq; those in the cache "
        "count as well: raise a ValueError if past + T_new > max_seq.",
        refuse=lambda past, T_new, most: T_new > most,
    ),
    Mistake(
        "not-refused",
        "Positions beyond max_seq are not refused: pos_embed fails with an IndexError. "
        "Raise a ValueError if past + T_new > max_seq.",
        refuse=lambda past, T_new, most: False,
    ),
    Mistake(
        "refused-one-too-early",
        "A text of exactly max_seq tokens is refused; it just fits, at positions 0 to "
        "max_seq - 1: raise a ValueError only if past + T_new > max_seq.",
        refuse=lambda past, T_new, most: past + T_new >= most,
    ),
]
