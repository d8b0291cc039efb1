"""Small exercises for the engine's tests, so that they don't hang on the book's own."""

import torch
from torch import nn

from autograder.definition import Exercise, Mistake
from autograder.inputs import normal


def scaled(x, y):
    """The reference of the test's exercise."""
    return x @ y.mT / x.shape[-1] ** 0.5


def scaled_twin(x, y, *, power=-0.5, transpose=False, wrong_sum=False):
    scores = x @ y.mT * x.shape[-1] ** power
    if transpose:
        scores = scores.mT
    return scores + (1.0 if wrong_sum else 0.0)


SCALED = Exercise(
    scaled,
    inputs={"rows and columns": {"x": normal("... n d"), "y": normal("... m d")}},
    hints=["one", "two", "three"],
    twin=scaled_twin,
    mistakes=[
        Mistake("unscaled", "The products are not divided by √d.", power=0),
        Mistake("one-more", "One is added.", wrong_sum=True),
    ],
)


class Gate(nn.Module):
    """The reference of a small module."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} % {num_heads} != 0")
        self.num_heads = num_heads
        self.W_a = nn.Linear(d_model, d_model)
        self.W_b = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        return self.W_b(torch.tanh(self.W_a(x)))


GATE = Exercise(
    Gate,
    make={"d_model": "C", "num_heads": "h"},
    keeps=["num_heads"],
    inputs={"a batch": {"x": normal("B T C")}},
    refuses={"10 features in 4 heads": {"d_model": 10, "num_heads": 4}},
    hints=["one", "two", "three"],
    twin=lambda module, x, *, order=True: (
        module.W_b(torch.tanh(module.W_a(x)))
        if order
        else torch.tanh(module.W_b(module.W_a(x)))
    ),
    mistakes=[Mistake("tanh-last", "The tanh comes last.", order=False)],
)
