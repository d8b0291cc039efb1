"""How a wrong tensor relates to the right one: a factor, a flip, a shift, a slice."""

from collections.abc import Iterator, Mapping
from itertools import permutations

import torch
from torch import Tensor

Relation = tuple[str, str]


def relation(
    expected: Tensor, actual: Tensor, sizes: Mapping[str, int]
) -> Relation | None:
    """The first relation that holds exactly, as an id and the rest of a sentence."""
    e, a = expected.double(), actual.double()
    if e.numel() < 2 or not bool(e.isfinite().all()):
        return None
    if e.shape == a.shape and _near(e, a):
        return None  # then anything that is nearly symmetric would seem to hold
    for found in _relations(e, a, sizes):
        return found
    return None


def agreeing(expected: Tensor, actual: Tensor, tol: float) -> tuple[int, int]:
    """How many numbers agree, of how many."""
    e, a = expected.double(), actual.double()
    largest = float(e[e.isfinite()].abs().max()) if bool(e.isfinite().any()) else 0.0
    near = (e == a) | ((e - a).abs() <= tol * max(largest, 1e-3))
    return int(near.sum()), e.numel()


def _near(e: Tensor, a: Tensor) -> bool:
    scale = max(float(e.abs().max()), 1e-9)
    return bool(((e - a).abs() <= 1e-4 * scale).all())


def _relations(e: Tensor, a: Tensor, sizes: Mapping[str, int]) -> Iterator[Relation]:
    if bool((a == 0).all()):
        yield "all-zero", "is all zeros."
    factor = _factor(e, a)
    if factor is not None and abs(factor - 1) > 1e-3:
        named = _spelled(factor, sizes)
        how = f" (divided by {named[2:].split()[0]})" if named[:2] == "1/" else ""
        yield (
            "constant-factor",
            f"is {named} times the expected one{how}, in every place.",
        )
    offset = (a - e).mean()
    if _near(e + offset, a) and abs(float(offset)) > 1e-3:
        yield (
            "constant-offset",
            f"is the expected one plus {float(offset):.2f}, everywhere.",
        )
    yield from _moved(e, a)
    yield from _sums(e, a)
    yield from _slices(e, a)


def _factor(e: Tensor, a: Tensor) -> float | None:
    square = float((e * e).sum())
    if square == 0:
        return None
    factor = float((e * a).sum()) / square
    return factor if factor and _near(e * factor, a) else None


def _spelled(factor: float, sizes: Mapping[str, int]) -> str:
    """A factor as a learner would write it, where it is one of the usual ones."""
    usual = {-1.0: "-1", 2.0: "2", 0.5: "1/2", 2**0.5: "√2", 0.5**0.5: "1/√2"}
    for axis, number in sizes.items():
        size = float(number)
        named = {size**0.5: f"√{axis}", size**-0.5: f"1/√{axis}"}
        named |= {size: axis, 1 / size: f"1/{axis}"}
        usual = named | usual
    for value, name in usual.items():
        if abs(value - factor) < 1e-3 * abs(factor):
            return f"{name} = {factor:.3g}"
    return f"{factor:.3g}"


def _moved(e: Tensor, a: Tensor) -> Iterator[Relation]:
    dims = range(e.dim())
    for order in permutations(dims):
        if order != tuple(dims) and e.permute(order).shape == a.shape:
            if _near(e.permute(order).contiguous(), a):
                yield "axes-exchanged", "has the right numbers with two axes exchanged."
    for dim in dims:
        if e.shape[dim] > 1 and _near(e.flip(dim), a):
            yield "reversed", f"stands in reverse along axis {dim}."
        for step in (1, -1):
            if e.shape[dim] > 2 and _near(e.roll(step, dim), a):
                yield "shifted", f"is shifted by {step} along axis {dim}."
    yield from _blocks(e, a)
    flat_e, flat_a = e.flatten().sort().values, a.flatten().sort().values
    # Of two numbers, as in a mask, there are as many as expected by chance.
    if _near(flat_e, flat_a) and len(set(flat_e.tolist())) > 2:
        yield (
            "relabelled",
            "has the right numbers in the wrong places: the memory was given another "
            "shape (view, reshape) where axes should have been moved (transpose, "
            "permute), so that numbers of different positions are mixed.",
        )


def _blocks(e: Tensor, a: Tensor) -> Iterator[Relation]:
    """Along one axis, blocks of equal length in another order, or dealt out."""
    if e.shape != a.shape:
        return
    for dim, length in enumerate(e.shape):
        for blocks in range(2, length // 2 + 1):
            if length % blocks:
                continue
            cut = e.reshape(
                *e.shape[:dim], blocks, length // blocks, *e.shape[dim + 1 :]
            )
            if _near(cut.flip(dim).flatten(dim, dim + 1), a):
                yield (
                    "blocks-reversed",
                    f"has the right numbers, but along axis {dim} its {blocks} blocks "
                    f"of {length // blocks} stand in reverse order, the last first.",
                )
            if _near(cut.transpose(dim, dim + 1).flatten(dim, dim + 1), a):
                yield (
                    "interleaved",
                    f"has the right numbers, but along axis {dim} its {blocks} blocks "
                    f"of {length // blocks} are interleaved, one number of each in "
                    "turn.",
                )


def _sums(e: Tensor, a: Tensor) -> Iterator[Relation]:
    if e.dim() < 2 or not _near(torch.ones_like(e.sum(-1)), e.sum(-1)):
        return
    if bool(((e == 0) | (e == 1)).all()):  # a mask's rows may do so by chance
        return
    sums = a.sum(-1)
    if not _near(torch.ones_like(sums), sums):
        low, high = float(sums.min()), float(sums.max())
        digits = 2 if max(1 - low, high - 1) >= 0.01 else 5
        text = (
            "should have rows that add up to 1; yours add up to "
            f"{low:.{digits}f} … {high:.{digits}f}"
        )
        other = [
            d
            for d in range(a.dim() - 1)
            if _near(torch.ones_like(a.sum(d)), a.sum(d)) and a.shape[d] > 1
        ]
        if other:
            text += (
                f", while axis {other[-1]} adds up to 1: the normalised axis is wrong"
            )
        yield "rows-not-one", text + "."


def _slices(e: Tensor, a: Tensor) -> Iterator[Relation]:
    """Right along part of an axis, wrong along the rest."""
    tol = 1e-4 * max(float(e.abs().max()), 1e-9)
    near = (e - a).abs() <= tol
    for dim in range(e.dim()):
        if e.shape[dim] < 2:
            continue
        others = [d for d in range(e.dim()) if d != dim]
        right = near.amin(others) if others else near
        if bool(right.any()) and not bool(right.all()):
            good = [i for i, ok in enumerate(right.tolist()) if ok]
            bad = [i for i, ok in enumerate(right.tolist()) if not ok]
            if good[0] != 0 and 8 * len(good) < len(right):
                continue  # a few that agree by chance
            yield (
                "partly-right",
                f"is right along axis {dim} at {_listed(good)}, wrong at "
                f"{_listed(bad)}.",
            )


def _listed(numbers: list[int]) -> str:
    text = ", ".join(map(str, numbers[:6]))
    return f"index {text}" + (" …" if len(numbers) > 6 else "")
