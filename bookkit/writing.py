"""What a small model needs in order to write, and what shows how it writes.

Everything takes the reader's parts as arguments.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from bookkit.tales import WORDS, sentences

Loss = Callable[[Tensor, Tensor], Tensor]
Batch = Callable[[Tensor, int, int, Generator], tuple[Tensor, Tensor]]


def teach(
    model: Any,
    text: Tensor,
    get_batch: Batch,
    loss: Loss,
    *,
    steps: int = 200,
    batch: int = 32,
    rate: float = 0.02,
    seed: int = 0,
) -> None:
    """Teach a MiniGPT to predict a text's (N,) next tokens, in place."""
    generator = Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
    model.train()
    for _ in range(steps):
        inputs, targets = get_batch(text, batch, model.max_seq, generator)
        missed = loss(model(inputs), targets)
        optimizer.zero_grad()
        missed.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    model.eval()


@torch.no_grad()
def write(
    model: nn.Module, tokens: Tensor, length: int, pick: Callable[[Tensor], Tensor]
) -> Tensor:
    """Write on to `length` tokens: tokens (B, T) -> (B, length).

    pick takes the next token's logits (B, vocab) and returns tokens (B, 1).
    """
    while tokens.shape[1] < length:
        logits = model(tokens)[:, -1]  # (B, vocab)
        tokens = torch.cat([tokens, pick(logits)], dim=1)
    return tokens


def subjects(texts: Iterable[Tensor], nouns: Sequence[str]) -> list[float]:
    """Of a text's sentences, the shares whose first noun is each of these."""
    first = (
        next((word for word in sentence if word in nouns), None)
        for sentence in sentences(texts)
    )
    counts = Counter(noun for noun in first if noun is not None)
    return [counts[noun] / counts.total() for noun in nouns]


def passed(model: Any, run: Callable[[], object]) -> int:
    """How many tokens go through a MiniGPT's first block during a run."""
    count = 0

    def see(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        nonlocal count
        count += inputs[0].shape[0] * inputs[0].shape[1]  # (B, T, C)

    # Each token's feed-forward network is asked once a pass, cache or not.
    hook = model.blocks[0].ff.register_forward_pre_hook(see)
    try:
        run()
    finally:
        hook.remove()
    return count


def start(batch: int = 1) -> Tensor:
    """What a text begins with, a full stop: (batch, 1)."""
    return torch.full((batch, 1), WORDS.index("."))


@torch.no_grad()
def feed(
    model: Any,
    chunks: Sequence[Tensor],
    attend: Callable[[Any, Tensor, Any], Tensor],
    caches: Sequence[Any],
    *,
    restart: bool = False,
) -> Tensor:
    """Run a MiniGPT over a text in chunks, with any attention: chunks (B, n) each.

    attend(attention, x, cache) -> (B, n, C) does one block's. -> logits (B, T, vocab),
    those of all chunks. `restart` counts each chunk's positions from 0.
    """
    logits, past = [], 0
    for chunk in chunks:
        first = 0 if restart else past
        positions = torch.arange(first, first + chunk.shape[1])
        x = model.embed(chunk) + model.pos_embed(positions)  # (B, n, C)
        for block, cache in zip(model.blocks, caches, strict=True):
            x = x + block.drop(attend(block.attn, block.norm1(x), cache))
            x = x + block.drop(block.ff(block.norm2(x)))
        logits.append(model.head(model.norm(x)))
        past += chunk.shape[1]
    return torch.cat(logits, dim=1)
