"""A tensor left on the CPU is found, also where the meta device is lenient."""

import pytest
import torch
from torch import nn

from autograder.definition import Exercise
from autograder.inputs import normal
from autograder.judge import check


class Places(nn.Module):
    def __init__(self, length, width=12):
        super().__init__()
        self.rows = nn.Embedding(length, width)

    def forward(self, x):
        return x + self.rows(torch.arange(x.shape[-2], device=x.device))


PLACES = Exercise(
    Places,
    make={"length": "H"},
    inputs={
        "the default width": {"x": normal("B T d")},
        "another width": {"x": normal("B T d_k"), "width": "d_k"},
    },
    hints=["", "", ""],
)


class OnTheCPU(Places):
    def forward(self, x):
        return x + self.rows(torch.arange(x.shape[-2]))


class RowsOfTheTable(Places):
    def forward(self, x):
        # Indices may be on the CPU, on a GPU too.
        return x + self.rows.weight[torch.arange(x.shape[-2])]


class ProductWithCPU(Places):
    def forward(self, x):
        return super().forward(x) @ torch.eye(x.shape[-1], dtype=x.dtype)


@pytest.mark.parametrize("wrong", [OnTheCPU, ProductWithCPU])
def test_what_a_gpu_refuses_is_found(wrong):
    verdict = check(PLACES, wrong)
    assert verdict.mistake == "left-on-cpu"


@pytest.mark.parametrize("right", [Places, RowsOfTheTable])
def test_what_a_gpu_takes_is_accepted(right):
    verdict = check(PLACES, right)
    assert verdict.passed, verdict.message


def test_a_wrong_default_of_the_constructor_is_found():
    class Narrow(Places):
        def __init__(self, length, width=11):
            super().__init__(length, width)

    verdict = check(PLACES, Narrow)
    assert verdict.mistake == "parameter-shape"
