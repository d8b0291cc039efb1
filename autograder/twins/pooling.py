"""Mean pooling with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]


def average(hidden: Tensor, real: Tensor) -> Tensor:
    """The mean over the tokens that count: real is 1 there, else 0."""
    return (hidden * real).sum(1) / real.sum(1)


def unit(x: Tensor) -> Tensor:
    return F.normalize(x, dim=-1)


def pool(
    hidden: Tensor,
    mask: Tensor,
    *,
    first: Change = lambda hidden: hidden,
    counts: Change = lambda mask: mask,
    take: Callable[[Tensor, Tensor], Tensor] = average,
    scale: Change = unit,
) -> Tensor:
    """The twin of mean_pool."""
    real = counts(mask != 0).to(hidden.dtype).unsqueeze(-1)
    return scale(take(first(hidden), real))


def last_real(hidden: Tensor, real: Tensor) -> Tensor:
    places = torch.arange(hidden.shape[1], device=hidden.device)
    last = (places * real.squeeze(-1)).argmax(1)
    return hidden[torch.arange(len(hidden), device=hidden.device), last]


def at_their_number(hidden: Tensor, real: Tensor) -> Tensor:
    """What stands last if the real tokens were the first ones: at mask.sum() - 1."""
    last = real.squeeze(-1).sum(1).long() - 1
    return hidden[torch.arange(len(hidden), device=hidden.device), last]


def as_many_from_the_start(mask: Tensor) -> Tensor:
    places = torch.arange(mask.shape[1], device=mask.device)
    return places < mask.sum(1, keepdim=True)


def largest(hidden: Tensor, real: Tensor) -> Tensor:
    return hidden.masked_fill(real == 0, -torch.inf).amax(1)


def without_the_first(mask: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(mask[:, :1]), mask[:, 1:]], dim=1)


_REAL = "Only the tokens where mask is True are averaged."

POOLED = [
    Mistake(
        "first-token",
        "The first token's vector is taken (CLS pooling); it is the mean over all real "
        "tokens that is asked for.",
        take=lambda hidden, real: hidden[:, 0],
    ),
    Mistake(
        "last-token",
        "The last position's vector is taken; it is the mean over all real tokens that "
        "is asked for.",
        take=lambda hidden, real: hidden[:, -1],
    ),
    Mistake(
        "last-real-token",
        "The last real token's vector is taken; it is the mean over all real tokens "
        "that is asked for.",
        take=last_real,
    ),
    Mistake(
        "last-by-count",
        "The vector at position mask.sum() - 1 is taken; it is the mean over all real "
        "tokens that is asked for, wherever the mask has them.",
        take=at_their_number,
    ),
    Mistake(
        "largest-for-mean",
        "The largest number of each feature is taken (max pooling); it is the mean "
        "over the real tokens that is asked for.",
        take=largest,
    ),
    Mistake(
        "largest-with-padding",
        "The largest number of each feature is taken (max pooling), the padding's "
        "included; it is the mean over the real tokens that is asked for.",
        take=lambda hidden, real: hidden.amax(1),
    ),
    Mistake(
        "mask-inverted",
        "The mask is inverted: the padding is averaged and the real tokens are left "
        f"out. {_REAL}",
        counts=lambda mask: ~mask,
    ),
    Mistake(
        "padding-averaged-too",
        f"The mask has no effect: the padding is averaged too. {_REAL}",
        counts=torch.ones_like,
    ),
    Mistake(
        "padding-expected-at-the-end",
        "The first mask.sum() tokens are averaged, as if padding stood at the end "
        f"only; it may stand anywhere. {_REAL}",
        counts=as_many_from_the_start,
    ),
    Mistake(
        "first-token-left-out",
        "The first token is left out of the mean; every token where mask is True "
        "counts, [CLS] and [SEP] too.",
        counts=without_the_first,
    ),
    Mistake(
        "not-normalised",
        "The mean is right, but its length isn't 1: divide it by its length, "
        "F.normalize(mean, dim=-1).",
        scale=lambda x: x,
    ),
    Mistake(
        "summed-not-normalised",
        "The sum over the real tokens comes back; divide it by their number, and the "
        "mean by its length.",
        take=lambda hidden, real: (hidden * real).sum(1),
        scale=lambda x: x,
    ),
    Mistake(
        "divided-by-T",
        "The sum over the real tokens is divided by T, the padding counted in, and the "
        "length isn't 1: divide by the number of real tokens, then by the length.",
        take=lambda hidden, real: (hidden * real).mean(1),
        scale=lambda x: x,
    ),
    Mistake(
        "tokens-normalised-first",
        "Each token's vector is brought to length 1 before the mean, and not the mean "
        "itself: average first, then divide by the length.",
        first=unit,
        scale=lambda x: x,
    ),
    Mistake(
        "tokens-normalised-too",
        "Each token's vector is brought to length 1 before the mean, so that long "
        "vectors lose their say: only the mean is normalised.",
        first=unit,
    ),
    Mistake(
        "normalised-over-the-batch",
        "The vectors are normalised along the batch (dim=0); each text's own vector "
        "has length 1: dim=-1.",
        scale=lambda x: F.normalize(x, dim=0),
    ),
    Mistake(
        "normalised-all-together",
        "All vectors together have length 1, as x / x.norm() makes them; each text's "
        "own has: x.norm(dim=-1, keepdim=True).",
        scale=lambda x: x / x.norm(),
    ),
    Mistake(
        "divided-by-the-sum",
        "The mean is divided by the sum of its absolute values (p=1); length 1 means "
        "that the squares add up to 1.",
        scale=lambda x: F.normalize(x, p=1, dim=-1),
    ),
    Mistake(
        "divided-by-the-square",
        "The mean is divided by its squared length; the root is missing: divide by "
        "x.norm(dim=-1, keepdim=True).",
        scale=lambda x: x / (x * x).sum(-1, keepdim=True),
    ),
    Mistake(
        "softmax-for-length",
        "The mean goes through a softmax; it is divided by its length.",
        scale=lambda x: x.softmax(-1),
    ),
    Mistake(
        "axis-kept",
        "The result has an axis too many, (B, 1, C): the mean removes the tokens' "
        "axis, so no keepdim there.",
        scale=lambda x: unit(x)[:, None],
    ),
]
