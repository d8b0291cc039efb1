"""Learned positions, with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def learned(
    module: Any,
    x: Tensor,
    *,
    which: Callable[[int, int, torch.device], Tensor] = lambda T, most, device: (
        torch.arange(T, device=device)
    ),
    rows: Change = same,
    tokens: Change = same,
    scale: Callable[[int], float] = lambda C: 1.0,
    refuse: Callable[[int, int], bool] = lambda T, most: T > most,
    instead: Callable[[Any, Tensor], Tensor] | None = None,
) -> Tensor:
    """The twin of LearnedPositions; `instead` is done where switches can't say it."""
    if instead is not None:
        return instead(module, x)
    T, most = x.shape[1], module.embedding.num_embeddings
    if refuse(T, most):
        raise ValueError(T)
    places = rows(module.embedding(which(T, most, x.device)))
    return tokens(x) + places * scale(x.shape[-1])


def _longer_than_one(module: Any, x: Tensor) -> Tensor:
    return learned(module, x) if x.shape[1] > 1 else x


def _per_sequence(module: Any, x: Tensor) -> Any:
    places = module.embedding(torch.arange(x.shape[0], device=x.device))
    return x + places[:, None]


def _by_batch_length(module: Any, x: Tensor) -> Any:
    return x + module.embedding(torch.arange(x.shape[0], device=x.device))


def _places_only(module: Any, x: Tensor) -> Tensor:
    return learned(module, x, tokens=torch.zeros_like)


def _rows_only(module: Any, x: Tensor) -> Any:
    if x.shape[1] > module.embedding.num_embeddings:
        raise ValueError(x.shape)
    return module.embedding(torch.arange(x.shape[1], device=x.device))


def _concatenated(module: Any, x: Tensor) -> Tensor:
    return torch.cat([x, _places_only(module, x)], dim=-1)


def _whole_table(module: Any, x: Tensor) -> Any:
    return x + module.embedding.weight


def _looked_up(module: Any, x: Tensor) -> Tensor:
    return x


#: How learned positions go wrong.
LEARNED = [
    Mistake(
        "positions-from-1",
        "The positions start at 1; the first token stands at position 0, so it takes "
        "row 0 of the embedding: torch.arange(T).",
        which=lambda T, most, device: torch.arange(1, T + 1, device=device),
    ),
    Mistake(
        "last-rows",
        "The last T rows of the embedding are taken, as if the sequence ended at "
        "max_seq; it starts at position 0: rows 0…T-1.",
        which=lambda T, most, device: torch.arange(most - T, most, device=device),
    ),
    Mistake(
        "positions-reversed",
        "The positions are counted from the end, the last token's being 0; the first "
        "token stands at position 0.",
        which=lambda T, most, device: torch.arange(T, device=device).flip(0),
    ),
    Mistake(
        "position-0-for-all",
        "Every token gets the same position, row 0; token t takes row t: "
        "torch.arange(T).",
        which=lambda T, most, device: torch.zeros(T, dtype=torch.long, device=device),
    ),
    Mistake(
        "length-for-position",
        "Every token gets the row of the last position, T - 1; token t takes row t: "
        "torch.arange(T).",
        which=lambda T, most, device: torch.full((T,), T - 1, device=device),
    ),
    Mistake(
        "position-per-sequence",
        "Each sequence of the batch gets one position, the same for all its tokens "
        "(x.shape[0] is counted); positions run along axis 1, the tokens: "
        "torch.arange(x.shape[1]).",
        instead=_per_sequence,
    ),
    Mistake(
        "positions-along-the-batch",
        "The positions are counted along the batch axis, x.shape[0]; x is (B, T, C), "
        "so T is x.shape[1].",
        instead=_by_batch_length,
    ),
    Mistake(
        "skipped-for-one-token",
        "With a single token no position is added; a sequence of one has position 0 "
        "and gets its row, too.",
        instead=_longer_than_one,
    ),
    Mistake(
        "x-not-added",
        "The positions come back alone, in the shape of x; add them to x: "
        "x + self.embedding(positions).",
        instead=_places_only,
    ),
    Mistake(
        "positions-only",
        "The positions come back alone, (T, C); add them to x: "
        "x + self.embedding(positions).",
        instead=_rows_only,
    ),
    Mistake(
        "positions-never-added",
        "x comes back as it was: the positions are never added.",
        instead=_looked_up,
    ),
    Mistake(
        "concatenated",
        "The positions are concatenated to the features; they are added, so that the "
        "shape stays (B, T, C).",
        instead=_concatenated,
    ),
    Mistake(
        "whole-table-added",
        "The whole embedding is added, max_seq rows; take the first T: "
        "self.embedding(torch.arange(T)).",
        instead=_whole_table,
    ),
    Mistake(
        "tokens-scaled",
        "x is multiplied by √d_model before the positions are added; that is the "
        "paper's scaling of token embeddings, and isn't asked for: x + positions.",
        tokens=lambda x: x * x.shape[-1] ** 0.5,
    ),
    Mistake(
        "positions-scaled",
        "The positions are multiplied by √d_model; add them as they are.",
        scale=lambda C: C**0.5,
    ),
    Mistake(
        "positions-divided",
        "The positions are divided by √d_model; add them as they are.",
        scale=lambda C: C**-0.5,
    ),
    Mistake(
        "positions-subtracted",
        "The positions are subtracted; they are added to x.",
        scale=lambda C: -1.0,
    ),
    Mistake(
        "positions-added-twice",
        "The positions are added twice.",
        scale=lambda C: 2.0,
    ),
    Mistake(
        "positions-multiplied",
        "x is multiplied by the positions; they are added.",
        instead=lambda module, x: x * _rows_only(module, x),
    ),
    Mistake(
        "dropout-left-in",
        "A dropout is at work on the result; the exercise has none.",
        instead=lambda module, x: F.dropout(learned(module, x), 0.1),
    ),
    Mistake(
        "mean-position",
        "Every token gets the mean of all positions; token t takes row t.",
        rows=lambda rows: rows.mean(0),
    ),
    Mistake(
        "embedding-cut-off",
        "The embedding is cut off from the graph (detach, .data, no_grad): the values "
        "are right, but the positions would never be learned.",
        rows=lambda rows: rows.detach(),
    ),
    Mistake(
        "full-length-refused",
        "T = max_seq is refused; the table has a row for each of the positions "
        "0…max_seq-1, so raise only if T > max_seq, not >=.",
        refuse=lambda T, most: T >= most,
    ),
]
