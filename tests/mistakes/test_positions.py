"""Chapter 4, positions that are added: slips named, unusual right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

SINUSOIDS = """
import math
import torch

def sinusoidal_positions(max_seq, d_model):
    if d_model % 2:
        raise ValueError("d_model is odd")
    table = torch.zeros(max_seq, d_model)
    position = torch.arange(0, max_seq, dtype=torch.float).unsqueeze(1)
    step = torch.arange(0, d_model, 2).float()
    turns = torch.exp(step * (-math.log(10000.0) / d_model))
    table[:, 0::2] = torch.sin(position * turns)
    table[:, 1::2] = torch.cos(position * turns)
    return table
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("2).float()", "2).float() * 2", "exponent-doubled"),
        ("0, d_model, 2).float()", "d_model // 2).float()", "exponent-without-2"),
        ("arange(0, d_model, 2)", "arange(1, d_model, 2)", "exponent-of-odd-features"),
        ("arange(0, d_model, 2)", "arange(2, d_model + 1, 2)", "exponent-from-1"),
        ("-math.log", "math.log", "frequencies-grow"),
        ("math.log(10000.0)", "1", "base-e"),
        ("math.log(", "math.log10(", "log-to-base-10"),
        ("math.log(", "math.log2(", "log-to-base-2"),
        ("10000.0", "1000.0", "base-1000"),
        (") / d_model)", ") / max_seq)", "exponent-divided-by-max-seq"),
        ("torch.sin(position", "torch.cos(position", "cosines-only"),
        ("torch.cos(position", "torch.sin(position", "sines-only"),
        (
            "torch.cos(position * turns)",
            "torch.cos(position * turns * math.exp(-math.log(10000.0) / d_model))",
            "cosine-of-its-own-feature",
        ),
        ("arange(0, max_seq,", "arange(1, max_seq + 1,", "positions-from-1"),
        ("unsqueeze(1)", "unsqueeze(1) / max_seq", "positions-divided"),
        ("return table", "return table.unsqueeze(0)", "batch-axis-added"),
        ("return table", "return table.T", "transposed"),
        ("return table", "return table.double()", "float64"),
        ("return table", "return table.half()", "wrong-dtype"),
        ("return table", "return table * d_model**0.5", "scaled-by-root"),
        ("return table", "return table.numpy()", "result-form"),
        ("d_model % 2", "False", "wrong-exception"),
        ("raise ValueError", "raise TypeError", "wrong-exception"),
    ],
)
def test_slip_in_the_sinusoids_is_named(right, slip, mistake):
    assert slipped(SINUSOIDS, right, slip).mistake == mistake


def test_halves_side_by_side_are_named():
    halves = SINUSOIDS.replace("[:, 0::2]", "[:, : d_model // 2]")
    verdict = slipped(halves, "[:, 1::2]", "[:, d_model // 2 :]")
    assert verdict.mistake == "halves-not-interleaved"
    assert "interleaved" in verdict.message


RIGHT_SINUSOIDS = named("""
# number by number
import math
import torch

def sinusoidal_positions(max_seq, d_model):
    assert d_model % 2 == 0
    table = torch.empty(max_seq, d_model)
    for position in range(max_seq):
        for i in range(0, d_model, 2):
            angle = position / 10000 ** (i / d_model)
            table[position, i] = math.sin(angle)
            table[position, i + 1] = math.cos(angle)
    return table

# numpy in float64
import numpy as np
import torch

def sinusoidal_positions(max_seq, d_model):
    if d_model % 2:
        raise ValueError
    feature = np.arange(d_model)
    angle = np.arange(max_seq)[:, None] / 10000 ** (2 * (feature // 2) / d_model)
    table = np.where(feature % 2 == 0, np.sin(angle), np.cos(angle))
    return torch.from_numpy(table).float()

# a phase of a quarter turn
import math
import torch

def sinusoidal_positions(max_seq, d_model):
    if d_model % 2:
        raise ValueError
    j = torch.arange(d_model)
    turns = torch.exp(-math.log(1e4) * (j - j % 2) / d_model)
    return torch.sin(torch.arange(max_seq)[:, None] * turns + j % 2 * math.pi / 2)

# complex numbers
import torch

def sinusoidal_positions(max_seq, d_model):
    if d_model % 2:
        raise ValueError
    turns = 1 / 10000 ** torch.linspace(0, 1, d_model // 2 + 1)[:-1]
    angle = torch.arange(max_seq)[:, None] * turns
    return torch.view_as_real(torch.exp(1j * angle)).flip(-1).flatten(1)
""")


@pytest.mark.parametrize("name", RIGHT_SINUSOIDS)
def test_unusual_sinusoids_are_accepted(name):
    verdict = check_source(RIGHT_SINUSOIDS[name])
    assert verdict.passed, verdict.message


LEARNED = """
import math
import torch
from torch import nn
from torch.nn import functional as F

class LearnedPositions(nn.Module):
    def __init__(self, max_seq, d_model):
        super().__init__()
        self.max_seq = max_seq
        self.embedding = nn.Embedding(max_seq, d_model)

    def forward(self, x):
        B, T, C = x.shape
        if T > self.max_seq:
            raise ValueError("too long")
        places = self.embedding(torch.arange(T, device=x.device))
        return x + places
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("torch.arange(T, device=x.device)", "torch.arange(T)", "left-on-cpu"),
        ("T > self.max_seq", "T >= self.max_seq", "full-length-refused"),
        ("T > self.max_seq", "False", "wrong-exception"),
        ("raise ValueError", "raise IndexError", "wrong-exception"),
        ('raise ValueError("too long")', "x = x[:, : self.max_seq]", "wrong-exception"),
        ("return x + places", "return places", "positions-only"),
        ("return x + places", "return x", "positions-never-added"),
        ("return x + places", "return x * places", "positions-multiplied"),
        ("return x + places", "return x * math.sqrt(C) + places", "tokens-scaled"),
        ("return x + places", "return x + places if T > 1 else x", None),
        ("return x + places", "x += places\n        return x", "input-changed"),
        (
            "return x + places",
            "return torch.cat([x, places.expand(B, T, C)], dim=-1)",
            "concatenated",
        ),
        ("return x + places", "return F.dropout(x + places, 0.1)", "dropout-left-in"),
        (
            "return x + places",
            "return F.dropout(x, 0.3) + places",
            "differs-when-repeated",
        ),
        ("return x + places", "return x + places.detach()", "embedding-cut-off"),
        ("return x + places", "return x + places.mean(0)", "mean-position"),
        ("return x + places", "return x.float() + places", "wrong-dtype"),
        ("arange(T,", "arange(1, T + 1,", "positions-from-1"),
        ("arange(T,", "arange(self.max_seq - T, self.max_seq,", "last-rows"),
        ("arange(T,", "arange(self.max_seq,", "whole-table-added"),
        ("arange(T, device=x.device)", "arange(T).flip(0)", "positions-reversed"),
        ("B, T, C = x.shape", "T, B, C = x.shape", "positions-along-the-batch"),
        ("nn.Embedding(max_seq, d_model)", "nn.Linear(d_model, max_seq)", None),
        (
            "nn.Embedding(max_seq, d_model)",
            "nn.Embedding(d_model, max_seq)",
            "parameter-shape",
        ),
    ],
)
def test_slip_in_learned_positions_is_named(right, slip, mistake):
    verdict = slipped(LEARNED, right, slip)
    assert mistake is None or verdict.mistake == mistake


def test_a_token_alone_without_position_is_named():
    verdict = slipped(
        LEARNED, "if T > self", "if T == 1: return x\n        if T > self"
    )
    assert verdict.mistake == "skipped-for-one-token"


RIGHT_LEARNED = named("""
# positions in a buffer
import torch
from torch import nn

class LearnedPositions(nn.Module):
    def __init__(self, max_seq, d_model):
        super().__init__()
        self.embedding = nn.Embedding(max_seq, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.register_buffer("places", torch.arange(max_seq))

    def forward(self, x):
        assert x.size(1) <= len(self.places)
        return x + self.embedding(self.places[: x.size(1)]).unsqueeze(0)

# rows of the weight
from torch import nn

class LearnedPositions(nn.Module):
    def __init__(self, max_seq, d_model):
        super().__init__()
        self.embedding = nn.Embedding(max_seq, d_model)

    def forward(self, x):
        if x.shape[-2] > self.embedding.weight.shape[0]:
            raise ValueError
        return self.embedding.weight[: x.shape[-2]] + x

# one-hot rows
import torch
from torch import nn

class LearnedPositions(nn.Module):
    def __init__(self, max_seq, d_model):
        super().__init__()
        self.embedding = nn.Embedding(max_seq, d_model)

    def forward(self, x):
        T, most = x.shape[1], self.embedding.num_embeddings
        if T > most:
            raise ValueError
        rows = torch.eye(most, device=x.device, dtype=x.dtype)[:T]
        return x + rows @ self.embedding.weight
""")


@pytest.mark.parametrize("name", RIGHT_LEARNED)
def test_unusual_learned_positions_are_accepted(name):
    verdict = check_source(RIGHT_LEARNED[name])
    assert verdict.passed, verdict.message
