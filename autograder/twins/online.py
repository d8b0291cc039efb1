"""The softmax in one pass, a switch wherever people slip."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

Blocks = Iterable[Tensor]
Highest = Callable[[Tensor, Tensor], Tensor]


def guarded(highest: Tensor) -> Tensor:
    """What is taken off: nothing where only -inf has come yet."""
    return highest.masked_fill(highest == -torch.inf, 0)


def online(
    score_blocks: Blocks,
    value_blocks: Blocks,
    *,
    highest_of: Callable[[Tensor, Tensor], Tensor] = torch.maximum,
    shift: Callable[[Tensor], Tensor] = guarded,
    weighed_from: Callable[[Tensor, Tensor], Tensor] = lambda scores, taken: taken,
    start: float = -torch.inf,
    fade: Callable[[Tensor, Tensor], Tensor] = lambda before, now: (before - now).exp(),
    fades: tuple[bool, bool] = (True, True),
    from_zero: bool = False,
    keeps: tuple[bool, bool] = (True, True),
    power: Callable[[Tensor], Tensor] = torch.exp,
    along: int = -1,
    end: Callable[[Tensor, Tensor], Any] = lambda mix, total: mix / total,
) -> Any:
    """The twin of online_softmax_sum; `fades` and `keeps` of the total and the mix."""
    highest: Any = None
    total: Any = None
    mix: Any = None
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        if total is None:
            before: Any = torch.full_like(scores.sum(along, keepdim=True), start)
        else:
            before = highest
        highest = highest_of(before, scores.amax(along, keepdim=True))
        taken = shift(highest)
        weights = power(scores - weighed_from(scores, taken))
        factor = fade(before, taken)
        new = weights.sum(dim=along, keepdim=True), weights @ values
        if total is None and not from_zero:
            total, mix = new
        else:
            if total is None:
                total, mix = (torch.zeros_like(one) for one in new)
            old = [
                one * factor if fading else one
                for one, fading in zip((total, mix), fades, strict=True)
            ]
            total, mix = (
                one + more if kept else more
                for one, more, kept in zip(old, new, keeps, strict=True)
            )
    return end(mix, total)


def stuck_at_zero(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    """What was taken off instead of -inf, 0, is kept as the highest score."""
    highest: Any = None
    total: Any = 0
    mix: Any = 0
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        now = scores.amax(dim=-1, keepdim=True)
        before = torch.full_like(now, -torch.inf) if highest is None else highest
        highest = guarded(torch.maximum(before, now))
        weights, factor = (scores - highest).exp(), (before - highest).exp()
        total = total * factor + weights.sum(dim=-1, keepdim=True)
        mix = mix * factor + weights @ values
    return mix / total


def _each(score_blocks: Blocks, value_blocks: Blocks) -> list[Tensor]:
    return [
        scores.softmax(dim=-1) @ values
        for scores, values in zip(score_blocks, value_blocks, strict=True)
    ]


def mean_of_softmaxes(score_blocks: Blocks, value_blocks: Blocks) -> Tensor:
    return torch.stack(_each(score_blocks, value_blocks)).mean(dim=0)


def sum_of_softmaxes(score_blocks: Blocks, value_blocks: Blocks) -> Tensor:
    return torch.stack(_each(score_blocks, value_blocks)).sum(dim=0)


def last_block_only(score_blocks: Blocks, value_blocks: Blocks) -> Tensor:
    return _each(score_blocks, value_blocks)[-1]


def weighted_by_length(score_blocks: Blocks, value_blocks: Blocks) -> Tensor:
    scores = list(score_blocks)
    lengths = torch.tensor([one.shape[-1] for one in scores]).to(scores[0])
    weights = (lengths / lengths.sum()).unbind()
    each = _each(scores, value_blocks)
    return torch.stack([w * one for w, one in zip(weights, each, strict=True)]).sum(0)


def divided_each_time(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    """Normalised after every block, and taken for unnormalised at the next."""
    highest: Any = None
    total: Any = None
    out: Any = None
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        now = scores.amax(dim=-1, keepdim=True)
        if total is None:
            taken = guarded(now)
            weights = (scores - taken).exp()
            total, mix = weights.sum(dim=-1, keepdim=True), weights @ values
        else:
            before, now = highest, torch.maximum(highest, now)
            taken = guarded(now)
            weights, factor = (scores - taken).exp(), (before - taken).exp()
            total = total * factor + weights.sum(dim=-1, keepdim=True)
            mix = out * factor + weights @ values
        highest, out = now, mix / total
    return out


def not_shifted(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    pairs = zip(score_blocks, value_blocks, strict=True)
    sums = [(s.exp().sum(-1, keepdim=True), s.exp() @ v) for s, v in pairs]
    return sum(mix for _, mix in sums) / sum(total for total, _ in sums)


def first_highest(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    """The first block's largest score is taken off every block."""
    scores = list(score_blocks)
    taken = scores[0].amax(dim=-1, keepdim=True)
    return not_shifted([one - taken for one in scores], value_blocks)


def one_highest(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    """One highest score so far, for all rows together."""
    highest = torch.tensor(-torch.inf)
    total: Any = 0
    mix: Any = 0
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        before, highest = highest, highest.maximum(scores.amax())
        taken = guarded(highest)
        weights, factor = (scores - taken).exp(), (before - taken).exp()
        total = total * factor + weights.sum(dim=-1, keepdim=True)
        mix = mix * factor + weights @ values
    return mix / total


def by_index(score_blocks: Any, value_blocks: Any) -> Any:
    _ = score_blocks[0], value_blocks[0]
    return online(score_blocks, value_blocks)


def by_length(score_blocks: Any, value_blocks: Any) -> Any:
    _ = len(score_blocks), len(value_blocks)
    return online(score_blocks, value_blocks)


def two_passes(score_blocks: Blocks, value_blocks: Blocks) -> Any:
    score_blocks = list(score_blocks)
    highest = torch.stack([one.amax(-1, keepdim=True) for one in score_blocks]).amax(0)
    weights = [(one - highest).exp() for one in score_blocks]
    total = sum(one.sum(-1, keepdim=True) for one in weights)
    return sum(w @ v for w, v in zip(weights, value_blocks, strict=True)) / total


def joined(score_blocks: Blocks, value_blocks: Blocks) -> Tensor:
    return torch.cat(list(score_blocks), -1).softmax(-1) @ torch.cat(
        list(value_blocks), -2
    )
