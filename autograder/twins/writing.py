"""Writing on, without a cache and with one, with switches, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from solutions.generation import sample_next


def back(model: Any, before: bool) -> None:
    model.train(before)


def _append(tokens: Tensor, new: Tensor) -> Tensor:
    return torch.cat([tokens, new], dim=1)


def write(
    model: Any,
    tokens: Tensor,
    max_new_tokens: int,
    *,
    window: Callable[[Tensor, int], Tensor] = lambda tokens, most: tokens[:, -most:],
    enter: Callable[[Any], Any] = lambda model: model.eval(),
    leave: Callable[[Any, bool], None] = back,
    gradients: bool = False,
    position: int = -1,
    draw: Callable[..., Tensor] = sample_next,
    seen: Callable[[dict[str, Any]], dict[str, Any]] = lambda options: options,
    steps: Callable[[int, int, int], int] = lambda new, T, most: new,
    append: Callable[[Tensor, Tensor], Tensor] = _append,
    grow: Callable[[Tensor, Any], Tensor] = lambda tokens, model: tokens,
    give: Callable[[Tensor, int, Any], Any] = lambda tokens, T, model: tokens,
    **sampling: Any,
) -> Any:
    """The twin of generate; `sampling` are the learner's own options."""
    before, T = model.training, tokens.shape[1]
    enter(model)
    with torch.set_grad_enabled(gradients):
        for _ in range(steps(max_new_tokens, T, model.max_seq)):
            logits = model(window(tokens, model.max_seq))[:, position]
            new = draw(logits, **seen(sampling))
            tokens = grow(append(tokens, new), model)
    leave(model, before)
    return give(tokens, T, model)


def _gradients_left_off(
    model: Any, tokens: Tensor, max_new_tokens: int, **sampling: Any
) -> Any:
    torch.set_grad_enabled(False)
    return write(model, tokens, max_new_tokens, **sampling)


def _only_top(model: Any) -> None:
    model.training = False


def _only_top_back(model: Any, before: bool) -> None:
    model.training = before


def _first_of_batch(logits: Tensor, **options: Any) -> Tensor:
    new: Tensor = sample_next(logits, **options)
    return new[:1].expand_as(new)


def _softened(logits: Tensor, **options: Any) -> Tensor:
    """Probabilities are given where logits are asked for."""
    new: Tensor = sample_next(logits.softmax(-1), **options)
    return new


def _cropped_before(
    model: Any, tokens: Tensor, max_new_tokens: int, **sampling: Any
) -> Any:
    return write(model, tokens[:, -model.max_seq :], max_new_tokens, **sampling)


def _prompt_again(
    model: Any, tokens: Tensor, max_new_tokens: int, **sampling: Any
) -> Any:
    """The model sees the prompt in each step, and nothing of what is new."""
    T = tokens.shape[1]
    return write(
        model,
        tokens,
        max_new_tokens,
        window=lambda tokens, most: tokens[:, :T][:, -most:],
        **sampling,
    )


def _without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def seen(options: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in options.items() if name not in names}

    return seen


def _reseeded(options: dict[str, Any]) -> dict[str, Any]:
    return options | {"generator": torch.Generator().manual_seed(0)}


#: How the model is treated wrongly.
MODES = [
    Mistake(
        "dropout-left-on",
        "The model stays in train mode while it writes, so dropout is at work: call "
        "model.eval() first.",
        enter=lambda model: None,
    ),
    Mistake(
        "mode-not-restored",
        "The model is left in eval mode; afterwards it must be in the mode it was in: "
        "note model.training first and set it back with model.train(was_training).",
        leave=lambda model, before: None,
    ),
    Mistake(
        "train-mode-afterwards",
        "The model is always in train mode afterwards, also if it was in eval mode: "
        "note model.training first and set it back with model.train(was_training).",
        leave=lambda model, before: model.train(),
    ),
    Mistake(
        "mode-of-the-top-only",
        "model.training = False reaches the model itself only, not the dropout inside "
        "it: call model.eval().",
        enter=_only_top,
        leave=_only_top_back,
    ),
    Mistake(
        "mode-restored-at-the-top-only",
        "model.training = … sets the model itself back, but not the modules inside "
        "it, which stay in eval mode: call model.train(was_training).",
        leave=_only_top_back,
    ),
]

#: How the loop goes wrong.
LOOP = [
    Mistake(
        "gradients-kept",
        "The model runs with gradients, which are never used and cost memory: put "
        "torch.no_grad() around it, or @torch.no_grad() above.",
        gradients=True,
    ),
    Mistake(
        "gradients-switched-off-for-good",
        "Gradients are switched off and never on again: whoever trains afterwards "
        "finds them gone. Use `with torch.no_grad():`, or @torch.no_grad() above.",
        wrong=_gradients_left_off,
    ),
    Mistake(
        "not-cropped",
        "The text is never cropped: once it is longer than max_seq the model can't "
        "take it. Give the model the last max_seq tokens, tokens[:, -model.max_seq:].",
        window=lambda tokens, most: tokens,
    ),
    Mistake(
        "prompt-cropped",
        "The prompt is cropped to max_seq before the loop, so the start of the text is "
        "lost, and a text that outgrows max_seq later isn't cropped again. Crop what "
        "the model sees, in each step, and append to the whole text.",
        wrong=_cropped_before,
    ),
    Mistake(
        "prompt-again",
        "The model sees the same prompt in each step, and nothing of what is new: give "
        "it the text as it has grown, tokens[:, -model.max_seq:].",
        wrong=_prompt_again,
    ),
    Mistake(
        "softmax-before-sampling",
        "sample_next gets probabilities, and takes the softmax of them once more, "
        "which evens the draws out: give it the logits as the model returns them.",
        draw=_softened,
    ),
    Mistake(
        "cropped-to-the-first",
        "The text is cropped to its first max_seq tokens, so the model never sees what "
        "is new; it should be the last, tokens[:, -model.max_seq:].",
        window=lambda tokens, most: tokens[:, :most],
    ),
    Mistake(
        "cropped-one-too-short",
        "The text is cropped to max_seq - 1 tokens; the model can see max_seq.",
        window=lambda tokens, most: tokens[:, 1 - most :],
    ),
    Mistake(
        "last-token-alone",
        "The model sees the last token only, not the text before it. Without a cache "
        "it needs them all, up to max_seq.",
        window=lambda tokens, most: tokens[:, -1:],
    ),
    Mistake(
        "crops-what-it-returns",
        "The result is cropped to max_seq, so the start of the text is lost. Crop what "
        "the model sees, and append to the whole text.",
        grow=lambda tokens, model: tokens[:, -model.max_seq - 1 :],
        give=lambda tokens, T, model: tokens,
    ),
    Mistake(
        "cropped-in-the-end",
        "The result is cropped to max_seq tokens, so the start of the text is lost: "
        "return (B, T + max_new_tokens), all of it.",
        give=lambda tokens, T, model: tokens[:, -model.max_seq :],
    ),
    Mistake(
        "new-tokens-only",
        "Only the new tokens come back; the prompt should stand before them.",
        give=lambda tokens, T, model: tokens[:, T:],
    ),
    Mistake(
        "first-position",
        "The next token is drawn from the logits at the first position; the one that "
        "predicts it is the last, logits[:, -1].",
        position=0,
    ),
    Mistake(
        "last-position-but-one",
        "The next token is drawn from the logits at the last position but one; it is "
        "the last, logits[:, -1].",
        position=-2,
    ),
    Mistake(
        "options-ignored",
        "The sampling options have no effect: hand them on, "
        "sample_next(logits, **sampling).",
        seen=lambda options: {},
    ),
    Mistake(
        "always-greedy",
        "The largest logit is always taken (greedy), whatever the options say: draw "
        "with sample_next(logits, **sampling).",
        draw=lambda logits, **options: logits.argmax(-1, keepdim=True),
    ),
    Mistake(
        "generator-ignored",
        "The generator is not handed on to sample_next, so a seed doesn't give the "
        "same text again.",
        seen=_without("generator"),
    ),
    Mistake(
        "top-k-not-handed-on",
        "top_k is not handed on to sample_next.",
        seen=_without("top_k"),
    ),
    Mistake(
        "top-p-not-handed-on",
        "top_p is not handed on to sample_next.",
        seen=_without("top_p"),
    ),
    Mistake(
        "temperature-not-handed-on",
        "The temperature is not handed on to sample_next.",
        seen=_without("temperature"),
    ),
    Mistake(
        "seeded-inside",
        "The seed is set anew for every token, so each draw starts from the same "
        "random number; hand on the generator as it is.",
        seen=_reseeded,
    ),
    Mistake(
        "one-row-for-the-batch",
        "Every row of the batch goes on with the first row's token; each has its own.",
        draw=_first_of_batch,
    ),
    Mistake(
        "one-too-few",
        "One token too few is written: max_new_tokens are asked for.",
        steps=lambda new, T, most: new - 1,
    ),
    Mistake(
        "one-too-many",
        "One token too many is written: max_new_tokens are asked for.",
        steps=lambda new, T, most: new + 1,
    ),
    Mistake(
        "up-to-a-total",
        "The text ends when it has max_new_tokens tokens in all; as many new ones are "
        "asked for, after the prompt.",
        steps=lambda new, T, most: max(0, new - T),
    ),
    Mistake(
        "stops-at-max-seq",
        "Writing stops when the text has max_seq tokens; go on with the last max_seq "
        "of them as what the model sees.",
        steps=lambda new, T, most: max(0, min(new, most - T)),
    ),
    Mistake(
        "put-in-front",
        "The new token is put in front of the text; it goes to the end: "
        "torch.cat([tokens, new], dim=1).",
        append=lambda tokens, new: torch.cat([new, tokens], dim=1),
    ),
    Mistake(
        "overwritten",
        "The new token takes the place of the first one (the text keeps its length); "
        "it should be appended, so that the text grows.",
        append=lambda tokens, new: torch.cat([tokens[:, 1:], new], dim=1),
    ),
]
