"""Chapter 15: a modern decoder, and real weights."""

import torch
from torch import nn

from solutions.attention import scaled_dot_product_attention
from solutions.feed_forward import SwiGLU
from solutions.masks import causal_mask
from solutions.multihead import merge_heads, repeat_kv, split_heads
from solutions.positions import apply_rope


class RotaryAttention(nn.Module):
    """Grouped-query attention that looks back only, its queries and keys turned.

    x (B, T, C), positions (T,) -> (B, T, C). W_q and W_o are nn.Linear(C, C), W_k and
    W_v nn.Linear(C, num_kv_heads*d_k), all without biases. Raises ValueError if
    num_heads doesn't divide d_model or num_kv_heads doesn't divide num_heads.
    """

    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} is no multiple of {num_heads} heads")
        if num_heads % num_kv_heads != 0:
            groups = f"{num_heads} query heads, {num_kv_heads} key/value heads"
            raise ValueError(f"{groups}: the second number must divide the first")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        kv_dim = num_kv_heads * (d_model // num_heads)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, kv_dim, bias=False)
        self.W_v = nn.Linear(d_model, kv_dim, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions):
        groups = self.num_heads // self.num_kv_heads
        Q = apply_rope(split_heads(self.W_q(x), self.num_heads), positions)
        K = apply_rope(split_heads(self.W_k(x), self.num_kv_heads), positions)
        V = split_heads(self.W_v(x), self.num_kv_heads)  # (B, h_kv, T, d_k)
        mask = causal_mask(x.shape[1]).to(x.device)
        K, V = repeat_kv(K, groups), repeat_kv(V, groups)  # (B, h, T, d_k)
        heads, _ = scaled_dot_product_attention(Q, K, V, mask)
        return self.W_o(merge_heads(heads))


class LlamaBlock(nn.Module):
    """The block of today's decoders: RMSNorm, RoPE, grouped queries, SwiGLU.

    x (B, T, C), positions (T,), by default 0…T-1 -> (B, T, C). Pre-norm and causal:
    x + attn(norm1(x), positions), then x + ff(norm2(x)). No biases anywhere. Raises
    ValueError where the heads don't divide.

    Touvron et al. 2023, section 2.2; grouped queries since Llama 2.
    """

    def __init__(self, d_model, num_heads, num_kv_heads, ff_dim):
        super().__init__()
        self.attn = RotaryAttention(d_model, num_heads, num_kv_heads)
        self.ff = SwiGLU(d_model, ff_dim)
        self.norm1 = nn.RMSNorm(d_model, eps=1e-6)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-6)

    def forward(self, x, positions=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        x = x + self.attn(self.norm1(x), positions)
        return x + self.ff(self.norm2(x))
