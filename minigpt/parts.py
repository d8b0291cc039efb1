"""Whose functions train the model: the references, or the learner's own parts."""

from types import SimpleNamespace
from typing import Any

WHOSE = ("reference", "mine")

#: What the trainer and the generator are made of: chapters 9, 10 and 11.
NEEDED = (
    "MiniGPT",
    "count_parameters",
    "initialise",
    "train_bpe",
    "bpe_encode",
    "bpe_decode",
    "get_batch",
    "next_token_loss",
    "learning_rate",
    "parameter_groups",
    "train_step",
    "sample_next",
    "KVCache",
    "forward_with_cache",
)


def references() -> Any:
    """The functions of `solutions/`, by name."""
    from solutions import generation, minigpt, training

    found = {**vars(minigpt), **vars(training), **vars(generation)}
    return SimpleNamespace(**{name: found[name] for name in NEEDED})


def mine() -> Any:
    """The learner's own where they passed, else the reference; each says which."""
    from autograder import parts

    return SimpleNamespace(**{name: getattr(parts, name) for name in NEEDED})


def of(whose: str) -> Any:
    """`reference` or `mine`."""
    return mine() if whose == "mine" else references()
