"""Chapter 6: feed-forward networks."""

import math

from torch import nn
from torch.nn import functional as F


def gelu(x):
    """Let each number through as far as it is larger than a standard normal's draw.

    x of any shape -> the same shape: x * Phi(x), Phi the normal distribution function,
    exactly: Phi(x) = (1 + erf(x / sqrt(2))) / 2.

    Hendrycks and Gimpel 2016, section 2.
    """
    return x * (1 + (x / math.sqrt(2)).erf()) / 2


class FeedForward(nn.Module):
    """Rework each token by itself: widen, bend, narrow.

    x (..., C) -> (..., C): W_2(gelu(W_1(x))), with W_1 nn.Linear(C, ff_dim) and W_2
    nn.Linear(ff_dim, C).

    Vaswani et al. 2017, equation 2, with GELU for ReLU as in GPT.
    """

    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_1 = nn.Linear(d_model, ff_dim)
        self.W_2 = nn.Linear(ff_dim, d_model)

    def forward(self, x):
        return self.W_2(gelu(self.W_1(x)))  # (..., C) -> (..., ff_dim) -> (..., C)


class SwiGLU(nn.Module):
    """Rework each token by itself, with a gate on every hidden feature.

    x (..., C) -> (..., C): W_down(SiLU(W_gate(x)) * W_up(x)), SiLU(z) = z * sigmoid(z).
    W_gate and W_up are nn.Linear(C, ff_dim), W_down nn.Linear(ff_dim, C), no biases.

    Shazeer 2020, equation 6.
    """

    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_gate = nn.Linear(d_model, ff_dim, bias=False)
        self.W_up = nn.Linear(d_model, ff_dim, bias=False)
        self.W_down = nn.Linear(ff_dim, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


def swiglu_dim(d_model, multiple_of=256):
    """Choose SwiGLU's hidden size so that it costs what a 4x GELU network costs.

    -> int: 2/3 * 4 * d_model, rounded up to a multiple of multiple_of. Three matrices
    of two thirds the width hold as many numbers as two of the full width.

    Shazeer 2020, section 3; the rounding as in Llama (Touvron et al. 2023).
    """
    # Whole numbers all the way: ceil(8 d_model / (3 multiple_of)) multiples.
    return -(-8 * d_model // (3 * multiple_of)) * multiple_of


def feed_forward_share(d_model, ff_dim):
    """Say which part of a block's weights is in its feed-forward network.

    -> float: W_1 and W_2 over these and attention's four matrices; biases and norms are
    left out. 2/3 at ff_dim = 4 * d_model.
    """
    feed_forward = 2 * d_model * ff_dim
    attention = 4 * d_model**2
    return feed_forward / (feed_forward + attention)
