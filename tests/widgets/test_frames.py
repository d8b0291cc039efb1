"""Drawings and columns give back each picture that was put in, and stay small."""

import itertools
import json
from xml.etree import ElementTree

import pytest
import torch

from bookkit.widgets import bars, grid, side_by_side
from bookkit.widgets.frames import column, encode


def pick(stored, at):
    strides, values = stored
    return values[sum(stride * i for stride, i in zip(strides, at, strict=True))]


def played(data, at):
    """The picture that the page shows for a choice of controls."""
    drawing = data["drawings"][pick(data["drawing"], at)]
    tree = ElementTree.fromstring(f"<p>{drawing['svg']}</p>")
    parts = list(tree.iter())[1:]
    for number, name, *stored in drawing["varies"]:
        value = str(pick(stored, at))
        if name:
            parts[number].set(name, value)
        else:
            parts[number].text = value
    return ElementTree.tostring(tree)


def plain(svg):
    return ElementTree.tostring(ElementTree.fromstring(f"<p>{svg}</p>"))


def mixed(size, name, kind):
    """Pictures of different makes: one, two or three bars, or a grid beside them."""
    some = bars(torch.arange(1.0, size + 1) / 4, ["<&'\""] * size, name)
    if kind == "bars":
        return some
    return side_by_side(some, grid(torch.eye(2) * size / 4, "ab", "cd", name))


def test_every_choice_gives_back_its_own_picture():
    choices = [(1, 2, 3), ("a", "1.50", "007"), ("bars", "grid")]
    shape = [len(values) for values in choices]
    svgs = [mixed(*values).svg() for values in itertools.product(*choices)]
    data = json.loads(json.dumps(encode(svgs, shape)))
    for svg, at in zip(svgs, itertools.product(*map(range, shape)), strict=True):
        assert played(data, at) == plain(svg)
    assert len(data["drawings"]) == 6


def test_what_depends_on_one_control_is_stored_once_for_each_of_its_values():
    shape = (3, 4, 5)
    choices = list(itertools.product(*map(range, shape)))
    assert column([j for _, j, _ in choices], shape) == [[0, 1, 0], [0, 1, 2, 3]]
    strides, values = column([10 * i + k for i, _, k in choices], shape)
    assert (strides, len(values)) == ([5, 0, 1], 15)
    assert column(["same"] * 60, shape) == [[0, 0, 0], ["same"]]


def test_what_does_not_matter_takes_no_room():
    strides, values = column([1, None, None, 2], (2, 2))
    assert [values[strides[0] * i + strides[1] * i] for i in (0, 1)] == [1, 2]
    assert len(values) == 2


def test_only_what_changes_is_stored():
    svgs = [bars([size], ["a"]).svg() for size in (0.25, 0.5)]
    (drawing,) = encode(svgs, [2])["drawings"]
    changes = {name: values for _, name, _, values in drawing["varies"]}
    assert changes == {
        "width": [47.5, 95],
        "transform": ["translate(47.5)", "translate(95)"],
        "": ["0.250", "0.500"],
    }


def test_a_picture_that_is_not_well_formed_is_refused():
    with pytest.raises(ValueError, match="no well-formed SVG: mismatched tag"):
        encode(["<svg><path></svg>"], [1])
