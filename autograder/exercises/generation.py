"""Chapter 11: generation."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import solutions.generation as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import Draw, normal, whole
from autograder.twins.filters import RESULTS, TOP_K, filtered
from autograder.twins.nucleus import TOP_P
from autograder.twins.sampling import DRAWS, TEMPERATURE, sampled
from autograder.twins.writing import LOOP, MODES, write

CHAPTER = Chapter(11, "Generation and the KV cache", "11_generation")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]

#: Probabilities of six tokens. No sum of the largest, renormalised or not, is nearer
#: than 0.02 to a p that is tried, so that rounding decides nothing.
ROWS = (
    (0.40, 0.25, 0.14, 0.11, 0.06, 0.04),
    (0.55, 0.20, 0.16, 0.05, 0.03, 0.01),
    (0.30, 0.24, 0.18, 0.16, 0.08, 0.04),
)


def rows_of(shift: float) -> Draw:
    """Logits of these probabilities in any order, moved by `shift`."""

    def make(sizes: list[int], generator: torch.Generator) -> Tensor:
        count = int(torch.tensor(sizes[:-1]).prod()) if sizes[:-1] else 1
        start = int(torch.randint(len(ROWS), (), generator=generator))
        rows = [
            torch.tensor(ROWS[(start + i) % len(ROWS)])[
                torch.randperm(sizes[-1], generator=generator)
            ]
            for i in range(count)
        ]
        return (torch.stack(rows).log() + shift).view(sizes)

    return Draw("... 6", make)


def kept_as_they_were(theirs: Theirs, x: Inputs) -> bool:
    """what remains keeps its logit, and what doesn't is -inf"""
    logits, out = x["logits"], theirs(**x)
    return bool(((out == logits) | (out == -torch.inf)).all())


def likely_remain(theirs: Theirs, x: Inputs) -> bool:
    """no token that remains is less likely than one that doesn't"""
    logits, out = x["logits"], theirs(**x)
    lowest = logits.masked_fill(out == -torch.inf, torch.inf).amin(-1)
    highest = logits.masked_fill(out > -torch.inf, -torch.inf).amax(-1)
    return bool((lowest > highest).all())


filter_logits = Exercise(
    solutions.filter_logits,
    points=3,
    minutes=20,
    difficulty=3,
    probe="filtering",
    inputs={
        "the 3 largest": {"logits": rows_of(1.5), "top_k": 3},
        "the largest alone": {"logits": rows_of(1.5), "top_k": 1},
        "the 3 largest, all logits negative": {"logits": rows_of(-1.0), "top_k": 3},
        "top_k beyond the vocabulary": {"logits": rows_of(1.5), "top_k": 50},
        "no filter": {"logits": rows_of(1.5)},
        "top_p = 0.62": {"logits": rows_of(1.5), "top_p": 0.62},
        "top_p = 0.85, all logits negative": {"logits": rows_of(-1.0), "top_p": 0.85},
        "top_p below the largest probability": {"logits": rows_of(1.5), "top_p": 0.2},
        "top_k = 4 and top_p = 0.85": {
            "logits": rows_of(1.5),
            "top_k": 4,
            "top_p": 0.85,
        },
        "top_k = 2 and top_p = 0.85": {
            "logits": rows_of(-1.0),
            "top_k": 2,
            "top_p": 0.85,
        },
    },
    properties=[kept_as_they_were, likely_remain],
    twin=filtered,
    mistakes=[*TOP_K, *TOP_P, *RESULTS],
    hints=[
        "Top-k needs one number a row, the k-th largest logit. Top-p needs a sum over "
        "tokens in order of their probability: when has it reached p before a token?",
        "`logits.topk(k).values[..., -1:]` is each row's threshold; what is less gets "
        "-inf. For top-p sort descending, take the softmax and its cumsum. The token "
        "that crosses p stays: compare the sum without its own probability.",
        "With `ordered, order = logits.sort(dim=-1, descending=True)` and `probs = "
        "ordered.softmax(-1)`, `excluded = probs.cumsum(-1) - probs >= top_p` stands "
        "in sorted order; `torch.zeros_like(excluded).scatter(-1, order, excluded)` "
        "brings it back, and masked_fill puts -inf there.",
    ],
)


def logits_of(*weights: float, times: float = 1.0) -> Draw:
    """A row of logits: `times` the logarithms of these weights."""
    row = torch.tensor([weights]).log() * times
    return Draw(f"1 {len(weights)}", lambda sizes, generator: row.clone())


def spread_out(sizes: list[int], generator: torch.Generator) -> Tensor:
    """Rows of logits that are whole numbers apart, in any order."""
    rows = [torch.randperm(sizes[1], generator=generator) for _ in range(sizes[0])]
    return torch.stack(rows).float() - 4


def close_together(sizes: list[int], generator: torch.Generator) -> Tensor:
    """Rows of logits a hundredth apart: a low temperature is not yet 0 for them."""
    return spread_out(sizes, generator) / 100


def nearly_even(sizes: list[int], generator: torch.Generator) -> Tensor:
    """Logits of nearly equal tokens."""
    return torch.randn(sizes, generator=generator) * 0.2


SHARES = {"facts": "shares"}
TOKENS = {"facts": "tokens", "logits": Draw("5 7", spread_out)}

sample_next = Exercise(
    solutions.sample_next,
    points=2,
    minutes=12,
    difficulty=2,
    uses=[solutions.filter_logits],
    probe="sampling",
    without=["edges", "dtypes", "device", "gradients"],
    inputs={
        "without options": SHARES | {"logits": logits_of(0.3, 0.1, 0.6)},
        "temperature 2": SHARES
        | {"logits": logits_of(0.1, 0.6, 0.3, times=2), "temperature": 2.0},
        "temperature 0.5": SHARES
        | {"logits": logits_of(0.1, 0.6, 0.3, times=0.5), "temperature": 0.5},
        "top_k = 2": SHARES | {"logits": logits_of(0.2, 0.4, 0.3, 0.6), "top_k": 2},
        "top_p = 0.8": SHARES
        | {"logits": logits_of(0.04, 0.36, 0.54, 0.06), "top_p": 0.8},
        "temperature 2 and top_p = 0.6": SHARES
        | {
            "logits": logits_of(0.36, 0.06, 0.04, 0.54, times=2),
            "temperature": 2.0,
            "top_p": 0.6,
        },
        "top_k = 2 and top_p = 0.5": SHARES
        | {"logits": logits_of(0.3, 0.25, 0.45), "top_k": 2, "top_p": 0.5},
        "logits in bfloat16": SHARES
        | {"logits": logits_of(0.6, 0.1, 0.3), "dtype": "bfloat16"},
        "temperature 0": TOKENS | {"temperature": 0.0},
        "temperature 0, logits close together": TOKENS
        | {"logits": Draw("5 7", close_together), "temperature": 0.0},
        "temperature 0 as an int": TOKENS | {"temperature": 0},
        "a very low temperature": TOKENS | {"temperature": 0.04},
        "top_k = 1 in each row": TOKENS | {"top_k": 1},
        "one row": {
            "facts": "tokens",
            "logits": Draw("1 7", spread_out),
            "temperature": 0.0,
        },
        "many rows": {"facts": "chance", "logits": Draw("1 9", nearly_even)},
    },
    refuses={
        "temperature -1": TOKENS | {"temperature": -1.0},
        "temperature -0.1": TOKENS | {"temperature": -0.1},
    },
    twin=sampled,
    mistakes=[*TEMPERATURE, *DRAWS],
    hints=[
        "Which comes first: the temperature, or the filters? And what would division "
        "by a temperature of 0 do?",
        "Refuse what is below 0; at 0 return the argmax with keepdim=True. Else divide "
        "the logits by the temperature, filter them, and draw one token a row from "
        "their softmax.",
        "`kept = filter_logits(logits / temperature, top_k, top_p)`, then "
        "`torch.multinomial(kept.softmax(dim=-1), 1, generator=generator)`, which is "
        "(B, 1) already.",
    ],
)


def texts(T: int) -> Draw:
    return whole(f"3 {T}", 0, 13)


def writing(T: int, new: int, max_seq: int = 8, mode: str = "train") -> dict[str, Any]:
    """A prompt of T tokens, and a model whose weights are given."""
    return {
        "tokens": texts(T),
        "weights": normal("3 13 13"),
        "max_new_tokens": new,
        "max_seq": max_seq,
        "mode": mode,
    }


GREEDY = {"temperature": 0}


generate = Exercise(
    solutions.generate,
    points=3,
    minutes=15,
    difficulty=3,
    uses=[solutions.filter_logits, solutions.sample_next],
    probe="written",
    without=["edges", "dtypes", "device", "gradients"],
    words={"T": ("token", "tokens")},
    inputs={
        "a short text, greedy": writing(3, 4) | GREEDY,
        "a text that outgrows max_seq": writing(5, 9, mode="eval") | GREEDY,
        "a prompt longer than max_seq": writing(11, 3) | GREEDY,
        "a prompt of one token": writing(1, 3) | GREEDY,
        "up to max_seq": writing(3, 5, mode="eval") | GREEDY,
        "one new token": writing(4, 1) | GREEDY,
        "no new token": writing(4, 0) | GREEDY,
        "top_k = 1": writing(3, 4) | {"top_k": 1},
        "top_p = 0.001": writing(3, 4) | {"top_p": 0.001},
        "draws": writing(3, 5) | {"chance": True},
    },
    twin=write,
    mistakes=[*MODES, *LOOP],
    hints=[
        "Which of the model's logits predict the token that comes next? And what must "
        "be true of the model while it writes, so that no dropout disturbs it?",
        "Note model.training, call model.eval(), and set it back in the end. In the "
        "loop: crop to the last model.max_seq tokens, run the model, take the last "
        "position's logits, draw, append along dim=1. All under torch.no_grad().",
        "In the loop: `logits = model(tokens[:, -model.max_seq:])[:, -1]`, then "
        "`tokens = torch.cat([tokens, sample_next(logits, **sampling)], dim=1)`. "
        "After it: `model.train(was_training)`.",
    ],
)
