"""The rotation of RoPE with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.angles import angles, same

Change = Callable[[Tensor], Tensor]


def neighbours(x: Tensor) -> tuple[Tensor, Tensor]:
    return x[..., 0::2], x[..., 1::2]


def halves(x: Tensor) -> tuple[Tensor, Tensor]:
    d = x.shape[-1]
    return x[..., : d // 2], x[..., d // 2 :]


def woven(a: Tensor, b: Tensor) -> Tensor:
    return torch.stack([a, b], dim=-1).flatten(-2)


def glued(a: Tensor, b: Tensor) -> Tensor:
    return torch.cat([a, b], dim=-1)


def turned(a: Tensor, b: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    return a * cos - b * sin, a * sin + b * cos


def rotate(
    x: Tensor,
    positions: Tensor,
    base: float = 10000.0,
    *,
    axes: Change = same,
    cut: Callable[[Tensor], tuple[Tensor, Tensor]] = neighbours,
    table: Change = same,
    turn: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]] = turned,
    weave: Callable[[Tensor, Tensor], Tensor] = woven,
    plus: Callable[[Tensor], Tensor | float] = lambda x: 0.0,
    cast: Callable[[Tensor, torch.dtype], Tensor] = lambda y, dtype: y.to(dtype),
    **switches: Any,
) -> Tensor:
    """The twin of apply_rope; `switches` are those of the angles."""
    x = axes(x)
    turns = table(angles(positions, x.shape[-1], base, **switches))
    a, b = cut(x)
    y = weave(*turn(a, b, turns.cos(), turns.sin())) + plus(x)
    return axes(cast(y, x.dtype))


def mixed(
    cut: Callable[[Tensor], tuple[Tensor, Tensor]],
    partners: Callable[[Tensor, Tensor], Tensor],
    table: Callable[[Tensor, Tensor], Tensor],
) -> Callable[..., Tensor]:
    """x * cos + partners * sin, as rotate_half does it, in layouts that may differ."""

    def rotated(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
        turns = angles(positions, x.shape[-1], base)
        a, b = cut(x)
        cos, sin = table(turns.cos(), turns.cos()), table(turns.sin(), turns.sin())
        return (x * cos + partners(-b, a) * sin).to(x.dtype)

    return rotated


def _by_head(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    turns = angles(positions, x.shape[-1], base)[:, None]  # (T, 1, d_k/2)
    a, b = neighbours(x)
    return woven(*turned(a, b, turns.cos(), turns.sin())).to(x.dtype)


def _overwritten(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    turns = angles(positions, x.shape[-1], base)
    a, b = neighbours(x)
    a = a * turns.cos() - b * turns.sin()
    return woven(a, a * turns.sin() + b * turns.cos()).to(x.dtype)


def _first_half_only(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    half = x.shape[-1] // 4 * 2
    return torch.cat([rotate(x[..., :half], positions, base), x[..., half:]], dim=-1)


#: How the rotation goes wrong.
ROTATIONS = [
    Mistake(
        "half-split",
        "The pairs are those of the half-split layout (rotate_half, as in GPT-NeoX and "
        "Llama): feature i is turned with feature i + d_k/2. Here the layout is "
        "interleaved: neighbours are a pair, (x_0, x_1), (x_2, x_3) and so on.",
        cut=halves,
        weave=glued,
    ),
    Mistake(
        "mixed-layouts",
        "Two layouts are mixed: cosines and sines are laid out for interleaved pairs "
        "(repeat_interleave), but rotate_half pairs feature i with i + d_k/2. Turn "
        "neighbours, x_2i with x_2i+1.",
        wrong=mixed(halves, glued, woven),
    ),
    Mistake(
        "mixed-layouts-halves",
        "Two layouts are mixed: neighbours are turned, but cosines and sines are laid "
        "out for halves (cat([angles, angles])). Both features of pair i take angle i: "
        "repeat_interleave(2).",
        wrong=mixed(neighbours, woven, glued),
    ),
    Mistake(
        "partners-glued-in-halves",
        "Two layouts are mixed: the partners, -b and a, are taken from neighbours but "
        "put side by side in halves (cat); interleave them, so that each stands at "
        "its partner's place: stack((-b, a), -1).flatten(-2).",
        wrong=mixed(neighbours, glued, woven),
    ),
    Mistake(
        "neighbours-glued-in-halves",
        "Two layouts are mixed: the partners, -b and a, are taken from neighbours but "
        "put side by side in halves, and so are cosines and sines (cat). Interleave "
        "them: stack((-b, a), -1).flatten(-2), and repeat_interleave(2) for the "
        "angles.",
        wrong=mixed(neighbours, glued, glued),
    ),
    Mistake(
        "result-glued-in-halves",
        "The pairs are turned as they should be, but put back in two halves, all first "
        "features and then all second ones (cat). Interleave them again: "
        "stack((first, second), -1).flatten(-2).",
        weave=glued,
    ),
    Mistake(
        "halves-woven",
        "The features are cut in halves (chunk, half-split) but put back interleaved; "
        "take the pairs from neighbours, x[..., 0::2] and x[..., 1::2].",
        cut=halves,
    ),
    Mistake(
        "direction-reversed",
        "The rotation runs in the wrong direction, by -angle: the signs of the sines "
        "are exchanged. It is (a cos - b sin, a sin + b cos).",
        turn=lambda a, b, cos, sin: turned(a, b, cos, -sin),
    ),
    Mistake(
        "both-plus",
        "Both rows have a plus: the first feature is a cos - b sin, with a minus. As "
        "it is, lengths are not kept: it is no rotation.",
        turn=lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos),
    ),
    Mistake(
        "both-minus",
        "Both rows have a minus: the second feature is a sin + b cos, with a plus. As "
        "it is, lengths are not kept: it is no rotation.",
        turn=lambda a, b, cos, sin: (a * cos - b * sin, a * sin - b * cos),
    ),
    Mistake(
        "second-row-flipped",
        "The second feature has the wrong sign, b cos - a sin; it is a sin + b cos.",
        turn=lambda a, b, cos, sin: (a * cos - b * sin, b * cos - a * sin),
    ),
    Mistake(
        "cosine-and-sine-exchanged",
        "Sine and cosine are exchanged: it is (a cos - b sin, a sin + b cos), so that "
        "at position 0, where sin is 0, nothing turns.",
        turn=lambda a, b, cos, sin: turned(a, b, sin, cos),
    ),
    Mistake(
        "features-exchanged",
        "The two features of each pair are exchanged; the first is a cos - b sin, the "
        "second a sin + b cos.",
        weave=lambda a, b: woven(b, a),
    ),
    Mistake(
        "pair-read-backwards",
        "The two features of each pair are exchanged as they are read, (b, a): a is "
        "the even one, x[..., 0::2], and becomes a cos - b sin.",
        cut=lambda x: (x[..., 1::2], x[..., 0::2]),
    ),
    Mistake(
        "wrong-partner",
        "Each feature is mixed with itself: a cos - a sin and b sin + b cos. It is "
        "a cos - b sin and a sin + b cos: the other one of the pair takes the sine.",
        turn=lambda a, b, cos, sin: (a * cos - a * sin, b * sin + b * cos),
    ),
    Mistake(
        "first-feature-overwritten",
        "The second feature is made from the first one already turned: a is "
        "overwritten before a sin + b cos needs it. Keep the old a, or make both at "
        "once.",
        wrong=_overwritten,
    ),
    Mistake(
        "sine-part-missing",
        "Only the cosines are used, x cos; the other feature of the pair is missing: "
        "(a cos - b sin, a sin + b cos).",
        turn=lambda a, b, cos, sin: (a * cos, b * cos),
    ),
    Mistake(
        "added-like-sinusoids",
        "Sines and cosines are added to x, as with sinusoidal positions; RoPE "
        "multiplies: it turns each pair of x, (a cos - b sin, a sin + b cos).",
        turn=lambda a, b, cos, sin: (a + sin, b + cos),
    ),
    Mistake(
        "input-added",
        "The input is added to the turned result; return the turned features alone.",
        plus=same,
    ),
    Mistake(
        "turned-along-the-heads",
        "The rotation goes by the wrong axis: the angle follows axis -3 (the heads), "
        "not the position. x is (..., T, d_k), so the positions are its axis -2.",
        wrong=_by_head,
    ),
    Mistake(
        "half-left-unturned",
        "Only the first half of the features is turned; all d_k/2 pairs are.",
        wrong=_first_half_only,
    ),
    Mistake(
        "not-cast-back",
        "In half precision the result comes back as float32; angles are float32, but "
        "the result keeps the dtype of x: end with .to(x.dtype).",
        cast=lambda y, dtype: y,
    ),
]


def _turned_in_half(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    return rotate(x, positions.to(x.dtype), base, table=lambda t: t.to(x.dtype))


def _rounded(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    return rotate(x, positions.long(), base)


#: Slips that properties find, since they don't show on the inputs of the cases.
TURNED_IN_HALF = Mistake(
    "angles-in-half-precision",
    "For x in half precision the angles are computed in its dtype: bfloat16 has 8 "
    "binary digits and can't count past 256, so far positions turn by wrong angles. "
    "Compute angles, cosines and sines in float32 and cast the result.",
    wrong=_turned_in_half,
)
ROUNDED = Mistake(
    "positions-rounded",
    "Positions between whole numbers (floats) are rounded on the way; use them as they "
    "are, positions.float().",
    wrong=_rounded,
)
