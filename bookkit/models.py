"""The sizes of published models, and the parameter counts that follow from them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelSizes:
    """What a model's paper and its released configuration say of its shape.

    max_seq counts learned positions (0: none); `bias` says whether every matrix has
    one, `qkv_bias` whether W_q, W_k and W_v alone do; `gated` feed-forward networks
    have three matrices instead of two; `tied` models read out with their embedding.
    """

    name: str
    vocab_size: int
    n_layers: int
    d_model: int
    num_heads: int
    num_kv_heads: int
    ff_dim: int
    max_seq: int = 0
    bias: bool = False
    qkv_bias: bool = False
    gated: bool = True
    tied: bool = False

    @property
    def d_k(self) -> int:
        """How many features a head has."""
        return self.d_model // self.num_heads

    @property
    def feed_forward_parameters(self) -> int:
        """All layers' feed-forward networks, with their biases where there are any."""
        C = self.d_model
        matrices = (3 if self.gated else 2) * C * self.ff_dim
        return self.n_layers * (matrices + (self.ff_dim + C) * self.bias)

    @property
    def embedding_parameters(self) -> int:
        """The embedding, a readout of its own where not `tied`, learned positions."""
        rows = self.vocab_size * (1 if self.tied else 2) + self.max_seq
        return rows * self.d_model

    @property
    def other_parameters(self) -> int:
        """All but W_q, W_k, W_v, W_o and, where `bias` is set, their biases."""
        C = self.d_model
        norm = 2 * C if self.bias else C  # LayerNorm has a bias too, RMSNorm none
        qkv_bias = (C + 2 * self.num_kv_heads * self.d_k) * self.qkv_bias
        small = self.n_layers * (2 * norm + qkv_bias) + norm
        return self.feed_forward_parameters + self.embedding_parameters + small


# Radford et al. 2019 and the released hparams.json; the paper's 117M is 124M
GPT2_SMALL = ModelSizes(
    "GPT-2",
    vocab_size=50_257,
    n_layers=12,
    d_model=768,
    num_heads=12,
    num_kv_heads=12,
    ff_dim=3072,
    max_seq=1024,
    bias=True,
    gated=False,
    tied=True,
)
# Radford et al. 2019 and the released hparams.json
GPT2_XL = ModelSizes(
    "GPT-2 XL",
    vocab_size=50_257,
    n_layers=48,
    d_model=1600,
    num_heads=25,
    num_kv_heads=25,
    ff_dim=6400,
    max_seq=1024,
    bias=True,
    gated=False,
    tied=True,
)
# Brown et al. 2020, table 2.1
GPT3 = ModelSizes(
    "GPT-3",
    vocab_size=50_257,
    n_layers=96,
    d_model=12_288,
    num_heads=96,
    num_kv_heads=96,
    ff_dim=49_152,
    max_seq=2048,
    bias=True,
    gated=False,
    tied=True,
)
# Touvron et al. 2023 and the released params.json
LLAMA2_7B = ModelSizes(
    "Llama 2 7B",
    vocab_size=32_000,
    n_layers=32,
    d_model=4096,
    num_heads=32,
    num_kv_heads=32,
    ff_dim=11_008,
)
LLAMA2_70B = ModelSizes(
    "Llama 2 70B",
    vocab_size=32_000,
    n_layers=80,
    d_model=8192,
    num_heads=64,
    num_kv_heads=8,
    ff_dim=28_672,
)
# Grattafiori et al. 2024, table 3, and the released config.json
LLAMA3_8B = ModelSizes(
    "Llama 3 8B",
    vocab_size=128_256,
    n_layers=32,
    d_model=4096,
    num_heads=32,
    num_kv_heads=8,
    ff_dim=14_336,
)
# Qwen team 2024, table 1, and the released config.json
QWEN25_05B = ModelSizes(
    "Qwen2.5 0.5B",
    vocab_size=151_936,
    n_layers=24,
    d_model=896,
    num_heads=14,
    num_kv_heads=2,
    ff_dim=4864,
    qkv_bias=True,
    tied=True,
)
# Qwen team 2024, table 1, and the released config.json
QWEN25_72B = ModelSizes(
    "Qwen2.5 72B",
    vocab_size=152_064,
    n_layers=80,
    d_model=8192,
    num_heads=64,
    num_kv_heads=8,
    ff_dim=29_568,
    qkv_bias=True,
)

MODELS = [GPT2_XL, GPT3, LLAMA2_7B, LLAMA2_70B, QWEN25_72B]
