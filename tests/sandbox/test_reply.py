"""A reply's form is looked over before anybody relies on it, and so is its size."""

import pytest
import torch

from autograder.probes import run
from autograder.sandbox.reply import has_form, weight

ERROR = {"type": "E", "classes": ["E"], "message": "", "line": "", "number": 3}
NONE = {
    "kind": [{"kind": 7}, {"kind": None}],
    "error": [{"error": None}, {"error": {}}, {"error": ERROR | {"classes": "E"}}],
    "grad_error": [{"grad_error": "x"}],
    "called": [{"called": "softmax"}, {"called": [5]}],
    "changed": [{"changed": {"x": 1}}],
    "gradient": [
        {"grad.x": 5},
        {"grad.x": [torch.ones(1)]},
        {"grad.x": torch.ones(1, device="meta")},
        {"grad.x": torch.ones(1, dtype=torch.complex64)},
        {"grad.x": torch.ones(1, dtype=torch.int64)},
    ],
    "parameters": [{"parameters": {"w": 5}}, {"parameters": {"w": ["3"]}}],
    "again": [{"again": 1}],
}


@pytest.mark.parametrize("what", NONE)
def test_what_no_probe_returns_has_no_form(what):
    assert not any(map(has_form, NONE[what]))


def test_what_a_probe_returns_has_its_form():
    x = {"args": {"x": torch.ones(2)}, "keywords": [], "device": "cpu", "seed": 0}
    x |= {"grads": True, "watch": ["softmax"], "sizes": True}
    for theirs in (lambda x: 2 * x, lambda x: 1 / 0, lambda x: [x, None, "x"]):
        assert has_form(run("call", theirs, x, {}))


def test_lists_and_texts_weigh_what_they_take_in_memory():
    assert weight([[]] * 1000) > 50_000
    assert weight({"out": "x" * 1000}) > 1000
    assert weight((torch.ones(1000), None)) > 4000
    assert weight(torch.empty(1 << 40, device="meta")) < 1000
