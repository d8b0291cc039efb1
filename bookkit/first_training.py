"""A first training, in seconds: pieces of text, a short loop, and writing.

Chapter 10 does all of it properly. `model` is a MiniGPT: tokens (B, T) -> logits
(B, T, vocab), with a `max_seq`.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

PIECE = 2000  # tokens that are kept or held out together


def divide(tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Cut a text into pieces: every tenth is held out, the others are to learn from.

    tokens (N,) -> (pieces, PIECE) each.
    """
    pieces = tokens[: len(tokens) - len(tokens) % PIECE].view(-1, PIECE)
    held = torch.arange(len(pieces)) % 10 == 9
    return pieces[~held], pieces[held]


def draw(pieces: Tensor, batch: int, length: int, generator: Generator) -> Tensor:
    """Random windows, none across two pieces: (batch, length)."""
    rows = torch.randint(len(pieces), (batch, 1), generator=generator)
    last = pieces.shape[1] - length
    starts = torch.randint(last + 1, (batch, 1), generator=generator)
    return pieces[rows, starts + torch.arange(length)]


def loss_of(model: nn.Module, windows: Tensor) -> Tensor:
    """The mean surprise, in nats, at each next token of windows (B, T + 1)."""
    logits = model(windows[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())


def train(
    model: Any,
    pieces: Tensor,
    *,
    steps: int,
    rate: float = 0.006,
    batch: int = 12,
    seed: int = 0,
) -> list[float]:
    """Teach a model the next token, in windows of its own max_seq; -> every loss.

    The rate warms up over 20 steps and then falls along half a cosine; gradients are
    clipped at a norm of 1.
    """
    generator = Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(
        model.parameters(), lr=rate, betas=(0.9, 0.99), fused=True
    )
    losses = []
    for step in range(steps):
        fall = 0.525 + 0.475 * math.cos(math.pi * step / steps)  # from 1 to 0.05
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 20) * fall
        loss = loss_of(model, draw(pieces, batch, model.max_seq + 1, generator))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def held_out_loss(model: Any, pieces: Tensor, batch: int = 150, seed: int = 1) -> float:
    """The loss on windows of pieces, the same ones at each call."""
    windows = draw(pieces, batch, model.max_seq + 1, Generator().manual_seed(seed))
    return loss_of(model, windows).item()


@torch.no_grad()
def write(model: Any, tokens: Tensor, new: int, seed: int = 0) -> Tensor:
    """Draw `new` tokens one by one, each from the model's prediction: (T + new,).

    tokens (T,) is how the text begins; the model reads at most its last max_seq.
    """
    generator = Generator().manual_seed(seed)
    for _ in range(new):
        logits = model(tokens[None, -model.max_seq :])[0, -1]
        drawn = torch.multinomial(logits.softmax(-1), 1, generator=generator)
        tokens = torch.cat([tokens, drawn])
    return tokens


def smoothed(losses: list[float], over: int = 20) -> Tensor:
    """The mean of each loss and those up to `over` - 1 before it: (steps,)."""
    sums = torch.tensor([0.0, *losses], dtype=torch.float64).cumsum(0)
    first = (torch.arange(1, len(sums)) - over).clamp(min=0)
    last = torch.arange(1, len(sums))
    return (sums[last] - sums[first]) / (last - first)
