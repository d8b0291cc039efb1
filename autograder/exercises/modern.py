"""Chapter 15: a modern decoder, and real weights."""

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch import Tensor

import solutions.modern as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import Draw, normal, some, whole
from autograder.properties import same
from autograder.twins.encoder import vectors
from autograder.twins.encoder_slips import ENCODED
from autograder.twins.llama import LLAMA, llama
from autograder.twins.loading import fill
from autograder.twins.loading_slips import LOADED
from autograder.twins.pooling import POOLED, pool
from solutions.attention import scaled_dot_product_attention
from solutions.feed_forward import FeedForward, SwiGLU
from solutions.masks import causal_mask
from solutions.multihead import (
    GroupedQueryAttention,
    MultiHeadAttention,
    merge_heads,
    repeat_kv,
    split_heads,
)
from solutions.norms import post_norm, rms_norm
from solutions.positions import apply_rope

CHAPTER = Chapter(15, "A modern decoder, and real weights", "15_modern_decoder")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]


def future_unseen(theirs: Theirs, x: Inputs) -> bool:
    """a later token changes nothing that stands before it"""
    changed = x["x"].clone()
    changed[:, -1] += 1
    return same(theirs(x=changed)[:, :-1], theirs(x=x["x"])[:, :-1])


def distances_count(theirs: Theirs, x: Inputs) -> bool:
    """all positions moved on by the same number change nothing"""
    on = {"x": x["x"], "positions": x["positions"] + 5}
    return same(theirs(**on), theirs(**x))


def with_gaps(sizes: list[int], generator: torch.Generator) -> Tensor:
    """Positions that start at 6 and go up by 1 to 4."""
    return 5 + torch.randint(1, 5, sizes, generator=generator).cumsum(0)


LlamaBlock = Exercise(
    solutions.LlamaBlock,
    points=5,
    minutes=30,
    difficulty=4,
    probe="llama",
    make={"d_model": "C", "num_heads": "h", "num_kv_heads": "kv", "ff_dim": 30},
    uses=[
        GroupedQueryAttention,
        SwiGLU,
        apply_rope,
        causal_mask,
        merge_heads,
        repeat_kv,
        rms_norm,
        scaled_dot_product_attention,
        split_heads,
    ],
    # Angles made in another order of operations differ by a few roundings.
    tolerance=3e-5,
    inputs={
        "positions with gaps": {
            "x": normal("B T C"),
            "positions": Draw("T", with_gaps),
        },
        # Only here does the norms' eps of 1e-6 weigh.
        "no positions, small numbers, one key/value head": {
            "x": normal("2 5 C", scale=0.003),
            "num_kv_heads": 1,
            "treated": "a quiet stream, hidden numbers near -2",
        },
        "how it is put together": {"facts": "biases"},
    },
    properties=[future_unseen, distances_count],
    twin=llama,
    mistakes=LLAMA,
    hints=[
        "Take chapter 9's block and exchange four things, one after the other: the "
        "norm, the feed-forward network, who shares keys and values, and where the "
        "positions come in. At which moment do queries and keys exist, but no scores?",
        "Write the attention as a class of its own above the block. Split into heads, "
        "turn Q and K by apply_rope, repeat K and V for their groups, attend with a "
        "causal mask. V isn't turned, and no nn.Linear has a bias.",
        "Q is `apply_rope(split_heads(self.W_q(x), num_heads), positions)`; K likewise "
        "with num_kv_heads; then `repeat_kv(K, num_heads // num_kv_heads)`, for V too. "
        "The block is `x = x + self.attn(self.norm1(x), positions)`, then `x + "
        "self.ff(self.norm2(x))`, the norms nn.RMSNorm(d_model, eps=1e-6).",
    ],
)


def unit_length(theirs: Theirs, x: Inputs) -> bool:
    """every vector has length 1"""
    lengths = theirs(**x).norm(dim=-1)
    return same(lengths, torch.ones_like(lengths))


def padding_unread(theirs: Theirs, x: Inputs) -> bool:
    """what stands in the padding makes no difference"""
    other = x["hidden"].masked_fill(~x["mask"][..., None], 7.0)
    return same(theirs(hidden=other, mask=x["mask"]), theirs(**x))


def everywhere(shape: str) -> Draw:
    """A mask that hides nothing."""
    return Draw(shape, lambda sizes, generator: torch.ones(sizes, dtype=torch.bool))


mean_pool = Exercise(
    solutions.mean_pool,
    points=2,
    minutes=8,
    difficulty=2,
    words={"T": ("token", "tokens")},
    inputs={
        "texts of several lengths": {
            "hidden": normal("B T d", mean=0.3),
            "mask": some("B T"),
        },
        "no padding": {"hidden": normal("B T d"), "mask": everywhere("B T")},
    },
    properties=[unit_length, padding_unread],
    twin=pool,
    mistakes=POOLED,
    hints=[
        "The padding has vectors too, and they are not zero. What must become of them "
        "before anything is added up?",
        "Multiply hidden by the mask, with an axis for the features: mask[..., None]. "
        "Sum over the tokens, divide by their number; then make the length 1.",
        "`total = (hidden * mask[..., None]).sum(1)`, `mean = total / "
        "mask.sum(1, keepdim=True)`, and F.normalize(mean, dim=-1).",
    ],
)


def padding_unseen(theirs: Theirs, x: Inputs) -> bool:
    """other tokens in the padding change nothing for the real ones"""
    tokens, mask = x["tokens"], x["mask"]
    other = torch.where(mask, tokens, (tokens + 1) % VOCABULARY)
    real = mask[..., None]
    return same(theirs(tokens=other, mask=mask) * real, theirs(**x) * real)


VOCABULARY = 17
#: No token is 0: in BERT that is the padding, which padding_idx keeps from learning.
TEXTS = {"tokens": whole("B T", 1, VOCABULARY)}

MiniLMEncoder = Exercise(
    solutions.MiniLMEncoder,
    points=4,
    minutes=25,
    difficulty=4,
    probe="encoder",
    make={
        "vocab_size": VOCABULARY,
        "d_model": "C",
        "n_layers": 2,
        "num_heads": "h",
        "ff_dim": 30,
        "max_seq": 11,
    },
    uses=[MultiHeadAttention, FeedForward, post_norm],
    inputs={
        "texts of several lengths": TEXTS | {"mask": some("B T")},
        # Only here do eps of 1e-12 and another tell apart, and GELU and its tanh form.
        "no padding, small weights": {
            "tokens": whole("2 5", 1, VOCABULARY),
            "mask": everywhere("2 5"),
            "treated": "small, hidden numbers near -2",
        },
        "the defaults": {"facts": "defaults"},
    },
    properties=[padding_unseen],
    twin=vectors,
    mistakes=ENCODED,
    hints=[
        "Three embeddings are added and normed; then the blocks, each of them chapter "
        "8's encoder block with its norms in another place. Which place had the norms "
        "in the paper of 2017?",
        "Write a block of its own with `post_norm` from chapter 5; every nn.LayerNorm "
        "gets eps=1e-12. All tokens are of type 0: type_embed(0) is one vector for "
        "all. The mask needs axes for heads and queries.",
        "`x = self.embed(tokens) + self.pos_embed(torch.arange(T, "
        "device=tokens.device)) + self.type_embed.weight[0]`, `x = self.norm(x)`; in "
        "each block `x = self.norm1(x + self.attn(x, mask))`, `x = self.norm2(x + "
        "self.ff(x))`, where mask is mask[:, None, None, :].",
    ],
)

SIZES = [7, 4, 2, 2, 6, 5]  # vocabulary, width, layers, heads, hidden, longest text


def published(*more: dict[str, list[int]], without: str = "") -> dict[str, list[int]]:
    """Names and shapes as in a published file, `without` one, with more or others."""
    model = solutions.MiniLMEncoder(*SIZES)
    shapes = {
        solutions.published_name(name): list(p.shape)
        for name, p in model.named_parameters()
    }
    shapes.pop(without, None)
    for one in more:
        shapes |= one
    return shapes


POOLER = {"pooler.dense.weight": [4, 4], "pooler.dense.bias": [4]}
IDS = {"embeddings.position_ids": [1, 5]}
LAST = "encoder.layer.1.output.LayerNorm.bias"
ASKED = [name for name, _ in solutions.MiniLMEncoder(*SIZES).named_parameters()]
NUMBERS = sum(prod(shape) for shape in published(POOLER).values()) + 50


def tensors(shapes: dict[str, list[int]], refused: bool = False) -> dict[str, Any]:
    """A case: a state dict of these shapes, and whether it is to be refused.

    As in the published file it is sorted by name, so that who goes by order is caught.
    """
    return {
        "sizes": given(SIZES),
        "shapes": given(dict(sorted(shapes.items()))),
        "numbers": normal(str(NUMBERS)),
        "refused": refused,
        "asked": given(ASKED),
    }


def given(value: Any) -> Callable[..., Any]:
    """A list or a dict as it is, whatever is drawn."""
    return lambda sizes, generator: value


load_encoder = Exercise(
    solutions.load_encoder,
    points=3,
    minutes=25,
    difficulty=3,
    probe="loading",
    without=("dtypes", "device", "gradients", "unchanged", "repeatable"),
    uses=[solutions.MiniLMEncoder, MultiHeadAttention, FeedForward, post_norm],
    inputs={
        "as published": tensors(published(IDS, POOLER)),
        "with a pooler": tensors(published(POOLER)),
        "nothing but its parameters": tensors(published()),
        "the last bias missing": tensors(published(POOLER, without=LAST), refused=True),
        "a tensor unknown": tensors(
            published(POOLER, {"classifier.weight": [2, 4]}), refused=True
        ),
        "a tensor of the embeddings unknown": tensors(
            published(POOLER, {"embeddings.LayerNorm.gamma": [4]}), refused=True
        ),
        "a layer too many": tensors(
            published({"encoder.layer.2.output.dense.bias": [4]}), refused=True
        ),
        "positions for longer texts": tensors(
            published({"embeddings.position_embeddings.weight": [6, 4]}),
            refused=True,
        ),
        "a matrix transposed": tensors(
            published({"encoder.layer.0.intermediate.dense.weight": [4, 6]}),
            refused=True,
        ),
        "types of one number": tensors(
            published({"embeddings.token_type_embeddings.weight": [2, 1]}),
            refused=True,
        ),
        "a bias under another name": tensors(
            published({LAST.replace("bias", "beta"): [4]}, without=LAST), refused=True
        ),
        "a bias of one number": tensors(published({LAST: [1]}), refused=True),
    },
    twin=fill,
    mistakes=LOADED,
    hints=[
        "Write down, for one block, which of your names belongs to which published "
        "one. What must be known before the first number is copied?",
        "Go through model.named_parameters(), turn each name into the published one, "
        "and compare the two sets of names, then the shapes. Leave out "
        "embeddings.position_ids and what starts with `pooler.` beforehand.",
        "With `own = {published_name(name): p for name, p in "
        "model.named_parameters()}`: raise ValueError if own.keys() != given.keys() or "
        "some shape differs; then, under torch.no_grad(), `p.copy_(given[name])` for "
        "each.",
    ],
)
