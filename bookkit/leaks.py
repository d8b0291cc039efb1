"""Attention layers that look at what they shouldn't, each in its own way."""

from collections.abc import Callable

import torch
from einops import rearrange
from torch import Tensor, nn
from torch.nn import functional as F

Layer = Callable[[Tensor], Tensor]  # (1, T, C) -> (1, T, C)

PADDED = 2  # how many of the last tokens are padding where a padding mask is given


def suspects(layer: nn.Module, T: int, num_heads: int) -> dict[str, Layer]:
    """A right causal layer and six leaking ones, by what was done to them.

    layer: a multi-head attention, called with (x, mask), True = may attend, whose
    matrices are W_q, W_k, W_v and W_o. All seven have its weights.
    """
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    real = torch.arange(T) < T - PADDED  # (T,)

    def with_mask(mask: Tensor | None) -> Layer:
        return lambda x: layer(x, mask)

    return {
        "right": with_mask(causal),
        "no mask": with_mask(None),
        "off by one": with_mask(torch.ones(T, T, dtype=torch.bool).tril(1)),
        "flipped": with_mask(causal.mT),
        "padding instead of causal": with_mask(real.expand(T, T)),
        "scrambled merge": lambda x: _scrambled(layer, x, num_heads),
        "statistics over time": lambda x: layer(_standardised(x), causal),
    }


def _scrambled(layer: nn.Module, x: Tensor, num_heads: int) -> Tensor:
    """A causal layer that joins its heads without moving their axis back."""
    project = dict(layer.named_children())
    Q, K, V = (
        rearrange(project[name](x), "B T (h d_k) -> B h T d_k", h=num_heads)
        for name in ("W_q", "W_k", "W_v")
    )
    heads = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    out: Tensor = project["W_o"](heads.reshape(x.shape))
    return out


def _standardised(x: Tensor) -> Tensor:
    """Each feature minus its mean over time, over its deviation, as batch norm does."""
    return (x - x.mean(dim=1, keepdim=True)) / x.std(dim=1, keepdim=True)


def shades(strength: Tensor) -> Tensor:
    """Sizes of slopes as numbers from 0 to 1, each beside the largest of its row.

    Zero stays 0; whatever is larger becomes at least 0.2, so that it can be seen.
    """
    largest = strength.amax(dim=-1, keepdim=True).clamp(min=1e-30)
    relative = strength / largest
    return torch.where(relative > 1e-6, 0.2 + 0.8 * relative, 0.0)
