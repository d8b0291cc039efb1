"""SwiGLU once more, with a switch wherever people slip."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.definition import Mistake
from autograder.twins.feed_forward import dropped

Change = Callable[[Tensor], Tensor]
Pair = Callable[[Tensor, Tensor], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def through_the_gate(
    module: Any,
    x: Tensor,
    *,
    gate: str = "W_gate",
    up: str = "W_up",
    bend: Change = F.silu,
    bend_up: Change = same,
    join: Pair = torch.mul,
    middle: Change = same,
    down: Callable[[Any, Tensor], Tensor] = lambda module, h: module.W_down(h),
    after: Callable[[Tensor, Tensor], Tensor] = lambda y, x: y,
) -> Tensor:
    """The twin of SwiGLU."""
    gated = bend(getattr(module, gate)(x))
    hidden = join(gated, bend_up(getattr(module, up)(x)))
    return after(down(module, middle(hidden)), x)


class Biased(nn.Module):
    """A SwiGLU whose three projections have biases."""

    def __init__(self, d_model: int, ff_dim: int) -> None:
        super().__init__()
        self.W_gate = nn.Linear(d_model, ff_dim)
        self.W_up = nn.Linear(d_model, ff_dim)
        self.W_down = nn.Linear(ff_dim, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return through_the_gate(self, x)


#: How SwiGLU goes wrong.
GATES = [
    Mistake(
        "sigmoid-gate",
        "The gate is a sigmoid, sigmoid(W_gate x): that is GLU. SwiGLU gates with "
        "SiLU, z * sigmoid(z).",
        bend=torch.sigmoid,
    ),
    Mistake(
        "gate-and-up-exchanged",
        "W_gate and W_up are swapped: the activation is on W_up x; it belongs on "
        "W_gate x.",
        gate="W_up",
        up="W_gate",
    ),
    Mistake(
        "silu-on-the-product",
        "The SiLU is taken of the product; it is taken of W_gate x alone, before the "
        "multiplication: SiLU(W_gate x) * W_up x.",
        bend=same,
        middle=F.silu,
    ),
    Mistake(
        "silu-on-both",
        "The SiLU is taken of both branches; it is taken of W_gate x alone: "
        "SiLU(W_gate x) * W_up x.",
        bend_up=F.silu,
    ),
    Mistake(
        "multiplied-by-the-gate-once-more",
        "The SiLU is multiplied by W_gate x once more; SiLU(z) is z * sigmoid(z) "
        "already: SiLU(W_gate x) * W_up x.",
        bend=lambda z: z * F.silu(z),
    ),
    Mistake(
        "silu-in-the-end",
        "The SiLU comes after W_down; it is taken of W_gate x: SiLU(W_gate x) * W_up "
        "x.",
        bend=same,
        after=lambda y, x: F.silu(y),
    ),
    Mistake(
        "relu-gate",
        "The gate is a ReLU: that is ReGLU. SwiGLU gates with SiLU, z * sigmoid(z).",
        bend=torch.relu,
    ),
    Mistake(
        "gelu-gate",
        "The gate is a GELU: that is GEGLU. SwiGLU gates with SiLU, z * sigmoid(z).",
        bend=F.gelu,
    ),
    Mistake(
        "tanh-gelu-gate",
        "The gate is a GELU in its tanh form: that is GEGLU. SwiGLU gates with SiLU, "
        "z * sigmoid(z).",
        bend=lambda z: F.gelu(z, approximate="tanh"),
    ),
    Mistake(
        "quick-gelu-gate",
        "The gate is z * sigmoid(1.702 z), as in QuickGELU; SiLU is z * sigmoid(z).",
        bend=lambda z: z * (1.702 * z).sigmoid(),
    ),
    Mistake(
        "tanh-gate",
        "The gate is a tanh; SwiGLU gates with SiLU, z * sigmoid(z).",
        bend=torch.tanh,
    ),
    Mistake(
        "softmax-gate",
        "The gate is a softmax; SwiGLU gates with SiLU, z * sigmoid(z).",
        bend=lambda z: z.softmax(dim=-1),
    ),
    Mistake(
        "no-activation",
        "There is no activation: the product of two linear maps is a bilinear layer. "
        "The gate goes through SiLU: SiLU(W_gate x) * W_up x.",
        bend=same,
    ),
    Mistake(
        "up-missing",
        "W_up is never used: this is a plain SiLU network without a gate. The hidden "
        "features are SiLU(W_gate x) * W_up x.",
        join=lambda gated, up: gated,
    ),
    Mistake(
        "gate-missing",
        "W_gate is never used, so nothing is gated. The hidden features are "
        "SiLU(W_gate x) * W_up x.",
        join=lambda gated, up: up,
    ),
    Mistake(
        "silu-of-up-alone",
        "W_gate is never used: this is SiLU(W_up x) alone. The hidden features are "
        "SiLU(W_gate x) * W_up x.",
        join=lambda gated, up: F.silu(up),
    ),
    Mistake(
        "gate-used-twice",
        "W_up is never used: W_gate stands in both branches; look for copy and paste. "
        "It should be SiLU(W_gate x) * W_up x.",
        up="W_gate",
    ),
    Mistake(
        "up-used-twice",
        "W_gate is never used: W_up stands in both branches; look for copy and paste. "
        "It should be SiLU(W_gate x) * W_up x.",
        gate="W_up",
    ),
    Mistake(
        "added",
        "The two branches are added; a gate multiplies: SiLU(W_gate x) * W_up x.",
        join=torch.add,
    ),
    Mistake(
        "down-missing",
        "W_down is never applied, so the hidden features come back: it brings them "
        "back to d_model.",
        down=lambda module, h: h,
    ),
    Mistake(
        "residual-added",
        "x is added to the result, a residual connection; that comes later, in the "
        "block.",
        after=lambda y, x: y + x,
    ),
    Mistake(
        "dropout-inside",
        "There is a dropout before W_down; none is asked for.",
        middle=dropped,
    ),
    Mistake(
        "dropout-in-the-end",
        "There is a dropout at the end; none is asked for.",
        after=lambda y, x: dropped(y),
    ),
    Mistake(
        "biased",
        "The projections have biases, which nothing loads; SwiGLU's three are without: "
        "nn.Linear(…, bias=False).",
        wrong=Biased,
    ),
    Mistake(
        "gate-detached",
        "The gate is detached (detach, no_grad, .data), so the gradients are wrong: "
        "no gradient reaches W_gate.",
        bend=lambda z: F.silu(z).detach(),
    ),
    Mistake(
        "up-detached",
        "W_up's branch is detached (detach, no_grad, .data), so the gradients are "
        "wrong: no gradient reaches W_up.",
        bend_up=lambda u: u.detach(),
    ),
]
