"""Chapter 1: why attention, by way of the network that it replaced."""

import torch
from einops import einsum, rearrange


def rnn_forward(x, W_x, W_h, b):
    """Read a sequence token by token, and keep the hidden state after each.

    x (B, T, C), W_x (C, H), W_h (H, H), b (H) -> all hidden states (B, T, H):
    h_t = tanh(x_t W_x + h_{t-1} W_h + b), from h_0 = 0.

    Elman 1990.
    """
    inputs = einsum(x, W_x, "B T C, C H -> T B H") + b  # all positions at once
    h = torch.zeros_like(inputs[0])  # (B, H)
    states = []
    for x_t in inputs:  # one position at a time: each waits for the one before
        h = (x_t + einsum(h, W_h, "B K, K H -> B H")).tanh()
        states.append(h)
    return rearrange(states, "T B H -> B T H")


def gradient_reach(x, W_x, W_h, b):
    """Measure how strongly the last hidden state depends on each token.

    x (B, T, C), W_x (C, H), W_h (H, H), b (H) -> (T,): for every t the norm, over batch
    and features, of d(sum of the last hidden state)/d x_t. Detached; leaves every .grad
    as it was, and works under no_grad.
    """
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        last = rnn_forward(x, W_x, W_h, b)[:, -1]  # (B, H)
        (gradient,) = torch.autograd.grad(last.sum(), x)  # (B, T, C); fills no .grad
    return gradient.norm(dim=(0, 2))


def path_length(kind, i, j):
    """Count the steps that a signal takes from position i to position j.

    kind "rnn" (by way of every position between) or "attention" (straight), ints i and
    j -> int, 0 where i = j. Raises ValueError for another kind.

    Vaswani et al. 2017, table 1.
    """
    if kind == "rnn":
        return abs(i - j)
    if kind == "attention":
        return int(i != j)
    raise ValueError(f"kind must be 'rnn' or 'attention', got {kind!r}")
