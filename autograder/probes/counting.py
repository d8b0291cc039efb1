"""Count the parameters of a model that is made here, beside the answer.

The argument `model` names one of `MODELS`: small ones of plain layers, each with
something that must not be counted, or must be counted once.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.probes.facts import kind_of


class Deep(nn.Module):
    """Modules in modules, a list of parameters, and a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        inner = nn.Sequential(nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 2)))
        self.layers = nn.ModuleDict({"inner": inner, "norm": nn.LayerNorm(7)})
        self.listed = nn.ParameterList([torch.zeros(3, 2), torch.zeros(3, 2)])
        self.gain = nn.Parameter(torch.ones(11))


class Tied(nn.Module):
    """A head that shares its weight with the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(13, 4)
        self.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 13)
        self.head.weight = self.embed.weight


class Shared(nn.Module):
    """One layer under two names, beside another that is as large."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(5, 5)
        self.second = self.first
        self.third = nn.Linear(5, 5)


def _partly_frozen() -> nn.Module:
    model = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 7), nn.LayerNorm(7))
    model[0].requires_grad_(False)
    model[1].bias.requires_grad_(False)
    return model


def _tied_and_frozen() -> nn.Module:
    model = Tied()
    model.embed.weight.requires_grad_(False)
    return model


def _frozen() -> nn.Module:
    return nn.Linear(3, 4).requires_grad_(False)


MODELS: dict[str, Callable[[], nn.Module]] = {
    "two layers": lambda: nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)),
    "deep": Deep,
    "tied": Tied,
    "shared": Shared,
    "partly frozen": _partly_frozen,
    "tied and frozen": _tied_and_frozen,
    "frozen": _frozen,
    "with buffers": lambda: nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5)),
    "nothing": nn.ReLU,
}


def counting(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """What the answer counts."""
    with torch.random.fork_rng(devices=[]):
        model = MODELS[x["args"]["model"]]()
    count = _whole(theirs(model))
    kind = type(count).__name__
    plain = type(count) in (int, float, bool, str)
    return {"kind": kind, "out": count if plain else kind_of(count)}


def _whole(count: Any) -> Any:
    """NumPy's whole numbers are whole numbers; a tensor is none."""
    if isinstance(count, (Tensor, bool)) or not hasattr(count, "__index__"):
        return count
    return operator.index(count)
