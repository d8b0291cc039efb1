"""Chapter 14, continued: the clinic, six patients to mend."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

import autograder.twins.clinic as patients
import solutions.clinic as solutions
from autograder.definition import Exercise, Mistake
from autograder.exercises.inside import CHAPTER as CHAPTER
from autograder.inputs import Draw, normal, whole
from autograder.twins.rotating import ROTATING, rotate
from solutions.attention import scaled_dot_product_attention
from solutions.feed_forward import FeedForward
from solutions.masks import causal_mask
from solutions.multihead import MultiHeadAttention, merge_heads, split_heads
from solutions.positions import apply_rope
from solutions.training import next_token_loss

#: Examined by what it does: a game learned, a gradient that arrives.
Repair = partial(
    Exercise, without=["edges", "dtypes", "device", "gradients", "unchanged"]
)

repair_leaky_decoder = Repair(
    solutions.repair_leaky_decoder,
    broken=patients.repair_leaky_decoder,
    points=2,
    minutes=15,
    difficulty=3,
    probe="decoder",
    uses=[MultiHeadAttention, causal_mask],
    inputs={"a text of eight tokens": {"tokens": whole("3 8", 0, 7)}},
    mistakes=[
        Mistake(
            "still-leaky",
            "The leak is still there: position t sees token t + 1, the very one that "
            "it is to predict. Change one token and see which logits move; then ask "
            "the same of each step of forward, from the first one on.",
            wrong=patients.repair_leaky_decoder,
        ),
    ],
    hints=[
        "A loss below what the language allows means that the answer is visible. To "
        "whom? Change one token of a text and compare the logits at every position "
        "before it: all should stay as they were. By how many places does it reach "
        "back?",
        "Halve the distance to the fault. Run forward by hand, line by line, on the "
        "text and on the changed one, and after each line ask at which positions the "
        "two tensors differ. The first line after which a position before the change "
        "differs is the one.",
        "For the line that you found: which places of its input does one place of "
        "its output read, by the documentation and by a test with a single 1 in a "
        "row of zeros? Which of them may it read? Move what it reads; don't take it "
        "away from what comes before.",
    ],
)

repair_flat_attention = Repair(
    solutions.repair_flat_attention,
    broken=patients.repair_flat_attention,
    points=2,
    minutes=15,
    difficulty=3,
    probe="lookup",
    uses=[split_heads, merge_heads, scaled_dot_product_attention],
    inputs={"seven tokens": {"x": normal("3 7 16")}},
    mistakes=[
        Mistake(
            "still-flat",
            "The attention is still flat, and stays so in training: a name among "
            "twelve can't be looked up. How large is the largest score that this "
            "layer can give at all, whatever its weights are?",
            wrong=patients.repair_flat_attention,
        ),
    ],
    hints=[
        "Flat weights come from scores that hardly differ. Are they small at the "
        "start, or small for good? Multiply W_q's weight by 100 and look at the "
        "weights again: a layer that can learn to choose must react.",
        "Follow the numbers from x to the weights and write down, after each step, "
        "the largest size that is possible there. At which step does a bound appear "
        "that no learned weight can lift?",
        "What is the largest dot product of two vectors of the length that you found, "
        "and what is left of it after the division by √d_k? What would that softmax "
        "give at best among T keys? Let the layer learn, or be given, a size for its "
        "scores.",
    ],
)

repair_vanishing_gradients = Repair(
    solutions.repair_vanishing_gradients,
    broken=patients.repair_vanishing_gradients,
    points=2,
    minutes=12,
    difficulty=2,
    probe="depth",
    uses=[FeedForward],
    inputs={
        "24 blocks": {"x": normal("8 6 16"), "n_layers": 24},
        "5 blocks": {"x": normal("8 6 16"), "n_layers": 5},
    },
    mistakes=[
        Mistake(
            "still-vanishing",
            "The gradient still vanishes: through 24 blocks the first one gets less "
            "than a millionth of the last one's. By what factor does it shrink from "
            "one block to the next, and which operation has that factor?",
            wrong=patients.repair_vanishing_gradients,
        ),
    ],
    hints=[
        "A loss that is worse with more layers doesn't say which layer is at fault. "
        "The gradients do: after one backward pass print, for each block, the norm of "
        "its weights' gradient. Is it one block, or a law?",
        "If the sizes fall by the same factor at every block, that factor is built "
        "into the step that all of them share. What does a number of the stream have "
        "to go through to get past one block, and what is it multiplied by there?",
        "Set every block's result to 0 in your mind: what remains of x after 24 "
        "rounds? A road past the blocks must not shrink what travels on it. If you "
        "worry about the stream's size, who in this class takes care of it at the "
        "end?",
    ],
)


def chunked(chunks: str) -> dict[str, Any]:
    return {
        "x": normal("2 12 30"),
        "weights": normal("4 30 30"),
        "num_heads": 3,
        "chunks": chunks,
    }


repair_drifting_cache = Repair(
    solutions.repair_drifting_cache,
    broken=patients.repair_drifting_cache,
    points=2,
    minutes=15,
    difficulty=3,
    probe="rotating",
    tolerance=3e-5,
    twin=rotate,
    uses=[
        split_heads,
        merge_heads,
        apply_rope,
        scaled_dot_product_attention,
        MultiHeadAttention,
    ],
    inputs={
        "all at once": chunked("12"),
        "chunks of 5, 1, 1, 2, 3": chunked("5 1 1 2 3"),
        "one token at a time": chunked("1 1 1 1 1 1"),
    },
    mistakes=[
        Mistake(
            "still-drifting",
            "It still drifts: right for the first chunk, and off in every call after "
            "it. What is kept changes from call to call. Compare the keys "
            "of one old token after each call.",
            wrong=patients.repair_drifting_cache,
        ),
        *ROTATING,
    ],
    hints=[
        "The first call is right, and every later one is off. So what is wrong "
        "isn't one call's arithmetic, but something that is handed from call "
        "to call. Which two tensors are those?",
        "Pick one old token and print a few of its numbers in the cache after each "
        "call. What was remembered should never change. Which of the two tensors "
        "does, and by what: a growing size, or a turn?",
        "Follow that tensor once around the loop: from the cache, through every line "
        "that touches it, back into the cache. How often is each operation applied to "
        "the first token's numbers after n calls? It should be once.",
    ],
)


def tokens_of(count: int, dtype: str, width: int = 8) -> dict[str, Any]:
    return {"x": normal(f"2 {count} {width}"), "dtype": dtype}


repair_repeated_positions = Repair(
    solutions.repair_repeated_positions,
    broken=patients.repair_repeated_positions,
    points=2,
    minutes=12,
    difficulty=3,
    probe="placed",
    tolerance=1e-2,  # two roundings of bfloat16
    inputs={
        "float32, 600 tokens": tokens_of(600, "float32"),
        "bfloat16, 40 tokens": tokens_of(40, "bfloat16", width=12),
        "bfloat16, 600 tokens": tokens_of(600, "bfloat16"),
        "float16, 2,300 tokens": tokens_of(2300, "float16"),
    },
    mistakes=[
        Mistake(
            "still-repeated",
            "Positions still share their vectors in half precision: of 600 in bfloat16 "
            "two hundred have that of a neighbour. In float32, and for short texts, "
            "all is right. Which numbers on the way does bfloat16 not have?",
            wrong=patients.repair_repeated_positions,
        ),
    ],
    hints=[
        "Which positions share a vector, and from where on? Short texts are right, "
        "and so is float32: compare the two dtypes step by step and look for the "
        "first tensor in which two positions agree in one and not in the other.",
        "Print each tensor of the function at the places 254 to 262, in float32 and "
        "in bfloat16. Rounding that makes numbers a little wrong is no fault here; "
        "rounding that makes two of them equal is.",
        "How many bits does bfloat16 have for a number's digits, and which is the "
        "first whole number that it can't hold? Whatever counts should be counted in "
        "a type that can count that far; only what comes out at the end has to be "
        "small.",
    ],
)


def texts(count: int) -> Draw:
    """Batches of texts in which every token of the vocabulary occurs."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        return torch.randperm(9 * count * 6, generator=generator).view(count, 6, 9) % 9

    return Draw("1", make)


repair_stalled_loss = Repair(
    solutions.repair_stalled_loss,
    broken=patients.repair_stalled_loss,
    points=2,
    minutes=12,
    difficulty=2,
    probe="taught",
    uses=[next_token_loss],
    inputs={
        "four batches, 50 times": {"texts": texts(4), "epochs": 50},
        "ten batches, 20 times": {"texts": texts(10), "epochs": 20},
    },
    mistakes=[
        Mistake(
            "still-stalled",
            "The loss still hardly falls: after 200 steps the model guesses nearly as "
            "before. Gradients arrive, so ask of the steps: how far does a weight move "
            "in one, at the beginning and at the end?",
            wrong=patients.repair_stalled_loss,
        ),
    ],
    hints=[
        "A loss that doesn't move has three suspects: the gradient is 0, the step is "
        "tiny, or the step goes into something else than the model. Print three "
        "numbers at one step: the gradient's norm, the change of a weight, and their "
        "proportion.",
        "AdamW moves each weight by about its learning rate, whatever the gradient's "
        "size. So a weight's change in a step tells the rate that was really used. "
        "Print it over all steps, and draw it: is that the curve that the docstring "
        "promises?",
        "For the number that is wrong in that curve, write down the values of every "
        "variable that it is made of, at steps 0, 1, 2 … until one of them does what "
        "it shouldn't. Two of the loop's lines look alike; which count do they keep?",
    ],
)
