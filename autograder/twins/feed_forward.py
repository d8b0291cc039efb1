"""The feed-forward network once more, with a switch wherever people slip."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def rework(
    module: Any,
    x: Tensor,
    *,
    before: Change = same,
    first: Callable[[Any, Tensor], Tensor] = lambda module, x: module.W_1(x),
    activation: Change = F.gelu,
    middle: Change = same,
    second: Callable[[Any, Tensor], Tensor] = lambda module, h: module.W_2(h),
    after: Callable[[Tensor, Tensor], Tensor] = lambda y, x: y,
) -> Tensor:
    """The twin of FeedForward."""
    hidden = middle(activation(first(module, before(x))))
    return after(second(module, hidden), x)


class Exchanged(nn.Module):
    """A FeedForward that applies W_2 first."""

    def __init__(self, d_model: int, ff_dim: int) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, ff_dim)
        self.W_2 = nn.Linear(ff_dim, d_model)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.W_1(F.gelu(self.W_2(x)))
        return result


def dropped(h: Tensor) -> Tensor:
    return F.dropout(h, 0.1)


#: How FeedForward goes wrong.
NETWORKS = [
    Mistake(
        "no-activation",
        "There is no activation between W_1 and W_2, so the two are one linear map: "
        "W_2(gelu(W_1(x))).",
        activation=same,
    ),
    Mistake(
        "tanh-approximation",
        "The activation is GELU's tanh approximation, a known variant; asked for is "
        "the exact GELU (your gelu, or F.gelu without approximate='tanh').",
        activation=lambda h: F.gelu(h, approximate="tanh"),
    ),
    Mistake(
        "sigmoid-approximation",
        "The activation is x * sigmoid(1.702 x), the sigmoid approximation of GELU; "
        "asked for is the exact GELU.",
        activation=lambda h: h * (1.702 * h).sigmoid(),
    ),
    Mistake(
        "relu",
        "The activation is ReLU, as in the 2017 paper; asked for is the exact GELU.",
        activation=torch.relu,
    ),
    Mistake(
        "silu",
        "The activation is SiLU (swish); asked for is the exact GELU.",
        activation=F.silu,
    ),
    Mistake(
        "tanh",
        "The activation is tanh; asked for is the exact GELU.",
        activation=torch.tanh,
    ),
    Mistake(
        "sigmoid",
        "The activation is a sigmoid; asked for is the exact GELU.",
        activation=torch.sigmoid,
    ),
    Mistake(
        "leaky-relu",
        "The activation is a leaky ReLU; asked for is the exact GELU.",
        activation=F.leaky_relu,
    ),
    Mistake(
        "elu",
        "The activation is ELU; asked for is the exact GELU.",
        activation=F.elu,
    ),
    Mistake(
        "softmax",
        "The activation is a softmax; asked for is the exact GELU.",
        activation=lambda h: h.softmax(dim=-1),
    ),
    Mistake(
        "gelu-root-two-missing",
        "The activation is a GELU whose square root of 2 is missing: it is x * (1 + "
        "erf(x / √2)) / 2.",
        activation=lambda h: h * (1 + h.erf()) / 2,
    ),
    Mistake(
        "activation-in-the-end",
        "The activation comes in the wrong order, after W_2; it stands between the "
        "two: W_2(gelu(W_1(x))).",
        activation=same,
        after=lambda y, x: F.gelu(y),
    ),
    Mistake(
        "activation-first",
        "The activation comes in the wrong order, before W_1; it stands between the "
        "two: W_2(gelu(W_1(x))).",
        activation=same,
        before=F.gelu,
    ),
    Mistake(
        "activation-after-both",
        "There is a second activation after W_2; the result is W_2's, as it is: "
        "W_2(gelu(W_1(x))).",
        after=lambda y, x: F.gelu(y),
    ),
    Mistake(
        "activation-twice",
        "The activation is applied twice in a row; once is asked for: "
        "W_2(gelu(W_1(x))).",
        middle=F.gelu,
    ),
    Mistake(
        "residual-added",
        "x is added to the result, a residual connection; that comes later, in the "
        "block: W_2(gelu(W_1(x))) alone.",
        after=lambda y, x: y + x,
    ),
    Mistake(
        "normed-first",
        "x is normed first (LayerNorm); that comes later, in the block: "
        "W_2(gelu(W_1(x))) alone.",
        before=lambda x: F.layer_norm(x, x.shape[-1:]),
    ),
    Mistake(
        "dropout-inside",
        "There is a dropout after the activation; none is asked for.",
        middle=dropped,
    ),
    Mistake(
        "dropout-in-the-end",
        "There is a dropout at the end; none is asked for.",
        after=lambda y, x: dropped(y),
    ),
    Mistake(
        "first-bias-missing",
        "The bias of W_1 is never added.",
        first=lambda module, x: x @ module.W_1.weight.mT,
    ),
    Mistake(
        "second-bias-missing",
        "The bias of W_2 is never added.",
        second=lambda module, h: h @ module.W_2.weight.mT,
    ),
    Mistake(
        "second-matrix-tied",
        "W_1 is used a second time, transposed, where W_2 belongs: W_2(gelu(W_1(x))).",
        second=lambda module, h: F.linear(h, module.W_1.weight.mT, module.W_2.bias),
    ),
    Mistake(
        "matrices-exchanged",
        "W_1 and W_2 are applied in the wrong order: W_1 widens first, W_2 narrows "
        "afterwards: W_2(gelu(W_1(x))).",
        wrong=Exchanged,
    ),
    Mistake(
        "second-matrix-missing",
        "W_2 is never applied, so the hidden features come back: it brings them back "
        "to d_model.",
        second=lambda module, h: h,
    ),
    Mistake(
        "hidden-detached",
        "The hidden features are detached (detach, no_grad, .data), so the gradients "
        "are wrong: no gradient reaches W_1.",
        middle=lambda h: h.detach(),
    ),
]
