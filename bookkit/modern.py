"""Decoders made of a block that is handed in, whole or with one part left out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from solutions.feed_forward import FeedForward
from solutions.minigpt import MiniGPT, initialise

#: What a modern block has, and what stands there in a classic one.
INGREDIENTS = {
    "RMSNorm": "LayerNorm",
    "RoPE": "learned positions",
    "grouped queries": "a key for every query head",
    "SwiGLU": "GELU",
}


@dataclass(frozen=True)
class Shape:
    """How large a decoder is. Both kinds have about as many parameters."""

    vocab_size: int
    d_model: int = 128
    n_layers: int = 4
    n_heads: int = 4
    n_kv_heads: int = 2
    max_seq: int = 64

    @property
    def ff_dim(self) -> int:
        """SwiGLU's hidden size: 25/8 of d_model, with what grouped queries save."""
        return 25 * self.d_model // 8


class Decoder(nn.Module):
    """Predict, at every position of a text, the token that comes next.

    tokens (B, T), ints -> logits (B, T, vocab_size). Blocks take x and positions. The
    head is tied to the embedding. With learned positions, which stop at max_seq,
    every block is told that all tokens stand at 0, where RoPE turns nothing.
    """

    def __init__(
        self, shape: Shape, blocks: Sequence[nn.Module], norm: nn.Module, learned: bool
    ) -> None:
        super().__init__()
        self.max_seq = shape.max_seq
        self.embed = nn.Embedding(shape.vocab_size, shape.d_model)
        self.pos_embed = nn.Embedding(shape.max_seq, shape.d_model) if learned else None
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.head = nn.Linear(shape.d_model, shape.vocab_size, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.embed(tokens)  # (B, T, C)
        if self.pos_embed is not None:
            x = x + self.pos_embed(positions)
            positions = torch.zeros_like(positions)
        for block in self.blocks:
            x = block(x, positions)
        logits: Tensor = self.head(self.norm(x))
        return logits


def modern(
    block: Callable[..., nn.Module],
    shape: Shape,
    without: str | None = None,
    seed: int = 0,
) -> Decoder:
    """A decoder of LlamaBlocks, or of ones in which a classic part stands for one.

    `block` is LlamaBlock, `without` one of INGREDIENTS; the others stay, and there are
    about as many parameters. Raises ValueError for anything else.
    """
    if without is not None and without not in INGREDIENTS:
        raise ValueError(f"without {without!r}: not among {', '.join(INGREDIENTS)}")
    torch.manual_seed(seed)
    C, ff_dim, kv_heads = shape.d_model, shape.ff_dim, shape.n_kv_heads
    if without == "grouped queries":
        # Keys and values grow by 2 (h - h_kv) d_k C numbers, the 3 C ff_dim shrink.
        saved = 2 * (shape.n_heads - kv_heads) * (C // shape.n_heads)
        ff_dim, kv_heads = ff_dim - saved // 3, shape.n_heads
    blocks = [block(C, shape.n_heads, kv_heads, ff_dim) for _ in range(shape.n_layers)]
    classic_norm = without == "RMSNorm"
    norm = nn.LayerNorm(C) if classic_norm else nn.RMSNorm(C, eps=1e-6)
    for one in blocks:
        if without == "SwiGLU":
            one.ff = FeedForward(C, 3 * ff_dim // 2)
        if classic_norm:
            one.norm1, one.norm2 = nn.LayerNorm(C), nn.LayerNorm(C)
    model = Decoder(shape, blocks, norm, learned=without == "RoPE")
    initialise(model)
    if without != "SwiGLU":
        for one in blocks:  # W_down writes to the stream, as W_2 does: quietly
            one.ff.W_down.weight.data /= (2 * len(blocks)) ** 0.5
    return model


def classic(shape: Shape, seed: int = 0) -> MiniGPT:
    """Chapter 9's model, without dropout."""
    torch.manual_seed(seed)
    model = MiniGPT(
        shape.vocab_size, shape.d_model, shape.n_layers, shape.n_heads, shape.max_seq
    )
    initialise(model)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return model
