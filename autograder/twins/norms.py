"""LayerNorm and RMSNorm once more, with a switch wherever people slip."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]
Axes = Callable[[Tensor], tuple[int, ...]]


def same(x: Tensor) -> Tensor:
    return x


def widened(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def mean_of(squares: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    return squares.mean(axes, keepdim=keep)


def sum_of(squares: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    return squares.sum(axes, keepdim=keep)


def unbiased(squares: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    n = math.prod(squares.shape[axis] for axis in axes)
    return squares.sum(axes, keepdim=keep) / (n - 1)


def over_n_twice(squares: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    return squares.mean(axes, keepdim=keep) / squares.shape[-1]


def times_n(squares: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    return squares.sum(axes, keepdim=keep) * squares.shape[-1]


def root(variance: Tensor, eps: float) -> Tensor:
    return (variance + eps).sqrt()


def layer(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    eps: float | None = None,
    *,
    default: float = 1e-5,
    used: Callable[[float], float] = lambda eps: eps,
    inside: Change = widened,
    over: Axes = lambda x: (-1,),
    keep: bool = True,
    mean_seen: Change = same,
    centred: Callable[[Tensor, Tensor], Tensor] = torch.sub,
    deviation: Callable[[Tensor, Tensor], Tensor] = torch.sub,
    power: Change = torch.square,
    average: Callable[[Tensor, tuple[int, ...], bool], Tensor] = mean_of,
    variance_seen: Change = same,
    divisor: Callable[[Tensor, float], Tensor] = root,
    affine: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda y, w, b: y * w + b,
    cast: Callable[[Tensor, torch.dtype], Tensor] = lambda y, dtype: y.to(dtype),
) -> Tensor:
    """The twin of layer_norm."""
    wide, axes = inside(x), over(x)
    mean = mean_seen(wide.mean(axes, keepdim=keep))
    squares = power(deviation(wide, mean))
    variance = variance_seen(average(squares, axes, keep))
    small = used(default if eps is None else eps)
    normed = centred(wide, mean) / divisor(variance, small)
    return cast(affine(normed, weight, bias), x.dtype)


def rms(
    x: Tensor,
    weight: Tensor,
    eps: float | None = None,
    *,
    default: float = 1e-6,
    affine: Callable[[Tensor, Tensor], Tensor] = lambda y, w: y * w,
    **switches: Any,
) -> Tensor:
    """The twin of rms_norm: without a mean, and without a bias."""
    switches = {"centred": uncentred, "deviation": uncentred} | switches
    return layer(
        x,
        weight,
        weight,
        eps,
        default=default,
        affine=lambda y, w, b: affine(y, w),
        **switches,
    )


def uncentred(x: Tensor, mean: Tensor) -> Tensor:
    return x


def minimum(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    return (x - low) / (high - low + eps) * weight + bias


def affine_first(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    none = torch.ones_like(weight)
    return layer(x * weight + bias, none, 0 * none, eps)


def gain_first(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    return rms(x * weight, torch.ones_like(weight), eps)


#: How the axis, eps, the dtype and the gradient go wrong in both norms.
SHARED = [
    Mistake(
        "over-the-tokens",
        "The statistics are taken over the tokens, dim=-2, so tokens mix; each token "
        "is normalised by itself, over its features: dim=-1.",
        over=lambda x: (-2,),
    ),
    Mistake(
        "over-the-first-axis",
        "The statistics are taken over the first axis, as in a BatchNorm; each token "
        "is normalised by itself, over its features: dim=-1.",
        over=lambda x: (0,),
    ),
    Mistake(
        "over-axis-1",
        "The statistics are taken over dim=1; each token is normalised by itself, over "
        "its features, the last axis: dim=-1.",
        over=lambda x: (1,),
    ),
    Mistake(
        "over-tokens-and-features",
        "The statistics are taken over the last two axes together, tokens and "
        "features; each token has its own: dim=-1.",
        over=lambda x: (-2, -1),
    ),
    Mistake(
        "over-the-whole-tensor",
        "One statistic is taken of the whole tensor; each token has its own, over its "
        "features: dim=-1, keepdim=True.",
        over=lambda x: tuple(range(x.dim())),
    ),
    Mistake(
        "over-the-whole-sequence",
        "The statistics are taken over all axes but the first; each token has its own, "
        "over its features: dim=-1.",
        over=lambda x: tuple(range(1, x.dim())),
    ),
    Mistake(
        "no-keepdim",
        "The statistics lose their axis, so they line up with the features, not with "
        "the tokens: keepdim=True.",
        keep=False,
    ),
    Mistake(
        "eps-outside-the-root",
        "eps is added outside the square root, to the root itself; it stands inside, "
        "under the root: sqrt(… + eps).",
        divisor=lambda variance, eps: variance.sqrt() + eps,
    ),
    Mistake(
        "eps-missing",
        "eps is left out, so a token of tiny numbers is blown up and a token of zeros "
        "is 0/0 = NaN: sqrt(… + eps).",
        divisor=lambda variance, eps: variance.sqrt(),
    ),
    Mistake(
        "eps-not-added",
        "eps is not added under the root; only a token of zeros is kept from 0/0, as "
        "F.normalize does. It should be sqrt(… + eps).",
        divisor=lambda variance, eps: variance.sqrt().clamp(min=1e-12),
    ),
    Mistake(
        "eps-as-a-floor",
        "eps serves as a floor under the root (clamp, max), so it counts for tiny "
        "numbers only; it is added, inside the root: sqrt(… + eps).",
        divisor=lambda variance, eps: variance.sqrt().clamp(min=eps),
    ),
    Mistake(
        "eps-as-a-floor-inside",
        "eps serves as a floor inside the root (clamp, max), so it counts for tiny "
        "numbers only; it is added: sqrt(… + eps).",
        divisor=lambda variance, eps: variance.clamp(min=eps).sqrt(),
    ),
    Mistake(
        "eps-squared",
        "eps is squared before it is added; it is added as it is, inside the root.",
        used=lambda eps: eps * eps,
    ),
    Mistake(
        "root-missing",
        "The numbers are divided without the square root, by the mean square itself; "
        "the root is missing: sqrt(… + eps).",
        divisor=lambda variance, eps: variance + eps,
    ),
    Mistake(
        "squared-for-root",
        "The numbers are divided by a square where a square root is asked for: "
        "(… + eps) ** 0.5, not ** 2.",
        divisor=lambda variance, eps: (variance + eps) ** 2,
    ),
    Mistake(
        "multiplied-by-the-root",
        "The numbers are multiplied by the square root; it should be a division (or a "
        "product with rsqrt).",
        divisor=lambda variance, eps: (variance + eps).rsqrt(),
    ),
    Mistake(
        "absolute-values",
        "The mean is taken of absolute values; it should be of squares, with a square "
        "root afterwards.",
        power=lambda x: x.abs(),
        divisor=lambda spread, eps: spread + eps,
    ),
    Mistake(
        "sum-for-mean",
        "The squares are summed, as in the length (L2 norm) of a vector; it should be "
        "their mean, so a division by n is missing: √n.",
        average=sum_of,
    ),
    Mistake(
        "normalised-in-half",
        "Half-precision numbers are normalised in half precision, where squares "
        "overflow and eps is rounded; take x.float() first and go back to x.dtype at "
        "the end.",
        inside=same,
    ),
    Mistake(
        "left-in-float32",
        "Half-precision numbers come back in float32; results keep the dtype of x: "
        "`.to(x.dtype)` at the end.",
        cast=lambda y, dtype: y,
    ),
    Mistake(
        "always-float32",
        "The result is float32 whatever x is; it should come back in the dtype of x: "
        "`.to(x.dtype)`.",
        cast=lambda y, dtype: y.float(),
    ),
]

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
        "min-max",
        "This maps the smallest number to 0 and the largest to 1 (min-max scaling); "
        "LayerNorm subtracts the mean and divides by the standard deviation.",
        wrong=minimum,
    ),
    Mistake(
        "statistics-detached",
        "The values are right, but mean and variance are detached (detach, no_grad, "
        ".data): their gradient is part of LayerNorm's.",
        mean_seen=lambda x: x.detach(),
        variance_seen=lambda x: x.detach(),
    ),
    Mistake(
        "variance-detached",
        "The values are right, but the variance is detached (detach, no_grad, .data): "
        "its gradient is part of LayerNorm's.",
        variance_seen=lambda x: x.detach(),
    ),
    Mistake(
        "mean-detached",
        "The values are right, but the mean is detached (detach, no_grad, .data): its "
        "gradient is part of LayerNorm's.",
        mean_seen=lambda x: x.detach(),
    ),
]

#: How rms_norm goes wrong.
RMS = [
    Mistake(
        "layer-norm-instead",
        "The mean is subtracted, as in LayerNorm; RMSNorm has no mean: x / "
        "sqrt(mean(x²) + eps).",
        centred=torch.sub,
        deviation=torch.sub,
    ),
    Mistake(
        "mean-subtracted",
        "The mean is subtracted from x before the division; RMSNorm divides x as it "
        "is, uncentred.",
        centred=torch.sub,
    ),
    Mistake(
        "variance-for-mean-square",
        "x is divided by its standard deviation, a root of the variance around the "
        "mean; RMSNorm takes the root of the mean of x², without subtracting the mean.",
        deviation=torch.sub,
    ),
    Mistake(
        "unbiased-standard-deviation",
        "x is divided by its standard deviation (with n - 1), as x.std() gives it; "
        "RMSNorm takes the root of the mean of x², without subtracting the mean.",
        deviation=torch.sub,
        average=unbiased,
    ),
    Mistake(
        "squares-over-n-minus-1",
        "The squares are divided by n - 1; their mean divides by n.",
        average=unbiased,
    ),
    *SHARED,
    Mistake(
        "length-over-n",
        "The length of x (its L2 norm) is divided by n; the root mean square is the "
        "length over √n.",
        average=over_n_twice,
    ),
    Mistake(
        "length-times-root-n",
        "The length of x (its L2 norm) is multiplied by √n; the root mean square is "
        "the length divided by √n.",
        average=times_n,
    ),
    Mistake(
        "eps-hard-coded",
        "The argument eps has no effect: it is always 1e-6 here.",
        used=lambda eps: 1e-6,
    ),
    Mistake(
        "default-eps-of-layer-norm",
        "eps is 1e-5 where none is given, as in LayerNorm; the default here is 1e-6.",
        default=1e-5,
    ),
    Mistake(
        "default-eps-1e-8",
        "eps is 1e-8 where none is given; the default here is 1e-6.",
        default=1e-8,
    ),
    Mistake(
        "weight-missing",
        "The weight (the gain) is never used: normed * weight.",
        affine=lambda y, w: y,
    ),
    Mistake(
        "weight-added",
        "The weight is added; it multiplies, as a gain: normed * weight.",
        affine=lambda y, w: y + w,
    ),
    Mistake(
        "divided-by-weight",
        "The normed numbers are divided by the weight; they are multiplied: normed * "
        "weight.",
        affine=lambda y, w: y / w,
    ),
    Mistake(
        "one-plus-weight",
        "The numbers are scaled by 1 + weight, as in Gemma; here the weight itself is "
        "the gain.",
        affine=lambda y, w: y * (1 + w),
    ),
    Mistake(
        "weight-before-the-norm",
        "The weight is applied to x before it is normalised; it comes last: normed * "
        "weight.",
        wrong=gain_first,
    ),
    Mistake(
        "statistic-detached",
        "The values are right, but the mean square is detached (detach, no_grad, "
        ".data): its gradient is part of RMSNorm's.",
        variance_seen=lambda x: x.detach(),
    ),
]
