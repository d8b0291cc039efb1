"""Chapter 15: a modern decoder, and real weights."""

import torch
from einops import rearrange, reduce
from torch import nn
from torch.nn import functional as F

from solutions.attention import scaled_dot_product_attention
from solutions.feed_forward import FeedForward, SwiGLU
from solutions.masks import causal_mask
from solutions.multihead import MultiHeadAttention, merge_heads, repeat_kv, split_heads
from solutions.norms import post_norm
from solutions.positions import apply_rope


class RotaryAttention(nn.Module):
    """Grouped-query attention that looks back only, its queries and keys turned.

    x (B, T, C), positions (T,) -> (B, T, C). W_q and W_o are nn.Linear(C, C), W_k and
    W_v nn.Linear(C, num_kv_heads*d_k), all without biases.
    """

    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
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
    x + attn(norm1(x), positions), then x + ff(norm2(x)). norm1 and norm2 are RMSNorms
    with eps 1e-6, ff is a SwiGLU. attn is grouped-query attention with W_q, W_k, W_v
    and W_o, where RoPE turns queries and keys. There are no biases.

    Touvron et al. 2023, section 2.2; grouped queries as in Llama 2 70B.
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


def mean_pool(hidden, mask):
    """Make one vector of a text: the mean of its tokens' vectors, of length 1.

    hidden (B, T, C), mask (B, T), bool, True at real tokens -> (B, C).

    Reimers and Gurevych 2019, section 3.
    """
    real = rearrange(mask, "B T -> B T 1")
    total = reduce(hidden * real, "B T C -> B C", "sum")
    mean = total / reduce(real.to(hidden.dtype), "B T 1 -> B 1", "sum")
    return F.normalize(mean, dim=-1)


class PostNormBlock(nn.Module):
    """A block as in BERT: each sublayer's sum is normed.

    x (B, T, C), mask broadcastable to (B, h, T, T) -> (B, T, C).
    """

    def __init__(self, d_model, num_heads, ff_dim):
        super().__init__()
        self.attn = MultiHeadAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1 = nn.LayerNorm(d_model, eps=1e-12)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, x, mask):
        x = post_norm(x, lambda x: self.attn(x, mask), self.norm1)
        return post_norm(x, self.ff, self.norm2)


class MiniLMEncoder(nn.Module):
    """Give each token of a text a vector that knows the whole text: BERT's encoder.

    tokens (B, T), ints, mask (B, T), bool, True at real tokens -> (B, T, C).
    x = norm(embed + pos_embed(0…T-1) + type_embed(0)); then each block: x = norm1(x +
    attn(x, mask)), x = norm2(x + ff(x)). attn is a MultiHeadAttention, ff a
    FeedForward, every norm an nn.LayerNorm with eps 1e-12.

    Devlin et al. 2019, section 3; the sizes are those of all-MiniLM-L6-v2.
    """

    def __init__(
        self,
        vocab_size=30522,
        d_model=384,
        n_layers=6,
        num_heads=12,
        ff_dim=1536,
        max_seq=512,
    ):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.pos_embed = nn.Embedding(max_seq, d_model)
        self.type_embed = nn.Embedding(2, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.blocks = nn.ModuleList(
            PostNormBlock(d_model, num_heads, ff_dim) for _ in range(n_layers)
        )

    def forward(self, tokens, mask):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.embed(tokens) + self.pos_embed(positions) + self.type_embed.weight[0]
        x = self.norm(x)  # (B, T, C)
        seen = rearrange(mask, "B T -> B 1 1 T")  # every head and query sees these keys
        for block in self.blocks:
            x = block(x, seen)
        return x


#: What BERT's authors called the parts of the encoder and of each block.
PUBLISHED = {
    "embed": "embeddings.word_embeddings",
    "pos_embed": "embeddings.position_embeddings",
    "type_embed": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
    "attn.W_q": "attention.self.query",
    "attn.W_k": "attention.self.key",
    "attn.W_v": "attention.self.value",
    "attn.W_o": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "ff.W_1": "intermediate.dense",
    "ff.W_2": "output.dense",
    "norm2": "output.LayerNorm",
}


def published_name(name):
    """blocks.3.norm1.bias -> encoder.layer.3.attention.output.LayerNorm.bias."""
    part, _, kind = name.rpartition(".")  # kind is weight or bias
    if not part.startswith("blocks."):
        return f"{PUBLISHED[part]}.{kind}"
    _, i, part = part.split(".", 2)
    return f"encoder.layer.{i}.{PUBLISHED[part]}.{kind}"


def load_encoder(model, state_dict):
    """Fill a MiniLMEncoder with published weights, in place.

    state_dict maps the published names (embeddings.*, encoder.layer.i.*) to tensors.
    embeddings.position_ids and pooler.* are passed over. Raises ValueError if any other
    tensor is missing, unknown or of another shape; the model is then as it was.
    """
    own = {published_name(name): p for name, p in model.named_parameters()}
    ours = {
        name: tensor
        for name, tensor in state_dict.items()
        if name != "embeddings.position_ids" and not name.startswith("pooler.")
    }
    if missing := own.keys() - ours.keys():
        raise ValueError(f"missing: {', '.join(sorted(missing))}")
    if unknown := ours.keys() - own.keys():
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    for name, p in own.items():
        if p.shape != ours[name].shape:
            shapes = f"{tuple(ours[name].shape)}, not {tuple(p.shape)}"
            raise ValueError(f"{name} has shape {shapes}")
    with torch.no_grad():
        for name, p in own.items():
            p.copy_(ours[name])
