"""Two games of recall, and a trainer: the plumbing of chapter 1's experiments.

A game deals sequences that end in a question about one earlier token. A token is one or
two symbols; each symbol has a learned vector, and a token's vector is their sum.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn


class Hand(NamedTuple):
    """What is dealt: the sequence, the answer, and how far back it stood."""

    tokens: Tensor  # (B, T, symbols a token)
    answer: Tensor  # (B,)
    distance: Tensor  # (B,), positions from the last token back to the one asked for


class Game(NamedTuple):
    """A game: how many symbols and answers it has, and how it is dealt."""

    symbols: int
    answers: int
    deal: Callable[[int, Generator], Hand]


def one_letter(length: int, letters: int = 8, digits: int = 8) -> Game:
    """One letter somewhere among digits, then "?": which letter was it?"""

    def deal(batch: int, generator: Generator) -> Hand:
        tokens = torch.randint(
            letters, letters + digits, (batch, length), generator=generator
        )
        answer = torch.randint(letters, (batch,), generator=generator)
        place = torch.randint(length - 1, (batch,), generator=generator)
        tokens[torch.arange(batch), place] = answer
        tokens[:, -1] = letters + digits  # the question mark
        return Hand(tokens.unsqueeze(-1), answer, length - 1 - place)

    return Game(letters + digits + 1, letters, deal)


def who_wears_what(people: int, colours: int = 4) -> Game:
    """Each person once, each with a colour, then one name again: which colour?"""

    def deal(batch: int, generator: Generator) -> Hand:
        names = torch.rand(batch, people, generator=generator).argsort(dim=-1)
        worn = torch.randint(colours, (batch, people), generator=generator)
        place = torch.randint(people, (batch,), generator=generator)
        rows = torch.arange(batch)
        names = torch.cat([names, names[rows, place, None]], dim=-1)
        unknown = torch.full((batch, 1), colours)  # the question has no colour yet
        symbols = [names, torch.cat([worn, unknown], dim=-1) + people]
        return Hand(torch.stack(symbols, dim=-1), worn[rows, place], people - place)

    return Game(people + colours + 1, colours, deal)


class Player(nn.Module):
    """Looks up the symbols' vectors, has a reader sum them up, answers from that."""

    def __init__(self, game: Game, reader: nn.Module, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(game.symbols, width)
        self.reader = reader
        self.head = nn.Linear(width, game.answers)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (B, T, symbols a token) -> logits (B, answers)."""
        x = self.embed(tokens).sum(dim=-2)  # (B, T, width)
        return self.head(self.reader(x))


class Memory(nn.Module):
    """torch's LSTM as a reader: (B, T, width) -> its last hidden state (B, width)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, width, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(x)[0][:, -1]


def play(
    game: Game,
    reader: Callable[[int], nn.Module],
    *,
    width: int = 32,
    batches: int = 250,
    batch_size: int = 64,
    rate: float = 0.01,
    seed: int = 0,
) -> tuple[Tensor, Tensor]:
    """Train a fresh player on a game, then test it on hands that it hasn't seen.

    reader(width) builds a module (B, T, width) -> (B, width). Returns, for 2,000 test
    hands, whether each was answered rightly and its distance: (2000,), (2000,).
    """
    torch.manual_seed(seed)
    generator = Generator().manual_seed(seed)
    player = Player(game, reader(width), width)
    optimizer = torch.optim.Adam(player.parameters(), lr=rate, fused=True)
    for _ in range(batches):
        hand = game.deal(batch_size, generator)
        loss = F.cross_entropy(player(hand.tokens), hand.answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    hand = game.deal(2_000, generator)
    with torch.no_grad():
        right = player(hand.tokens).argmax(dim=-1) == hand.answer
    return right.float(), hand.distance


def by_distance(
    right: Tensor, distance: Tensor, bins: int = 8
) -> tuple[Tensor, Tensor]:
    """Average over bins of nearby distances: their middles (bins,), shares (bins,)."""
    width = distance.max() / bins
    place = ((distance - 1) / width).long()
    count = torch.zeros(bins).index_add(0, place, torch.ones_like(right))
    share = torch.zeros(bins).index_add(0, place, right) / count
    return (torch.arange(bins) + 0.5) * width, share
