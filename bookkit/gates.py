"""A task for feed-forward networks alone, and its trainer: chapter 6's experiments.

From eight characters of a text, predict the next one. There is no attention. Each
place has its own vector for each character, the eight vectors are added up, and one
feed-forward block works on the sum: what it can't do isn't done.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

BEFORE = 8  # characters that the network reads


class Reader(nn.Module):
    """Predicts a character from those before it: x + block(norm(x)), then a readout.

    windows (B, BEFORE) of characters' numbers -> logits (B, characters).
    """

    def __init__(self, block: nn.Module, d_model: int, characters: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(BEFORE * characters, d_model)
        nn.init.normal_(self.embed.weight, std=BEFORE**-0.5)
        self.norm = nn.LayerNorm(d_model)
        self.block = block
        self.last_norm = nn.LayerNorm(d_model)
        self.unembed = nn.Linear(d_model, characters)

    def forward(self, windows: Tensor) -> Tensor:
        characters = self.unembed.out_features
        rows = windows + characters * torch.arange(BEFORE)  # each place has its own
        x = self.embed(rows).sum(dim=1)  # (B, d_model)
        x = x + self.block(self.norm(x))
        logits: Tensor = self.unembed(self.last_norm(x))
        return logits


def nothing() -> float:
    """The cost of an activation, if there is none."""
    return 0.0


def train(
    reader: Reader,
    text: Tensor,
    *,
    seed: int,
    steps: int,
    batch: int = 256,
    rate: float = 0.02,
    cost: Callable[[], Tensor | float] = nothing,
) -> Reader:
    """Train on the first nine tenths of the text (N,); returns the reader.

    The seed decides which windows are seen, so readers with one seed see the same ones.
    What `cost()` says after a step's forward pass is added to the loss.
    """
    generator = Generator().manual_seed(seed)
    windows, _ = split(text)
    optimizer = torch.optim.Adam(reader.parameters(), lr=rate, fused=True)
    for step in range(steps):
        # Up in twenty steps, then straight down to 0.
        optimizer.param_groups[0]["lr"] = (
            rate * min(1.0, (step + 1) / 20) * (1 - step / steps)
        )
        picked = torch.randint(len(windows), (batch,), generator=generator)
        loss = next_character_loss(reader, windows[picked]) + cost()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return reader


def split(text: Tensor) -> tuple[Tensor, Tensor]:
    """Windows of BEFORE characters and the next: of nine tenths, and of the rest."""
    windows = text.unfold(0, BEFORE + 1, 1)  # (N - BEFORE, BEFORE + 1)
    seen = len(windows) * 9 // 10
    return windows[:seen], windows[seen:]


def next_character_loss(reader: Reader, windows: Tensor) -> Tensor:
    """Cross-entropy in nats a character; windows (B, BEFORE + 1)."""
    return F.cross_entropy(reader(windows[:, :-1]), windows[:, -1])


def held_out_loss(
    block: Callable[[int], nn.Module],
    text: Tensor,
    *,
    seed: int,
    d_model: int = 48,
    steps: int = 200,
    rate: float = 0.02,
) -> float:
    """Train block(d_model), a module (B, C) -> (B, C), in a reader; its loss on text
    that it hasn't seen, in nats a character."""
    torch.manual_seed(seed)
    reader = Reader(block(d_model), d_model, int(text.max()) + 1)
    train(reader, text, seed=seed, steps=steps, rate=rate)
    with torch.no_grad():
        return next_character_loss(reader, split(text)[1][::8]).item()
