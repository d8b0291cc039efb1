"""Loading published weights with a switch wherever people slip."""

from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import Tensor

from solutions.modern import published_name

State = dict[str, Tensor]

#: What may be wrong with a state dict.
ALL = {"missing", "unknown", "shape"}


def passed_over(name: str) -> bool:
    return name == "embeddings.position_ids" or name.startswith("pooler.")


def fill(
    model: Any,
    state_dict: State,
    *,
    renamed: Callable[[str], str] = lambda name: name,
    turned: Callable[[str, Tensor], Tensor] = lambda name, tensor: tensor,
    skipped: Callable[[str], bool] = passed_over,
    left: Callable[[str], bool] = lambda name: False,
    needs_all: bool = True,
    knows_all: bool = True,
    fits: Callable[[Tensor, Tensor], bool] = lambda p, tensor: p.shape == tensor.shape,
    refuse: Callable[[str], Exception] = ValueError,
    late: Collection[str] = (),
    end: Callable[[State], Any] = lambda state: None,
) -> None:
    """The twin of load_encoder; what is `late` is looked at when all is copied."""
    own = {
        published_name(renamed(name)): p
        for name, p in model.named_parameters()
        if not left(name)
    }
    known = {published_name(name) for name, _ in model.named_parameters()}
    given = {name: t for name, t in state_dict.items() if not skipped(name)}

    def look(at: Collection[str]) -> None:
        if "unknown" in at and knows_all and given.keys() - known:
            raise refuse("unknown")
        if "missing" in at and needs_all and own.keys() - given.keys():
            raise refuse("missing")
        for name, p in own.items():
            if "shape" not in at or name not in given:
                continue
            if not fits(p, turned(name, given[name])):
                raise refuse("shape")

    look(ALL - set(late))
    with torch.no_grad():
        for name, p in own.items():
            if name in given and fits(p, turned(name, given[name])):
                p.copy_(turned(name, given[name]))
    look(late)
    end(state_dict)


def exchanged(one: str, other: str) -> Callable[[str], str]:
    def rename(name: str) -> str:
        if one in name:
            return name.replace(one, other)
        return name.replace(other, one)

    return rename


def broadcastable(p: Tensor, tensor: Tensor) -> bool:
    try:
        return tensor.expand_as(p).shape == p.shape
    except RuntimeError:
        return False
