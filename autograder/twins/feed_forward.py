"""GELU and the feed-forward networks once more, with a switch for every slip."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]
Pair = Callable[[Tensor, Tensor], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def normal_cdf(x: Tensor) -> Tensor:
    return (1 + (x / math.sqrt(2)).erf()) / 2


def normal_density(x: Tensor) -> Tensor:
    return (-x * x / 2).exp() / math.sqrt(2 * math.pi)


def let_through(
    x: Tensor,
    *,
    share: Change = normal_cdf,
    product: Pair = torch.mul,
    after: Change = same,
) -> Tensor:
    """The twin of gelu: how much of each number gets through."""
    return after(product(x, share(x)))


def tanh_share(x: Tensor, *, root: float = 0.5, power: int = 3) -> Tensor:
    inner: Tensor = (2 / math.pi) ** root * (x + 0.044715 * x**power)
    return (1 + inner.tanh()) / 2


#: How gelu goes wrong.
GELUS = [
    Mistake(
        "tanh-approximation",
        "This is GELU's tanh approximation, a known variant, up to 0.0005 off; asked "
        "for is the exact one, with the normal distribution function (erf).",
        share=tanh_share,
    ),
    Mistake(
        "tanh-without-root",
        "This is GELU's tanh approximation with 2/π where √(2/π) belongs; asked for is "
        "the exact one, with the normal distribution function (erf).",
        share=lambda x: tanh_share(x, root=1.0),
    ),
    Mistake(
        "tanh-with-square",
        "This is GELU's tanh approximation with x² where x³ belongs; asked for is the "
        "exact one, with the normal distribution function (erf).",
        share=lambda x: tanh_share(x, power=2),
    ),
    Mistake(
        "sigmoid-approximation",
        "This is x * sigmoid(1.702 x), the sigmoid approximation (QuickGELU); asked "
        "for is the exact GELU, with the normal distribution function (erf).",
        share=lambda x: (1.702 * x).sigmoid(),
    ),
    Mistake(
        "silu",
        "This is SiLU (swish), x * sigmoid(x); GELU weighs x with the normal "
        "distribution function instead of the sigmoid.",
        share=torch.sigmoid,
    ),
    Mistake(
        "relu",
        "This is ReLU, which is 0 below 0; GELU lets a part of negative numbers "
        "through: x * Φ(x), with erf.",
        share=lambda x: (x > 0).to(x.dtype),
    ),
    Mistake(
        "root-two-missing",
        "The √2 is missing: Φ(x) is (1 + erf(x / √2)) / 2.",
        share=lambda x: (1 + x.erf()) / 2,
    ),
    Mistake(
        "times-root-two",
        "x is multiplied by √2 inside erf; it is divided: erf(x / √2).",
        share=lambda x: (1 + (x * math.sqrt(2)).erf()) / 2,
    ),
    Mistake(
        "two-without-root",
        "x is divided by 2 inside erf; it should be √2: erf(x / √2).",
        share=lambda x: (1 + (x / 2).erf()) / 2,
    ),
    Mistake(
        "tanh-for-erf",
        "There is a tanh of x / √2 where erf(x / √2) belongs.",
        share=lambda x: (1 + (x / math.sqrt(2)).tanh()) / 2,
    ),
    Mistake(
        "half-missing",
        "The factor 1/2 is missing, so large numbers are doubled: Φ(x) is "
        "(1 + erf(x / √2)) / 2.",
        share=lambda x: 1 + (x / math.sqrt(2)).erf(),
    ),
    Mistake(
        "one-missing",
        "The 1 + in front of erf is missing: Φ(x) is (1 + erf(x / √2)) / 2.",
        share=lambda x: (x / math.sqrt(2)).erf() / 2,
    ),
    Mistake(
        "erf-alone",
        "x is multiplied by erf(x / √2) alone, which is negative below 0; Φ(x) is "
        "(1 + erf(x / √2)) / 2.",
        share=lambda x: (x / math.sqrt(2)).erf(),
    ),
    Mistake(
        "other-tail",
        "The sign is wrong: this lets through what GELU keeps back, x * (1 - Φ(x)). "
        "Φ(x) is (1 + erf(x / √2)) / 2, or erfc(-x / √2) / 2.",
        share=lambda x: (1 - (x / math.sqrt(2)).erf()) / 2,
    ),
    Mistake(
        "density-for-distribution",
        "x is multiplied by the normal density (the bell curve, the pdf); it should be "
        "the distribution function Φ, the cdf, with erf.",
        share=normal_density,
    ),
    Mistake(
        "cdf-alone",
        "This is Φ(x) alone; GELU is x times that: x * Φ(x).",
        product=lambda x, share: share,
    ),
    Mistake(
        "cdf-added",
        "Φ(x) is added to x; GELU multiplies the two: x * Φ(x).",
        product=torch.add,
    ),
    Mistake(
        "bracket-left-out",
        "The brackets are missing around 1 + erf, so x multiplies the 1 only: it "
        "should be x * (1 + erf(x / √2)) / 2.",
        wrong=lambda x: 0.5 * x + (x / math.sqrt(2)).erf(),
    ),
    Mistake(
        "bracket-before-the-half",
        "Brackets are missing: only erf is halved, not 1 + erf. It should be x * "
        "(1 + erf(x / √2)) / 2.",
        share=lambda x: 1 + (x / math.sqrt(2)).erf() / 2,
    ),
    Mistake(
        "x-in-the-bracket",
        "x is added to erf where 1 belongs, as a tanh form's inner sum; it should be "
        "x * (1 + erf(x / √2)) / 2.",
        wrong=lambda x: 0.5 * (x + (x / math.sqrt(2)).erf()),
    ),
    Mistake(
        "its-derivative",
        "This is GELU's derivative, Φ(x) + x φ(x); asked for is the function itself, "
        "x * Φ(x).",
        wrong=lambda x: normal_cdf(x) + x * normal_density(x),
    ),
    Mistake(
        "softplus",
        "This is softplus, log(1 + eˣ); GELU is x * Φ(x), with erf.",
        wrong=F.softplus,
    ),
    Mistake(
        "mish",
        "This is Mish, x * tanh(softplus(x)); GELU is x * Φ(x), with erf.",
        share=lambda x: F.softplus(x).tanh(),
    ),
    Mistake(
        "elu",
        "This is ELU; GELU is x * Φ(x), with erf.",
        wrong=F.elu,
    ),
    Mistake(
        "leaky-relu",
        "This is a leaky ReLU; GELU is x * Φ(x), with erf.",
        wrong=F.leaky_relu,
    ),
    Mistake(
        "negative-cut-off",
        "Negative numbers come back as 0; GELU lets a part of them through, down to "
        "-0.17.",
        after=torch.relu,
    ),
    Mistake(
        "share-detached",
        "The values are right, but Φ(x) is detached (detach, no_grad, .data): its "
        "slope is part of GELU's gradient.",
        share=lambda x: normal_cdf(x).detach(),
    ),
]


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
        "The activation is a GELU whose √2 is missing: it is x * (1 + erf(x / √2)) / 2.",
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
        "The values are right, but the hidden features are detached (detach, no_grad, "
        ".data): no gradient reaches W_1.",
        middle=lambda h: h.detach(),
    ),
]


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
    after: Callable[[Tensor, Tensor], Tensor] = lambda y, x: y,
) -> Tensor:
    """The twin of SwiGLU."""
    gated = bend(getattr(module, gate)(x))
    hidden = join(gated, bend_up(getattr(module, up)(x)))
    return after(module.W_down(middle(hidden)), x)


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
        "W_gate and W_up are swapped: the SiLU is around W_up x; it belongs around "
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
        "silu-in-the-end",
        "The SiLU comes after W_down; it is taken of W_gate x: SiLU(W_gate x) * W_up x.",
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
        "The values are right, but the gate is detached (detach, no_grad, .data): no "
        "gradient reaches W_gate.",
        bend=lambda z: F.silu(z).detach(),
    ),
    Mistake(
        "up-detached",
        "The values are right, but W_up's branch is detached (detach, no_grad, .data): "
        "no gradient reaches W_up.",
        bend_up=lambda u: u.detach(),
    ),
]
