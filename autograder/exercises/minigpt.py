"""Chapter 9: the block and MiniGPT."""

from collections.abc import Callable
from typing import Any

import torch

import solutions.minigpt as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import normal, some, whole
from autograder.properties import same
from autograder.twins.initialised import INITIALISED, initialised
from autograder.twins.minigpt import MINIGPT, logits_of
from autograder.twins.parameter_counts import COUNTS, count
from autograder.twins.transformer_block import BLOCK, block
from solutions.feed_forward import FeedForward
from solutions.masks import causal_mask
from solutions.multihead import MultiHeadAttention

CHAPTER = Chapter(9, "The block and MiniGPT", "09_minigpt")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]


def order_of_tokens(theirs: Theirs, x: Inputs) -> bool:
    """tokens in another order come out in that order"""
    return same(theirs(x=x["x"].flip(1)), theirs(x=x["x"]).flip(1))


X = {"x": normal("B T C")}

TransformerBlock = Exercise(
    solutions.TransformerBlock,
    points=3,
    minutes=12,
    difficulty=3,
    probe="block",
    make={"d_model": "C", "num_heads": "h", "ff_dim": 30},
    uses=[MultiHeadAttention, FeedForward],
    forbids=["transformer"],
    inputs={
        "no mask": X,
        "a mask": X | {"mask": some("T T")},
        "a mask of 0 and 1, one row a sequence": X
        | {"mask": some("B 1 1 T", torch.int64)},
        # Only here does the norms' eps of 1e-5 weigh, and which GELU it is.
        "small numbers": {
            "x": normal("B T C", scale=0.01),
            "treated": "a quiet stream, hidden numbers near -2",
        },
        "dropout in training": {"dropout": 0.3, "facts": "dropout"},
        "dropout left out": {"facts": "dropout"},
        "the defaults": {"facts": "defaults of a block"},
    },
    properties=[order_of_tokens],
    twin=block,
    mistakes=BLOCK,
    hints=[
        "Two sublayers, two norms, two residual connections. What does each sublayer "
        "read, and to what is its result added? Where may numbers be dropped without "
        "tearing holes into the stream?",
        "Pre-norm: a sublayer reads norm(x), its result goes through `drop`, and that "
        "is added to x as it was. One nn.Dropout serves both places.",
        "`x = x + self.drop(self.attn(self.norm1(x), mask))`, then "
        "`return x + self.drop(self.ff(self.norm2(x)))`.",
    ],
)


def future_unseen(theirs: Theirs, x: Inputs) -> bool:
    """a later token changes nothing that stands before it"""
    tokens = x["tokens"]
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % 5
    return same(theirs(tokens=changed)[:, :-1], theirs(tokens=tokens)[:, :-1])


TWO_TEXTS = whole("B T", 0, 37)

MiniGPT = Exercise(
    solutions.MiniGPT,
    points=4,
    minutes=20,
    difficulty=4,
    probe="model",
    make={"vocab_size": 37, "d_model": 48, "n_layers": 3, "n_heads": 6, "max_seq": 11},
    keeps=["max_seq"],
    uses=[solutions.TransformerBlock, causal_mask],
    forbids=["transformer"],
    inputs={
        "how it is put together": {"tokens": TWO_TEXTS, "facts": "wiring"},
        "two texts": {"tokens": TWO_TEXTS},
        # Only here does the final norm's eps of 1e-5 weigh.
        "two texts, small numbers": {
            "tokens": TWO_TEXTS,
            "treated": "a small stream",
        },
        "as long as max_seq": {
            "tokens": whole("B T", 0, 5),
            "vocab_size": 5,
            "d_model": 40,
            "n_layers": 1,
            "n_heads": 4,
            "max_seq": "T",
        },
        "the defaults": {"facts": "defaults of a model"},
    },
    refuses={"12 tokens with max_seq = 11": {"tokens": whole("2 12", 0, 37)}},
    properties=[future_unseen],
    twin=logits_of,
    mistakes=MINIGPT,
    hints=[
        "Tokens become vectors, positions are added, the blocks work on them, and a "
        "last layer scores the vocabulary. What must a position not see?",
        "The blocks need an nn.ModuleList, each with ff_dim = 4 * d_model, and all get "
        "one causal mask of T by T on the tokens' device. `norm` comes before `head`.",
        "`x = self.embed(tokens) + self.pos_embed(torch.arange(T, "
        "device=tokens.device))`, `for block in self.blocks: x = block(x, mask)`, "
        "`return self.head(self.norm(x))`.",
    ],
)

count_parameters = Exercise(
    solutions.count_parameters,
    points=1,
    minutes=4,
    difficulty=1,
    probe="counting",
    inputs={
        "two layers": {"model": "two layers"},
        "modules in modules": {"model": "deep"},
        "a tied head": {"model": "tied"},
        "one layer under two names": {"model": "shared"},
        "partly frozen": {"model": "partly frozen"},
        "tied and frozen": {"model": "tied and frozen"},
        "all frozen": {"model": "frozen"},
        "with buffers": {"model": "with buffers"},
        "nothing to learn": {"model": "nothing"},
    },
    twin=count,
    mistakes=COUNTS,
    hints=[
        "`model.parameters()` gives the tensors. Which of them does training change, "
        "and how many numbers does each hold?",
        "`p.requires_grad` says whether a tensor is trained, `p.numel()` how many "
        "numbers it holds. parameters() names a tied tensor once.",
        "`sum(p.numel() for p in model.parameters() if p.requires_grad)`.",
    ],
)

initialise = Exercise(
    solutions.initialise,
    points=3,
    minutes=12,
    difficulty=3,
    probe="drawing",
    uses=[solutions.MiniGPT],
    inputs={
        "four layers, std = 0.05": {"n_layers": 4, "std": 0.05},
        "three layers, std left out": {"n_layers": 3},
        "a tied head": {"n_layers": 2, "std": 0.03, "tied": True},
    },
    twin=initialised,
    mistakes=INITIALISED,
    hints=[
        "Go through the modules. Which kinds have weights to draw, and which two "
        "projections add their result to the residual stream?",
        "`model.named_modules()` gives names and modules; the names of the two end in "
        "W_o and W_2. Each block writes twice, so divide their std by "
        "(2 * len(model.blocks)) ** 0.5. nn.init works in place.",
        "For nn.Linear and nn.Embedding: `nn.init.normal_(module.weight, std=quiet if "
        'name.endswith(("W_o", "W_2")) else std)`; for a bias that isn\'t None, '
        "`nn.init.zeros_(module.bias)`.",
    ],
)
