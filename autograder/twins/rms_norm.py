"""How rms_norm goes wrong, as switches of its twin."""

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.norms import SHARED, over_n_twice, rms, same, times_n, unbiased


def by_the_largest(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    return x / (x.abs().amax(-1, keepdim=True) + eps) * weight


def gain_first(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    return rms(x * weight, torch.ones_like(weight), eps)


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
    Mistake(
        "not-squared",
        "The mean is taken of the numbers themselves; it should be of their squares: "
        "x.square().mean(-1, keepdim=True).",
        power=lambda x: x,
    ),
    *SHARED,
    Mistake(
        "square-of-the-mean",
        "The mean is squared; it should be the mean of the squares: "
        "x.square().mean(-1, keepdim=True).",
        power=same,
        divisor=lambda mean, eps: (mean.square() + eps).sqrt(),
    ),
    Mistake(
        "length-over-n",
        "The length of x (its L2 norm) is divided by n; the root mean square is the "
        "length over the square root of n.",
        average=over_n_twice,
    ),
    Mistake(
        "length-times-root-n",
        "The length of x (its L2 norm) is multiplied by the square root of n; the root "
        "mean square is the length divided by it.",
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
        "default-eps-of-bert",
        "eps is 1e-12 where none is given; the default here is 1e-6.",
        default=1e-12,
    ),
    Mistake(
        "largest-for-root-mean-square",
        "x is divided by its largest absolute value; it should be by the root of the "
        "mean of its squares.",
        wrong=by_the_largest,
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
        "The mean square is detached (detach, no_grad, .data), so the gradients are "
        "wrong: its gradient is part of RMSNorm's.",
        variance_seen=lambda x: x.detach(),
    ),
]
