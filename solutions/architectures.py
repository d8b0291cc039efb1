"""Chapter 8: encoder, decoder, encoder-decoder."""

import torch
from torch import nn

from solutions.attention import scaled_dot_product_attention
from solutions.feed_forward import FeedForward
from solutions.masks import causal_mask
from solutions.multihead import MultiHeadAttention, merge_heads, split_heads


class CrossAttention(nn.Module):
    """Let one sequence ask another: queries from x, keys and values from memory.

    x (B, n, C), memory (B, m, C), mask broadcastable to (B, h, n, m) with True or 1 =
    may attend -> (B, n, C). W_q, W_k, W_v and W_o are nn.Linear(C, C).
    Raises ValueError if num_heads doesn't divide d_model.

    Vaswani et al. 2017, section 3.2.3.
    """

    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} is no multiple of {num_heads} heads")
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, memory, mask=None):
        Q = split_heads(self.W_q(x), self.num_heads)  # (B, h, n, d_k)
        K = split_heads(self.W_k(memory), self.num_heads)  # (B, h, m, d_k)
        V = split_heads(self.W_v(memory), self.num_heads)
        heads, _ = scaled_dot_product_attention(Q, K, V, mask)  # (B, h, n, d_k)
        return self.W_o(merge_heads(heads))


class EncoderBlock(nn.Module):
    """Let every token look at all tokens, then rework each by itself.

    x (B, T, C), mask broadcastable to (B, h, T, T) -> (B, T, C). Pre-norm: first
    x + attn(norm1(x), mask), then x + ff(norm2(x)), with attn a MultiHeadAttention,
    ff a FeedForward, norm1 and norm2 nn.LayerNorm.

    Vaswani et al. 2017, section 3.1, with the norms where GPT-2 has them.
    """

    def __init__(self, d_model, num_heads, ff_dim):
        super().__init__()
        self.attn = MultiHeadAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        x = x + self.attn(self.norm1(x), mask)
        return x + self.ff(self.norm2(x))


class DecoderBlock(nn.Module):
    """Look back over what is written, then over the source, then rework each token.

    x (B, n, C), memory (B, m, C), memory_mask broadcastable to (B, h, n, m)
    -> (B, n, C). Pre-norm: x + self_attn(norm1(x)), causal; x + cross_attn(norm2(x),
    memory, memory_mask), the memory as it comes; x + ff(norm3(x)). self_attn is a
    MultiHeadAttention, cross_attn a CrossAttention, ff a FeedForward, norm1 to norm3
    nn.LayerNorm.

    Vaswani et al. 2017, section 3.1, with the norms where GPT-2 has them.
    """

    def __init__(self, d_model, num_heads, ff_dim):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = CrossAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, memory_mask=None):
        causal = causal_mask(x.shape[1]).to(x.device)
        x = x + self.self_attn(self.norm1(x), causal)
        x = x + self.cross_attn(self.norm2(x), memory, memory_mask)
        return x + self.ff(self.norm3(x))


def mask_tokens(tokens, mask_id, vocab_size, probability, generator):
    """Hide some tokens, and ask for them: BERT's way to corrupt a text.

    tokens (B, T), ints -> inputs (B, T), targets (B, T). Each token is chosen with the
    given probability, by itself. Of the chosen, 80% become mask_id, 10% a token drawn
    from the whole vocabulary, 10% stay. Targets are -100 where nothing was chosen.
    All draws come from the generator, which lives on the tokens' device.

    Devlin et al. 2019, section 3.1.
    """

    shape, on = tokens.shape, {"generator": generator, "device": tokens.device}
    chosen = torch.rand(shape, **on) < probability
    fate = torch.rand(shape, **on)  # what becomes of the chosen
    random = torch.randint(vocab_size, shape, **on).to(tokens.dtype)
    inputs = tokens.masked_fill(chosen & (fate < 0.8), mask_id)
    inputs = torch.where(chosen & (fate >= 0.9), random, inputs)
    return inputs, tokens.masked_fill(~chosen, -100)


def shift_right(tokens, start_id):
    """Make the decoder's input: each position gets the token before its own.

    tokens (B, T) -> (B, T): start_id, then all tokens but the last.
    """
    shifted = tokens.roll(1, dims=1)
    shifted[:, 0] = start_id
    return shifted
