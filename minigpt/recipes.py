"""Recipes: everything that decides how a training run comes out, but the text."""

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, get_type_hints

from click import BadParameter, Choice, IntRange, ParamType

from minigpt.ranges import COUNT, FINITE, SEED, Number
from minigpt.tokens import TOKENISERS


@dataclass(frozen=True)
class Recipe:
    """The tokens, the model's shape, and how it is trained.

    tokens       chars, bytes, or bpe with so many merges
    batch_size   sequences a step, dealt out over `accumulate` micro-batches
    warmup       steps until the learning rate is max_lr; from there half a cosine
                 falls to min_lr
    """

    tokens: Annotated[str, Choice(TOKENISERS)] = "chars"
    merges: Annotated[int, IntRange(0)] = 256
    d_model: Annotated[int, COUNT] = 128
    n_layers: Annotated[int, COUNT] = 4
    n_heads: Annotated[int, COUNT] = 4
    seq_len: Annotated[int, COUNT] = 64
    dropout: Annotated[float, Number(0, 1, max_open=True)] = 0.0
    batch_size: Annotated[int, COUNT] = 12
    accumulate: Annotated[int, COUNT] = 1
    steps: Annotated[int, COUNT] = 2000
    max_lr: Annotated[float, FINITE] = 1e-3
    min_lr: Annotated[float, FINITE] = 1e-4
    warmup: Annotated[int, IntRange(0)] = 100
    weight_decay: Annotated[float, FINITE] = 0.1
    beta2: Annotated[float, Number(0, 1, max_open=True)] = 0.99
    max_norm: Annotated[float, Number(0, min_open=True)] = 1.0
    seed: Annotated[int, SEED] = 0

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            try:
                value = kind.convert(getattr(self, name), None, None)
            except BadParameter as error:
                raise ValueError(f"{name}: {error.message}") from error
            object.__setattr__(self, name, value)
        if self.d_model % self.n_heads:
            sizes = f"d_model = {self.d_model}, n_heads = {self.n_heads}"
            raise ValueError(f"{sizes}: the second must divide the first")
        if self.batch_size % self.accumulate:
            sizes = f"batch_size = {self.batch_size}, accumulate = {self.accumulate}"
            raise ValueError(f"{sizes}: the second must divide the first")
        if self.warmup > self.steps:
            sizes = f"warmup = {self.warmup}, steps = {self.steps}"
            raise ValueError(
                f"{sizes}: the warm-up can't last longer than the training; give a "
                "smaller warmup, or more steps"
            )
        if self.min_lr > self.max_lr:
            rates = f"max_lr = {self.max_lr}, min_lr = {self.min_lr}"
            raise ValueError(
                f"{rates}: the rate falls from the first to the second; give a larger "
                "max_lr, or a smaller min_lr"
            )

    def but(self, **changes: Any) -> "Recipe":
        """This recipe with some fields changed; those that are None stay."""
        given = {name: value for name, value in changes.items() if value is not None}
        unknown = given.keys() - {field.name for field in fields(self)}
        if unknown:
            raise ValueError(f"a recipe has no {', '.join(sorted(unknown))}")
        return replace(self, **given)


#: What each field of a recipe may be.
KINDS: dict[str, ParamType[Any]] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(Recipe, include_extras=True).items()
}

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
