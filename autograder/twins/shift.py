"""The decoder's input with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake


def starts(tokens: Tensor, start_id: int) -> Tensor:
    """A column of start_id."""
    return torch.full_like(tokens[:, :1], start_id)


def shifted(
    tokens: Tensor,
    start_id: int,
    *,
    kept: Callable[[Tensor], Tensor] = lambda tokens: tokens[:, :-1],
    start: Callable[[Tensor, int], Tensor] = starts,
    at_the_end: bool = False,
    axis: int = 1,
) -> Tensor:
    """The twin of shift_right."""
    pieces = [start(tokens, start_id), kept(tokens)]
    return torch.cat(pieces[::-1] if at_the_end else pieces, dim=axis)


def rolled(tokens: Tensor, start_id: int) -> Tensor:
    return tokens.roll(1, dims=1)


def over_zeros(tokens: Tensor, step: int = 1) -> Tensor:
    """Shifted, with zeros where nothing comes from."""
    moved = tokens.roll(step, dims=1)
    moved[:, 0 if step > 0 else -1] = 0
    return moved


def put(moved: Tensor, where: Any, start_id: int) -> Tensor:
    moved[where] = start_id
    return moved


FRONT = (slice(None), 0)


#: How the shift goes wrong.
SHIFTS = [
    Mistake(
        "shifted-left",
        "The tokens are shifted to the left, with start_id appended at the end: the "
        "first token is lost, and each position gets the token after its own, the one "
        "to predict. Start in front, the last token dropped.",
        kept=lambda tokens: tokens[:, 1:],
        at_the_end=True,
    ),
    Mistake(
        "start-at-the-end",
        "start_id stands at the end, in the last token's place, and nothing is "
        "shifted: it belongs in front.",
        at_the_end=True,
    ),
    Mistake(
        "first-overwritten",
        "start_id overwrites the first token, and nothing is shifted: the first token "
        "moves to position 1, and it is the last that is dropped.",
        kept=lambda tokens: tokens[:, 1:],
    ),
    Mistake(
        "last-not-dropped",
        "start_id is put in front, but the last token isn't dropped, so the result is "
        "one too long: (B, T + 1). Leave the last token out.",
        kept=lambda tokens: tokens,
    ),
    Mistake(
        "two-dropped",
        "Two tokens are dropped instead of one, so the result is one too short: leave "
        "out the last one only.",
        kept=lambda tokens: tokens[:, :-2],
    ),
    Mistake(
        "start-missing",
        "The last token comes round to the front: roll brings it there, and it must be "
        "overwritten with start_id.",
        wrong=rolled,
    ),
    Mistake(
        "first-token-repeated",
        "The first token stands in front, twice now; start_id belongs there.",
        start=lambda tokens, start_id: tokens[:, :1],
    ),
    Mistake(
        "start-always-zero",
        "start_id has no effect: 0 stands in front whatever it is.",
        start=lambda tokens, start_id: starts(tokens, 0),
    ),
    Mistake(
        "start-always-one",
        "start_id has no effect: 1 stands in front whatever it is.",
        start=lambda tokens, start_id: starts(tokens, 1),
    ),
    Mistake(
        "rolled-to-the-left",
        "The tokens are rolled to the left, roll(-1), so each position gets the token "
        "after its own, the one to predict; to the right is roll(1).",
        wrong=lambda tokens, start_id: put(tokens.roll(-1, 1), FRONT, start_id),
    ),
    Mistake(
        "start-left-out",
        "The last token is dropped, but start_id doesn't stand in front, so the result "
        "is one too short, (B, T - 1): concatenate both.",
        start=lambda tokens, start_id: tokens[:, :0],
    ),
    Mistake(
        "rolled-from-row-to-row",
        "roll without a dimension rolls the flattened batch, so the last token of a "
        "row comes to the front of the next one: roll(1, dims=1), and start_id in "
        "front of every row, [:, 0].",
        wrong=lambda tokens, start_id: put(tokens.roll(1), (0, 0), start_id),
    ),
    Mistake(
        "rows-rolled",
        "The rows of the batch are rolled, axis 0; the positions should be, axis 1: "
        "roll(1, dims=1).",
        wrong=lambda tokens, start_id: put(tokens.roll(1, 0), FRONT, start_id),
    ),
    Mistake(
        "rows-shifted",
        "The rows of the batch are shifted, axis 0; it is the positions that should "
        "be, axis 1, in every row alike.",
        wrong=lambda tokens, start_id: put(tokens.roll(1, 0), 0, start_id),
    ),
    Mistake(
        "first-row-only",
        "start_id stands in front of the first row only; it belongs in front of every "
        "row: [:, 0], not [0, 0].",
        wrong=lambda tokens, start_id: put(tokens.roll(1, 1), (0, 0), start_id),
    ),
    Mistake(
        "first-row-only-zeros-elsewhere",
        "start_id stands in front of the first row only, 0 in front of the others; it "
        "belongs in front of every row: [:, 0], not [0, 0].",
        wrong=lambda tokens, start_id: put(over_zeros(tokens), (0, 0), start_id),
    ),
    Mistake(
        "whole-row-overwritten",
        "The whole first row is start_id; it belongs in front of every row: [:, 0], "
        "not [0].",
        wrong=lambda tokens, start_id: put(tokens.roll(1, 1), 0, start_id),
    ),
    Mistake(
        "whole-row-overwritten-zeros-elsewhere",
        "The whole first row is start_id, and 0 stands in front of the others; it "
        "belongs in front of every row: [:, 0], not [0].",
        wrong=lambda tokens, start_id: put(over_zeros(tokens), 0, start_id),
    ),
    Mistake(
        "shifted-left-over-zeros",
        "The tokens are shifted to the left, so each position gets the token after its "
        "own, the one to predict: shifted[:, 1:] = tokens[:, :-1].",
        wrong=lambda tokens, start_id: put(over_zeros(tokens, -1), FRONT, start_id),
    ),
    Mistake(
        "written-over-itself",
        "The first token is copied all along: the tokens are shifted in place, so what "
        "was just written is read again. Make a new tensor, or clone first.",
        kept=lambda tokens: tokens[:, :1].expand(-1, tokens.shape[1] - 1),
    ),
    Mistake(
        "shifted-by-two",
        "The tokens are shifted by two; the decoder's input is one step behind.",
        start=lambda tokens, start_id: torch.full_like(tokens[:, :2], start_id),
        kept=lambda tokens: tokens[:, :-2],
    ),
    Mistake(
        "reversed",
        "The tokens stand in reverse; they keep their order and move on by one.",
        kept=lambda tokens: tokens[:, :-1].flip(1),
    ),
    Mistake(
        "floats",
        "The result holds floats; tokens are integers, and the result keeps the "
        "tokens' dtype.",
        wrong=lambda tokens, start_id: shifted(tokens, start_id).float(),
    ),
    Mistake(
        "nothing-shifted",
        "The tokens come back as they are: each position should get the token before "
        "its own, the first one start_id.",
        wrong=lambda tokens, start_id: tokens.clone(),
    ),
]
