"""Texts that repeat, a small MiniGPT that learns to continue them, and its maps.

Everything takes the reader's parts as arguments. A `model` is a MiniGPT.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

#: What tokens are called in figures.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"

Score = Callable[[Tensor, int], Tensor]


def repeated(
    batch: int,
    length: int,
    vocab: int,
    generator: Generator,
    periods: tuple[int, int],
) -> tuple[Tensor, Tensor]:
    """Random tokens that start again after a period, drawn for each text.

    periods, the least and the most -> tokens (batch, length), period (batch, 1).
    """
    least, most = periods
    period = torch.randint(least, most + 1, (batch, 1), generator=generator)
    tokens = torch.randint(vocab, (batch, most), generator=generator)
    return tokens.gather(1, torch.arange(length) % period), period


class Nothing(nn.Module):
    """In the place of a feed-forward network: it adds nothing to the stream."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def attention_only(model: Any) -> Any:
    """The same MiniGPT without its feed-forward networks: heads alone remain."""
    for block in model.blocks:
        block.ff = Nothing()
    return model


@torch.no_grad()
def attention_maps(model: Any, tokens: Tensor) -> list[Tensor]:
    """The attention weights of each block: tokens (B, T) -> a list of (B, h, T, T)."""
    maps: list[Tensor] = []

    def keep(attention: Any, inputs: tuple[Any, ...]) -> None:
        maps.append(_scores(attention, inputs[0]).softmax(-1))

    hooks = [block.attn.register_forward_pre_hook(keep) for block in model.blocks]
    mode = model.training
    try:
        model.eval()(tokens)
    finally:
        model.train(mode)
        for hook in hooks:
            hook.remove()
    return maps


def queries_keys_values(
    model: Any, tokens: Tensor, layer: int, head: int
) -> tuple[Tensor, Tensor, Tensor]:
    """What one head compares and mixes for one text: tokens (1, T) -> (T, d_k) each."""
    found: list[Tensor] = []

    def keep(attention: Any, inputs: tuple[Any, ...]) -> None:
        parts = (attention.W_q, attention.W_k, attention.W_v)
        found.extend(_heads(attention, W(inputs[0]))[0, head] for W in parts)

    hook = model.blocks[layer].attn.register_forward_pre_hook(keep)
    try:
        with torch.no_grad():
            model(tokens)
    finally:
        hook.remove()
    return found[0], found[1], found[2]


def _heads(attention: Any, x: Tensor) -> Tensor:
    return x.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2)


def _scores(attention: Any, x: Tensor) -> Tensor:
    Q, K = _heads(attention, attention.W_q(x)), _heads(attention, attention.W_k(x))
    T = x.shape[1]
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    return scores.masked_fill(torch.ones(T, T).triu(1) > 0, -torch.inf)


def previous_score(weights: Tensor) -> Tensor:
    """The mean weight to the token before: (B, h, T, T) -> (h,)."""
    return weights.diagonal(-1, -2, -1).mean((0, -1))


def first_score(weights: Tensor) -> Tensor:
    """The mean weight to the first token, from all that aren't: -> (h,)."""
    return weights[:, :, 1:, 0].mean((0, -1))


@dataclass
class History:
    """What was seen of a model while it learned, at some of its steps."""

    steps: list[int] = field(default_factory=list)
    first: list[float] = field(default_factory=list)  # loss where nothing repeats yet
    again: list[float] = field(default_factory=list)  # loss on repeated tokens
    previous: list[Tensor] = field(default_factory=list)  # (layers, h) each
    induction: list[Tensor] = field(default_factory=list)
    maps: list[Tensor] = field(default_factory=list)  # (layers * h, T, T) of one text


def learn_to_repeat(
    model: Any,
    induction_score: Score,
    shown: Tensor,
    *,
    vocab: int,
    steps: int = 300,
    every: int = 20,
    batch: int = 32,
    rate: float = 0.01,
    periods: tuple[int, int] = (6, 12),
    seed: int = 0,
) -> History:
    """Teach a MiniGPT to continue texts that repeat, and watch its heads.

    shown (1, T) is a text whose maps are kept. Dropout is off.
    """
    generator, length = Generator().manual_seed(seed), model.max_seq
    most = periods[1]
    test, _ = repeated(64, 2 * most, vocab, Generator().manual_seed(1), (most, most))
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98))
    history = History()
    model.eval()
    for step in range(steps + 1):
        if step % every == 0:
            _note(history, model, induction_score, step, test[:, :length], most, shown)
        tokens, _ = repeated(batch, length + 1, vocab, generator, periods)
        loss = F.cross_entropy(
            model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()
        )
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return history


@torch.no_grad()
def _note(
    history: History,
    model: Any,
    score: Score,
    step: int,
    test: Tensor,
    period: int,
    shown: Tensor,
) -> None:
    losses = F.cross_entropy(model(test[:, :-1]).mT, test[:, 1:], reduction="none")
    maps = attention_maps(model, test)
    history.steps.append(step)
    history.first.append(float(losses[:, : period - 1].mean()))
    history.again.append(float(losses[:, period:].mean()))
    history.previous.append(torch.stack([previous_score(one) for one in maps]))
    history.induction.append(torch.stack([score(one, period) for one in maps]))
    history.maps.append(torch.cat([one[0] for one in attention_maps(model, shown)]))


@torch.no_grad()
def replaced(
    model: Any, tokens: Tensor, place: int, target: int, others: Sequence[int]
) -> Tensor:
    """How much less likely the target is where one earlier token is replaced.

    tokens (1, T); for each position before `place` the drop of the target's log
    probability at `place`, averaged over other tokens put there: (place,).
    """
    right = model(tokens).log_softmax(-1)[0, place, target]
    drops = []
    for position in range(place):
        texts = tokens.repeat(len(others), 1)
        texts[:, position] = torch.tensor(others)
        drops.append((right - model(texts).log_softmax(-1)[:, place, target]).mean())
    return torch.stack(drops)
