"""GELU once more, with a switch wherever people slip."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
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


def tanh_share(
    x: Tensor, *, factor: float = (2 / math.pi) ** 0.5, cubic: float = 0.044715
) -> Tensor:
    inner = factor * (x + cubic * x**3)
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
        "This is GELU's tanh approximation without the square root of 2/π; asked for "
        "is the exact one, with the normal distribution function (erf).",
        share=lambda x: tanh_share(x, factor=2 / math.pi),
    ),
    Mistake(
        "tanh-with-square",
        "This is GELU's tanh approximation with x² where x³ belongs; asked for is "
        "the exact one, with the normal distribution function (erf).",
        share=lambda x: (1 + ((2 / math.pi) ** 0.5 * (x + 0.044715 * x**2)).tanh()) / 2,
    ),
    Mistake(
        "tanh-without-cubic",
        "This is GELU's tanh approximation without its cubic term; asked for is the "
        "exact one, with the normal distribution function (erf).",
        share=lambda x: tanh_share(x, cubic=0.0),
    ),
    Mistake(
        "tanh-with-ten-times-the-cubic",
        "This is GELU's tanh approximation with 0.44715 where 0.044715 belongs; "
        "asked for is the exact one, with the normal distribution function (erf).",
        share=lambda x: tanh_share(x, cubic=0.44715),
    ),
    Mistake(
        "tanh-with-root-of-two-pi",
        "This is GELU's tanh approximation with √(2π) where √(2/π) belongs; asked "
        "for is the exact one, with the normal distribution function (erf).",
        share=lambda x: tanh_share(x, factor=math.sqrt(2 * math.pi)),
    ),
    Mistake(
        "sigmoid-of-1.7",
        "This is x * sigmoid(1.7 x), a sigmoid approximation; asked for is the exact "
        "GELU, with the normal distribution function (erf).",
        share=lambda x: (1.7 * x).sigmoid(),
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
        "The square root of 2 is missing: this takes erf(x), Φ(x) is (1 + erf(x / "
        "√2)) / 2.",
        share=lambda x: (1 + x.erf()) / 2,
    ),
    Mistake(
        "times-root-two",
        "x is multiplied by the square root of 2 inside erf; it is divided by it: "
        "erf(x / √2).",
        share=lambda x: (1 + (x * math.sqrt(2)).erf()) / 2,
    ),
    Mistake(
        "root-two-outside",
        "erf is divided by the square root of 2; x is divided by it, inside: erf(x / "
        "√2).",
        share=lambda x: (1 + x.erf() / math.sqrt(2)) / 2,
    ),
    Mistake(
        "root-two-as-1.41",
        "The square root of 2 is written as 1.41; take it exactly, math.sqrt(2).",
        share=lambda x: (1 + (x / 1.41).erf()) / 2,
    ),
    Mistake(
        "root-of-two-pi",
        "x is divided by √(2π) inside erf, which belongs to the density; it should be "
        "the square root of 2: erf(x / √2).",
        share=lambda x: (1 + (x / math.sqrt(2 * math.pi)).erf()) / 2,
    ),
    Mistake(
        "two-without-root",
        "x is divided by 2 inside erf; it should be the square root of 2: erf(x / √2).",
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
        "Φ(x) is detached (detach, no_grad, .data), so the gradients are wrong: its "
        "slope is part of GELU's gradient.",
        share=lambda x: normal_cdf(x).detach(),
    ),
]
