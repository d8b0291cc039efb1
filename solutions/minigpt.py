"""Chapter 9: the block and MiniGPT."""

import torch
from torch import nn

from solutions.feed_forward import FeedForward
from solutions.masks import causal_mask
from solutions.multihead import MultiHeadAttention


class TransformerBlock(nn.Module):
    """Let tokens look at each other, then rework each by itself.

    x (B, T, C), mask broadcastable to (B, h, T, T) with True or 1 = may attend
    -> (B, T, C). Pre-norm: x + drop(attn(norm1(x), mask)), then x + drop(ff(norm2(x))).

    Vaswani et al. 2017, section 3.1, with the norms where GPT-2 has them.
    """

    def __init__(self, d_model=512, num_heads=8, ff_dim=2048, dropout=0.1):
        super().__init__()
        self.attn = MultiHeadAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        x = x + self.drop(self.attn(self.norm1(x), mask))
        return x + self.drop(self.ff(self.norm2(x)))


class MiniGPT(nn.Module):
    """Predict, at every position of a text, the token that comes next.

    tokens (B, T), ints -> logits (B, T, vocab_size). Causal: the logits at position t
    depend on tokens 0…t alone. Raises ValueError if T > max_seq.

    Radford et al. 2019, section 2.3.
    """

    def __init__(
        self, vocab_size=50257, d_model=512, n_layers=6, n_heads=8, max_seq=1024
    ):
        super().__init__()
        self.max_seq = max_seq
        self.embed = nn.Embedding(vocab_size, d_model)
        self.pos_embed = nn.Embedding(max_seq, d_model)
        self.blocks = nn.ModuleList(
            TransformerBlock(d_model, n_heads, ff_dim=4 * d_model)
            for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        T = tokens.shape[1]
        if T > self.max_seq:
            raise ValueError(f"T = {T} tokens, more than max_seq = {self.max_seq}")
        positions = torch.arange(T, device=tokens.device)
        x = self.embed(tokens) + self.pos_embed(positions)  # (B, T, C)
        mask = causal_mask(T).to(tokens.device)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))  # (B, T, vocab_size)


def count_parameters(model):
    """Count the numbers that a model learns; a tensor used twice counts once.

    -> int.
    """
    # parameters() names each tensor once, however many modules share it.
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def initialise(model, std=0.02):
    """Draw a MiniGPT's weights anew, in place: its first loss is near ln(vocab).

    Linear and embedding weights from N(0, std), biases 0; W_o and W_2, which write to
    the residual stream, from N(0, std / sqrt(2 n_layers)). Norms are left alone.

    Radford et al. 2019, section 2.3.
    """
    quiet = std / (2 * len(model.blocks)) ** 0.5  # two writers a block
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            writes = name.endswith(("W_o", "W_2"))
            nn.init.normal_(module.weight, std=quiet if writes else std)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
