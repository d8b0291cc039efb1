"""A MiniGPT made ready to train: built, placed, sped up."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from einops import rearrange
from torch import Tensor, nn
from torch.nn import functional as F

from minigpt.recipes import Recipe


def build(recipe: Recipe, vocab_size: int, parts: Any) -> nn.Module:
    """A new model of the recipe's shape, initialised, with its dropout."""
    model: nn.Module = parts.MiniGPT(
        vocab_size, recipe.d_model, recipe.n_layers, recipe.n_heads, recipe.seq_len
    )
    parts.initialise(model)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = recipe.dropout
    return model


def choose_device(wanted: str = "auto") -> torch.device:
    """The device that is named, or the fastest that is there.

    Raises ValueError for one that isn't.
    """
    there = ["cpu"]
    if torch.backends.mps.is_available():
        there.insert(0, "mps")
    if torch.cuda.is_available():
        cards = [f"cuda:{i}" for i in range(torch.cuda.device_count())]
        there = ["cuda", *cards, *there]
    if wanted == "auto":
        return torch.device(there[0])
    if wanted not in there:
        raise ValueError(f"there is no {wanted!r} here, only {', '.join(there)}")
    return torch.device(wanted)


def attend(attention: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """Multi-head causal attention in one kernel, with the weights of `attention`.

    It has the same results as the explicit one, and never holds the (T, T) weights. The
    three projections are one product: a wide one is faster than three narrow ones.
    """
    layers = attention.W_q, attention.W_k, attention.W_v
    weight = torch.cat([W.weight for W in layers])  # (3C, C)
    bias = torch.cat([W.bias for W in layers])
    QKV = F.linear(x, weight, bias)
    pattern = "B T (three h d_k) -> three B h T d_k"
    Q, K, V = rearrange(QKV, pattern, three=3, h=attention.num_heads)
    heads = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    out: Tensor = attention.W_o(rearrange(heads, "B h T d_k -> B T (h d_k)"))
    return out


def feed_forward(network: Any, x: Tensor) -> Tensor:
    """The network of a block with GELU in one kernel, with the weights of `network`.

    Written out, GELU reads and writes its (B, T, 4C) numbers a dozen times a step.
    """
    out: Tensor = network.W_2(F.gelu(network.W_1(x)))
    return out


#: What a block's parts can be exchanged for.
FUSED: dict[str, Callable[..., Tensor]] = {"attn": attend, "ff": feed_forward}


def fuse(model: Any, vocab_size: int) -> list[str]:
    """Let every block's parts work in one kernel each, where that gives the same.

    Returns the names of the parts that were exchanged. A part stays as it is written
    where the results differ: a model made of somebody's own parts may mean something
    else by attention, or name its layers otherwise.
    """
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(0)
    shape = (2, model.max_seq)
    tokens = torch.randint(vocab_size, shape, generator=generator).to(device)
    was_training = model.training
    model.eval()
    with torch.no_grad():
        explicit = model(tokens)
        done = [
            name
            for name, kernel in FUSED.items()
            if _exchange(model, name, kernel, tokens, explicit)
        ]
    model.train(was_training)
    return done


def _exchange(
    model: Any, name: str, kernel: Callable[..., Tensor], tokens: Tensor, same: Tensor
) -> bool:
    """Put the kernel into every block; take it out if the logits aren't the same."""
    parts = [getattr(block, name) for block in model.blocks]
    for part in parts:
        part.forward = partial(kernel, part)
    with suppress(AttributeError):
        if torch.allclose(model(tokens), same, rtol=1e-3, atol=1e-4):
            return True
    for part in parts:
        del part.forward  # the class's own again
    return False


class Autocast(nn.Module):
    """A model whose matrix products run in a shorter dtype; its logits are float32."""

    def __init__(self, model: nn.Module, device: torch.device, dtype: torch.dtype):
        super().__init__()
        self.model, self.kind, self.dtype = model, device.type, dtype

    def forward(self, tokens: Tensor) -> Tensor:
        with torch.autocast(self.kind, self.dtype):
            logits: Tensor = self.model(tokens)
        return logits.float()


def speed_up(model: nn.Module, device: torch.device, compiled: bool) -> nn.Module:
    """The same model, with what makes a step faster on this device.

    bfloat16 on a GPU that has it; `torch.compile` where it is asked for.
    """
    fast = model
    if device.type == "cuda" and torch.cuda.is_bf16_supported():
        torch.set_float32_matmul_precision("high")
        fast = Autocast(model, device, torch.bfloat16)
    return torch.compile(fast) if compiled else fast  # type: ignore[return-value]
