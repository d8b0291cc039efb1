"""A small MiniGPT of given weights, made beside the answer that works with it."""

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

#: The parameters of a MiniGPT; others are its author's own business.
_NAMES = re.compile(
    r"((pos_)?embed|head)\.weight|norm\.(weight|bias)"
    r"|blocks\.\d+\.(attn\.W_[qkvo]|ff\.W_[12]|norm[12])\.(weight|bias)"
)

#: Its vocabulary, width, blocks and heads.
SIZES = (13, 12, 2, 3)


#: How many weights it takes if its longest text has max_seq tokens.
def count(max_seq: int) -> int:
    V, C, L, _ = SIZES
    block = 4 * (C * C + C) + (4 * C * C + 4 * C) + (4 * C * C + C) + 4 * C
    return 2 * V * C + max_seq * C + L * block + 2 * C


def mini_gpt(parts: Mapping[str, Any], weights: Tensor, max_seq: int) -> Any:
    """A MiniGPT on the weights' device and in their dtype; they go by name."""
    model = parts["MiniGPT"](*SIZES, max_seq)
    model.to(device=weights.device, dtype=weights.dtype)
    left = weights
    with torch.no_grad():
        for name, parameter in _named(model):
            values, left = left[: parameter.numel()], left[parameter.numel() :]
            parameter.copy_(_scaled(name, values.view_as(parameter)))
    return model


def _named(model: nn.Module) -> list[tuple[str, Tensor]]:
    """The parameters in their names' order, though they may have further names."""
    named = model.named_parameters(remove_duplicate=False)
    return sorted((name, one) for name, one in named if _NAMES.fullmatch(name))


def _scaled(name: str, values: Tensor) -> Tensor:
    """Weights with which every token has its say in what comes next."""
    if "norm" in name:
        return 1 + values / 2 if name.endswith("weight") else values / 8
    if "embed" in name:
        return values
    return values * (2 * values.shape[-1] ** -0.5 if values.dim() > 1 else 0.25)
