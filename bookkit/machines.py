"""The plumbing of chapter 8: words to reverse, a trainer, and ways to watch a model."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from string import ascii_lowercase
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

PAD, START, END = 26, 27, 28  # after the 26 letters
LETTERS = 29  # letters and these three


class Pairs(NamedTuple):
    """Words and the same words backwards, padded to one length."""

    source: Tensor  # (B, m)
    lengths: Tensor  # (B,), letters of each word
    target: Tensor  # (B, m + 1): the letters backwards, then END


def words_to_reverse(
    count: int, generator: Generator, shortest: int = 4, longest: int = 10
) -> Pairs:
    """Draw words of random letters, and turn them round."""
    lengths = torch.randint(shortest, longest + 1, (count,), generator=generator)
    letters = torch.randint(26, (count, longest), generator=generator)
    place = torch.arange(longest)
    source = letters.masked_fill(place >= lengths[:, None], PAD)
    mirrored = lengths[:, None] - 1 - place  # negative behind the word's start
    turned = source.gather(1, mirrored.clamp(min=0)).masked_fill(mirrored < 0, PAD)
    target = torch.cat([turned, torch.full((count, 1), PAD)], dim=1)
    target[torch.arange(count), lengths] = END
    return Pairs(source, lengths, target)


def pair(word: str) -> Pairs:
    """One word, and itself backwards, without padding."""
    source = torch.tensor([[ascii_lowercase.index(letter) for letter in word]])
    target = torch.cat([source.flip(1), torch.tensor([[END]])], dim=1)
    return Pairs(source, torch.tensor([len(word)]), target)


def spell(tokens: Tensor) -> str:
    """Letters (T,) as text up to END or PAD."""
    text = ""
    for token in tokens.tolist():
        if token in (PAD, END):
            break
        text += ascii_lowercase[token] if token < 26 else "^"
    return text


def exactly_right(written: Tensor, target: Tensor) -> float:
    """The share of rows (B, T) that agree with the target up to its END."""
    same = (written == target) | (target == PAD)
    return same.all(dim=1).float().mean().item()


def unseen(count: int, seen: set[str], generator: Generator) -> Pairs:
    """Draw words as `words_to_reverse` does, but none of those in `seen`."""
    pairs = words_to_reverse(2 * count, generator)  # few were seen
    new = [i for i, word in enumerate(pairs.source) if spell(word) not in seen]
    return Pairs(*(part[new[:count]] for part in pairs))


def draw(rows: Tensor, count: int, generator: Generator) -> Tensor:
    """`count` of the rows, drawn with replacement."""
    return rows[torch.randint(len(rows), (count,), generator=generator)]


def train(
    model: nn.Module,
    loss: Callable[[], Tensor],
    steps: int,
    stop: int | None = None,
    rate: float = 3e-3,
    watch: Callable[[], Any] | None = None,
    every: int = 50,
) -> tuple[list[float], list[Any]]:
    """Let Adam lower `loss()`, which draws a batch at each call.

    The rate rises over 50 steps and falls linearly in the second half; `stop` ends the
    same course early. Returns the losses, one a step, and what `watch()` said before
    the first step, then `every` so many steps, and at the end.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)

    def pace(step: int) -> float:
        return min(1.0, (step + 1) / 50, 2 * (steps - step) / steps)

    schedule = LambdaLR(optimizer, pace)
    losses, seen = [], []
    for step in range(stop or steps):
        if watch and step % every == 0:
            seen.append(watch())
        value = loss()
        optimizer.zero_grad()
        value.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        losses.append(value.item())
    if watch:
        seen.append(watch())
    return losses, seen


@contextmanager
def overhear(module: nn.Module) -> Iterator[list[Tensor]]:
    """Within the block, keep what the module was last called with, in order."""
    heard: list[Tensor] = []

    def keep(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        heard[:] = [*args, *kwargs.values()]

    handle = module.register_forward_pre_hook(keep, with_kwargs=True)
    try:
        yield heard
    finally:
        handle.remove()


def who_moves_whom(
    run: Callable[[Tensor], Tensor], tokens: Tensor, other: int
) -> Tensor:
    """Change one token at a time: which outputs move?

    tokens (m,), run: (1, m) -> (1, n, V) -> (n, m), 1 where token j moves output i.
    """
    with torch.no_grad():
        before = run(tokens[None])[0]
        columns = []
        for place in range(len(tokens)):
            changed = tokens.clone()
            changed[place] = other
            moved = (run(changed[None])[0] - before).abs().amax(dim=-1)
            columns.append((moved > 1e-6).float())
    return torch.stack(columns, dim=1)


def gradient_census(model: nn.Module) -> dict[str, bool]:
    """Each part of a model, and whether the last backward pass reached it."""

    def reached(part: nn.Module) -> bool:
        return any(p.grad is not None and bool(p.grad.any()) for p in part.parameters())

    return {name: reached(part) for name, part in model.named_children()}
