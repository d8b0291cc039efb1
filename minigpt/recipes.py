"""Recipes: everything that decides how a training run comes out, but the text."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from minigpt.tokens import TOKENISERS

#: What there must be one of at least.
_COUNTS = ("d_model", "n_layers", "n_heads", "seq_len", "batch_size", "steps")


@dataclass(frozen=True)
class Recipe:
    """The tokens, the model's shape, and how it is trained.

    tokens       chars, bytes, or bpe with so many merges
    batch_size   sequences a step, dealt out over `accumulate` micro-batches
    warmup       steps until the learning rate is max_lr; from there half a cosine
                 falls to min_lr
    """

    tokens: str = "chars"
    merges: int = 256
    d_model: int = 128
    n_layers: int = 4
    n_heads: int = 4
    seq_len: int = 64
    dropout: float = 0.0
    batch_size: int = 12
    accumulate: int = 1
    steps: int = 2000
    max_lr: float = 1e-3
    min_lr: float = 1e-4
    warmup: int = 100
    weight_decay: float = 0.1
    beta2: float = 0.99
    max_norm: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}, but it is 1 or more")
        if self.d_model % self.n_heads:
            sizes = f"d_model = {self.d_model}, n_heads = {self.n_heads}"
            raise ValueError(f"{sizes}: the second must divide the first")
        if self.accumulate < 1 or self.batch_size % self.accumulate:
            sizes = f"batch_size = {self.batch_size}, accumulate = {self.accumulate}"
            raise ValueError(f"{sizes}: the second must divide the first")
        if self.tokens not in TOKENISERS:
            raise ValueError(
                f"tokens = {self.tokens!r}, not among {', '.join(TOKENISERS)}"
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout = {self.dropout}, but it is from 0 up to 1")
        if not 0 <= self.warmup <= self.steps:
            sizes = f"warmup = {self.warmup}, steps = {self.steps}"
            raise ValueError(
                f"{sizes}: the warm-up can't last longer than the training; give a "
                "smaller warmup, or more steps"
            )
        if not 0 <= self.min_lr <= self.max_lr < math.inf:
            rates = f"max_lr = {self.max_lr}, min_lr = {self.min_lr}"
            raise ValueError(
                f"{rates}: the rate falls from the first to the second; give a larger "
                "max_lr, or a smaller min_lr that isn't negative"
            )

    def but(self, **changes: Any) -> "Recipe":
        """This recipe with some fields changed; those that are None stay."""
        given = {name: value for name, value in changes.items() if value is not None}
        unknown = given.keys() - {field.name for field in fields(self)}
        if unknown:
            raise ValueError(f"a recipe has no {', '.join(sorted(unknown))}")
        return replace(self, **given)


#: A recipe by name, and the text it is meant for.
PRESETS: dict[str, tuple[Recipe, str]] = {
    # Small enough for two CPU cores.
    "cpu": (Recipe(tokens="bytes", steps=1400), "stdlib"),
    # Karpathy's nanoGPT, the character-level recipe for a CPU: validation loss 1.88.
    "shakespeare-char": (Recipe(), "shakespeare"),
    # The same for one GPU: validation loss 1.47.
    "gpu": (
        Recipe(
            d_model=384,
            n_layers=6,
            n_heads=6,
            seq_len=256,
            dropout=0.2,
            batch_size=64,
            steps=5000,
        ),
        "shakespeare",
    ),
}
