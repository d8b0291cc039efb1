"""The clinic of chapter 14: the patients as they come in, and what is measured of them.

A measure takes the class or function, broken or mended, and returns numbers to draw.
"""

from collections.abc import Callable
from math import log
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from autograder.registry import EXERCISES
from bookkit.tales import WORDS, next_words, words

Make = Callable[..., Any]


def admitted(name: str) -> Any:
    """A patient as it came in: the broken code of a repair's cell."""
    broken = EXERCISES[name].broken
    if broken is None:
        raise ValueError(f"{name} is no repair: its cell holds nothing broken")
    return broken


def least_loss(text: Tensor, count: int = 5000) -> float:
    """The loss of one who knows the stories' language, on the first words of a text."""
    said: list[str] = []
    total = 0.0
    for word in words(text[:count]):
        total -= log(next_words(said)[word])
        said = [] if word == "." else [*said, word]
    return total / count


def _train(
    parameters: Any, lesson: Callable[[], Tensor], steps: int, rate: float
) -> list[float]:
    optimizer = torch.optim.Adam(parameters, lr=rate)
    losses = []
    for _ in range(steps):
        loss = lesson()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    return losses


def read_and_write(
    make: Make, text: Tensor, start: Tensor, steps: int = 120, length: int = 24
) -> tuple[list[float], Tensor]:
    """Train a small decoder on a text (N,), then let it write on from start (1, 1).

    -> its losses, and the tokens that it wrote (1, length).
    """
    torch.manual_seed(0)
    model, generator = make(len(WORDS), 32, length), Generator().manual_seed(0)

    def lesson() -> Tensor:
        first = torch.randint(len(text) - length, (24, 1), generator=generator)
        pieces = text[first + torch.arange(length + 1)]
        logits = model(pieces[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())

    losses = _train(model.parameters(), lesson, steps, 0.01)
    tokens = start
    with torch.no_grad():
        while tokens.shape[1] < length:
            p = model(tokens)[:, -1].softmax(-1)
            new = torch.multinomial(p, 1, generator=generator)
            tokens = torch.cat([tokens, new], 1)
    return losses, tokens


def look_up(make: Make, names: int = 12, steps: int = 120) -> tuple[float, Tensor]:
    """Train an attention layer to look a name's colour up; -> its loss at the end, and
    the weights of the last token, which asks, in one text: (h, names + 1)."""
    torch.manual_seed(0)
    generator, C, B = Generator().manual_seed(0), 16, 24
    layer = make(C, 2)
    who, worn, head = nn.Embedding(names, C), nn.Embedding(5, C), nn.Linear(C, 4)
    seen: list[Tensor] = []

    def lesson() -> Tensor:
        order = torch.rand(B, names, generator=generator).argsort(-1)
        colours = torch.randint(4, (B, names), generator=generator)
        place = torch.randint(names, (B,), generator=generator)
        rows = torch.arange(B)
        x = who(torch.cat([order, order[rows, place, None]], 1))
        shown = torch.cat([colours, torch.full((B, 1), 4)], 1)
        out, weights = layer(x + worn(shown))
        seen[:] = [weights[0, :, -1].detach()]
        return F.cross_entropy(head(out[:, -1]), colours[rows, place])

    learners = nn.ModuleList([layer, who, worn, head])
    losses = _train(learners.parameters(), lesson, steps, 0.02)
    return sum(losses[-10:]) / 10, seen[0]


def by_depth(make: Make, depths: tuple[int, ...], steps: int = 60) -> list[float]:
    """Train stacks of several depths to reverse a vector; -> the loss of each."""
    found = []
    for n_layers in depths:
        torch.manual_seed(0)
        model, generator = make(16, n_layers), Generator().manual_seed(0)

        def lesson(model: Any = model, generator: Generator = generator) -> Tensor:
            x = torch.randn(64, 1, 16, generator=generator)
            return F.mse_loss(model(x), F.layer_norm(x.flip(-1), (16,)))

        losses = _train(model.parameters(), lesson, steps, 0.005)
        found.append(sum(losses[-5:]) / 5)
    return found


@torch.no_grad()
def drift(attend: Make, attention: Any, T: int = 48, prompt: int = 8) -> Tensor:
    """How far each token's output is off when it is computed with a cache.

    The same function over all tokens at once says what is right. -> (T,), relative.
    """
    x = torch.randn(
        1, T, attention.W_q.in_features, generator=Generator().manual_seed(0)
    )
    right, cache = attend(attention, x, {}), {}
    chunks = [x[:, :prompt], *x[:, prompt:].split(1, dim=1)]
    found = torch.cat([attend(attention, chunk, cache) for chunk in chunks], 1)
    off = (found - right).norm(dim=-1) / right.norm(dim=-1)
    return off[0]


@torch.no_grad()
def likeness(place: Make, first: int, count: int, dtype: torch.dtype) -> Tensor:
    """The cosines between the vectors of `count` positions from `first` on."""
    zeros = torch.zeros(1, first + count, 32, dtype=dtype)
    vectors = F.normalize(place(zeros)[0, first:].float(), dim=-1)
    return vectors @ vectors.mT


def lesson_of_words(text: Tensor, batches: int = 5) -> list[tuple[Tensor, Tensor]]:
    """Batches of a text (N,), inputs and targets, (16, 16) each."""
    pieces = text[: batches * 16 * 17].view(batches, 16, 17)
    return [(one[:, :-1], one[:, 1:]) for one in pieces]
