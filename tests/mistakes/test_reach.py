"""Chapter 1, the gradient's reach: slips are named, unusual answers accepted."""

import pytest

from tests.mistakes.answers import check_source
from tests.mistakes.test_rnn import RNN, whole

REACH = (
    RNN
    + """

def gradient_reach(x, W_x, W_h, b):
    with torch.enable_grad():
        x = x.detach().clone().requires_grad_(True)
        states = rnn_forward(x, W_x, W_h, b)
        loss = states[:, -1].sum()
        gradient = torch.autograd.grad(loss, x)[0]
    return gradient.norm(dim=(0, 2))
"""
)

LOSS = "states[:, -1].sum()"
NORM = "gradient.norm(dim=(0, 2))"
GRAD = "gradient = torch.autograd.grad(loss, x)[0]"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (LOSS, "states.sum()", "all-states"),
        (LOSS, "states[-1].sum()", "last-of-the-batch"),
        (LOSS, "states[:, 0].sum()", "first-state"),
        (LOSS, "states[:, -1].mean()", "mean-of-the-last"),
        (LOSS, "(states[:, -1] ** 2).sum()", "squares-of-the-last"),
        (LOSS, "states[:, -1].norm()", "length-of-the-last"),
        (LOSS, "states[:, -1]", None),  # torch's own words: only for scalar outputs
        (NORM, "gradient.norm(dim=-1).mean(0)", "averaged-over-the-batch"),
        (NORM, "gradient.norm(dim=2).sum(0)", "added-over-the-batch"),
        (NORM, "gradient.norm(dim=2)", "batch-kept"),
        (NORM, "gradient.sum(0).norm(dim=-1)", "summed-before-the-norm"),
        (NORM, "gradient.mean(0).norm(dim=-1)", "averaged-before-the-norm"),
        (NORM, "gradient.pow(2).sum((0, 2))", "root-missing"),
        (NORM, "gradient.pow(2).mean((0, 2)).sqrt()", "root-mean-square"),
        (NORM, "gradient.abs().sum((0, 2))", "magnitudes-added"),
        (NORM, "gradient.norm(p=1, dim=(0, 2))", "magnitudes-added"),
        (NORM, "gradient.abs().mean((0, 2))", "magnitudes-averaged"),
        (NORM, "gradient.abs().amax((0, 2))", "largest-only"),
        (NORM, "gradient.sum((0, 2))", "signed-sum"),
        (NORM, "gradient.norm()", "one-number"),
        (NORM, "gradient.norm(dim=(0, 2)).flip(0)", "by-distance"),
        (NORM, "F(gradient.norm(dim=(0, 2)))", "share-of-the-largest"),
        (NORM, "gradient[0].norm(dim=-1)", "first-sample-only"),
        (NORM, "gradient.norm(dim=(0, 1))", "wrong-shape"),
        (NORM, "gradient.norm(dim=(0, 2)).tolist()", "result-form"),
        (NORM, "gradient.norm(dim=(0, 2)).double()", "wrong-dtype"),
        ("with torch.enable_grad():", "if True:", "fails-under-no-grad"),
        (GRAD, "loss.backward(); gradient = x.grad", "gradients-left-behind"),
        (
            GRAD,
            f"{GRAD[:-4]}, create_graph=True)[0]",
            "attached-unless-under-no-grad",
        ),
    ],
)
def test_slip_in_measuring_is_named(right, slip, mistake):
    assert REACH.count(right) == 1
    source = REACH.replace(right, slip)
    source = source.replace("def gradient", "F = lambda r: r / r.max()\n\ndef gradient")
    verdict = check_source(source)
    assert not verdict.passed
    assert verdict.mistake == mistake


BY_HAND = (
    RNN.replace("\n\n\n", "\n")
    + """
def gradient_reach(x, W_x, W_h, b):
    with torch.no_grad():
        states = rnn_forward(x, W_x, W_h, b)
        g, norms = torch.ones_like(states[:, -1]), []
        for h in reversed(states.unbind(1)):
            delta = g * (1 - h * h)
            norms.append((delta @ W_x.T).norm())
            g = delta @ W_h.T
        return torch.stack(norms[::-1])
"""
)


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("g = delta @ W_h.T", "g = delta @ W_h", "way-back-not-transposed"),
        ("delta = g * (1 - h * h)", "delta = g", "slope-forgotten"),
        (
            "norms.append((delta @ W_x.T).norm())",
            "norms.append(g.norm())",
            "to-the-states",
        ),
        (
            "norms.append((delta @ W_x.T).norm())",
            "norms.append(((1 - h * h) @ W_x.T).norm())",
            "own-state",
        ),
    ],
)
def test_slip_in_the_chain_rule_by_hand_is_named(right, slip, mistake):
    assert BY_HAND.count(right) == 1
    assert check_source(BY_HAND).passed
    assert check_source(BY_HAND.replace(right, slip)).mistake == mistake


def test_asking_the_callers_own_x_for_gradients_is_accepted():
    own, callers = "x.detach().clone().requires_grad_(True)", "x.requires_grad_()"
    assert REACH.count(own) == 1
    assert check_source(REACH.replace(own, callers)).status == "passed"


def test_a_gradient_left_in_the_callers_tensor_is_named():
    source = REACH.replace(GRAD, "loss.backward(); gradient = x.grad")
    source = source.replace(
        "x.detach().clone().requires_grad_(True)", "x.requires_grad_()"
    )
    assert check_source(source).mistake == "gradient-in-the-callers-x"


MEASURES = {
    "backward on copies of everything": """
        with torch.enable_grad():
            x, W_x, W_h, b = (t.detach().clone() for t in (x, W_x, W_h, b))
            x.requires_grad_()
            rnn_forward(x, W_x, W_h, b)[:, -1].sum().backward()
        return x.grad.square().sum(dim=(0, 2)).sqrt()
    """,
    "backward into x alone": """
        with torch.enable_grad():
            x = x.clone().detach().requires_grad_()
            rnn_forward(x, W_x, W_h, b)[:, -1].sum().backward(inputs=[x])
        return torch.linalg.vector_norm(x.grad, dim=(0, 2))
    """,
    "torch.func": """
        def last(x):
            return rnn_forward(x, W_x, W_h, b)[:, -1].sum()
        gradient = torch.func.grad(last)(x.detach())
        return gradient.transpose(0, 1).flatten(1).norm(dim=1).detach()
    """,
    "the chain rule by hand": """
        with torch.no_grad():
            states = rnn_forward(x, W_x, W_h, b)
            reach, g = [], torch.ones_like(states[:, -1])
            for h in reversed(states.unbind(1)):
                g = g * (1 - h * h)
                reach.append((g @ W_x.T).norm())
                g = g @ W_h.T
            return torch.stack(reach[::-1])
    """,
    "a gradient of ones, stacked norms": """
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            last = rnn_forward(x, W_x, W_h, b)[:, -1]
            g, = torch.autograd.grad(last, x, torch.ones_like(last))
        return torch.stack([g[:, t].norm() for t in range(x.shape[1])])
    """,
    "Frobenius norms": """
        with torch.set_grad_enabled(True):
            x = x.detach().clone().requires_grad_()
            total = rnn_forward(x, W_x, W_h, b)[:, -1, :].sum()
            (g,) = torch.autograd.grad(total, [x], retain_graph=True)
        g = rearrange(g, "B T C -> T (B C)").detach()
        return einsum(g, g, "T n, T n -> T").sqrt()
    """,
}


@pytest.mark.parametrize("style", MEASURES)
def test_unusual_measuring_is_accepted(style):
    measure = whole("gradient_reach", "x, W_x, W_h, b", MEASURES[style])
    verdict = check_source(RNN + "\n\n" + measure)
    assert verdict.status == "passed", verdict.message
