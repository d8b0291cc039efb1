"""Chapter 8: encoder, decoder, encoder-decoder."""

from collections.abc import Callable
from typing import Any

import torch

import solutions.architectures as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import Draw, normal, some, whole
from autograder.properties import same
from autograder.twins.blocks import decoder, encoder
from autograder.twins.corruption import CORRUPTIONS, corrupted
from autograder.twins.cross import CROSSED, cross
from autograder.twins.shift import SHIFTS, shifted
from autograder.twins.wirings import DECODER, ENCODER
from solutions.attention import scaled_dot_product_attention
from solutions.feed_forward import FeedForward
from solutions.masks import causal_mask
from solutions.multihead import MultiHeadAttention, merge_heads, split_heads

CHAPTER = Chapter(8, "Encoder, decoder, encoder-decoder", "08_architectures")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]


def order_of_tokens(theirs: Theirs, x: Inputs) -> bool:
    """tokens in another order come out in that order"""
    return same(theirs(x=x["x"].flip(1)), theirs(x=x["x"]).flip(1))


X = {"x": normal("B T C")}

EncoderBlock = Exercise(
    solutions.EncoderBlock,
    points=3,
    minutes=12,
    difficulty=3,
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
    },
    properties=[order_of_tokens],
    twin=encoder,
    mistakes=ENCODER,
    hints=[
        "Two sublayers, two norms, two residual connections. What does each sublayer "
        "read, and what is its result added to?",
        "Pre-norm: a sublayer reads norm(x), and its result is added to x as it was. "
        "The names are attn, ff, norm1 and norm2; the mask is the attention's.",
        "`x = x + self.attn(self.norm1(x), mask)`, then "
        "`return x + self.ff(self.norm2(x))`.",
    ],
)


def one_token(shape: str, token: int) -> Draw:
    """A text of one token over and over."""
    return Draw(shape, lambda sizes, generator: torch.full(sizes, token))


mask_tokens = Exercise(
    solutions.mask_tokens,
    points=3,
    minutes=15,
    difficulty=3,
    probe="corruption",
    without=["device"],
    returns=("inputs", "targets"),
    inputs={
        "a long text": {
            "tokens": whole("200 300", 0, 900),
            "mask_id": 950,
            "vocab_size": 1000,
            "probability": 0.3,
        },
        "another probability": {
            "tokens": whole("250 80", 0, 900),
            "mask_id": 950,
            "vocab_size": 1000,
            "probability": 0.15,
        },
        # What is drawn shows in a text that holds one token of the four only.
        "four tokens, all chosen": {
            "tokens": one_token("100 400", 1),
            "mask_id": 2,
            "vocab_size": 4,
            "probability": 1.0,
        },
        "probability 0": {
            "tokens": whole("B T", 0, 20),
            "mask_id": 20,
            "vocab_size": 21,
            "probability": 0.0,
        },
        "probability 1": {
            "tokens": whole("B T", 0, 20),
            "mask_id": 20,
            "vocab_size": 21,
            "probability": 1.0,
        },
    },
    twin=corrupted,
    mistakes=CORRUPTIONS,
    hints=[
        "Two things are left to chance for each token: whether it is chosen, and what "
        "becomes of it if it is. How many numbers must be drawn?",
        "Draw two of the tokens' shape with torch.rand. One compared with the "
        "probability chooses; the other, cut at 0.8 and 0.9, decides. Give the "
        "generator to every draw.",
        "`chosen = torch.rand(tokens.shape, generator=generator) < probability`, "
        "`fate` likewise; masked are `chosen & (fate < 0.8)`, random "
        "`chosen & (fate >= 0.9)`; targets are `tokens.masked_fill(~chosen, -100)`.",
    ],
)


def order_of_memory(theirs: Theirs, x: Inputs) -> bool:
    """the order of the memory doesn't matter"""
    turned = theirs(x=x["x"], memory=x["memory"].flip(1))
    return same(turned, theirs(x=x["x"], memory=x["memory"]))


def batch_apart(theirs: Theirs, x: Inputs) -> bool:
    """each sequence of a batch comes out as it does alone"""
    first = theirs(x=x["x"][:1], memory=x["memory"][:1])
    return same(first, theirs(x=x["x"], memory=x["memory"])[:1])


TWO = {"x": normal("B n C"), "memory": normal("B m C")}
ALIKE = {"x": normal("B n C"), "memory": normal("B n C")}

CrossAttention = Exercise(
    solutions.CrossAttention,
    points=3,
    minutes=12,
    difficulty=3,
    make={"d_model": "C", "num_heads": "h"},
    uses=[scaled_dot_product_attention, split_heads, merge_heads],
    forbids=["attention"],
    inputs={
        "no mask": TWO,
        "as many keys as queries, a mask": ALIKE | {"mask": some("n n")},
        "a mask": TWO | {"mask": some("n m")},
        "a mask of 0 and 1, one row a source": TWO
        | {"mask": some("B 1 1 m", torch.int64)},
        # Large numbers spread the scores, so that a merely low fill tells.
        "a mask for each head": {
            "x": normal("B n C", scale=1.6),
            "memory": normal("B m C", scale=1.6),
            "mask": some("B h n m"),
        },
        "one head": TWO | {"num_heads": 1},
    },
    refuses={"d_model = 10 with 4 heads": {"d_model": 10, "num_heads": 4}},
    properties=[order_of_memory, batch_apart],
    twin=cross,
    mistakes=CROSSED,
    hints=[
        "It is MultiHeadAttention with one more argument. Who asks, and who is asked?",
        "Q is made from x, K and V from the memory. x has n tokens and the memory m: "
        "nothing may rely on their being equal.",
        "Q is `split_heads(self.W_q(x), self.num_heads)`, K is the same of "
        "`self.W_k(memory)` and V of `self.W_v(memory)`; the rest stays.",
    ],
)


def future_unseen(theirs: Theirs, x: Inputs) -> bool:
    """a later token changes nothing that stands before it"""
    changed = x["x"].clone()
    changed[:, -1] += 1
    now = theirs(x=x["x"], memory=x["memory"])
    return same(theirs(x=changed, memory=x["memory"])[:, :-1], now[:, :-1])


DecoderBlock = Exercise(
    solutions.DecoderBlock,
    points=4,
    minutes=15,
    difficulty=4,
    make={"d_model": "C", "num_heads": "h", "ff_dim": 30},
    uses=[MultiHeadAttention, solutions.CrossAttention, FeedForward, causal_mask],
    forbids=["transformer"],
    inputs={
        "no mask": TWO,
        "a mask": TWO | {"memory_mask": some("n m")},
        "as long as the source, a mask": ALIKE | {"memory_mask": some("n n")},
        "a mask of 0 and 1, one row a source": TWO
        | {"memory_mask": some("B 1 1 m", torch.int64)},
        # Only here does the norms' eps of 1e-5 weigh, and which GELU it is.
        "small numbers": {
            "x": normal("B n C", scale=0.01),
            "memory": normal("B m C", scale=0.01),
            "treated": "a quiet stream, hidden numbers near -2",
        },
    },
    properties=[future_unseen, order_of_memory],
    twin=decoder,
    mistakes=DECODER,
    hints=[
        "Three sublayers, each with a norm and a residual connection of its own. Which "
        "of them may see the future, and of what?",
        "The self-attention gets a causal mask of n by n, on x's device; the "
        "cross-attention gets the memory as it comes, and memory_mask.",
        "`x = x + self.self_attn(self.norm1(x), causal_mask(n).to(x.device))`, "
        "`x = x + self.cross_attn(self.norm2(x), memory, memory_mask)`, "
        "`return x + self.ff(self.norm3(x))`.",
    ],
)


shift_right = Exercise(
    solutions.shift_right,
    points=1,
    minutes=4,
    difficulty=1,
    inputs={
        "a batch of sequences": {"tokens": whole("B T", 2, 20), "start_id": 20},
        "another start": {"tokens": whole("B T", 4, 20), "start_id": 3},
    },
    twin=shifted,
    mistakes=SHIFTS,
    hints=[
        "To predict the token at position t, the decoder reads what stands before it. "
        "What does it read at position 0, where nothing does?",
        "Every token moves one place to the right, start_id comes in front, and the "
        "last token falls off, so that the length stays.",
        "Concatenate a column of start_id, `torch.full_like(tokens[:, :1], start_id)`, "
        "with `tokens[:, :-1]` along dim=1.",
    ],
)
