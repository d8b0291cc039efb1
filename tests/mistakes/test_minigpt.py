"""Chapter 9: slips are caught and named, right answers in any style accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

IMPORTS = """
import copy
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange

from autograder.parts import (
    FeedForward,
    MultiHeadAttention,
    TransformerBlock,
    causal_mask,
)
"""

BLOCK = """
import torch
from torch import nn
from torch.nn import functional as F
from autograder.parts import FeedForward, MultiHeadAttention

class TransformerBlock(nn.Module):
    def __init__(self, d_model=512, num_heads=8, ff_dim=2048, dropout=0.1):
        super().__init__()
        self.attn = MultiHeadAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        x = x + self.drop(self.attn(self.norm1(x), mask))
        x = x + self.drop(self.ff(self.norm2(x)))
        return x
"""

FIRST = "x = x + self.drop(self.attn(self.norm1(x), mask))"
SECOND = "x = x + self.drop(self.ff(self.norm2(x)))"
BOTH = f"{FIRST}\n        {SECOND}"


def lines(*texts):
    return "\n        ".join(texts)


HEARD = "x = x + self.drop(self.attn(h, mask))"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (FIRST, "x = x + self.attn(self.norm1(x), mask)", "no-dropout-attention"),
        (SECOND, "x = x + self.ff(self.norm2(x))", "no-dropout-feed-forward"),
        (
            BOTH,
            lines(
                "x = x + self.attn(self.norm1(x), mask)",
                "x = x + self.ff(self.norm2(x))",
            ),
            "no-dropout",
        ),
        (
            BOTH,
            lines(
                "x = self.drop(x + self.attn(self.norm1(x), mask))",
                "x = self.drop(x + self.ff(self.norm2(x)))",
            ),
            "dropout-on-the-sum",
        ),
        (
            FIRST,
            "x = self.drop(x + self.attn(self.norm1(x), mask))",
            "dropout-on-the-sum-attention",
        ),
        (
            SECOND,
            "x = self.drop(x + self.ff(self.norm2(x)))",
            "dropout-on-the-sum-feed-forward",
        ),
        (
            BOTH,
            lines(
                "x = x + self.attn(self.drop(self.norm1(x)), mask)",
                "x = x + self.ff(self.drop(self.norm2(x)))",
            ),
            "dropout-inside-the-sublayers",
        ),
        (
            SECOND,
            "x = x + self.ff.W_2(self.drop(F.gelu(self.ff.W_1(self.norm2(x)))))",
            "dropout-inside-the-feed-forward",
        ),
        (
            SECOND,
            "x = x + self.drop(self.ff.W_2(self.drop(F.gelu(self.ff.W_1("
            "self.norm2(x))))))",
            "another-dropout-in-feed-forward",
        ),
        (
            FIRST,
            "x = x + self.drop(self.attn(self.drop(self.norm1(x)), mask))",
            "another-dropout-in-attention",
        ),
        ("return x", "return self.drop(x)", "another-dropout-at-the-end"),
        (FIRST, f"x = self.drop(x)\n        {FIRST}", None),
        (
            BOTH,
            lines(
                "h = self.norm1(x)",
                HEARD,
                "x = x + self.drop(self.ff(self.norm2(h)))",
            ),
            "feed-forward-reads-norm1-s-result",
        ),
        (
            BOTH,
            lines(
                "h = x + self.drop(self.attn(self.norm1(x), mask))",
                "x = x + h + self.drop(self.ff(self.norm2(h)))",
            ),
            "block-s-input-added-again",
        ),
        (
            FIRST,
            "x = x + self.drop(self.attn(self.norm1(x), mask)[0])",
            "attention-s-result-indexed",
        ),
        (
            BOTH,
            lines(
                "x = x + self.drop(self.drop(self.attn(self.norm1(x), mask)))",
                "x = x + self.drop(self.drop(self.ff(self.norm2(x))))",
            ),
            "dropout-twice",
        ),
        (
            BOTH,
            lines(
                "x = x + F.dropout(self.attn(self.norm1(x), mask), self.drop.p)",
                "x = x + F.dropout(self.ff(self.norm2(x)), self.drop.p)",
            ),
            "dropout-in-eval-mode",
        ),
        ("nn.Dropout(dropout)", "nn.Dropout(0.1)", "dropout-fixed"),
        ("nn.Dropout(dropout)", "nn.Dropout()", "dropout-of-half"),
        ("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)", "dropout-of-1-p"),
        ("dropout=0.1", "dropout=0.0", None),
        ("dropout=0.1", "dropout=0.2", None),
        ("num_heads=8", "num_heads=12", None),
        ("ff_dim=2048", "ff_dim=512", None),
        ("d_model=512", "d_model=768", None),
        (
            "=512, num_heads=8, ff_dim=2048, dropout=0.1",
            ", num_heads, ff_dim, p=0.1",
            None,
        ),
        (
            BOTH,
            lines(
                "x = self.norm1(x + self.drop(self.attn(x, mask)))",
                "x = self.norm2(x + self.drop(self.ff(x)))",
            ),
            "post-norm",
        ),
        (
            BOTH,
            lines(
                "x = x + self.drop(self.norm1(self.attn(x, mask)))",
                "x = x + self.drop(self.norm2(self.ff(x)))",
            ),
            "norm-on-the-branch",
        ),
        (
            BOTH,
            lines(
                "x = self.norm1(x)",
                "x = x + self.drop(self.attn(x, mask))",
                "x = self.norm2(x)",
                "x = x + self.drop(self.ff(x))",
            ),
            "skip-from-the-normed-input",
        ),
        (
            BOTH,
            lines(
                "x = self.drop(self.attn(self.norm1(x), mask))",
                "x = self.drop(self.ff(self.norm2(x)))",
            ),
            "no-residual",
        ),
        (
            FIRST,
            "x = self.drop(self.attn(self.norm1(x), mask))",
            "no-residual-attention",
        ),
        (SECOND, "x = self.drop(self.ff(self.norm2(x)))", "no-residual-feed-forward"),
        (
            SECOND,
            "x = x + self.drop(self.ff(self.norm1(x)))",
            "norm1-for-both",
        ),
        (BOTH, f"{SECOND}\n        {FIRST}", "order-reversed"),
        (
            BOTH,
            "h = x + self.drop(self.attn(self.norm1(x), mask))\n"
            "        x = x + self.drop(self.ff(self.norm2(h)))",
            "skip-from-the-block-s-input",
        ),
        (
            BOTH,
            "x = x + self.drop(self.attn(self.norm1(x), mask)) "
            "+ self.drop(self.ff(self.norm2(x)))",
            "sublayers-side-by-side",
        ),
        (
            BOTH,
            f"{FIRST}\n        x = x + self.drop(self.ff(x))",
            "norm-unused-feed-forward",
        ),
        (SECOND, "pass", "feed-forward-missing"),
        (FIRST, "pass", "attention-missing"),
        (
            FIRST,
            "x = x + self.drop(self.attn(self.norm1(x)))",
            "mask-not-passed",
        ),
        (
            FIRST,
            "mask = None if mask is None else mask == 0\n        " + FIRST,
            "mask-inverted",
        ),
        (
            SECOND,
            "x = x + self.drop(self.ff.W_2(F.relu(self.ff.W_1(self.norm2(x)))))",
            "relu-for-gelu",
        ),
        ("return x", "return self.norm2(x)", "norm-at-the-end"),
        (FIRST, FIRST.replace("x = x +", "x +="), "input-changed"),
        ("self.norm2 = ", "self.norm_2 = ", None),
        ("self.drop = nn.Dropout(dropout)", "pass", None),
        (
            "return x",
            "return x.detach()",
            None,
        ),
    ],
)
def test_slip_in_a_block_is_named(right, slip, mistake):
    verdict = slipped(BLOCK, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


MINIGPT = """
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from autograder.parts import TransformerBlock, causal_mask

class MiniGPT(nn.Module):
    def __init__(
        self, vocab_size=50257, d_model=512, n_layers=6, n_heads=8, max_seq=1024
    ):
        super().__init__()
        self.max_seq = max_seq
        self.embed = nn.Embedding(vocab_size, d_model)
        self.pos_embed = nn.Embedding(max_seq, d_model)
        self.blocks = nn.ModuleList(
            [TransformerBlock(d_model, n_heads, 4 * d_model) for _ in range(n_layers)]
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        B, T = tokens.shape
        if T > self.max_seq:
            raise ValueError("too long")
        pos = torch.arange(T, device=tokens.device)
        x = self.embed(tokens) + self.pos_embed(pos)
        mask = torch.tril(torch.ones(T, T, device=tokens.device))
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x)
        return self.head(x)
"""


@pytest.mark.parametrize("eps", ["1e-06", "1e-12"])
def test_another_eps_of_the_final_norm_is_named(eps):
    right = "nn.LayerNorm(d_model)"
    verdict = slipped(MINIGPT, right, f"nn.LayerNorm(d_model, eps={eps})")
    assert f"`norm.eps` is {eps}; it should be 1e-05" in verdict.message


NEW = "[TransformerBlock(d_model, n_heads, 4 * d_model) for _ in range(n_layers)]"
RUN = "for block in self.blocks:\n            x = block(x, mask)"
SUM = "x = self.embed(tokens) + self.pos_embed(pos)"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("block(x, mask)", "block(x)", "not-causal"),
        ("torch.tril(", "torch.triu(", "triangle-flipped"),
        (
            "torch.tril(torch.ones(T, T, device=tokens.device))",
            "torch.triu(torch.ones(T, T, device=tokens.device), diagonal=1)",
            "causal-mask-inverted",
        ),
        ("torch.ones(T, T, device=tokens.device))", "torch.ones(T, T), 1)", None),
        (
            "device=tokens.device))",
            "device=tokens.device), diagonal=1)",
            "one-ahead",
        ),
        (
            "device=tokens.device))",
            "device=tokens.device), diagonal=-1)",
            "diagonal-missing",
        ),
        (
            "torch.tril(torch.ones(T, T, device=tokens.device))",
            "torch.full((T, T), float('-inf'), device=tokens.device).triu(1)",
            "causal-mask-inverted",
        ),
        (
            "torch.ones(T, T, device=tokens.device)",
            "torch.ones(self.max_seq, self.max_seq, device=tokens.device)",
            None,
        ),
        ("torch.ones(T, T, device=tokens.device)", "torch.ones(T, T)", None),
        ("torch.arange(T, device=tokens.device)", "torch.arange(T)", None),
        (SUM, "x = self.embed(tokens)", "positions-missing"),
        (
            "torch.arange(T, device=tokens.device)",
            "torch.arange(1, T + 1, device=tokens.device)",
            "positions-from-1",
        ),
        (
            "torch.arange(T, device=tokens.device)",
            "torch.arange(T - 1, -1, -1, device=tokens.device)",
            "positions-reversed",
        ),
        (
            "torch.arange(T, device=tokens.device)",
            "torch.zeros(T, dtype=torch.long, device=tokens.device)",
            "positions-all-0",
        ),
        ("torch.arange(T, device", "torch.arange(B, device", None),
        (SUM, SUM.replace("+", "*"), "positions-multiplied"),
        (
            SUM,
            SUM.replace("pos_embed(pos)", "pos_embed(tokens)"),
            "tokens-for-positions",
        ),
        (SUM, "x = self.pos_embed(pos).expand(B, T, -1)", None),
        (
            SUM,
            "x = self.embed(tokens) * math.sqrt(512) + self.pos_embed(pos)",
            None,
        ),
        (
            SUM,
            "x = self.embed(tokens)\n        x = x * x.size(-1) ** 0.5 "
            "+ self.pos_embed(pos)",
            "embeddings-scaled",
        ),
        (
            SUM,
            f"{SUM}\n        x = x * x.size(-1) ** 0.5",
            "embeddings-and-positions-scaled",
        ),
        (SUM, f"{SUM}\n        x = self.norm(x)", "normed-before-the-blocks"),
        (
            SUM,
            "p = self.pos_embed(pos).expand(B, T, -1)\n"
            "        x = torch.cat([self.embed(tokens), p], dim=1)",
            None,
        ),
        ("x = self.norm(x)\n", "pass\n", "final-norm-missing"),
        ("x = self.norm(x)\n", "x = self.norm(self.norm(x))\n", "final-norm-twice"),
        (
            "x = block(x, mask)\n        x = self.norm(x)",
            "x = self.norm(block(x, mask))",
            "normed-between-blocks",
        ),
        ("x = block(x, mask)", "x = x + block(x, mask)", "residual-around-the-blocks"),
        (
            RUN,
            "h = x\n        for block in self.blocks:\n            x = block(h, mask)",
            "last-block-only",
        ),
        (RUN, "x = self.blocks[0](x, mask)", "first-block-only"),
        (
            RUN,
            "for _ in self.blocks:\n            x = self.blocks[0](x, mask)",
            "first-block-repeated",
        ),
        (
            "in self.blocks:",
            "in reversed(self.blocks):",
            "blocks-backwards",
        ),
        ("in self.blocks:", "in self.blocks[:-1]:", None),
        ("return self.head(x)", "return x", "head-missing"),
        (
            "return self.head(x)",
            "return F.linear(x, self.embed.weight)",
            "head-is-the-embedding",
        ),
        (
            "return self.head(x)",
            "return self.head(x).softmax(-1)",
            "softmax-at-the-end",
        ),
        (
            "return self.head(x)",
            "return F.log_softmax(self.head(x), dim=-1)",
            "log-softmax-at-the-end",
        ),
        ("return self.head(x)", "return self.head(x[:, -1])", "last-position-only"),
        (
            "return self.head(x)",
            "return self.head(x[:, [-1], :])",
            "last-position-only-with-its-axis",
        ),
        (
            "return self.head(x)",
            "return self.head(x).argmax(-1)",
            "predictions-returned",
        ),
        ("return self.head(x)", "return self.head(x).transpose(1, 2)", None),
        ("return self.head(x)", "return self.head(x), None", None),
        ("return self.head(x)", "return self.head(x).view(B * T, -1)", None),
        ("return self.head(x)", "return self.head(x) / x.size(-1) ** 0.5", None),
        ("return self.head(x)", "return self.head(self.head.weight.mean() * x)", None),
        ("return self.head(x)", "return self.head(x).detach()", None),
        ("T > self.max_seq", "T >= self.max_seq", "max_seq-refused"),
        ("T > self.max_seq", "False", None),
        ("T > self.max_seq", "T > 1024", None),
        ('raise ValueError("too long")', "tokens = tokens[:, -self.max_seq:]", None),
        ('raise ValueError("too long")', 'raise IndexError("too long")', None),
        ("self.max_seq = max_seq", "pass", None),
        (
            "nn.ModuleList(\n            " + NEW,
            "list(\n            " + NEW,
            "blocks-in-a-plain-list",
        ),
        (
            NEW,
            "[TransformerBlock(d_model, n_heads, 4 * d_model)] * n_layers",
            "one-block-shared",
        ),
        ("range(n_layers)", "range(n_layers + 1)", "one-block-too-many"),
        ("range(n_layers)", "range(n_layers - 1)", "one-block-too-few"),
        ("range(n_layers)", "range(6)", "six-blocks-always"),
        (
            "d_model, n_heads, 4 * d_model",
            "d_model, ff_dim=4 * d_model",
            "n_heads-ignored",
        ),
        ("n_heads, 4 * d_model", "1, 4 * d_model", "one-head"),
        ("n_heads, 4 * d_model", "2, 4 * d_model", None),
        ("n_heads, 4 * d_model", "n_heads", "ff_dim-default"),
        ("n_heads, 4 * d_model", "n_heads, d_model", "ff_dim-d_model"),
        ("n_heads, 4 * d_model", "n_heads, 2 * d_model", "ff_dim-2-d_model"),
        (
            ", bias=False)",
            ", bias=False)\n        self.head.weight = self.embed.weight",
            "head-tied",
        ),
        (", bias=False)", ")", "head-with-bias"),
        ("self.head = ", "self.lm_head = ", None),
        ("self.norm = ", "self.ln_f = ", None),
        ("nn.Embedding(max_seq, d_model)", "nn.Embedding(vocab_size, d_model)", None),
        ("nn.Embedding(max_seq, d_model)", "nn.Embedding(max_seq + 1, d_model)", None),
        (
            "self.pos_embed = nn.Embedding(max_seq, d_model)",
            "self.pos_embed = nn.Parameter(torch.zeros(max_seq, d_model))",
            None,
        ),
        ("n_layers=6", "n_layers=12", None),
        ("n_heads=8", "n_heads=12", None),
        ("max_seq=1024", "max_seq=512", None),
        ("vocab_size=50257", "vocab_size=50256", None),
        ("d_model=512", "d_model=768", None),
        (
            "self.pos_embed(pos)",
            "self.pos_embed(pos)\n        x = F.dropout(x, 0.1, self.training)",
            "dropout-beside-the-blocks",  # which eval mode doesn't show
        ),
        (
            "(vocab_size, d_model)",
            "(vocab_size, d_model, padding_idx=0)",
            "padding_idx",
        ),
    ],
)
def test_slip_in_a_model_is_named(right, slip, mistake):
    verdict = slipped(MINIGPT, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


COUNT = """
import numpy as np
import torch

def count_parameters(model):
    total = 0
    for p in model.parameters():
        if p.requires_grad:
            total += p.numel()
    return total
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("p.requires_grad", "True", "frozen-counted"),
        ("p.requires_grad", "not p.requires_grad", "only-frozen-counted"),
        (
            "for p in model.parameters()",
            "for _, p in model.named_parameters(remove_duplicate=False)",
            "tied-counted-twice",
        ),
        (
            "for p in model.parameters()",
            "for p in (p for m in model.modules() for p in m._parameters.values() "
            "if p is not None)",
            "tied-counted-in-each-module",
        ),
        (
            "for p in model.parameters()",
            "for p in (p for m in model.modules() for p in m.parameters())",
            "counted-on-every-level",
        ),
        (
            "for p in model.parameters()",
            "for p in (p for m in model.children() for p in m.parameters())",
            "children-only",
        ),
        ("model.parameters()", "model.parameters(recurse=False)", "top-level-only"),
        (
            "    total = 0\n",
            "    return sum(t.numel() for t in model.state_dict().values())\n",
            "state-dict-counted",
        ),
        (
            "return total",
            "return total + sum(b.numel() for b in model.buffers())",
            "buffers-counted",
        ),
        ("p.numel()", "1", "tensors-counted"),
        ("p.numel()", "len(p)", "first-axis-only"),
        ("p.numel()", "sum(p.shape)", "axes-added"),
        ("p.numel()", "p.numel() * p.element_size()", "bytes-counted"),
        ("p.numel()", "p.nbytes", "bytes-counted"),
        ("p.numel()", "p.shape[0] * p.shape[1]", None),
        ("if p.requires_grad", "if p.requires_grad and p.ndim == 2", "matrices-only"),
        ("return total", "return total / 1e6", "in-millions"),
        ("return total", "return total / 1000", "in-thousands"),
        ("return total", "return total * 1.0", "float-for-int"),
        ("return total", "return torch.tensor(total)", None),
        ("return total", "return str(total)", None),
        ("return total", "return total, len(list(model.parameters()))", None),
        ("return total", "print(total)", None),
        (
            "for p in model.parameters()",
            "for p in {tuple(p.shape): p for p in model.parameters()}.values()",
            "equal-shapes-counted-once",
        ),
        ("        if", "        p.requires_grad_(True)\n        if", None),
    ],
)
def test_slip_in_a_count_is_named(right, slip, mistake):
    verdict = slipped(COUNT, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


DRAW = """
import copy
import math
import torch
import torch.nn as nn

def initialise(model, std=0.02):
    L = len(model.blocks)
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=std)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, mean=0.0, std=std)
    for name, p in model.named_parameters():
        if name.endswith("W_o.weight") or name.endswith("W_2.weight"):
            nn.init.normal_(p, mean=0.0, std=std / math.sqrt(2 * L))
"""

LINEAR = "nn.init.normal_(module.weight, mean=0.0, std=std)\n            if module.bias"
EMBED = "Embedding):\n            nn.init.normal_(module.weight, mean=0.0, std=std)"
SCALED = "std / math.sqrt(2 * L)"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (SCALED, "std", "residual-projections-not-scaled"),
        (SCALED, "std / math.sqrt(L)", "root-of-n_layers"),
        (SCALED, "std / (2 * L)", "divided-by-2-n_layers"),
        (SCALED, "std / L", "divided-by-n_layers"),
        (SCALED, "std / math.sqrt(2)", "divided-by-root-2"),
        (SCALED, "std * math.sqrt(2 * L)", "multiplied-by-the-root"),
        (SCALED, "std / math.sqrt(2 * 6)", "six-layers-always"),
        (SCALED, "std / math.sqrt(2 * 12)", "twelve-layers-always"),
        (SCALED, "0.02 / math.sqrt(2 * L)", None),
        (
            SCALED,
            "std / math.sqrt(2 * (int(name.split('.')[1]) + 1))",
            "scaled-by-depth",
        ),
        (' or name.endswith("W_2.weight")', "", "w-2-not-scaled"),
        ('name.endswith("W_o.weight") or ', "", "w-o-not-scaled"),
        ("W_2.weight", "W_1.weight", "w-1-for-w-2"),
        ('"W_2.weight"', '("W_1.weight", "W_2.weight")', "w-1-scaled-too"),
        ('"W_2.weight"', '("W_2.weight", "head.weight")', "head-scaled-too"),
        ("if name.endswith", "if p.dim() == 2 or name.endswith", "everything-scaled"),
        (EMBED, "Embedding):\n            pass", "embeddings-untouched"),
        (
            "isinstance(module, nn.Embedding)",
            "name == 'embed'",
            "pos_embed-untouched",
        ),
        (LINEAR, "if module.bias", None),
        (
            "isinstance(module, nn.Linear)",
            "'blocks' in name and isinstance(module, nn.Linear)",
            "head-untouched",
        ),
        ("nn.init.zeros_(module.bias)", "pass", "biases-untouched"),
        (
            "nn.init.zeros_(module.bias)",
            "nn.init.normal_(module.bias, std=std)",
            "biases-drawn",
        ),
        ("nn.init.zeros_(module.bias)", "nn.init.ones_(module.bias)", None),
        (
            "    for name, p in",
            "        elif isinstance(module, nn.LayerNorm):\n"
            "            nn.init.ones_(module.weight)\n"
            "            nn.init.zeros_(module.bias)\n"
            "    for name, p in",
            "norms-reset",
        ),
        (
            "        if name.endswith",
            "        if name.endswith('.bias'):\n"
            "            nn.init.zeros_(p)\n"
            "        if name.endswith",
            "norms-biases-zeroed",
        ),
        (
            "        if name.endswith",
            "        if 'norm' in name and p.dim() == 1 and 'weight' in name:\n"
            "            nn.init.normal_(p, 0.0, std)\n"
            "        if name.endswith",
            "norms-drawn",
        ),
        (
            "    for name, p in",
            "    for p in model.parameters():\n"
            "        nn.init.normal_(p, std=std)\n"
            "    for name, p in",
            "everything-drawn",
        ),
        ("    L = len", "    std = 0.02\n    L = len", "std-ignored"),
        ("    L = len", "    std = std ** 2\n    L = len", "std-squared"),
        ("    L = len", "    std = std ** 0.5\n    L = len", "std-under-a-root"),
        (
            "    L = len",
            "    model = copy.deepcopy(model)\n    L = len",
            "nothing-drawn",
        ),
        ("    L = len", "    return\n    L = len", "nothing-drawn"),
        ("std=0.02", "std=0.2", None),
        ("std=0.02", "std=0.01", None),
        ("len(model.blocks)", "len(list(model.modules()))", None),
        (
            EMBED,
            "Embedding):\n            module.weight = nn.Parameter("
            "torch.randn_like(module.weight) * std)",
            None,
        ),
        (
            "    for name, p in",
            "    with torch.no_grad():\n"
            "        for m in (model.embed, model.pos_embed):\n"
            "            m.weight.uniform_(-std, std)\n"
            "    for name, p in",
            None,
        ),
        (
            "    for name, p in",
            "    nn.init.zeros_(model.head.weight)\n    for name, p in",
            None,
        ),
        (LINEAR, LINEAR.replace("mean=0.0", "mean=std"), None),
        (
            LINEAR,
            LINEAR.replace(
                "normal_(module.weight, mean=0.0, std=std)",
                "xavier_normal_(module.weight)",
            ),
            None,
        ),
        (
            LINEAR,
            LINEAR.replace(
                "normal_(module.weight, mean=0.0, std=std)",
                "trunc_normal_(module.weight, std=std, a=-std, b=std)",
            ),
            None,
        ),
    ],
)
def test_slip_in_drawing_is_named(right, slip, mistake):
    verdict = slipped(DRAW, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


LOOP = """
import torch
import torch.nn as nn

def initialise(model, std=0.02):
    small = std / (2 * len(model.blocks)) ** 0.5
    for name, m in model.named_modules():
        if isinstance(m, (nn.Linear, nn.Embedding)):
            s = small if name.split(".")[-1] in ("W_o", "W_2") else std
            nn.init.normal_(m.weight, mean=0.0, std=s)
        if isinstance(m, nn.Linear) and m.bias is not None:
            m.bias.data.zero_()
"""


@pytest.mark.parametrize(
    ("draw", "mistake"),
    [
        ("nn.init.normal_(m.weight, s)", "std-given-as-mean"),
        ("nn.init.uniform_(m.weight, -s, s)", "uniform-from-minus-std"),
        ("nn.init.uniform_(m.weight, -s * 3**0.5, s * 3**0.5)", "uniform-as-wide"),
        ("nn.init.zeros_(m.weight)", "all-zeros"),
        (
            "m.weight = nn.Parameter(torch.randn_like(m.weight) * s)",
            "parameters-replaced",
        ),
        ("m.weight.normal_(0, s)", None),
        ("nn.init.xavier_uniform_(m.weight)", None),
        ("nn.init.kaiming_normal_(m.weight)", None),
        ("nn.init.orthogonal_(m.weight)", None),
        ("m.weight.data = torch.full_like(m.weight, s)", None),
        ("torch.manual_seed(0); nn.init.normal_(m.weight, std=s)", None),
    ],
)
def test_another_way_to_draw_is_named(draw, mistake):
    verdict = slipped(LOOP, "nn.init.normal_(m.weight, mean=0.0, std=s)", draw)
    if mistake is not None:
        assert verdict.mistake == mistake


RIGHT = named(
    """
# block: functional dropout, sublayers in a loop
class TransformerBlock(nn.Module):
    def __init__(self, d_model=512, num_heads=8, ff_dim=2048, dropout=0.1):
        super().__init__()
        self.attn = MultiHeadAttention(d_model, num_heads)
        self.ff = FeedForward(d_model, ff_dim)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        for norm, layer in (
            (self.norm1, lambda y: self.attn(y, mask)),
            (self.norm2, self.ff),
        ):
            x = x + F.dropout(layer(norm(x)), self.drop.p, self.training)
        return x

# block: two dropouts, other names of arguments, no ff_dim by default
class TransformerBlock(nn.Module):
    def __init__(self, dim=512, heads=8, hidden=None, p=0.1):
        super().__init__()
        hidden = hidden or 4 * dim
        self.attn = MultiHeadAttention(dim, heads)
        self.norm1 = nn.LayerNorm(dim, eps=1e-5)
        self.drop = nn.Dropout(p)
        self.ff = FeedForward(dim, hidden)
        self.norm2 = nn.LayerNorm(dim, eps=1e-5)
        self.drop2 = nn.Dropout(p)

    def forward(self, hidden_states, attention_mask=None):
        residual = hidden_states
        h = self.drop(self.attn(self.norm1(residual), attention_mask))
        residual = residual + h
        return self.drop2(self.ff(self.norm2(residual))).add(residual)

# block: a dropout by hand, attention and network of one's own, fused attention
class Drop(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        keep = torch.rand_like(x) >= self.p
        return x * keep / (1 - self.p)

class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )

    def forward(self, x, mask=None):
        q, k, v = (
            rearrange(W(x), "b t (h d) -> b h t d", h=self.h)
            for W in (self.W_q, self.W_k, self.W_v)
        )
        mask = None if mask is None else mask.bool()
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(rearrange(out, "b h t d -> b t (h d)"))

class MLP(nn.Module):
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, ff_dim), nn.Linear(ff_dim, d_model)

    def forward(self, x):
        return self.W_2(F.gelu(self.W_1(x)))

class TransformerBlock(nn.Module):
    def __init__(self, d_model=512, num_heads=8, ff_dim=2048, dropout=0.1):
        super().__init__()
        self.attn, self.ff = Attention(d_model, num_heads), MLP(d_model, ff_dim)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.drop = Drop(dropout)

    def forward(self, x, mask=None):
        a = x + self.drop(self.attn(self.norm1(x), mask))
        return a + self.drop(self.ff(self.norm2(a)))

# model: a buffer for the mask, weights drawn in the constructor
class MiniGPT(nn.Module):
    def __init__(
        self, vocab_size=50257, d_model=512, n_layers=6, n_heads=8, max_seq=1024
    ):
        super().__init__()
        self.max_seq = max_seq
        self.embed = nn.Embedding(vocab_size, d_model)
        self.pos_embed = nn.Embedding(max_seq, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(TransformerBlock(d_model, n_heads, 4 * d_model))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.register_buffer("mask", torch.ones(max_seq, max_seq).tril().bool())
        self.apply(self._init)

    def _init(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(0, 0.02)

    def forward(self, idx):
        b, t = idx.size()
        assert t <= self.max_seq, f"{t} tokens do not fit"
        x = self.embed(idx) + self.pos_embed.weight[:t]
        for i in range(len(self.blocks)):
            x = self.blocks[i](x, mask=self.mask[:t, :t])
        return self.head(self.norm(x))

# model: one-hot products, Sequential as a list, broadcasting comparisons
class MiniGPT(nn.Module):
    def __init__(self, V=50257, C=512, L=6, h=8, max_seq=1024, dropout=0.1):
        super().__init__()
        self.max_seq = max_seq
        self.head = nn.Linear(C, V, bias=False)
        self.norm = nn.LayerNorm(C)
        self.blocks = nn.Sequential(
            *[TransformerBlock(C, h, ff_dim=C * 4, dropout=dropout) for _ in range(L)]
        )
        self.pos_embed, self.embed = nn.Embedding(max_seq, C), nn.Embedding(V, C)

    def forward(self, tokens):
        if tokens.shape[-1] > self.pos_embed.num_embeddings:
            raise ValueError(f"at most {self.max_seq} tokens")
        where = torch.arange(tokens.shape[-1], device=tokens.device).expand_as(tokens)
        x = self.pos_embed(where) + self.embed(tokens)
        mask = where[0][:, None] >= where[0][None, :]
        for block in self.blocks:
            x = block(x, mask[None, None])
        return F.linear(self.norm(x), self.head.weight)

# model: attention that is causal by itself, in a block of one's own
class Causal(TransformerBlock):
    def forward(self, x, mask=None):
        n = self.norm1(x)
        q, k, v = (
            rearrange(W(n), "b t (h d) -> b h t d", h=self.attn.num_heads)
            for W in (self.attn.W_q, self.attn.W_k, self.attn.W_v)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.drop(self.attn.W_o(rearrange(y, "b h t d -> b t (h d)")))
        return x + self.drop(self.ff(self.norm2(x)))

class MiniGPT(nn.Module):
    def __init__(
        self, vocab_size=50257, d_model=512, n_layers=6, n_heads=8, max_seq=1024
    ):
        super().__init__()
        for name, value in list(locals().items()):
            if name not in ("self", "__class__"):
                setattr(self, name, value)
        self.embed = nn.Embedding(vocab_size, d_model)
        self.pos_embed = nn.Embedding(max_seq, d_model)
        self.blocks = nn.ModuleList(
            Causal(d_model, n_heads, 4 * d_model) for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        if not tokens.size(1) <= self.max_seq:
            raise ValueError
        x = self.embed(tokens)
        x = x + self.pos_embed(torch.arange(x.size(1)).to(tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

# count: by identity
def count_parameters(model):
    seen = {}
    for module in model.modules():
        for p in module.parameters(recurse=False):
            seen[id(p)] = p
    return sum(p.nelement() for p in seen.values() if p.requires_grad)

# count: with math.prod and filter
def count_parameters(model: nn.Module) -> int:
    trained = filter(lambda p: p.requires_grad, model.parameters())
    return sum(math.prod(p.shape) for p in trained)

# count: with numpy
def count_parameters(model):
    return np.sum([np.prod(p.size()) for p in model.parameters() if p.requires_grad],
                  dtype=np.int64)

# count: all but the frozen ones, by set
def count_parameters(model):
    both = set(model.parameters())
    frozen = {p for p in both if not p.requires_grad}
    return sum(map(torch.numel, both)) - sum(map(torch.numel, frozen))

# count: by name, through the data's address
def count_parameters(model):
    sizes = {
        p.data_ptr(): p.numel()
        for _, p in model.named_parameters(remove_duplicate=False)
        if p.requires_grad
    }
    return sum(sizes.values())

# initialise: apply, then scale what was drawn
def initialise(model, std=0.02):
    def draw(m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, mean=0.0, std=std)
            if getattr(m, "bias", None) is not None:
                nn.init.zeros_(m.bias)

    model.apply(draw)
    with torch.no_grad():
        for block in model.blocks:
            block.attn.W_o.weight.mul_((2 * len(model.blocks)) ** -0.5)
            block.ff.W_2.weight /= math.sqrt(2 * len(model.blocks))
    return model

# initialise: by the parameters' names
@torch.no_grad()
def initialise(model, std=0.02):
    n_layers = len(model.blocks)
    for name, p in model.named_parameters():
        if "norm" in name:
            continue
        if name.endswith("bias"):
            p.fill_(0)
        elif "W_o" in name or "W_2" in name:
            p.copy_(torch.randn_like(p) * std / math.sqrt(2 * n_layers))
        else:
            p.normal_(0.0, std)

# initialise: block by block, data replaced, truncated far out
def initialise(model, std=0.02):
    L = len(list(model.blocks.children()))
    for w in (model.embed.weight, model.pos_embed.weight, model.head.weight):
        nn.init.trunc_normal_(w, std=std)
    for block in model.blocks:
        linears = [*block.attn.children(), *block.ff.children()]
        for m in linears:
            if not isinstance(m, nn.Linear):
                continue
            last = m is block.attn.W_o or m is block.ff.W_2
            s = std / (2 * L) ** 0.5 if last else std
            m.weight.data = torch.normal(0.0, s, m.weight.shape)
            m.bias.data = torch.zeros_like(m.bias)

# initialise: a seed of one's own
def initialise(model, std=0.02):
    generator = torch.Generator().manual_seed(42)
    small = std * (1 / (2 * len(model.blocks))) ** 0.5
    for name, m in model.named_modules():
        if type(m) in (nn.Linear, nn.Embedding):
            s = small if name.rsplit(".")[-1] in {"W_o", "W_2"} else std
            m.weight.data.normal_(std=s, generator=generator)
        if type(m) is nn.Linear and m.bias is not None:
            m.bias.data.zero_()
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_answer_is_accepted(source):
    verdict = check_source(IMPORTS + source)
    assert verdict.passed, verdict.message
