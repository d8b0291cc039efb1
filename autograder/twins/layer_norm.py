"""How layer_norm goes wrong, as switches of its twin."""

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.norms import SHARED, layer, unbiased, uncentred


def min_max(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    return (x - low) / (high - low + eps) * weight + bias


def twice(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    one = torch.ones_like(weight)
    return layer(layer(x, one, 0 * one, eps), weight, bias, eps)


def affine_first(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    none = torch.ones_like(weight)
    return layer(x * weight + bias, none, 0 * none, eps)


#: How layer_norm goes wrong.
LAYER = [
    Mistake(
        "unbiased-variance",
        "The variance is the unbiased one (Bessel's correction, a division by n - 1), "
        "which torch's var and std give by default; LayerNorm divides by n: "
        "correction=0.",
        average=unbiased,
    ),
    Mistake(
        "rms-norm-instead",
        "This is RMSNorm: the mean is never subtracted. LayerNorm subtracts it first.",
        centred=uncentred,
        deviation=uncentred,
    ),
    Mistake(
        "mean-not-subtracted",
        "The mean is not subtracted from x before the division; only the variance "
        "knows it. It should be (x - mean) / sqrt(variance + eps).",
        centred=uncentred,
    ),
    Mistake(
        "variance-around-zero",
        "The variance is the mean of x²; it is the mean of (x - mean)², around the "
        "mean.",
        deviation=uncentred,
    ),
    Mistake(
        "mean-added",
        "The mean is added where it should be subtracted.",
        centred=torch.add,
    ),
    *SHARED,
    Mistake(
        "eps-hard-coded",
        "The argument eps has no effect: it is always 1e-5 here.",
        used=lambda eps: 1e-5,
    ),
    Mistake(
        "default-eps-of-rms-norm",
        "eps is 1e-6 where none is given; LayerNorm's default is 1e-5.",
        default=1e-6,
    ),
    Mistake(
        "default-eps-of-bert",
        "eps is 1e-12 where none is given; the default here is 1e-5.",
        default=1e-12,
    ),
    Mistake(
        "default-eps-1e-8",
        "eps is 1e-8 where none is given; the default here is 1e-5.",
        default=1e-8,
    ),
    Mistake(
        "affine-missing",
        "Neither weight nor bias is used: the normed numbers are scaled by weight and "
        "shifted by bias.",
        affine=lambda y, w, b: y,
    ),
    Mistake(
        "weight-missing",
        "The weight (the gain) is never used: normed * weight + bias.",
        affine=lambda y, w, b: y + b,
    ),
    Mistake(
        "bias-missing",
        "The bias (the shift) is never used: normed * weight + bias.",
        affine=lambda y, w, b: y * w,
    ),
    Mistake(
        "weight-and-bias-exchanged",
        "Weight and bias are swapped: normed * weight + bias.",
        affine=lambda y, w, b: y * b + w,
    ),
    Mistake(
        "bias-before-weight",
        "The bias is added before the weight multiplies, so it is scaled too: normed * "
        "weight + bias.",
        affine=lambda y, w, b: (y + b) * w,
    ),
    Mistake(
        "bias-subtracted",
        "The bias is subtracted; it is added: normed * weight + bias.",
        affine=lambda y, w, b: y * w - b,
    ),
    Mistake(
        "one-plus-weight",
        "The numbers are scaled by 1 + weight, as in Gemma; here the weight itself is "
        "the gain.",
        affine=lambda y, w, b: y * (1 + w) + b,
    ),
    Mistake(
        "affine-before-the-norm",
        "Weight and bias are applied to x before it is normalised; they come last: "
        "normed * weight + bias.",
        wrong=affine_first,
    ),
    Mistake(
        "normalised-twice",
        "The numbers are normalised twice, and eps counts twice; once is asked for.",
        wrong=twice,
    ),
    Mistake(
        "min-max",
        "This maps the smallest number to 0 and the largest to 1 (min-max scaling); "
        "LayerNorm subtracts the mean and divides by the standard deviation.",
        wrong=min_max,
    ),
    Mistake(
        "statistics-detached",
        "Mean and variance are detached (detach, no_grad, .data), so the gradients "
        "are wrong: their gradient is part of LayerNorm's.",
        mean_seen=lambda x: x.detach(),
        variance_seen=lambda x: x.detach(),
    ),
    Mistake(
        "variance-detached",
        "The variance is detached (detach, no_grad, .data), so the gradients are "
        "wrong: its gradient is part of LayerNorm's.",
        variance_seen=lambda x: x.detach(),
    ),
    Mistake(
        "mean-detached",
        "The mean is detached (detach, no_grad, .data), so the gradients are wrong: "
        "its gradient is part of LayerNorm's.",
        mean_seen=lambda x: x.detach(),
    ),
]
