"""A class that hands in six exercises of chapters 2 and 3, for the benchmarks.

Three of five answers are right, three of ten wrong, one of ten is still the stub; who
wrote what is drawn from a fixed seed, so every run grades the same class.
"""

import json
import random
from pathlib import Path
from typing import Any

IMPORTS = """\
import math

import torch
from einops import rearrange
from torch import nn
"""

STUBS = {
    "project_qkv": "def project_qkv(x, W_q, W_k, W_v):\n",
    "attention_scores": "def attention_scores(Q, K):\n",
    "scaled_dot_product_attention": (
        "def scaled_dot_product_attention(Q, K, V, mask=None):\n"
    ),
    "split_heads": "def split_heads(x, num_heads):\n",
    "merge_heads": "def merge_heads(x):\n",
    "MultiHeadAttention": (
        "class MultiHeadAttention(nn.Module):\n"
        "    def __init__(self, d_model, num_heads):\n"
        "        super().__init__()\n"
        "        raise NotImplementedError\n\n"
        "    def forward(self, x, mask=None):\n"
    ),
}

PROJECTIONS = """\
def project_qkv(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_k, x @ W_v
"""
PROJECTIONS_AT_ONCE = """\
def project_qkv(x, W_q, W_k, W_v):
    sizes = [W.shape[-1] for W in (W_q, W_k, W_v)]
    return (x @ torch.cat([W_q, W_k, W_v], dim=-1)).split(sizes, dim=-1)
"""
SCORES = """\
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    return Q @ K.transpose(-2, -1) / math.sqrt(d_k)
"""
SCORES_BY_EINSUM = """\
def attention_scores(Q, K):
    return torch.einsum("...nd,...md->...nm", Q * Q.shape[-1] ** -0.5, K)
"""
ATTENTION = """\
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = attention_scores(Q, K)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ V, weights
"""
ATTENTION_BY_WHERE = """\
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = torch.where(mask.bool(), scores, torch.full_like(scores, -math.inf))
    weights = torch.softmax(scores, dim=-1)
    return weights @ V, weights
"""
SPLIT = """\
def split_heads(x, num_heads):
    B, T, C = x.shape
    if C % num_heads != 0:
        raise ValueError(f"{num_heads} heads don't divide {C} features")
    return x.view(B, T, num_heads, C // num_heads).transpose(1, 2)
"""
SPLIT_BY_EINOPS = """\
def split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("num_heads must divide the features")
    return rearrange(x, "b t (h d) -> b h t d", h=num_heads)
"""
MERGE = """\
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.transpose(1, 2).reshape(B, T, h * d_k)
"""
MERGE_BY_EINOPS = """\
def merge_heads(x):
    return rearrange(x, "b h t d -> b t (h d)")
"""
HEADS = """\
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.num_heads)
        K = split_heads(self.W_k(x), self.num_heads)
        V = split_heads(self.W_v(x), self.num_heads)
        output, weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.W_o(merge_heads(output))
"""
HEADS_BY_HAND = """\
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{d_model} can't be cut into {num_heads} heads")
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )

    def forward(self, x, mask=None):
        B, T, C = x.shape
        Q, K, V = (
            layer(x).view(B, T, self.num_heads, self.d_k).transpose(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        scores = Q @ K.mT / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -math.inf)
        heads = scores.softmax(-1) @ V
        return self.W_o(heads.transpose(1, 2).reshape(B, T, C))
"""

RIGHT = {
    "project_qkv": [PROJECTIONS, PROJECTIONS_AT_ONCE],
    "attention_scores": [SCORES, SCORES_BY_EINSUM],
    "scaled_dot_product_attention": [ATTENTION, ATTENTION_BY_WHERE],
    "split_heads": [SPLIT, SPLIT_BY_EINOPS],
    "merge_heads": [MERGE, MERGE_BY_EINOPS],
    "MultiHeadAttention": [HEADS, HEADS_BY_HAND],
}

#: Wrong answers: a right one, and what is written in the place of what.
SLIPS = {
    "project_qkv": [
        (PROJECTIONS, "x @ W_v", "x @ W_k"),
        (PROJECTIONS, "x @ W_q, x @ W_k", "x @ W_k, x @ W_q"),
        (PROJECTIONS, "x @ W_q,", "x @ W_q.T,"),
    ],
    "attention_scores": [
        (SCORES, " / math.sqrt(d_k)", ""),
        (SCORES, "math.sqrt(d_k)", "d_k"),
        (SCORES, "K.transpose(-2, -1)", "K.transpose(0, 1)"),
        (SCORES_BY_EINSUM, "nm", "mn"),
    ],
    "scaled_dot_product_attention": [
        (ATTENTION, "mask == 0", "mask != 0"),
        (ATTENTION, "dim=-1", "dim=-2"),
        (ATTENTION, 'float("-inf")', "1e-9"),
        (ATTENTION_BY_WHERE, "-math.inf", "0.0"),
        (ATTENTION, "return weights @ V, weights", "return weights @ V"),
    ],
    "split_heads": [
        (
            SPLIT,
            ".view(B, T, num_heads, C // num_heads).transpose(1, 2)",
            ".view(B, num_heads, T, C // num_heads)",
        ),
        (SPLIT, ".transpose(1, 2)", ""),
        (SPLIT_BY_EINOPS, "(h d)", "(d h)"),
    ],
    "merge_heads": [
        (MERGE, ".transpose(1, 2)", ""),
        (MERGE_BY_EINOPS, "(h d)", "(d h)"),
    ],
    "MultiHeadAttention": [
        (HEADS, "return self.W_o(merge_heads(output))", "return merge_heads(output)"),
        (HEADS, "self.W_v(x)", "self.W_k(x)"),
        (HEADS_BY_HAND, "mask == 0", "mask == 1"),
        (HEADS_BY_HAND, "heads.transpose(1, 2)", "heads"),
        (HEADS, "self.num_heads = num_heads\n", "self.heads = num_heads\n"),
    ],
}

EXERCISES = list(RIGHT)


def wrong(name: str) -> list[str]:
    """The wrong answers to an exercise."""
    for answer, right, _ in SLIPS[name]:
        assert answer.count(right) == 1, (name, right)
    return [answer.replace(right, slip) for answer, right, slip in SLIPS[name]]


def stub(name: str) -> str:
    """An exercise as its chapter gives it out, without its docstring."""
    indent = "        " if STUBS[name].startswith("class") else "    "
    return f"{STUBS[name]}{indent}raise NotImplementedError\n"


def class_of(size: int, seed: int = 0) -> list[list[str]]:
    """The cells that each of `size` people hands in: imports, then six answers."""
    draw = random.Random(seed)
    kinds = [draw.choices("rws", (6, 3, 1), k=len(EXERCISES)) for _ in range(size)]
    return [
        [IMPORTS, *(_answer(draw, *each) for each in zip(EXERCISES, kind, strict=True))]
        for kind in kinds
    ]


def _answer(draw: random.Random, name: str, kind: str) -> str:
    if kind == "s":
        return stub(name)
    return draw.choice(RIGHT[name] if kind == "r" else wrong(name))


def notebook(cells: list[str]) -> dict[str, Any]:
    """A notebook of these code cells, not yet run."""
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {
                "name": "python3",
                "display_name": "Python 3",
                "language": "python",
            },
            "language_info": {"name": "python"},
        },
        "cells": [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "metadata": {},
                "execution_count": None,
                "outputs": [],
                "source": cell,
            }
            for number, cell in enumerate(cells)
        ],
    }


def hand_in(folder: Path, size: int, copies_of: int = 20) -> list[Path]:
    """Write `size` notebooks; beyond `copies_of` the same answers come again.

    No two are the same text: each carries its number in a comment of every cell.
    """
    answers = class_of(copies_of)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(size):
        cells = [f"# {number}\n{cell}" for cell in answers[number % copies_of]]
        paths.append(folder / f"{number:05}.ipynb")
        paths[-1].write_text(json.dumps(notebook(cells), indent=1), "utf-8")
    return paths
