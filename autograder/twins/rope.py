"""Rotary positions with a switch wherever people slip, and the slips by name."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]
Exponent = Callable[[Tensor, int], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def from_zero(positions: Tensor) -> Tensor:
    return torch.arange(len(positions), device=positions.device)


def angles(
    positions: Tensor,
    d_k: int,
    base: float = 10000.0,
    *,
    counted: Change = same,
    pairs: Callable[[int], int] = lambda d: d // 2,
    exponent: Exponent = lambda i, d: -2 * i / d,
    based: Callable[[float], float] = lambda base: base,
    frequencies: Change = same,
    join: Callable[[Tensor, Tensor], Tensor] = lambda p, f: p[:, None] * f,
    returned: Change = same,
    refuse: bool = True,
) -> Tensor:
    """The twin of rope_angles."""
    if refuse and d_k % 2 != 0:
        raise ValueError(d_k)
    dtype = torch.promote_types(positions.dtype, torch.float32)
    i = torch.arange(pairs(d_k), dtype=dtype, device=positions.device)
    turns = frequencies(based(base) ** exponent(i, d_k))
    return returned(join(counted(positions).to(dtype), turns))


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


def _in_bfloat16(positions: Tensor, d_k: int, base: float = 10000.0) -> Tensor:
    return angles(
        positions,
        d_k,
        base,
        join=lambda p, f: (p.bfloat16()[:, None] * f.bfloat16()).float(),
    )


def _frequencies_only(positions: Tensor, d_k: int, base: float = 10000.0) -> Tensor:
    return angles(torch.ones_like(positions), d_k, base)[0]


def _every_position_counted(p: Tensor, f: Tensor) -> Tensor:
    return f * torch.ones_like(p)[:, None]


#: How the frequencies go wrong, base^(-2i/d_k) for pair i.
FREQUENCIES = [
    Mistake(
        "exponent-without-2",
        "The exponent of pair i is -i/d_k; it should be -2i/d_k, with i = 0…d_k/2 - 1 "
        "counting pairs: the frequencies fall half as fast as they should.",
        exponent=lambda i, d: -i / d,
    ),
    Mistake(
        "exponent-doubled",
        "The exponent of pair i is -4i/d_k; it should be -2i/d_k. Usually arange(0, "
        "d_k, 2), which holds 2i already, is doubled again or divided by d_k/2.",
        exponent=lambda i, d: -4 * i / d,
    ),
    Mistake(
        "exponent-from-1",
        "The exponents start one pair too late, -2(i+1)/d_k; pair 0 has exponent 0 "
        "and turns by one radian per position, so count i from 0.",
        exponent=lambda i, d: -2 * (i + 1) / d,
    ),
    Mistake(
        "exponent-of-odd-features",
        "The exponents are those of the odd features, -(2i+1)/d_k; both features of "
        "a pair take that of the even one, -2i/d_k: arange(0, d_k, 2), not "
        "arange(1, d_k, 2).",
        exponent=lambda i, d: -(2 * i + 1) / d,
    ),
    Mistake(
        "exponent-to-the-end",
        "The exponents run from 0 to -1 inclusive, -i/(d_k/2 - 1), as linspace makes "
        "them; it is -2i/d_k, so the last is -(d_k - 2)/d_k.",
        exponent=lambda i, d: -i / max(d // 2 - 1, 1),
    ),
    Mistake(
        "exponent-not-divided",
        "The exponent -2i is not divided by d_k; it should be -2i/d_k.",
        exponent=lambda i, d: -2 * i,
    ),
    Mistake(
        "exponent-positive",
        "The frequencies grow with i, base^(+2i/d_k): the sign of the exponent is "
        "wrong, or the inverse is taken twice. It should be position * base^(-2i/d_k), "
        "that is position / base^(2i/d_k).",
        exponent=lambda i, d: 2 * i / d,
    ),
    Mistake(
        "all-at-the-same-speed",
        "All pairs turn at the same speed, by position alone; pair i should turn by "
        "position * base^(-2i/d_k), each slower than the one before. An integer "
        "division (//) in the exponent does this too.",
        exponent=lambda i, d: 0 * i,
    ),
    Mistake(
        "frequencies-reversed",
        "The frequencies stand in reverse order, the slowest first; pair 0 is the "
        "fastest, with base^0 = 1.",
        frequencies=lambda f: f.flip(0),
    ),
    Mistake(
        "times-two-pi",
        "The angles are 2π times too large; the frequencies are radians per position "
        "already, base^(-2i/d_k).",
        frequencies=lambda f: f * 2 * math.pi,
    ),
    Mistake(
        "base-ignored",
        "The argument base has no effect: 10000 is written into the code, or base is "
        "not handed on. Use base.",
        based=lambda base: 10000.0,
    ),
    Mistake(
        "positions-ignored",
        "The given positions are ignored and counted 0, 1, 2 … instead; they may start "
        "anywhere (an offset), so use the values of positions.",
        counted=from_zero,
    ),
    Mistake(
        "positions-counted-on",
        "Only the first position is used and the rest counted on from it; the "
        "positions given may have gaps, so use each of them.",
        counted=lambda p: p[:1] + from_zero(p),
    ),
    Mistake(
        "positions-from-their-first",
        "The first position is subtracted from all, so that they start at 0; they may "
        "start anywhere (an offset): use them as given.",
        counted=lambda p: p - p[:1],
    ),
    Mistake(
        "positions-from-1",
        "The positions are shifted by one, position + 1; use them as given, so that "
        "position 0 turns nothing.",
        counted=lambda p: p + 1,
    ),
    Mistake(
        "positions-without-effect",
        "Every position turns by the same angles: the frequencies are never "
        "multiplied by the position.",
        join=_every_position_counted,
    ),
]

#: What else goes wrong with the table of angles.
TABLES = [
    Mistake(
        "a-column-per-feature",
        "There are d_k columns, one per feature: each angle stands there twice, as "
        "cat([angles, angles]) makes it. One column per pair is asked for, (T, d_k/2).",
        returned=lambda t: torch.cat([t, t], dim=-1),
    ),
    Mistake(
        "each-column-twice",
        "There are d_k columns, one per feature: each angle is repeated for both "
        "features of its pair. One column per pair is asked for, (T, d_k/2).",
        returned=lambda t: t.repeat_interleave(2, dim=-1),
    ),
    Mistake(
        "frequency-per-feature",
        "There is a frequency for each of the d_k features; there is one per pair, so "
        "i runs over d_k/2: arange(0, d_k, 2) / d_k.",
        pairs=lambda d: d,
        exponent=lambda i, d: -i / d,
    ),
    Mistake(
        "frequency-for-too-many-pairs",
        "There are d_k pairs instead of d_k/2: i should run from 0 to d_k/2 - 1.",
        pairs=lambda d: d,
    ),
    Mistake(
        "cosines-returned",
        "The cosines come back; the angles themselves are asked for, in radians.",
        returned=torch.cos,
    ),
    Mistake(
        "sines-returned",
        "The sines come back; the angles themselves are asked for, in radians.",
        returned=torch.sin,
    ),
    Mistake(
        "cosines-and-sines-returned",
        "Cosines and sines come back as a pair; the angles themselves are asked for, "
        "one tensor (T, d_k/2).",
        returned=lambda t: (t.cos(), t.sin()),
    ),
    Mistake(
        "angles-transposed",
        "The table is transposed, (d_k/2, T); a row is a position: (T, d_k/2).",
        returned=lambda t: t.mT,
    ),
    Mistake(
        "angles-negative",
        "The angles are negative; it is position * base^(-2i/d_k), and only the "
        "exponent has the minus.",
        returned=lambda t: -t,
    ),
    Mistake(
        "frequencies-only",
        "Only the frequencies come back, (d_k/2,); each position has its own angles: "
        "multiply, for example with torch.outer(positions, frequencies).",
        wrong=_frequencies_only,
    ),
    Mistake(
        "positions-rounded",
        "Positions between whole numbers are rounded (.long(), .int()); use them as "
        "they are, positions.float().",
        counted=lambda p: p.long(),
    ),
    Mistake(
        "angles-in-bfloat16",
        "The angles are computed in half precision, bfloat16, and lose their digits: "
        "compute them in float32 at least.",
        wrong=_in_bfloat16,
    ),
    Mistake(
        "angles-wrapped",
        "The angles are reduced to one turn (modulo 2π); they are asked for as they "
        "are, position * base^(-2i/d_k).",
        returned=lambda t: t % (2 * math.pi),
    ),
]

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


def _in_half(positions: Tensor, d_k: int, base: float = 10000.0) -> Tensor:
    return angles(positions, d_k, base).to(positions.dtype)


def _turned_in_half(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    return rotate(x, positions.to(x.dtype), base, table=lambda t: t.to(x.dtype))


def _rounded(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    return rotate(x, positions.long(), base)


#: Slips that properties find, since they don't show on the inputs of the cases.
ANGLES_IN_HALF = Mistake(
    "angles-in-half-precision",
    "Given in half precision (bfloat16, float16), positions get angles in the same "
    "dtype, which lose their digits: bfloat16 can't count past 256. Compute them in "
    "float32 at least, positions.float() * frequencies.",
    wrong=_in_half,
)
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
