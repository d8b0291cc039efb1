"""Drawing the next token with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.filters import filtered

Change = Callable[[Tensor], Tensor]


def by_chance(logits: Tensor, generator: torch.Generator | None) -> Tensor:
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)


def sampled(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    *,
    refuse: Callable[[float], bool] = lambda temperature: temperature < 0,
    cold: Callable[[float], bool] = lambda temperature: temperature == 0,
    greedy: Change = lambda logits: logits.argmax(-1, keepdim=True),
    warm: Callable[[Tensor, float], Tensor] = lambda logits, T: logits / T,
    late: Callable[[Tensor, float], Tensor] = lambda logits, T: logits,
    k_used: Callable[[int | None], int | None] = lambda k: k,
    p_used: Callable[[float | None], float | None] = lambda p: p,
    draws: Callable[[Tensor, torch.Generator | None], Tensor] = by_chance,
    source: Callable[[torch.Generator | None], torch.Generator | None] = lambda g: g,
    give: Callable[[Tensor, Tensor], Any] = lambda tokens, logits: tokens,
) -> Any:
    """The twin of sample_next."""
    if refuse(temperature):
        raise ValueError(temperature)
    if cold(temperature):
        return give(greedy(logits), logits)
    kept = filtered(warm(logits, temperature), k_used(top_k), p_used(top_p))
    tokens = draws(late(kept, temperature), source(generator))
    return give(tokens, logits)


def chances(change: Change) -> Callable[[Tensor, torch.Generator | None], Tensor]:
    """Draw from what a change makes of the logits."""

    def draws(logits: Tensor, generator: torch.Generator | None) -> Tensor:
        return torch.multinomial(change(logits), 1, generator=generator)

    return draws


def _largest(logits: Tensor, generator: torch.Generator | None) -> Tensor:
    return logits.argmax(-1, keepdim=True)


def _one_for_all(logits: Tensor, generator: torch.Generator | None) -> Tensor:
    return by_chance(logits[:1], generator).expand(len(logits), 1)


def _first_row(logits: Tensor, generator: torch.Generator | None) -> Tensor:
    return by_chance(logits[:1].expand_as(logits), generator)


def _index_in_order(logits: Tensor, generator: torch.Generator | None) -> Tensor:
    return by_chance(logits.sort(dim=-1, descending=True).values, generator)


def _uniform(logits: Tensor, generator: torch.Generator | None) -> Tensor:
    possible = (logits > -torch.inf).to(logits.dtype)
    return torch.multinomial(possible, 1, generator=generator)


def _reseeded(generator: torch.Generator | None) -> torch.Generator | None:
    return torch.Generator().manual_seed(0)


def _always_from_the_start(generator: torch.Generator | None) -> Any:
    if generator is None:
        return None
    return torch.Generator().manual_seed(generator.initial_seed())


#: How the temperature goes wrong.
TEMPERATURE = [
    Mistake(
        "temperature-ignored",
        "The temperature has no effect on the draws: divide the logits by it before "
        "the softmax. Subtracting it, or dividing the probabilities by it, changes "
        "nothing once they are normalised.",
        warm=lambda logits, T: logits,
    ),
    Mistake(
        "temperature-inverted",
        "The temperature works the wrong way round: the logits are multiplied by it. "
        "Divide: below 1 the draws get sharper, above 1 more even.",
        warm=lambda logits, T: logits * T,
    ),
    Mistake(
        "temperature-twice",
        "The temperature is applied twice, as its square. Divide the logits by it "
        "once.",
        warm=lambda logits, T: logits / T**2,
    ),
    Mistake(
        "root-of-temperature",
        "The logits are divided by the square root of the temperature; divide by the "
        "temperature itself.",
        warm=lambda logits, T: logits / T**0.5,
    ),
    Mistake(
        "temperature-after-the-filters",
        "The logits are filtered first and divided by the temperature afterwards. "
        "Top-p depends on the temperature, so the order matters: temperature first, "
        "then the filters.",
        warm=lambda logits, T: logits,
        late=lambda logits, T: logits / T,
    ),
    Mistake(
        "zero-not-greedy",
        "At temperature 0 the logits are divided by 0, which gives NaN or infinity. 0 "
        "stands for greedy: take the largest logit (argmax).",
        cold=lambda T: False,
    ),
    Mistake(
        "zero-refused",
        "Temperature 0 is refused with an error; it stands for greedy and takes the "
        "largest logit (argmax). Only negative ones are refused.",
        refuse=lambda T: T <= 0,
    ),
    Mistake(
        "zero-samples-at-1",
        "At temperature 0 the tokens are drawn as if it were 1 (`if temperature:`?); "
        "0 stands for greedy: take the largest logit (argmax).",
        cold=lambda T: False,
        warm=lambda logits, T: logits / T if T else logits,
    ),
    Mistake(
        "negative-not-refused",
        "A negative temperature is not refused: it would turn the order of the "
        "tokens around. Raise a ValueError.",
        refuse=lambda T: False,
    ),
    Mistake(
        "negative-taken-as-greedy",
        "A negative temperature is treated as 0, greedy (`<= 0`?); raise a "
        "ValueError for it.",
        refuse=lambda T: False,
        cold=lambda T: T <= 0,
    ),
    Mistake(
        "greedy-below-1",
        "At a temperature below 1 the largest logit is always taken: greedy is "
        "temperature 0 alone.",
        cold=lambda T: 0 <= T < 1,
    ),
]

#: How the draw goes wrong.
DRAWS = [
    Mistake(
        "always-the-largest",
        "The largest logit is always taken (argmax), so nothing is random: that is "
        "greedy. Draw from the softmax with torch.multinomial.",
        draws=_largest,
    ),
    Mistake(
        "greedy-of-the-first-row",
        "At temperature 0 the argmax runs over the batch; take it over the "
        "vocabulary, dim=-1, for each row.",
        greedy=lambda logits: logits.argmax(0)[: len(logits)][:, None],
    ),
    Mistake(
        "greedy-takes-the-smallest",
        "At temperature 0 the smallest logit is taken (argmin); it is the largest.",
        greedy=lambda logits: logits.argmin(-1, keepdim=True),
    ),
    Mistake(
        "greedy-without-keepdim",
        "At temperature 0 the result is (B,), without its last axis: it should be "
        "(B, 1), with argmax(dim=-1, keepdim=True).",
        greedy=lambda logits: logits.argmax(-1),
    ),
    Mistake(
        "top-k-ignored",
        "top_k has no effect: hand it on to filter_logits.",
        k_used=lambda k: None,
    ),
    Mistake(
        "top-p-ignored",
        "top_p has no effect: hand it on to filter_logits.",
        p_used=lambda p: None,
    ),
    Mistake(
        "filters-ignored",
        "top_k and top_p have no effect: filter the logits before the draw.",
        k_used=lambda k: None,
        p_used=lambda p: None,
    ),
    Mistake(
        "draws-from-logits",
        "torch.multinomial gets the logits; it wants probabilities, none of them "
        "negative: take the softmax first.",
        draws=chances(lambda logits: logits),
    ),
    Mistake(
        "softmax-over-the-batch",
        "The softmax runs over the batch (dim=0); it must run over the vocabulary, "
        "dim=-1.",
        draws=chances(lambda logits: logits.softmax(0)),
    ),
    Mistake(
        "softmax-twice",
        "The softmax is taken twice, which evens the probabilities out: once, over "
        "the logits, is right.",
        draws=chances(lambda logits: logits.softmax(-1).softmax(-1)),
    ),
    Mistake(
        "softmax-before-the-filters",
        "The softmax is taken before the filters, and once more for the draw, which "
        "evens the probabilities out: filter the logits, then take it once.",
        warm=lambda logits, T: (logits / T).softmax(-1),
    ),
    Mistake(
        "drawn-uniformly",
        "All tokens that are left are drawn equally often, whatever their logits: "
        "draw with the probabilities that the softmax gives.",
        draws=_uniform,
    ),
    Mistake(
        "one-draw-for-the-batch",
        "One draw is made and used for every row of the batch: each row draws for "
        "itself.",
        draws=_one_for_all,
    ),
    Mistake(
        "first-row-for-all",
        "All rows are drawn from the first row's probabilities; each row has its own.",
        draws=_first_row,
    ),
    Mistake(
        "index-in-sorted-order",
        "What comes back is the place in the sorted logits (or among the top k), not "
        "the token: look it up in the indices that sort or topk return (gather).",
        draws=_index_in_order,
    ),
    Mistake(
        "generator-ignored",
        "The generator has no effect: hand it on, "
        "torch.multinomial(…, generator=generator), so that a seed gives the same "
        "tokens again.",
        source=lambda generator: None,
    ),
    Mistake(
        "seeded-inside",
        "The seed is set inside, so every call draws the same: use the generator that "
        "is given, and none if there is none.",
        source=_reseeded,
    ),
    Mistake(
        "generator-set-back",
        "The generator is set back to its seed in every call, so it gives the same "
        "tokens each time: use it as it is.",
        source=_always_from_the_start,
    ),
    Mistake(
        "last-axis-missing",
        "The result has the shape (B,); it should be (B, 1), so that it can be "
        "appended to the tokens: leave out the squeeze, or keep the axis.",
        give=lambda tokens, logits: tokens.squeeze(-1),
    ),
    Mistake(
        "logit-instead-of-token",
        "What comes back is the logit of the token drawn, not the token: return its "
        "index.",
        give=lambda tokens, logits: logits.gather(-1, tokens),
    ),
    Mistake(
        "token-as-float",
        "The tokens come back as floats; they are indices, ints.",
        give=lambda tokens, logits: tokens.to(logits.dtype),
    ),
]
