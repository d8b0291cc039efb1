"""Deep stacks of attention and MLP, and what chapter 5 measures on them.

A stack reads sequences of symbols and says, for every place, which symbol stands at the
mirrored one. How a sublayer is put on the stream, the norm and the attention are the
caller's: they come in as arguments.
"""

from collections.abc import Callable
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

#: Puts a sublayer on the stream: (x, sublayer, norm) -> x, like pre_norm, post_norm.
Place = Callable[[Tensor, nn.Module, nn.Module], Tensor]

SYMBOLS, LENGTH = 8, 8


class Stack(nn.Module):
    """`depth` layers, each attention and then an MLP, between embedding and read-out.

    tokens (B, 8) -> logits (B, 8, 8). `norm(d_model)` builds a norm for each sublayer,
    and one more before the read-out if `final_norm` is set; `attention(d_model,
    num_heads)` builds the attention. All else starts as torch lets it start.
    """

    def __init__(
        self,
        depth: int,
        place: Place,
        norm: Callable[[int], nn.Module],
        attention: Callable[[int, int], nn.Module],
        *,
        final_norm: bool = False,
        d_model: int = 32,
        num_heads: int = 4,
    ) -> None:
        super().__init__()
        self.place = place
        self.embed = nn.Embedding(SYMBOLS, d_model)
        self.position = nn.Parameter(torch.randn(LENGTH, d_model))
        self.sublayers = nn.ModuleList()
        for _ in range(depth):
            self.sublayers.append(attention(d_model, num_heads))
            self.sublayers.append(mlp(d_model))
        self.norms = nn.ModuleList(norm(d_model) for _ in self.sublayers)
        self.final = norm(d_model) if final_norm else nn.Identity()
        self.head = nn.Linear(d_model, SYMBOLS)

    def states(self, tokens: Tensor, without: int | None = None) -> list[Tensor]:
        """The stream before, between and after the sublayers: 2 depth + 1 (B, T, C).

        The layer numbered `without`, from 0, is left out.
        """
        x = (self.embed(tokens) + self.position) / 2**0.5  # of variance 1
        states = [x]
        steps = zip(self.sublayers, self.norms, strict=True)
        for i, (sublayer, norm) in enumerate(steps):
            if i // 2 != without:
                states.append(self.place(states[-1], sublayer, norm))
        return states

    def forward(self, tokens: Tensor, without: int | None = None) -> Tensor:
        logits: Tensor = self.head(self.final(self.states(tokens, without)[-1]))
        return logits


def mlp(d_model: int) -> nn.Module:
    """Two linear maps with a ReLU between, four times as wide inside."""
    inside = 4 * d_model
    return nn.Sequential(
        nn.Linear(d_model, inside), nn.ReLU(), nn.Linear(inside, d_model)
    )


def deal(generator: Generator, batch: int = 16) -> tuple[Tensor, Tensor]:
    """Random symbols, and the same read backwards: (batch, 8), (batch, 8)."""
    tokens = torch.randint(SYMBOLS, (batch, LENGTH), generator=generator)
    return tokens, tokens.flip(1)


def loss_of(
    stack: Stack, tokens: Tensor, targets: Tensor, without: int | None = None
) -> Tensor:
    """The mean cross-entropy over all places."""
    logits = stack(tokens, without)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def gradient_by_layer(stack: Stack, batch: int = 16, seed: int = 0) -> Tensor:
    """The size of the loss's gradient for each layer's weights: (depth,)."""
    loss = loss_of(stack, *deal(Generator().manual_seed(seed), batch))
    weights = [
        [w for sublayer in layer for w in sublayer.parameters()]
        for layer in zip(stack.sublayers[::2], stack.sublayers[1::2], strict=True)
    ]
    flat = torch.autograd.grad(loss, [w for layer in weights for w in layer])
    sizes = torch.stack([gradient.norm() for gradient in flat])
    by_layer: Tensor = sizes.view(len(weights), -1).norm(dim=1)
    return by_layer


@torch.no_grad()
def scales(stack: Stack, batch: int = 16, seed: int = 0) -> Tensor:
    """The root mean square of the stream before each sublayer and after the last.

    -> (2 depth + 1,)
    """
    tokens, _ = deal(Generator().manual_seed(seed), batch)
    return torch.stack([x.square().mean().sqrt() for x in stack.states(tokens)])


@torch.no_grad()
def turns(stack: Stack, batch: int = 16, seed: int = 0) -> Tensor:
    """By how much each layer changes its stream, relative to it: (depth,).

    That is the length of what is new, averaged over tokens, over the stream's length.
    """
    tokens, _ = deal(Generator().manual_seed(seed), batch)
    before_after = stack.states(tokens)[::2]
    shares = [
        ((after - before).norm(dim=-1) / before.norm(dim=-1)).mean()
        for before, after in pairwise(before_after)
    ]
    return torch.stack(shares)


@torch.no_grad()
def likeness(stack: Stack, batch: int = 16, seed: int = 0) -> Tensor:
    """How alike the tokens of a sequence are before each layer and after the last.

    The mean cosine between two different tokens of a sequence: (depth + 1,).
    """
    tokens, _ = deal(Generator().manual_seed(seed), batch)
    found = []
    for x in stack.states(tokens)[::2]:
        unit = F.normalize(x, dim=-1)
        cosines = unit @ unit.mT  # (B, T, T)
        others = ~torch.eye(LENGTH, dtype=torch.bool)
        found.append(cosines[:, others].mean())
    return torch.stack(found)


@torch.no_grad()
def losses_without(stack: Stack, batch: int = 256, seed: int = 1) -> Tensor:
    """The loss with one layer left out, for each layer: (depth,)."""
    tokens, targets = deal(Generator().manual_seed(seed), batch)
    depth = len(stack.sublayers) // 2
    return torch.stack([loss_of(stack, tokens, targets, k) for k in range(depth)])


def moved_by_one_step(
    stack: Stack, rate: float, batch: int = 16, seed: int = 0
) -> float:
    """How far Adam's first step moves what the read-out sees, relative to its length.

    The stack is changed.
    """
    tokens, targets = deal(Generator().manual_seed(seed), batch)
    optimizer = torch.optim.Adam(stack.parameters(), lr=rate)
    torch.autograd.backward(loss_of(stack, tokens, targets))
    with torch.no_grad():
        before = stack.final(stack.states(tokens)[-1])
        optimizer.step()
        after = stack.final(stack.states(tokens)[-1])
    return float((after - before).norm() / before.norm())


def train(
    stack: Stack,
    *,
    warmup: int = 0,
    rate: float = 4e-3,
    steps: int = 100,
    seed: int = 0,
    watch: Callable[[], object] | None = None,
) -> list[float]:
    """Train the stack with Adam, the rate rising over `warmup` steps; its losses.

    `watch` is called before every step.
    """
    generator = Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(stack.parameters(), lr=rate, fused=True)
    losses = []
    for step in range(steps):
        if watch is not None:
            watch()
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / max(warmup, 1))
        loss = loss_of(stack, *deal(generator))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    return losses
