"""Writing on with a cache, with switches where people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.writing import MODES, back
from solutions.generation import KVCache, forward_with_cache, sample_next


def write_with_cache(
    model: Any,
    tokens: Tensor,
    max_new_tokens: int,
    *,
    refuse: Callable[[int, int, int], bool] = lambda T, new, most: T + new > most,
    made: Callable[[Any], list[Any]] = lambda model: [KVCache() for _ in model.blocks],
    enter: Callable[[Any], Any] = lambda model: model.eval(),
    leave: Callable[[Any, bool], None] = back,
    first: Callable[[Tensor], Tensor] = lambda tokens: tokens,
    position: int = -1,
    draw: Callable[[Tensor], Tensor] = lambda logits: logits.argmax(-1, keepdim=True),
    next_input: Callable[[Tensor, Tensor], Tensor] = lambda tokens, new: new,
    run: Callable[[Any, Tensor, list[Any]], Tensor] = forward_with_cache,
    anew: bool = False,
    steps: Callable[[int, int], int] = lambda new, T: new,
    give: Callable[[Tensor, int], Any] = lambda tokens, T: tokens,
) -> Any:
    """The twin of generate_with_cache."""
    before, T = model.training, tokens.shape[1]
    if refuse(T, max_new_tokens, model.max_seq):
        raise ValueError(T, max_new_tokens)
    caches = made(model)
    enter(model)
    new = first(tokens)
    for _ in range(steps(max_new_tokens, T)):
        logits = run(model, new, made(model) if anew else caches)[:, position]
        chosen = draw(logits)
        tokens = torch.cat([tokens, chosen], dim=1)
        new = next_input(tokens, chosen)
    leave(model, before)
    return give(tokens, T)


def _full(model: Any, tokens: Tensor, caches: list[Any]) -> Any:
    return model(tokens)


def _all_again(tokens: Tensor, new: Tensor) -> Tensor:
    return tokens


def _shared(model: Any) -> list[Any]:
    return [KVCache()] * len(model.blocks)


def _by_chance(logits: Tensor) -> Tensor:
    new: Tensor = sample_next(logits)
    return new


def _first_of_all(logits: Tensor) -> Tensor:
    new = logits.argmax(-1, keepdim=True)
    return new[:1].expand_as(new)


def _last_run_twice(model: Any, tokens: Tensor, max_new_tokens: int) -> Any:
    """The whole prompt fills the caches, and then its last token is run again."""
    caches: list[Any] = [KVCache() for _ in model.blocks]
    before = model.training
    if tokens.shape[1] + max_new_tokens <= model.max_seq:
        forward_with_cache(model.eval(), tokens, caches)
        model.train(before)
    return write_with_cache(
        model,
        tokens,
        max_new_tokens,
        made=lambda model: caches,
        first=lambda tokens: tokens[:, -1:],
    )


#: How writing on with a cache goes wrong.
WITH_CACHE = [
    *MODES,
    Mistake(
        "recomputes-everything",
        "Each new token runs the whole text through the model again, so everything is "
        "recomputed and nothing comes from a cache. Make the caches once, before the "
        "loop; run the prompt through them once, then only the newest token.",
        run=_full,
        next_input=_all_again,
    ),
    Mistake(
        "cache-forgotten-each-step",
        "Only the newest token is run, but without what came before: the caches are "
        "made anew for each token, or not used. Make them once, before the loop.",
        anew=True,
    ),
    Mistake(
        "whole-text-with-a-full-cache",
        "The whole text is given in each step although its keys are in the cache "
        "already, so they are appended once more. After the prompt give only the "
        "newest token.",
        next_input=_all_again,
    ),
    Mistake(
        "one-cache-for-all-blocks",
        "All blocks share one cache ([KVCache()] * n is n times the same one); each "
        "block needs its own: [KVCache() for _ in model.blocks].",
        made=_shared,
    ),
    Mistake(
        "prompt-cut-to-its-last-token",
        "Only the last token of the prompt is run first; the cache must hold the whole "
        "prompt: run all of it once.",
        first=lambda tokens: tokens[:, -1:],
    ),
    Mistake(
        "last-token-run-twice",
        "The whole prompt is run into the caches, and then its last token once more, "
        "so its keys stand there twice: the first new token is read from the prompt's "
        "own run, logits[:, -1].",
        wrong=_last_run_twice,
    ),
    Mistake(
        "prompt-without-its-last-token",
        "The prompt is run without its last token, so the first prediction is made one "
        "place too early.",
        first=lambda tokens: tokens[:, :-1] if tokens.shape[1] > 1 else tokens,
    ),
    Mistake(
        "first-position",
        "The next token is read from the logits at the first position; it is the last, "
        "logits[:, -1].",
        position=0,
    ),
    Mistake(
        "drawn-not-greedy",
        "The tokens are drawn at random; greedy is asked for, as at temperature 0: "
        "take the argmax.",
        draw=_by_chance,
    ),
    Mistake(
        "one-row-for-the-batch",
        "Every row of the batch goes on with the first row's token; each has its own.",
        draw=_first_of_all,
    ),
    Mistake(
        "new-tokens-only",
        "Only the new tokens come back; the prompt should stand before them.",
        give=lambda tokens, T: tokens[:, T:],
    ),
    Mistake(
        "one-too-few",
        "One token too few is written: max_new_tokens are asked for.",
        steps=lambda new, T: new - 1,
    ),
    Mistake(
        "one-too-many",
        "One token too many is written: max_new_tokens are asked for.",
        refuse=lambda T, new, most: False,
        steps=lambda new, T: new + 1,
    ),
    Mistake(
        "not-refused",
        "T + max_new_tokens = max_seq + 1 is not refused: the last token is written "
        "though the model has no place for it. Raise a ValueError before anything else "
        "if T + max_new_tokens > max_seq.",
        refuse=lambda T, new, most: False,
    ),
    Mistake(
        "refused-one-too-early",
        "T + max_new_tokens = max_seq is refused, but it just fits: raise a ValueError "
        "only if it is more (>).",
        refuse=lambda T, new, most: T + new >= most,
    ),
]
