"""The probe for measurements: what they give, and every trace they leave."""

import torch

from autograder.probes.traces import traceless


def request(where):
    x = {"x": torch.tensor([1.0, 2.0]), "where": where}
    return {"args": x, "keywords": [], "device": "cpu", "grads": False} | {
        "watch": [],
        "sizes": False,
    }


def slope(x):
    """The gradient of x², taken without a trace."""
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        return torch.autograd.grad((x * x).sum(), x)[0]


def test_a_clean_measurement_gives_the_same_everywhere():
    for where in ("anywhere", "no_grad", "training"):
        seen = traceless(slope, request(where), {})
        assert seen["out"].tolist() == [2.0, 4.0]
        assert (seen["out.requires_grad"], seen["out.grads_left_alone"]) == (
            False,
            True,
        )


def test_no_grad_is_really_off_and_training_really_on():
    def enabled(x):
        return torch.tensor([torch.is_grad_enabled(), x.requires_grad])

    assert traceless(enabled, request("no_grad"), {})["out"].tolist() == [False, False]
    assert traceless(enabled, request("training"), {})["out"].tolist() == [True, True]


def test_a_gradient_that_grew_is_seen():
    def backward(x):
        (x.requires_grad_() * 3).sum().backward()
        return x.grad.clone()

    for where in ("anywhere", "training"):
        assert traceless(backward, request(where), {})["out.grads_left_alone"] is False


def test_a_result_on_a_graph_is_seen():
    seen = traceless(lambda x: x * 2, request("training"), {})
    assert seen["out.requires_grad"] is True


def test_tensors_without_numbers_can_be_measured():
    seen = traceless(slope, request("training") | {"device": "meta"}, {})
    assert seen["out"].is_meta
    assert seen["out.grads_left_alone"] is True
