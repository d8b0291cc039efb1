"""A padding mask with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.masks import Form, as_bool


def padded(
    lengths: Tensor,
    max_len: int,
    *,
    real: Callable[[Tensor, Tensor, int], Tensor] = lambda keys, lengths, most: (
        keys < lengths
    ),
    width: Callable[[Tensor, int], int] = lambda lengths, max_len: max_len,
    place: Form = lambda mask: mask[:, None, None, :],
    form: Form = as_bool,
) -> Tensor:
    """The twin of padding_mask."""
    most = width(lengths, max_len)
    keys = torch.arange(most, device=lengths.device)  # (m,)
    return form(place(real(keys, lengths[:, None], most)))


def both_ways(mask: Tensor) -> Tensor:
    """Real queries meet real keys: (B, T) -> (B, 1, T, T)."""
    return (mask[:, :, None] & mask[:, None, :])[:, None]


#: How a padding mask goes wrong.
PADDINGS = [
    Mistake(
        "mask-inverted",
        "The mask is inverted: True marks the padding. Here True means may attend, so "
        "it is True at the real tokens; the opposite is nn.MultiheadAttention's "
        "key_padding_mask.",
        real=lambda keys, lengths, most: keys >= lengths,
    ),
    Mistake(
        "one-token-too-many",
        "One token of padding is taken for real, off by one: keys are counted from 0, "
        "so real ones are below the length, <, not <=.",
        real=lambda keys, lengths, most: keys <= lengths,
    ),
    Mistake(
        "one-token-too-few",
        "The last real token is taken for padding, off by one: keys are counted from "
        "0, so real ones are all those below the length.",
        real=lambda keys, lengths, most: keys < lengths - 1,
    ),
    Mistake(
        "padding-on-the-left",
        "The padding is taken to be on the left; real tokens come first, at keys below "
        "the length.",
        real=lambda keys, lengths, most: keys >= most - lengths,
    ),
    Mistake(
        "last-token-only",
        "Only the last real token is True; all keys below the length are real.",
        real=lambda keys, lengths, most: keys == lengths - 1,
    ),
    Mistake(
        "max_len-ignored",
        "`max_len` has no effect: the mask is as wide as the longest sequence of the "
        "batch. It has max_len keys, whatever the lengths.",
        width=lambda lengths, max_len: int(lengths.max()),
    ),
    Mistake(
        "padding-on-the-query-axis",
        "The padding stands on the queries' axis, (B, 1, max_len, 1), so real tokens "
        "still see it. It belongs on the keys' axis, the last: (B, 1, 1, max_len).",
        place=lambda mask: mask[:, None, :, None],
    ),
    Mistake(
        "axes-missing",
        "The mask is (B, max_len) and lacks the axes of heads and queries: "
        "(B, 1, 1, max_len), by mask[:, None, None, :].",
        place=lambda mask: mask,
    ),
    Mistake(
        "one-axis-missing",
        "The shape is (B, 1, max_len), one axis short: heads and queries have one "
        "each, (B, 1, 1, max_len), by mask[:, None, None, :].",
        place=lambda mask: mask[:, None, :],
    ),
    Mistake(
        "axes-at-the-end",
        "The axes for heads and queries stand at the end, (B, max_len, 1, 1); they "
        "come between batch and keys: (B, 1, 1, max_len).",
        place=lambda mask: mask[:, :, None, None],
    ),
    Mistake(
        "axes-in-front",
        "The axes for heads and queries stand in front, (1, 1, B, max_len); they come "
        "between batch and keys: (B, 1, 1, max_len).",
        place=lambda mask: mask[None, None],
    ),
    Mistake(
        "queries-masked-too",
        "Queries that are padding are blocked too, (B, 1, max_len, max_len), so they "
        "may attend nothing. Only keys are: (B, 1, 1, max_len).",
        place=both_ways,
    ),
    Mistake(
        "every-query-spelled-out",
        "The mask is spelled out for every query, (B, 1, max_len, max_len); an axis "
        "of 1 broadcasts by itself: (B, 1, 1, max_len).",
        place=lambda mask: mask[:, None, None, :].expand(-1, -1, mask.shape[1], -1),
    ),
]
