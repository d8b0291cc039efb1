"""A parade to remember, and a watcher to train on it: the plumbing of chapter 4.

A parade is a sequence of tokens, each a person in a colour. At every token the watcher
answers two questions: which colour went by `BACK` tokens ago? And which colour did this
person wear when last seen? The first asks for an exact place, the second for the latest
of several.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

PEOPLE = COLOURS = 8
BACK = 3
QUESTIONS = (f"{BACK} back", "last worn")
NO_ANSWER = -100  # nobody can know: cross_entropy leaves it out


class Parade(NamedTuple):
    """Who goes by in which colour, and the right answers."""

    people: Tensor  # (B, T)
    colours: Tensor  # (B, T)
    answers: Tensor  # (B, T, questions)


def deal(batch: int, length: int, generator: Generator) -> Parade:
    """Draw parades: every person and every colour by chance."""
    shape = (batch, length)
    people = torch.randint(PEOPLE, shape, generator=generator)
    colours = torch.randint(COLOURS, shape, generator=generator)
    back = F.pad(colours[:, :-BACK], (BACK, 0), value=NO_ANSWER)
    same = people.unsqueeze(-1) == people.unsqueeze(-2)  # (B, T, T)
    seen = torch.where(same.tril(-1), torch.arange(length), -1).amax(dim=-1)  # (B, T)
    worn = colours.gather(1, seen.clamp(min=0))
    last = torch.where(seen >= 0, worn, NO_ANSWER)
    return Parade(people, colours, torch.stack([back, last], dim=-1))


class Watcher(nn.Module):
    """One attention layer between two embeddings and a read-out, and no more.

    `add`, if there is one, tells the tokens their positions: (B, T, C) -> (B, T, C).
    """

    def __init__(
        self,
        attention: nn.Module,
        width: int,
        add: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.people = nn.Embedding(PEOPLE, width)
        self.colours = nn.Embedding(COLOURS, width)
        self.attention, self.add = attention, add
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.head = nn.Linear(width, len(QUESTIONS) * COLOURS)

    def forward(self, people: Tensor, colours: Tensor) -> Tensor:
        """people (B, T), colours (B, T) -> logits (B, T, questions, colours)."""
        x = self.people(people) + self.colours(colours)  # (B, T, C)
        if self.add is not None:
            x = self.add(x)
        x = x + self.attention(self.norms[0](x))
        logits: Tensor = self.head(self.norms[1](x))
        return logits.view(*people.shape, len(QUESTIONS), COLOURS)


def train(
    watcher: Watcher,
    length: int,
    *,
    steps: int = 300,
    batch: int = 16,
    rate: float = 0.01,
    seed: int = 0,
) -> Watcher:
    """Teach a watcher both questions on parades of one length; gives it back."""
    generator = Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(watcher.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rate, total_steps=steps, pct_start=0.1
    )
    for _ in range(steps):
        parade = deal(batch, length, generator)
        logits = watcher(parade.people, parade.colours)
        loss = F.cross_entropy(logits.flatten(0, 2), parade.answers.flatten())
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        schedule.step()
    return watcher


@torch.no_grad()
def answered(
    watcher: Watcher, length: int, piece: int | None = None, batch: int = 200
) -> Tensor:
    """Ask a watcher on new parades: the share of right answers at each position.

    -> (length, questions), nan where nothing was asked. With `piece`, the watcher sees
    the parade in pieces of so many tokens and knows only the one it is in.
    """
    parade = deal(batch, length, Generator().manual_seed(1))
    pieces = (-1, piece or length)
    logits = watcher(parade.people.view(pieces), parade.colours.view(pieces))
    right = logits.argmax(dim=-1).view(parade.answers.shape) == parade.answers
    asked = parade.answers != NO_ANSWER
    return torch.div(right.sum(dim=0), asked.sum(dim=0))


def by_length(shares: Tensor, trained: int) -> list[float]:
    """Average shares (4 * trained, questions) over the positions up to 1x, 2x and 4x.

    -> first question's three averages, then the second's.
    """
    spans = pairwise([0, trained, 2 * trained, 4 * trained])
    means = torch.stack([shares[a:b].nanmean(dim=0) for a, b in spans])  # (3, 2)
    return [float(mean) for mean in means.T.flatten()]
