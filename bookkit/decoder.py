"""A small decoder made of the reader's parts, its training, and its writing."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from bookkit.sentences import Text


class Decoder(nn.Module):
    """Tokens to logits, by pre-norm blocks of attention and feed-forward network.

    block() makes one block's two parts: a module called with (x, mask) and one called
    with x, both (B, T, width) -> (B, T, width).
    """

    def __init__(
        self,
        vocab: int,
        max_seq: int,
        width: int,
        layers: int,
        block: Callable[[], tuple[nn.Module, nn.Module]],
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(max_seq, width)
        parts = [block() for _ in range(layers)]
        self.attentions = nn.ModuleList(attention for attention, _ in parts)
        self.feed_forwards = nn.ModuleList(feed_forward for _, feed_forward in parts)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, vocab))

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """tokens (B, T), mask broadcastable to (B, h, T, T) -> logits (B, T, vocab)."""
        return self.read(self.vectors(tokens), mask)

    def vectors(self, tokens: Tensor) -> Tensor:
        """tokens (B, T) -> what they and their places say, (B, T, width)."""
        places = torch.arange(tokens.shape[1])  # (T,)
        x: Tensor = self.embed(tokens) + self.positions(places)
        return x

    def read(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x (B, T, width) -> logits (B, T, vocab)."""
        for i, (attention, feed_forward) in enumerate(
            zip(self.attentions, self.feed_forwards, strict=True)
        ):
            x = x + attention(self.norms[2 * i](x), mask)
            x = x + feed_forward(self.norms[2 * i + 1](x))
        logits: Tensor = self.head(x)
        return logits


def windows(text: Text, length: int, batch: int, generator: Generator) -> Tensor:
    """Places of random windows that begin with a sentence: (batch, length + 1)."""
    fits = text.starts[text.starts + length < len(text.tokens)]
    chosen = torch.randint(len(fits), (batch,), generator=generator)
    return fits[chosen, None] + torch.arange(length + 1)


def train(
    model: nn.Module,
    text: Text,
    mask: Tensor,
    *,
    shift: int = 1,
    steps: int = 300,
    batch: int = 32,
    rate: float = 0.01,
    seed: int = 0,
) -> tuple[list[float], list[float]]:
    """Teach the model to predict the word `shift` places on, from all places at once.

    mask (T, T). Returns, step by step, the model's loss and the true surprise of the
    same words: what the best honest model would lose.
    """
    generator = Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
    losses, floor = [], []
    for _ in range(steps):
        places = windows(text, len(mask), batch, generator)
        loss = _loss(model, text, places, mask, shift)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        floor.append(text.surprise[_asked(places, shift)].mean().item())
    return losses, floor


def _asked(places: Tensor, shift: int) -> Tensor:
    """Of places (B, T + 1), those that are asked for when the first T are shown."""
    return places[:, shift : places.shape[1] - 1 + shift]


def _loss(
    model: nn.Module, text: Text, places: Tensor, mask: Tensor, shift: int
) -> Tensor:
    logits = model(text.tokens[places[:, :-1]], mask)  # (B, T, vocab)
    targets = text.tokens[_asked(places, shift)]  # (B, T)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def reading_loss(
    model: nn.Module, text: Text, mask: Tensor, batch: int = 200, seed: int = 1
) -> float:
    """The model's loss on a text, all places of a window at once, as in training."""
    places = windows(text, len(mask), batch, Generator().manual_seed(seed))
    with torch.no_grad():
        return _loss(model, text, places, mask, 1).item()


def write(
    model: nn.Module,
    mask: Tensor,
    words: Sequence[str],
    first: str,
    batch: int = 1,
    seed: int = 0,
) -> list[list[str]]:
    """Let the model write until the mask's length: one word drawn after the other.

    Each text starts with the word `first`. mask (T, T) -> `batch` lists of T words.
    """
    generator = Generator().manual_seed(seed)
    tokens = torch.full((batch, 1), words.index(first))
    with torch.no_grad():
        for t in range(1, len(mask)):
            logits = model(tokens, mask[:t, :t])[:, -1]  # the last place's prediction
            drawn = torch.multinomial(logits.softmax(-1), 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=-1)
    return [[words[token] for token in row] for row in tokens.tolist()]
