"""Many pictures as one drawing and what changes in it.

Pictures of the same make (the same elements and attributes in the same order) share a
drawing. What differs between them are columns: a value for each choice of the controls,
and for no control on which it doesn't depend. That keeps a figure of hundreds of
pictures small, and lets the page move from one to the next without drawing it anew.
"""

import itertools
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

Column = list[Any]  # [strides, values]: values[sum(stride * choice)]


def column(values: Sequence[Any], shape: Sequence[int]) -> Column:
    """Store values, one for each choice of controls, without what they don't depend on.

    values: prod(shape) of them, the last control's choice running fastest; None says
    that it doesn't matter.
    """
    table = dict(zip(itertools.product(*map(range, shape)), values, strict=True))
    sizes = list(shape)
    for axis, size in enumerate(shape):
        merged: dict[tuple[int, ...], Any] = {}
        for at, value in table.items():
            key = (*at[:axis], 0, *at[axis + 1 :])
            known = merged.setdefault(key, value)
            if known is None:
                merged[key] = value
            elif value is not None and value != known:
                break
        else:
            table, sizes[axis] = merged, min(size, 1)
    strides, step = [0] * len(sizes), 1
    for axis in reversed(range(len(sizes))):
        if sizes[axis] > 1:
            strides[axis], step = step, step * sizes[axis]
    return [strides, list(table.values())]


def encode(svgs: Sequence[str], shape: Sequence[int]) -> dict[str, Any]:
    """Put pictures, one for each choice of controls, into drawings and columns.

    -> "drawing", a column of numbers, and "drawings" with each one's "svg" and
    "varies", a list of [element's number, attribute or "" for its text, *column].
    Raises ValueError if a picture isn't well-formed.
    """
    trees = [_parse(svg) for svg in svgs]
    kinds = [tuple(_make(node) for node in tree.iter()) for tree in trees]
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    drawings = []
    for kind in numbers:
        members = [i for i, other in enumerate(kinds) if other == kind]
        drawings.append(
            {
                "svg": svgs[members[0]],
                "varies": _varying(trees, members, shape),
            }
        )
    which = column([numbers[kind] for kind in kinds], shape)
    return {"drawing": which, "drawings": drawings}


def _parse(svg: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(f"<p>{svg}</p>")
    except ElementTree.ParseError as error:
        raise ValueError(f"the picture is no well-formed SVG: {error}") from None


def _make(node: ElementTree.Element) -> tuple[Any, ...]:
    return (node.tag, len(node), *node.attrib)


def _varying(
    trees: Sequence[ElementTree.Element], members: Sequence[int], shape: Sequence[int]
) -> list[list[Any]]:
    nodes = [list(trees[i].iter())[1:] for i in members]
    varies: list[list[Any]] = []
    for number, same in enumerate(zip(*nodes, strict=True)):
        for name in ["", *same[0].attrib]:
            values = [node.get(name) if name else node.text or "" for node in same]
            if len(set(values)) == 1 or (not name and len(same[0])):
                continue
            spread: list[Any] = [None] * len(trees)
            for i, value in zip(members, values, strict=True):
                spread[i] = _short(value)
            varies.append([number, name, *column(spread, shape)])
    return varies


def _short(value: str | None) -> str | int | float | None:
    """A number without its quotes, where it reads the same in a script."""
    for kind in (int, float):
        try:
            number = kind(value or "")
        except ValueError:
            continue
        if str(number) == value and abs(number) < 1e6:
            return number
    return value
