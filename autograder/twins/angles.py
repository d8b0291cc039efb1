"""RoPE's angles with a switch wherever people slip, and the slips by name."""

import math
from collections.abc import Callable

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
        "log-to-base-10",
        "The logarithm of the base is log10; exp undoes the natural one: "
        "exp(-2i/d_k * math.log(base)) = base^(-2i/d_k).",
        based=lambda base: base ** (1 / math.log(10)),
    ),
    Mistake(
        "log-to-base-2",
        "The logarithm of the base is log2; exp undoes the natural one: "
        "exp(-2i/d_k * math.log(base)) = base^(-2i/d_k).",
        based=lambda base: base ** (1 / math.log(2)),
    ),
    Mistake(
        "base-e",
        "The base is e, exp(-2i/d_k): the factor log(base) is missing. It is "
        "exp(-2i/d_k * math.log(base)) = base^(-2i/d_k).",
        based=lambda base: math.e,
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
        "turns-returned",
        "Complex numbers cos + i sin come back (freqs_cis, as in Llama's code); the "
        "angles themselves are asked for, in radians.",
        returned=lambda t: torch.polar(torch.ones_like(t), t),
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


def _in_half(positions: Tensor, d_k: int, base: float = 10000.0) -> Tensor:
    return angles(positions, d_k, base).to(positions.dtype)


#: A slip that a property finds, since it doesn't show on the inputs of the cases.
ANGLES_IN_HALF = Mistake(
    "angles-in-half-precision",
    "Given in half precision (bfloat16, float16), positions get angles in the same "
    "dtype, which lose their digits: bfloat16 can't count past 256. Compute them in "
    "float32 at least, positions.float() * frequencies.",
    wrong=_in_half,
)
