"""Chapter 5: residuals and norms."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import solutions.norms as solutions
from autograder.definition import Chapter, Exercise, Mistake
from autograder.inputs import Draw, normal
from autograder.properties import same
from autograder.twins.layer_norm import LAYER
from autograder.twins.norms import layer, rms
from autograder.twins.residual import POST, PRE, post, pre
from autograder.twins.rms_norm import RMS

CHAPTER = Chapter(5, "Residuals and norms", "05_norms")

Theirs = Callable[..., Any]
Inputs = dict[str, Tensor]

WORDS = {"T": ("token", "tokens"), "d": ("feature", "features")}


#: Never 0: a feature that is multiplied by 0 looks right whatever comes before.
GAIN = normal("d", mean=1.05)


def of_different_size(sizes: list[int], generator: torch.Generator) -> Tensor:
    """Tokens whose features spread by 1 to 8, around a mean of their own."""
    rows = [*sizes[:-1], 1]
    spread = 2.0 ** torch.randint(0, 4, rows, generator=generator)
    mean = torch.randint(-2, 3, rows, generator=generator)
    numbers = torch.randn(sizes, generator=generator)
    return (numbers * 10).round() / 10 * spread + mean


def with_zeros(sizes: list[int], generator: torch.Generator) -> Tensor:
    """Tokens of a mean of 3, the last of them all zeros."""
    numbers = (torch.randn(sizes, generator=generator) * 10).round() / 10 + 3
    numbers[..., -1, :] = 0
    return numbers


def tokens(**given: Any) -> dict[str, dict[str, Any]]:
    """The inputs of both norms: tokens that hide none of the usual slips."""
    return {
        "tokens": {"x": normal("... T d", mean=3.0), **given},
        "tokens of different size": {"x": Draw("... T d", of_different_size), **given},
        "as many tokens as features": {"x": normal("... d d", mean=3.0), **given},
        "one token alone": {"x": normal("d", mean=3.0), **given},
        "tiny numbers": {"x": normal("... T d", scale=1e-3), **given},
        "a token of zeros": {"x": Draw("... T d", with_zeros), **given},
        "numbers whose squares float16 can't hold": {
            "x": normal("... T d", scale=600.0),
            **given,
        },
        "eps = 0.5": {"x": normal("... T d", scale=0.3), **given, "eps": 0.5},
        "squares and eps too small for float16": {
            "x": normal("... T d", scale=1e-4),
            **given,
            "eps": 1e-8,
        },
    }


def shift_changes_nothing(theirs: Theirs, x: Inputs) -> bool:
    """adding 8 to all features of a token changes nothing"""
    return same(theirs(**x), theirs(**x | {"x": x["x"] + 8}))


def each_token_by_itself(theirs: Theirs, x: Inputs) -> bool:
    """a token is normalised by itself, whatever the others are"""
    other = x["x"].clone()
    other[..., 0, :] *= 5
    return same(theirs(**x)[..., 1:, :], theirs(**x | {"x": other})[..., 1:, :])


layer_norm = Exercise(
    solutions.layer_norm,
    points=2,
    minutes=12,
    difficulty=2,
    forbids=["layer_norm"],
    # mean(x²) - mean(x)² is a right variance too, and loses a digit at a mean of 3.
    tolerance=3e-5,
    words=WORDS,
    inputs=tokens(weight=GAIN, bias=normal("d")),
    properties=[shift_changes_nothing, each_token_by_itself],
    twin=layer,
    mistakes=LAYER,
    hints=[
        "Whose mean is it? One token's, over its features: which axis is that, and how "
        "do you keep it so that the mean fits x again?",
        "Subtract the mean, divide by the root of (variance + eps), then multiply with "
        "weight and add bias. torch's `var` divides by n - 1 unless you say "
        "`correction=0`. Half precision can't hold large squares: what can?",
        "Start with `wide = x.to(torch.promote_types(x.dtype, torch.float32))`, take "
        "`wide.mean(-1, keepdim=True)` and `wide.var(-1, correction=0, keepdim=True)`, "
        "and end with `.to(x.dtype)`.",
    ],
)


def bigger_is_the_same(theirs: Theirs, x: Inputs) -> bool:
    """a token ten times as large gives the same result"""
    return same(theirs(**x), theirs(**x | {"x": x["x"] * 10}))


def as_x_not_as_the_weight(theirs: Theirs, x: Inputs) -> bool | str | Mistake:
    """half-precision x keeps its dtype beside a float32 weight"""
    for half in (torch.float16, torch.bfloat16):
        given = x["x"].to(half)
        wide = theirs(x=given.float(), weight=x["weight"])
        out = theirs(x=given, weight=x["weight"].float())
        name = str(half).removeprefix("torch.")
        if out.dtype != half:
            return Mistake(
                "dtype-of-the-weight",
                f"With x in {name} and a float32 weight the result comes back in "
                f"{str(out.dtype).removeprefix('torch.')}: the product with the weight "
                "takes the wider dtype. Cast last, `.to(x.dtype)`, after the weight.",
                wrong=solutions.rms_norm,
            )
        if not same(wide, out.float(), tol=1e-2 if half == torch.float16 else 5e-2):
            return f"With x in {name} and a float32 weight the numbers are wrong."
    return True


rms_norm = Exercise(
    solutions.rms_norm,
    points=2,
    minutes=8,
    difficulty=2,
    forbids=["rms_norm"],
    words=WORDS,
    inputs=tokens(weight=GAIN),
    properties=[bigger_is_the_same, each_token_by_itself, as_x_not_as_the_weight],
    twin=rms,
    mistakes=RMS,
    hints=[
        "Read the name backwards: square, mean, root. What does LayerNorm do that "
        "isn't in it?",
        "The mean of the squares is taken over the last axis with keepdim=True; eps is "
        "added before the root. Half precision can't hold large squares, so go to "
        "float32 first; and which dtype has a float16 x times a float32 weight?",
        "With `wide = x.to(torch.promote_types(x.dtype, torch.float32))` it is `wide * "
        "torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * weight`, and "
        "`.to(x.dtype)` comes last.",
    ],
)


#: The sublayer and the norm are made from these beside the learner's code.
STREAM = {
    "x": normal("... T d"),
    "sublayer.W": normal("d d", scale=0.3),
    "norm.b": GAIN,
}
CONNECTION = {
    "a batch of sequences": STREAM,
    "as many tokens as features": STREAM | {"x": normal("... d d")},
    "one token alone": STREAM | {"x": normal("d")},
}
RETURNS = ("result", "sublayer runs", "norm runs")


def open_road(theirs: Theirs, x: Inputs) -> bool:
    """where the sublayer gives 0, x comes through unchanged"""
    silent = {"sublayer.W": torch.zeros_like(x["sublayer.W"])}
    return same(theirs(**x | silent), x["x"])


pre_norm = Exercise(
    solutions.pre_norm,
    points=1,
    minutes=4,
    difficulty=1,
    probe="residual",
    returns=RETURNS,
    words=WORDS,
    inputs=CONNECTION,
    properties=[open_road],
    twin=pre,
    mistakes=PRE,
    hints=[
        "Follow x from left to right. On which of the two ways does the norm stand, "
        "the straight one or the one through the sublayer?",
        "The norm stands in front of the sublayer, on its way only. What is added to "
        "the sublayer's result is x as it came in.",
        "Norm x into a new variable, give that to the sublayer, add x. Don't call the "
        "variable x, and don't write `+=`, which changes the caller's tensor.",
    ],
)


def norm_has_the_last_word(theirs: Theirs, x: Inputs) -> bool:
    """where the norm gives 0, so does the whole: nothing is added after it"""
    silent = {"norm.b": torch.zeros_like(x["norm.b"])}
    return same(theirs(**x | silent), torch.zeros_like(x["x"]))


post_norm = Exercise(
    solutions.post_norm,
    points=1,
    minutes=4,
    difficulty=1,
    probe="residual",
    returns=RETURNS,
    words=WORDS,
    inputs=CONNECTION,
    properties=[norm_has_the_last_word],
    twin=post,
    mistakes=POST,
    hints=[
        "In the 2017 paper's figure the box after each sublayer is called “Add & "
        "Norm”. Which of the two comes first?",
        "The sublayer works on x itself. Its result and x are added, and the norm is "
        "given the sum.",
        "One line: the norm around a sum of two terms, x and the sublayer's result.",
    ],
)
