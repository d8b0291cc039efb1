"""Chapter 5: residuals and norms."""

import torch
from einops import reduce


def layer_norm(x, weight, bias, eps=1e-5):
    """Give each token's features mean 0 and variance 1, then a learned scale and shift.

    x (..., C), weight (C), bias (C) -> (..., C), in x's dtype; half precision is
    normalised in float32. The variance is the biased one, eps stands inside the root.

    Ba et al. 2016, equation 4.
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    centred = wide - reduce(wide, "... C -> ... 1", "mean")
    variance = reduce(centred**2, "... C -> ... 1", "mean")
    return (centred / (variance + eps).sqrt() * weight + bias).to(x.dtype)


def rms_norm(x, weight, eps=1e-6):
    """Divide each token's features by their root mean square, then scale them.

    x (..., C), weight (C) -> (..., C), in x's dtype, whatever the weight's; half
    precision is normalised in float32. eps stands inside the root.

    Zhang and Sennrich 2019, equation 4.
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean_square = reduce(wide**2, "... C -> ... 1", "mean")
    return (wide / (mean_square + eps).sqrt() * weight).to(x.dtype)


def pre_norm(x, sublayer, norm):
    """Add to the stream what the sublayer makes of its normed copy.

    x (..., C), two functions (..., C) -> (..., C), each called once -> (..., C):
    x + sublayer(norm(x)). The stream itself is never normed.

    Xiong et al. 2020, section 3.1 and table 1.
    """
    return x + sublayer(norm(x))


def post_norm(x, sublayer, norm):
    """Add what the sublayer makes of the stream, then norm the sum.

    x (..., C), two functions (..., C) -> (..., C), each called once -> (..., C):
    norm(x + sublayer(x)).

    Vaswani et al. 2017, section 3.1.
    """
    return norm(x + sublayer(x))
