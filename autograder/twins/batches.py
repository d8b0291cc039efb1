"""Pieces cut out of a long text, with a switch wherever people slip."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

from autograder.definition import Mistake

Draw = Callable[[int, int, "Generator | None"], Tensor]


def by_chance(count: int, places: int, generator: Generator | None) -> Tensor:
    return torch.randint(places, (count,), generator=generator)


def one_for_all(count: int, places: int, generator: Generator | None) -> Tensor:
    return by_chance(1, places, generator).expand(count)


def one_after_the_other(count: int, places: int, generator: Generator | None) -> Tensor:
    return (by_chance(1, places, generator) + torch.arange(count)) % places


def in_order(count: int, places: int, generator: Generator | None) -> Tensor:
    return torch.arange(count) % places


def always_first(count: int, places: int, generator: Generator | None) -> Tensor:
    return torch.zeros(count, dtype=torch.long)


def without_replacement(count: int, places: int, generator: Generator | None) -> Tensor:
    return torch.randperm(places, generator=generator)[:count]


def sorted_starts(count: int, places: int, generator: Generator | None) -> Tensor:
    return by_chance(count, places, generator).sort().values


def batch(
    data: Tensor,
    batch_size: int,
    seq_len: int,
    generator: Generator | None,
    *,
    source: Callable[[Any], Any] = lambda generator: generator,
    draw: Draw = by_chance,
    places: Callable[[int, int], int] = lambda N, T: N - T,
    low: int = 0,
    length: Callable[[int], int] = lambda T: T,
    later: Callable[[int], int] = lambda T: 1,
    pick: Callable[[Tensor, Tensor], Tensor] = lambda data, where: data[where],
    least: Callable[[int], int] = lambda T: T + 1,
    refusal: Callable[[Any], Exception] = ValueError,
    gives: Callable[[Tensor, Tensor], Any] = lambda inputs, targets: (inputs, targets),
) -> Any:
    """The twin of get_batch: from where starts are drawn, and what is cut there."""
    N, T = len(data), length(seq_len)
    if N < least(seq_len):
        raise refusal(f"{N} tokens are too few")
    generator = source(generator)
    starts = low + draw(batch_size, places(N, seq_len) - low, generator)
    where = starts[:, None] + torch.arange(T)
    return gives(pick(data, where), pick(data, where + later(seq_len)))


def _stacked(
    data: Tensor, batch_size: int, seq_len: int, generator: Generator, places: int
) -> Any:
    """The same with slices, which get short at the end of the data."""
    if len(data) < seq_len + 1:
        raise ValueError(f"{len(data)} tokens are too few")
    starts = torch.randint(places, (batch_size,), generator=generator)
    inputs = torch.stack([data[i : i + seq_len] for i in starts])
    return inputs, torch.stack([data[i + 1 : i + 1 + seq_len] for i in starts])


def _one_too_far(
    data: Tensor, batch_size: int, seq_len: int, generator: Generator
) -> Any:
    places = len(data) - seq_len + 1
    return _stacked(data, batch_size, seq_len, generator, places)


def _to_the_end(
    data: Tensor, batch_size: int, seq_len: int, generator: Generator
) -> Any:
    return _stacked(data, batch_size, seq_len, generator, len(data))


def _to_the_last(
    data: Tensor, batch_size: int, seq_len: int, generator: Generator
) -> Any:
    return _stacked(data, batch_size, seq_len, generator, len(data) - 1)


def _drawn_twice(
    data: Tensor, batch_size: int, seq_len: int, generator: Generator
) -> Any:
    """Inputs and targets, each cut at starts of its own."""
    inputs, _ = batch(data, batch_size, seq_len, generator)
    return inputs, batch(data, batch_size, seq_len, generator)[1]


def _random_tokens(
    data: Tensor, batch_size: int, seq_len: int, generator: Generator
) -> Any:
    if len(data) < seq_len + 1:
        raise ValueError(f"{len(data)} tokens are too few")
    shape = (batch_size, seq_len)
    where = torch.randint(len(data) - 1, shape, generator=generator)
    return data[where], data[where + 1]


def _rolled(data: Tensor, batch_size: int, seq_len: int, generator: Generator) -> Any:
    inputs, _ = batch(data, batch_size, seq_len, generator)
    return inputs, inputs.roll(-1, dims=1)


BATCHES = [
    Mistake(
        "targets-not-shifted",
        "The targets are the inputs themselves; they start one token later, so that "
        "each position's target is the next token.",
        later=lambda T: 0,
    ),
    Mistake(
        "two-tokens-later",
        "The targets are shifted by two tokens; they come one later.",
        later=lambda T: 2,
        places=lambda N, T: N - T - 1,
    ),
    Mistake(
        "exchanged",
        "Inputs and targets are exchanged: the inputs come first, and the targets are "
        "one token later.",
        gives=lambda inputs, targets: (targets, inputs),
    ),
    Mistake(
        "targets-rolled",
        "The targets are the inputs rolled by one, so that the last target is the "
        "piece's first token; cut them from the data, one token later.",
        wrong=_rolled,
    ),
    Mistake(
        "next-token-only",
        "There is one target a piece, the token after it; each position has its own: "
        "targets (B, T), one token later.",
        gives=lambda inputs, targets: (inputs, targets[:, -1]),
    ),
    Mistake(
        "drawn-apart",
        "Inputs and targets are cut at different starts, drawn twice; draw the starts "
        "once and use them for both.",
        wrong=_drawn_twice,
    ),
    Mistake(
        "tokens-drawn-apart",
        "Each token is drawn by itself; a row is one piece of the text, seq_len "
        "neighbours from its start.",
        wrong=_random_tokens,
    ),
    Mistake(
        "last-start-missing",
        "The last possible start is never drawn: starts go up to N - seq_len - 1 "
        "inclusive, and torch.randint(high) leaves high itself out.",
        places=lambda N, T: N - T - 1,
    ),
    Mistake(
        "first-start-missing",
        "Start 0 is never drawn; starts go from 0.",
        low=1,
    ),
    Mistake(
        "one-start-too-far",
        "The starts reach one too far: a piece at N - seq_len has no token after it "
        "for its last target. They go up to N - seq_len - 1, torch.randint(N - "
        "seq_len).",
        wrong=_one_too_far,
    ),
    Mistake(
        "starts-to-the-end",
        "The starts are drawn from the whole text, and a piece that starts near its "
        "end is cut short; they go up to N - seq_len - 1.",
        wrong=_to_the_end,
    ),
    Mistake(
        "starts-to-the-last",
        "The starts are drawn up to the last token but one, and a piece that starts "
        "near the end is cut short; they go up to N - seq_len - 1.",
        wrong=_to_the_last,
    ),
    Mistake(
        "index-too-large",
        "The starts reach one too far, and the last target would stand behind the end "
        "of the data. They go up to N - seq_len - 1.",
        places=lambda N, T: N - T + 1,
    ),
    Mistake(
        "one-start-for-all",
        "All pieces of a batch start at the same place; draw a start for each row.",
        draw=one_for_all,
    ),
    Mistake(
        "one-after-the-other",
        "One start is drawn and the rows follow each other from there; draw each row's "
        "start by itself.",
        draw=one_after_the_other,
    ),
    Mistake(
        "in-order",
        "The pieces are taken in order, nothing is drawn; the starts are random, drawn "
        "by the generator.",
        draw=in_order,
    ),
    Mistake(
        "always-the-beginning",
        "Every piece is the beginning of the text; the starts are random, drawn by the "
        "generator.",
        draw=always_first,
    ),
    Mistake(
        "without-replacement",
        "No start is drawn twice (randperm, without replacement), so a batch can't "
        "have more rows than there are starts; draw with replacement, torch.randint.",
        draw=without_replacement,
    ),
    Mistake(
        "sorted",
        "The starts are sorted, so each row hangs on the one before; leave them as "
        "they are drawn.",
        draw=sorted_starts,
    ),
    Mistake(
        "generator-not-used",
        "The generator isn't used: the starts come from the global random numbers. "
        "Give `generator=generator` to what draws.",
        source=lambda generator: None,
    ),
    Mistake(
        "seeded-anew",
        "The draws are seeded anew in every call, so every batch is the same; use the "
        "generator as it is given.",
        source=lambda generator: torch.Generator().manual_seed(0),
    ),
    Mistake(
        "seed-of-the-generator",
        "A new generator is made from the given one's seed, so every batch is the "
        "same; draw from the generator itself, which goes on.",
        source=lambda generator: torch.Generator().manual_seed(
            generator.initial_seed()
        ),
    ),
    Mistake(
        "one-token-too-long",
        "The pieces are seq_len + 1 long; cut seq_len + 1 tokens and return the first "
        "seq_len as inputs, the last seq_len as targets.",
        length=lambda T: T + 1,
        places=lambda N, T: N - T - 1,
    ),
    Mistake(
        "one-token-too-short",
        "The pieces are only seq_len - 1 long; to shift within a piece it must be cut "
        "with seq_len + 1 tokens.",
        length=lambda T: T - 1,
    ),
    Mistake(
        "always-int64",
        "The tokens come back as int64; they keep the data's dtype.",
        pick=lambda data, where: data[where].long(),
    ),
    Mistake(
        "floats",
        "The tokens come back as floats; they keep the data's dtype, whole numbers.",
        pick=lambda data, where: data[where].float(),
    ),
    Mistake(
        "time-first",
        "Time is the first axis and the batch the second; the result is (B, T).",
        gives=lambda inputs, targets: (inputs.T, targets.T),
    ),
    Mistake(
        "positions-for-tokens",
        "The places of the tokens come back; the tokens that stand there are asked "
        "for: data[places].",
        pick=lambda data, where: where.to(data.dtype),
    ),
    Mistake(
        "lists",
        "Lists come back; tensors are asked for: torch.stack the pieces.",
        gives=lambda inputs, targets: (list(inputs), list(targets)),
    ),
    Mistake(
        "stacked-together",
        "Inputs and targets come back in one tensor; return two.",
        gives=lambda inputs, targets: torch.stack([inputs, targets]),
    ),
    Mistake(
        "pieces-whole",
        "The pieces come back whole, with the next token; split them into inputs "
        "[:, :-1] and targets [:, 1:].",
        gives=lambda inputs, targets: torch.cat([inputs, targets[:, -1:]], 1),
    ),
    Mistake(
        "accepts-one-too-few",
        "A text of seq_len tokens should raise a ValueError: the last position has no "
        "next token there. It takes seq_len + 1.",
        least=lambda T: T,
    ),
    Mistake(
        "refuses-the-shortest",
        "A text of exactly seq_len + 1 tokens is refused; one piece and its targets "
        "fit into it.",
        least=lambda T: T + 2,
    ),
    Mistake(
        "another-exception",
        "A text that is too short raises IndexError; raise ValueError.",
        refusal=IndexError,
    ),
]
