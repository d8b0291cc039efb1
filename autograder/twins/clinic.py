"""The clinic's six patients as their cells give them: each is broken in one place."""

# mypy: ignore-errors
# Shown to learners, these are as bare as the references are.

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from solutions.attention import scaled_dot_product_attention
from solutions.feed_forward import FeedForward
from solutions.masks import causal_mask
from solutions.multihead import MultiHeadAttention, merge_heads, split_heads
from solutions.positions import apply_rope
from solutions.training import next_token_loss


class repair_leaky_decoder(nn.Module):
    """Predict each next token of a text from what came before.

    tokens (B, T), ints -> logits (B, T, vocab_size). Those at position t depend on
    tokens 0…t, on each of them and on no later one.
    """

    def __init__(self, vocab_size, d_model, max_seq):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.pos_embed = nn.Embedding(max_seq, d_model)
        self.smooth = nn.Conv1d(d_model, d_model, kernel_size=3, padding=1)
        self.attn = MultiHeadAttention(d_model, 2)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size)

    def forward(self, tokens):
        T = tokens.shape[1]
        x = self.embed(tokens) + self.pos_embed(torch.arange(T))  # (B, T, C)
        smoothed = self.smooth(rearrange(x, "B T C -> B C T"))
        x = x + rearrange(smoothed, "B C T -> B T C")
        x = x + self.attn(self.norm1(x), causal_mask(T))
        return self.head(self.norm2(x))


class repair_flat_attention(nn.Module):
    """Let several heads attend side by side, and tell where they looked.

    x (B, T, C), mask broadcastable to (B, h, T, T) with True or 1 = may attend
    -> output (B, T, C), weights (B, h, T, T).
    """

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        Q = F.normalize(split_heads(self.W_q(x), self.num_heads), dim=-1)
        K = F.normalize(split_heads(self.W_k(x), self.num_heads), dim=-1)
        V = split_heads(self.W_v(x), self.num_heads)  # (B, h, T, d_k)
        heads, weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.W_o(merge_heads(heads)), weights


class repair_vanishing_gradients(nn.Module):
    """Rework each token's vector in n_layers blocks, one after the other.

    x (B, T, C) -> (B, T, C). `blocks` holds the blocks; a gradient at the output
    reaches the first of them about as well as the last.
    """

    def __init__(self, d_model, n_layers):
        super().__init__()
        self.blocks = nn.ModuleList(
            FeedForward(d_model, 4 * d_model) for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x):
        for block in self.blocks:
            x = (x + block(x)) / 2  # the stream keeps its size
        return self.norm(x)


def repair_drifting_cache(attention, x, cache):
    """Attend with rotary positions from new tokens to all, the old ones remembered.

    attention, a MultiHeadAttention; x (B, T_new, C); cache, a dict that is empty at
    first and afterwards as this function left it -> (B, T_new, C), what causal
    attention with RoPE over all tokens gives for the new ones.
    """
    Q, K, V = (
        split_heads(W(x), attention.num_heads)
        for W in (attention.W_q, attention.W_k, attention.W_v)
    )
    if cache:
        K = torch.cat([cache["K"], K], dim=2)
        V = torch.cat([cache["V"], V], dim=2)
    keys = torch.arange(K.shape[2])
    queries = keys[-x.shape[1] :]
    Q, K = apply_rope(Q, queries), apply_rope(K, keys)
    cache["K"], cache["V"] = K, V
    mask = keys <= rearrange(queries, "T_new -> T_new 1")
    heads, _ = scaled_dot_product_attention(Q, K, V, mask)
    return attention.W_o(merge_heads(heads))


def repair_repeated_positions(x, base=10000.0):
    """Add to each token sines and cosines of its position, each position its own.

    x (B, T, C), C even -> (B, T, C), in x's dtype, half precision included.
    """
    T, C = x.shape[1:]
    positions = torch.arange(T, dtype=x.dtype, device=x.device)
    pairs = torch.arange(C // 2, device=x.device)
    angles = rearrange(positions, "T -> T 1") * base ** (-2 * pairs / C)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return x + rearrange(waves, "T pairs two -> T (pairs two)").to(x.dtype)


def repair_stalled_loss(model, batches, epochs, max_lr=0.01, warmup=100):
    """Train a model in place, over the same batches again and again.

    model, tokens (B, T) -> logits (B, T, vocab); batches, a list of (inputs, targets)
    -> list of losses, one a step. The learning rate warms up to max_lr.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=max_lr)
    losses = []
    for _ in range(epochs):
        for step, (inputs, targets) in enumerate(batches):
            for group in optimizer.param_groups:
                group["lr"] = max_lr * min(1.0, (step + 1) / warmup)
            loss = next_token_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses
