"""The logit lens with a switch wherever people slip, and the slips by name.

Each try builds a model, so only the commonest slips are tried in pairs.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.blocks import back

Read = Callable[[Any, Tensor], Tensor]


def _read(model: Any, x: Tensor) -> Tensor:
    return model.head(model.norm(x))  # type: ignore[no-any-return]


def _tied(model: Any, x: Tensor) -> Tensor:
    return model.norm(x) @ model.embed.weight.mT  # type: ignore[no-any-return]


def lens(
    model: Any,
    tokens: Tensor,
    *,
    enter: Callable[[Any], Any] = lambda model: model.eval(),
    leave: Callable[[Any, bool], Any] = lambda model, before: model.train(before),
    placed: bool = True,
    sees: Callable[[Tensor], Tensor | None] = lambda causal: causal,
    goes_on: Read = lambda model, x: x,
    levels: Callable[[list[Tensor]], Sequence[Tensor]] = lambda stream: stream,
    read: Read = _read,
    axis: int = 0,
    after: Callable[[Tensor], Tensor] = lambda logits: logits,
) -> Tensor:
    """The twin of logit_lens."""
    before, T = model.training, tokens.shape[1]
    enter(model)
    x = model.embed(tokens)
    if placed:
        x = x + model.pos_embed(torch.arange(T, device=tokens.device))
    stream = [x]
    for block in model.blocks:
        x = block(goes_on(model, x), sees(back(T, tokens.device)))
        stream.append(x)
    out = torch.stack([read(model, one) for one in levels(stream)], dim=axis)
    leave(model, before)
    return after(out)


def _hooks_left(model: Any, tokens: Tensor) -> Tensor:
    for block in model.blocks:
        block.register_forward_hook(lambda block, inputs, out: None)
    return lens(model, tokens)


def _bare_embedding(model: Any, tokens: Tensor) -> Tensor:
    out = lens(model, tokens)
    first: Tensor = model.head(model.norm(model.embed(tokens)))
    return torch.cat([first[None], out[1:]])


def _last_normed_twice(model: Any, tokens: Tensor) -> Tensor:
    out = lens(model, tokens, read=lambda model, x: x)
    last = model.norm(out[-1:])
    return _read(model, torch.cat([out[:-1], last]))


def _normed_only(which: slice) -> Callable[..., Tensor]:
    """The final norm comes before some readings alone."""

    def found(model: Any, tokens: Tensor) -> Tensor:
        out = lens(model, tokens, read=lambda model, x: model.head(x))
        out[which] = lens(model, tokens)[which]
        return out

    return found


def _by_the_last_statistics(model: Any, tokens: Tensor) -> Tensor:
    stream = lens(model, tokens, read=lambda model, x: x)
    norm, last = model.norm, stream[-1]
    spread = (last.var(-1, keepdim=True, correction=0) + norm.eps).sqrt()
    normed = (stream - last.mean(-1, keepdim=True)) / spread
    out: Tensor = model.head(normed * norm.weight + norm.bias)
    return out


_RESTORE = "Note model.training first, and call model.train(was_training) at the end."

LENS = [
    Mistake(
        "embedding-left-out",
        "The first reading is missing, that of the stream after the embedding, before "
        "any block: there are n_layers + 1 of them.",
        levels=lambda stream: stream[1:],
    ),
    Mistake(
        "last-block-left-out",
        "The last reading is missing, that after the last block: each block's input "
        "is read, but not what the last one leaves. There are n_layers + 1 readings.",
        levels=lambda stream: stream[:-1],
    ),
    Mistake(
        "stacked-on-axis-1",
        "The layers are stacked on axis 1, (B, n_layers + 1, T, vocab); they come "
        "first, torch.stack(…, dim=0).",
        axis=1,
    ),
    Mistake(
        "stacked-on-axis-2",
        "The layers are stacked on axis 2, (B, T, n_layers + 1, vocab); they come "
        "first, torch.stack(…, dim=0).",
        axis=2,
    ),
    Mistake(
        "final-norm-missing",
        "The head reads the stream as it is; at every height the final norm comes "
        "first, head(norm(x)).",
        read=lambda model, x: model.head(x),
    ),
    Mistake(
        "final-norm-at-the-end-only",
        "The final norm comes before the last reading only; at every height it comes "
        "before the head, head(norm(x)).",
        wrong=_normed_only(slice(-1, None)),
    ),
    Mistake(
        "final-norm-missing-at-first",
        "The first reading, that of the embedding, is made without the final norm; at "
        "every height it comes before the head, head(norm(x)).",
        wrong=_normed_only(slice(1, None)),
    ),
    Mistake(
        "last-statistics-for-all",
        "Every height is normed with the mean and the spread of the last one; each has "
        "its own: model.norm of that stream.",
        wrong=_by_the_last_statistics,
    ),
    Mistake(
        "normed-as-it-goes",
        "The normed stream goes on into the next block; the norm is for the reading "
        "alone, and the block gets the stream as it was.",
        wrong=partial(lens, goes_on=lambda model, x: model.norm(x)),
    ),
    Mistake(
        "last-normed-twice",
        "After the last block the final norm is applied twice; once, as everywhere.",
        wrong=_last_normed_twice,
    ),
    Mistake(
        "not-causal",
        "The blocks run without a causal mask, so positions see later tokens. Pass "
        "the mask to each block, as the model itself does.",
        sees=lambda causal: None,
    ),
    Mistake(
        "mask-inverted",
        "The mask is inverted: True means may attend, the lower triangle.",
        sees=lambda causal: ~causal,
    ),
    Mistake(
        "mask-flipped",
        "The mask's triangle is flipped, so positions see the future; True on and "
        "below the diagonal.",
        sees=lambda causal: causal.mT,
    ),
    Mistake(
        "positions-missing",
        "The positions are missing: the stream begins as embed(tokens) + "
        "pos_embed(positions).",
        wrong=partial(lens, placed=False),
    ),
    Mistake(
        "first-reading-without-positions",
        "The first reading is that of embed(tokens) alone; the stream begins with the "
        "positions added.",
        wrong=_bare_embedding,
    ),
    Mistake(
        "dropout-left-on",
        "In training mode the blocks drop numbers at random. Call model.eval() first, "
        "and set the mode back afterwards.",
        enter=lambda model: None,
        leave=lambda model, before: None,
    ),
    Mistake(
        "left-in-eval-mode",
        "A model that was in training mode is left in eval mode: its dropout stays "
        f"off. {_RESTORE}",
        leave=lambda model, before: None,
    ),
    Mistake(
        "left-in-training-mode",
        "A model that was in eval mode is left in training mode: its dropout is on. "
        f"{_RESTORE}",
        leave=lambda model, before: model.train(),
    ),
    Mistake(
        "hooks-left-behind",
        "The hooks stay on the blocks, and fire in every later pass. Keep what "
        "register_forward_hook returns, and call its remove() in the end, in a "
        "`finally`.",
        wrong=_hooks_left,
    ),
    Mistake(
        "head-missing",
        "The stream itself is returned; at every height it goes through the final "
        "norm and the head.",
        read=lambda model, x: x,
    ),
    Mistake(
        "head-is-the-embedding",
        "The stream is read with the weights of embed, as if head were tied to it; "
        "MiniGPT's head has weights of its own: model.head(model.norm(x)).",
        wrong=partial(lens, read=_tied),
    ),
    Mistake(
        "head-missing-after-the-norm",
        "The normed stream is returned; the head comes after the norm.",
        read=lambda model, x: model.norm(x),
    ),
    Mistake(
        "softmax-at-the-end",
        "The result holds probabilities; logits are asked for, as the head gives them.",
        wrong=partial(lens, after=lambda out: out.softmax(-1)),
    ),
    Mistake(
        "log-softmax-at-the-end",
        "The result holds log-probabilities; logits are asked for, as the head gives "
        "them.",
        wrong=partial(lens, after=lambda out: out.log_softmax(-1)),
    ),
    Mistake(
        "most-likely-tokens",
        "The result holds the most likely tokens; the logits are asked for.",
        wrong=partial(lens, after=lambda out: out.argmax(-1)),
    ),
    Mistake(
        "last-position-only",
        "Only the last position is read; all T are asked for.",
        wrong=partial(lens, after=lambda out: out[:, :, -1]),
    ),
    Mistake(
        "last-reading-repeated",
        "Every reading is that of the end: the head reads one and the same tensor. "
        "Read the stream after each block.",
        levels=lambda stream: [stream[-1]] * len(stream),
    ),
]
