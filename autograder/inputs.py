"""Inputs to try: drawn by named axes; those used together differ in size.

A shape is written as in the contract, `"... n d_k"`. Because no two of its axes share a
size, a transposed result has another shape, or other numbers, than the right one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

#: Sizes of the free axes. `L` is the second leading axis that `...` stands for. None is
#: the root of another, so that a factor such as √d_k can't be taken for a size.
AXES: dict[str, int] = {
    "B": 2,
    "L": 3,
    "d_k": 10,
    "n": 5,
    "m": 7,
    "T": 8,
    "d_v": 9,
    "d": 12,
    "H": 11,
    "V": 13,
    "kv": 3,
    "groups": 2,
}

#: Sizes that follow from others, in the order in which they are worked out.
DERIVED: dict[str, tuple[str, str]] = {
    "h": ("kv", "groups"),
    "C": ("h", "d_k"),
}

#: How an axis is spoken of: one, several.
WORDS: dict[str, tuple[str, str]] = {
    "n": ("query", "queries"),
    "m": ("key", "keys"),
    "T": ("position", "positions"),
    "h": ("head", "heads"),
    "kv": ("key/value head", "key/value heads"),
}


class Sizes(Mapping[str, int]):
    """The size of every axis, and the axes that `...` stands for."""

    def __init__(
        self,
        changes: Mapping[str, int] | None = None,
        lead: tuple[str, ...] = ("B", "L"),
    ) -> None:
        self._free = AXES | dict(changes or {})
        self.lead = lead

    def __getitem__(self, axis: str) -> int:
        if axis in self._free:
            return self._free[axis]
        left, right = DERIVED[axis]
        return self[left] * self[right]

    def __iter__(self) -> Any:
        return iter([*self._free, *DERIVED])

    def __len__(self) -> int:
        return len(self._free) + len(DERIVED)

    def but(
        self,
        changes: Mapping[str, int] | None = None,
        lead: tuple[str, ...] | None = None,
    ) -> "Sizes":
        """These sizes with some axes changed."""
        free = self._free | dict(changes or {})
        return Sizes(free, self.lead if lead is None else lead)

    def axes(self, shape: str) -> list[str]:
        """The axes of a shape, `...` spelled out."""
        names: list[str] = []
        for token in shape.split():
            names.extend(self.lead if token == "..." else [token])
        return names

    def shape(self, shape: str) -> list[int]:
        return [
            int(token) if token.isdigit() else self[token] for token in self.axes(shape)
        ]


@dataclass(frozen=True)
class Draw:
    """How one argument is made: `make(shape as numbers, generator)`."""

    shape: str
    make: Callable[[list[int], torch.Generator], Tensor]

    def __call__(self, sizes: Sizes, generator: torch.Generator) -> Tensor:
        return self.make(sizes.shape(self.shape), generator)


@dataclass(frozen=True)
class Size:
    """An argument that is an axis's size, such as `num_heads`."""

    axis: str

    def __call__(self, sizes: Sizes, generator: torch.Generator) -> int:
        return sizes[self.axis]


Spec = Any  #: a Draw, a Size, or a plain value that stays as it is
Case = Mapping[str, Spec]


def normal(shape: str, scale: float = 1.0, mean: float = 0.0) -> Draw:
    """Normal numbers, rounded to tenths so that an example can be redone by hand."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        numbers = torch.randn(sizes, generator=generator)
        return (numbers * 10).round() / 10 * scale + mean

    return Draw(shape, make)


def positive(shape: str) -> Draw:
    """Positive numbers from 0.1 to 2 whose rows add up to anything."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        return torch.randint(1, 21, sizes, generator=generator) / 10

    return Draw(shape, make)


def some(shape: str, dtype: torch.dtype = torch.bool) -> Draw:
    """A mask with about half its entries set; along the last axis at least one is."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        mask = torch.rand(sizes, generator=generator) < 0.5
        keep = torch.randint(sizes[-1], [*sizes[:-1], 1], generator=generator)
        return mask.scatter(-1, keep, True).to(dtype)

    return Draw(shape, make)


def whole(shape: str, low: int, high: int) -> Draw:
    """Whole numbers from low up to, not including, high."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        return torch.randint(low, high, sizes, generator=generator)

    return Draw(shape, make)


def size(axis: str) -> Size:
    """The size of an axis, as an int."""
    return Size(axis)


def draw(case: Case, sizes: Sizes, seed: int) -> dict[str, Any]:
    """Every argument of a case, drawn from one seed."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: spec(sizes, generator) if callable(spec) else spec
        for name, spec in case.items()
    }


def axes_of(case: Case) -> list[str]:
    """The axes that a case's sizes depend on, each once, `...` included."""
    names: list[str] = []
    for spec in case.values():
        if isinstance(spec, Draw):
            names.extend(axis for axis in spec.shape.split() if not axis.isdigit())
        elif isinstance(spec, Size):
            names.append(spec.axis)
    return list(dict.fromkeys(names))


def in_words(
    axes: list[str], sizes: Sizes, words: Mapping[str, tuple[str, str]] | None = None
) -> str:
    """Sizes as one says them: `one query, two keys, d_k = 2`."""
    words = WORDS | dict(words or {})
    numbers = ("no", "one", "two", "three", "four", "five")
    said = []
    for axis in axes:
        count = sizes[axis]
        if axis in words:
            number = numbers[count] if count < len(numbers) else str(count)
            said.append(f"{number} {words[axis][count != 1]}")
        elif axis == "B":
            said.append("a batch of " + str(count))
        elif axis != "L":
            said.append(f"{axis} = {count}")
    return ", ".join(said)
