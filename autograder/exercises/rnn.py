"""Chapter 1: why attention."""

from collections.abc import Callable
from typing import Any

import torch

import solutions.rnn as solutions
from autograder.definition import Chapter, Exercise, Mistake
from autograder.inputs import Sizes, normal
from autograder.properties import same
from autograder.twins.reach import REACH, reach
from autograder.twins.rnn import READ, read

CHAPTER = Chapter(1, "Why attention", "01_why_attention")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]

NETWORK = {
    "x": normal("B T C"),
    "W_x": normal("C H", scale=0.3),
    "W_h": normal("H H", scale=0.3),
    "b": normal("H", scale=0.5, mean=0.3),
}


def later_tokens_change_nothing(theirs: Theirs, x: Inputs) -> bool:
    """a token changes no hidden state before it"""
    other = x["x"].clone()
    other[:, -1] += 1
    return same(theirs(**x)[:, :-1], theirs(**x | {"x": other})[:, :-1])


rnn_forward = Exercise(
    solutions.rnn_forward,
    points=2,
    minutes=10,
    difficulty=2,
    forbids=["rnn"],
    inputs={
        "a batch of sequences": NETWORK,
        "as many hidden numbers as features": NETWORK
        | {
            "W_x": normal("C C", scale=0.3),
            "W_h": normal("C C", scale=0.3),
            "b": normal("C", scale=0.5, mean=0.3),
        },
        "as many sequences as tokens": NETWORK | {"x": normal("T T C")},
    },
    properties=[later_tokens_change_nothing],
    twin=read,
    mistakes=READ,
    hints=[
        "What does the first step need, and what does it hand to the second? Which "
        "axis of x do you walk along?",
        "Start with h = zeros of shape (B, H), made from x (`x.new_zeros`). For each t "
        "compute the new h from x[:, t] and the old h, and append it to a list.",
        "The step is `h = torch.tanh(x[:, t] @ W_x + h @ W_h + b)`; after the loop "
        "return `torch.stack(states, dim=1)`.",
    ],
)


gradient_reach = Exercise(
    solutions.gradient_reach,
    points=2,
    minutes=15,
    difficulty=3,
    uses=[solutions.rnn_forward],
    probe="traceless",
    returns=("reach", "hangs on a graph", "grads left alone"),
    without=["gradients"],
    inputs={
        "a batch of sequences": NETWORK | {"where": "anywhere"},
        "as many sequences as tokens": NETWORK
        | {"x": normal("T T C"), "where": "anywhere"},
        "inside torch.no_grad()": NETWORK | {"where": "no_grad"},
        "in the middle of a training step": NETWORK | {"where": "training"},
    },
    twin=reach,
    mistakes=REACH,
    hints=[
        "Of which single number do you want the gradient, and with respect to what? "
        "autograd needs to know before the network runs.",
        "`x.detach().requires_grad_()` gives you an x of your own. "
        "`torch.autograd.grad(number, x)` returns the gradient, of shape (B, T, C), "
        "and leaves every `.grad` alone. Which axes does the norm run over?",
        "Under `with torch.enable_grad():` run `rnn_forward`, take "
        "`states[:, -1].sum()`, differentiate it, and return "
        "`gradient.norm(dim=(0, 2))`.",
    ],
)


def position(low: int, high: int) -> Callable[[Sizes, torch.Generator], int]:
    """A position from low up to, not including, high."""
    return lambda sizes, generator: int(
        torch.randint(low, high, (), generator=generator)
    )


def steps(
    kind: str,
    i: int,
    j: int,
    *,
    chain: Callable[[int, int], Any] = lambda i, j: abs(i - j),
    straight: Callable[[int, int], Any] = lambda i, j: int(i != j),
    exchanged: bool = False,
    unknown: Callable[[str], Any] | None = None,
) -> Any:
    """The reference's twin: the two lengths, and what becomes of another kind."""
    if kind == ("attention" if exchanged else "rnn"):
        return chain(i, j)
    if kind == ("rnn" if exchanged else "attention"):
        return straight(i, j)
    if unknown is not None:
        return unknown(kind)
    raise ValueError(kind)


def _key_error(kind: str) -> Any:
    return {"rnn": 0, "attention": 0}[kind]


path_length = Exercise(
    solutions.path_length,
    points=1,
    minutes=4,
    difficulty=1,
    inputs={
        "rnn, forwards": {"kind": "rnn", "i": position(0, 5), "j": position(7, 20)},
        "rnn, backwards": {"kind": "rnn", "i": position(7, 20), "j": position(0, 5)},
        "rnn, to itself": {"kind": "rnn", "i": 4, "j": 4},
        "attention, forwards": {
            "kind": "attention",
            "i": position(0, 5),
            "j": position(7, 20),
        },
        "attention, backwards": {
            "kind": "attention",
            "i": position(7, 20),
            "j": position(0, 5),
        },
        "attention, to itself": {"kind": "attention", "i": 4, "j": 4},
    },
    refuses={
        "another kind": {"kind": "carrier pigeon", "i": 1, "j": 3},
        "a kind that names both": {"kind": "rnn with attention", "i": 1, "j": 3},
        "an empty kind": {"kind": "", "i": 1, "j": 3},
    },
    twin=steps,
    mistakes=[
        Mistake(
            "one-step-to-itself",
            "Attention takes one step here even from a position to itself; where "
            "i = j it is 0.",
            straight=lambda i, j: 1,
        ),
        Mistake(
            "positions-counted",
            "The positions on the way are counted, ends included, one too many; the "
            "steps between them are abs(i - j).",
            chain=lambda i, j: abs(i - j) + 1,
        ),
        Mistake(
            "positions-between-counted",
            "The positions between the two are counted, one too few; the steps are "
            "abs(i - j).",
            chain=lambda i, j: max(abs(i - j) - 1, 0),
        ),
        Mistake(
            "one-too-few",
            "The result is one too small, abs(i - j) - 1, and -1 from a position to "
            "itself; the steps are abs(i - j).",
            chain=lambda i, j: abs(i - j) - 1,
        ),
        Mistake(
            "signed",
            "The length is i - j, which is negative where j comes later: a length has "
            "no sign, abs(i - j).",
            chain=lambda i, j: i - j,
        ),
        Mistake(
            "signed-the-other-way",
            "The length is j - i, which is negative where j comes earlier: a length "
            "has no sign, abs(i - j).",
            chain=lambda i, j: j - i,
        ),
        Mistake(
            "backwards-is-nothing",
            "From a later position to an earlier one this gives 0; the way back is as "
            "long as the way there: abs(i - j).",
            chain=lambda i, j: max(j - i, 0),
        ),
        Mistake(
            "one-step-in-the-rnn",
            "The recurrent network takes a single step here; it hands on from "
            "neighbour to neighbour, abs(i - j) times.",
            chain=lambda i, j: int(i != j),
        ),
        Mistake(
            "always-far",
            "Attention takes as many steps as the recurrent network here; it looks "
            "straight at any position, in 1 step.",
            straight=lambda i, j: abs(i - j),
        ),
        Mistake(
            "no-steps",
            "Attention takes no step at all here; from one position to another it "
            "takes 1.",
            straight=lambda i, j: 0,
        ),
        Mistake(
            "no-step-to-a-later-position",
            "Attention takes no step to a later position here, as under a causal mask; "
            "it looks straight at any position, in 1 step: int(i != j).",
            straight=lambda i, j: int(i > j),
        ),
        Mistake(
            "no-step-to-an-earlier-position",
            "Attention takes no step to an earlier position here; it looks straight at "
            "any position, in 1 step: int(i != j).",
            straight=lambda i, j: int(j > i),
        ),
        Mistake(
            "sign-in-attention",
            "Attention's length is negative from a later position to an earlier one; a "
            "length has no sign: int(i != j).",
            straight=lambda i, j: min(1, j - i),
        ),
        Mistake(
            "kinds-exchanged",
            "The two kinds are swapped.",
            exchanged=True,
        ),
        Mistake(
            "bool-for-int",
            "For attention a bool comes back (i != j); an int is asked for: "
            "int(i != j).",
            straight=lambda i, j: i != j,
        ),
        Mistake(
            "float-for-int",
            "For the recurrent network a float comes back; steps are an int.",
            chain=lambda i, j: float(abs(i - j)),
        ),
        Mistake(
            "nothing-for-another-kind",
            "For another kind this returns None in silence; raise ValueError, so that "
            "a misspelt kind is noticed.",
            unknown=lambda kind: None,
        ),
        Mistake(
            "key-error",
            "For another kind a dictionary's KeyError comes through; raise ValueError "
            "with a message.",
            unknown=_key_error,
        ),
    ],
    hints=[
        "In a recurrent network a message passes every position on the way. In "
        "attention, who looks at whom?",
        "Distances have no sign. And how many steps is it from a position to itself, "
        "in each of the two?",
        '`abs(i - j)` for "rnn"; 0 or 1 for "attention", depending on whether i equals '
        "j; and `raise ValueError(...)` for anything else.",
    ],
)
