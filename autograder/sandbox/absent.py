"""Forbidden built-ins, taken away: in a worker a call of one raises.

What only watches, from Python, sees no other thread and can be switched off by what it
watches. So torch's own kernels are replaced, for every thread and whatever is called on
the way to them. It is done in the worker that runs the answer, and in no other process.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import FunctionType
from typing import Any, NoReturn

import torch
from torch import nn

from ..probes.watch import FAMILIES

#: Modules whose functions are Python: wrappers, and the same built-ins written anew.
WRITTEN = (
    "torch.nn.functional",
    "torch._refs",
    "torch._refs.nn.functional",
    "torch._decomp.decompositions",
)

#: How a tensor on the CPU may be laid out; each has kernels of its own.
LAYOUTS = ("CPU", "SparseCPU", "SparseCsrCPU", "MkldnnCPU", "NestedTensorCPU")

tried: set[str] = set()  # the families that were called all the same

_kernels: list[Any] = []  # they last as long as this


class ForbiddenBuiltin(RuntimeError):
    """Raised in the place of a built-in that was taken away."""


def take_away(families: Iterable[str]) -> None:
    """Let every call of these families' operators, functions and modules raise."""
    for name in families:
        family = FAMILIES[name]
        refuse = _refusal(name)
        _replace_kernels(family.operators, refuse)
        _replace_functions(family.functions | family.operators, refuse)
        for kind in family.modules:
            if hasattr(nn, kind):
                getattr(nn, kind).forward = refuse


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        tried.add(name)
        raise ForbiddenBuiltin(
            f"this uses {FAMILIES[name].spelled}, which the exercise asks you to write"
        )

    return refuse


def _replace_kernels(
    operators: frozenset[str], refuse: Callable[..., NoReturn]
) -> None:
    library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there was a kernel before
        for overload in overloads(operators):
            for layout in LAYOUTS:
                library.impl(overload, refuse, layout)  # type: ignore[no-untyped-call]
    _kernels.append(library)


@cache
def overloads(operators: frozenset[str]) -> list[str]:
    """The names of all overloads of those operators that this version of torch has."""
    return [
        operator if name == "default" else f"{operator}.{name}"
        for operator in sorted(operators)
        if hasattr(torch.ops.aten, operator)
        for name in getattr(torch.ops.aten, operator).overloads()
    ]


def _replace_functions(names: Iterable[str], refuse: Callable[..., NoReturn]) -> None:
    for module in filter(None, map(sys.modules.get, WRITTEN)):
        for name in names:
            if isinstance(getattr(module, name, None), FunctionType):
                setattr(module, name, refuse)
    table = _table()
    for name in names:
        for operator in decompositions().get(name, ()):
            table[operator] = refuse


def _table() -> dict[Any, Any]:
    table: dict[Any, Any] = getattr(
        sys.modules.get("torch._decomp"), "decomposition_table", {}
    )
    return table


def warm_up() -> None:
    """Look up once, in the server, what each of its workers would look up."""
    decompositions()
    for family in FAMILIES.values():
        overloads(family.operators)


@cache
def decompositions() -> Mapping[str, list[Any]]:
    """The operators that torch can also do in Python, by name."""
    found: dict[str, list[Any]] = {}
    for operator in _table():
        name = operator.name().partition("::")[2].partition(".")[0]
        found.setdefault(name, []).append(operator)
    return found
