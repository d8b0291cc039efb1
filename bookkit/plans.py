"""How a decoder is trained in chapter 15: by which optimiser, at which rates."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from bookkit.muon import Muon, Together
from solutions.training import get_batch, train_step


@dataclass(frozen=True)
class Plan:
    """What decides how a training comes out, but the model, the text and the seed.

    rate         AdamW's largest
    muon         Muon's largest, for the matrices in the blocks; 0: AdamW has them, too
    warmup       steps until the rates are at their largest
    schedule     "cosine" or "linear", down to `last` of the largest
    """

    steps: int = 2000
    batch_size: int = 12
    seq_len: int = 64
    rate: float = 1e-3
    muon: float = 0.0
    warmup: int = 100
    schedule: str = "cosine"
    last: float = 0.1
    beta2: float = 0.99
    weight_decay: float = 0.1

    @property
    def tokens(self) -> int:
        return self.steps * self.batch_size * self.seq_len

    def share(self, step: int) -> float:
        """The rate at a step, from 0, as a share of the largest."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        left = 1 - (step - self.warmup) / (self.steps - self.warmup)  # from 1 to 0
        if self.schedule == "cosine":
            left = (1 - math.cos(math.pi * left)) / 2
        return self.last + (1 - self.last) * left


def optimizer_for(model: Any, plan: Plan) -> Together:
    """AdamW for everything, or Muon for the blocks' matrices and AdamW for the rest.

    Vectors don't decay. Every group knows its largest rate, as "peak".
    """
    inside = {p for p in model.blocks.parameters() if p.dim() == 2}
    matrices = [p for p in model.parameters() if p.dim() == 2 and p not in inside]
    vectors = [p for p in model.parameters() if p.dim() != 2]
    ordered = [p for p in model.blocks.parameters() if p in inside]
    optimizers: list[torch.optim.Optimizer] = []
    if plan.muon:
        optimizers.append(Muon(ordered, plan.muon, weight_decay=plan.weight_decay))
    else:
        matrices = ordered + matrices
    groups = [
        {"params": matrices, "weight_decay": plan.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    betas = (0.9, plan.beta2)
    optimizers.append(torch.optim.AdamW(groups, plan.rate, betas, fused=True))
    together = Together(*optimizers)
    for group in together.param_groups:
        group["peak"] = group["lr"]
    return together


def train(model: Any, plan: Plan, tokens: Tensor, seed: int = 0) -> Iterator[float]:
    """Train a decoder on a text, tokens (N,); gives the loss of each step's batch.

    Models that are trained with the same seed, batch size and length see the same
    batches. The tokens may be on another device than the model.
    """
    optimizer = optimizer_for(model, plan)
    generator = Generator().manual_seed(seed)
    device = model.embed.weight.device
    for step in range(plan.steps):
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * plan.share(step)
        batch = get_batch(tokens, plan.batch_size, plan.seq_len, generator)
        pair = tuple(one.to(device) for one in batch)
        yield train_step(model, optimizer, [pair])


@torch.no_grad()
def losses_on(
    model: nn.Module, tokens: Tensor, seq_len: int, pieces: int | None = None
) -> Tensor:
    """The loss on each piece of a text, tokens (N,), in nats a token.

    -> (pieces,). The text is cut into pieces of seq_len, one after the other; so many
    of them are read, from the first on and at equal distances, or all.
    """
    count = (len(tokens) - 1) // seq_len
    chosen = torch.arange(0, count, max(1, count // (pieces or count)))[:pieces]
    device = next(model.parameters()).device
    cut = tokens[: count * seq_len + 1].unfold(0, seq_len + 1, seq_len)[chosen]
    losses = []
    for some in cut.to(device).split(max(1, 4096 // seq_len)):
        logits = model(some[:, :-1])  # (B, T, V)
        each = F.cross_entropy(logits.mT, some[:, 1:].long(), reduction="none")
        losses.append(each.mean(dim=1).cpu())
    return torch.cat(losses)


def race(
    runners: Mapping[str, tuple[Any, Plan]],
    tokens: Tensor,
    seed: int = 0,
    checks: int = 8,
) -> dict[str, list[tuple[int, float]]]:
    """Train decoders, each by its plan, on the first nine tenths of a text.

    tokens (N,) -> by name, rows of steps done and loss on the last tenth, of which 16
    pieces are read. With the same batch size and length all see the same batches.
    """
    cut = len(tokens) * 9 // 10
    found: dict[str, list[tuple[int, float]]] = {}
    for name, (model, plan) in runners.items():
        found[name] = []
        every = max(1, plan.steps // checks)
        for done, _ in enumerate(train(model, plan, tokens[:cut], seed), start=1):
            if done % every == 0:
                unseen = losses_on(model, tokens[cut:], plan.seq_len, 16)
                found[name].append((done, float(unseen.mean())))
    return found
