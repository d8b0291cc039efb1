"""Corrupt a text: what is drawn comes from a generator made here, of a given seed."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from autograder.probes.basic import observe


def corruption(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Whether inputs and targets have the tokens' shape."""
    args = dict(x["args"])
    seed = args.pop("seed")

    def drawn(*given: Any) -> Any:
        inputs, targets = theirs(*given, torch.Generator().manual_seed(seed))
        return list(inputs.shape), list(targets.shape)

    return observe(drawn, {**x, "args": args}, {})
