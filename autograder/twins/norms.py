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
        "over-axis-2",
        "The statistics are taken over dim=2, which is the last axis of (B, T, C) "
        "only; x may have any leading axes: dim=-1.",
        over=lambda x: (2,),
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
        "their mean: the division by n (by the square root of n, outside) is missing.",
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
