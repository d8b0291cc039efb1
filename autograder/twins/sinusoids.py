"""Sinusoidal positions, with a switch wherever people slip, and the slips by name."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.rope import glued, woven

Change = Callable[[Tensor], Tensor]
Exponent = Callable[[Tensor, int], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def by_pair(i: Tensor, d: int) -> Tensor:
    return -2 * i / d


def sinusoids(
    max_seq: int,
    d_model: int,
    *,
    counted: Change = same,
    base: float = 10000.0,
    of_sine: Exponent = by_pair,
    of_cosine: Exponent | None = None,
    frequencies: Change = same,
    functions: tuple[Change, Change] = (torch.sin, torch.cos),
    weave: Callable[[Tensor, Tensor], Tensor] = woven,
    result: Callable[[Tensor], Any] = same,
    scale: Callable[[int], float] = lambda d: 1.0,
    refuse: bool = True,
) -> Any:
    """The twin of sinusoidal_positions."""
    if refuse and d_model % 2 != 0:
        raise ValueError(d_model)
    positions = counted(torch.arange(max_seq, dtype=torch.float64))
    i = torch.arange(d_model // 2, dtype=torch.float64)
    exponents = (of_sine, of_cosine or of_sine)
    sine, cosine = (
        function(positions[:, None] * frequencies(base ** exponent(i, d_model)))
        for function, exponent in zip(functions, exponents, strict=True)
    )
    return result((weave(sine, cosine) * scale(d_model)).float())


def _by_position(max_seq: int, d_model: int) -> Tensor:
    frequencies = 10000.0 ** (-torch.arange(d_model) / d_model)
    angles = torch.arange(max_seq)[:, None] * frequencies
    even = torch.arange(max_seq)[:, None] % 2 == 0
    return torch.where(even, angles.sin(), angles.cos())


def _angles(max_seq: int, d_model: int) -> Any:
    return sinusoids(max_seq, d_model, functions=(same, same))


def _frequency_outside(max_seq: int, d_model: int) -> Tensor:
    frequencies = 10000.0 ** (-2 * torch.arange(d_model // 2) / d_model)
    positions = torch.arange(max_seq)[:, None]
    return woven(positions.sin() * frequencies, positions.cos() * frequencies)


def _frequency_for_max_seq(max_seq: int, d_model: int) -> Any:
    return sinusoids(max_seq, d_model, of_sine=lambda i, d: -2 * i / max_seq)


def _power_upside_down(max_seq: int, d_model: int) -> Tensor:
    exponents = torch.arange(0, d_model, 2) / d_model
    angles = torch.arange(max_seq)[:, None] * exponents**1e-4
    return woven(angles.sin(), angles.cos())


#: How sinusoids go wrong.
SINUSOIDS = [
    Mistake(
        "feature-number-doubled",
        "The exponent is doubled: 2i is taken with i counting features, so feature j "
        "has 2j/d_model, and sine and cosine of a pair differ in frequency. i counts "
        "pairs: features 2i and 2i+1 share the exponent 2i/d_model, so it is "
        "2 * (j // 2) / d_model.",
        of_sine=lambda i, d: -4 * i / d,
        of_cosine=lambda i, d: -2 * (2 * i + 1) / d,
    ),
    Mistake(
        "exponent-doubled",
        "The exponent of pair i is 4i/d_model; it should be 2i/d_model. arange(0, "
        "d_model, 2) holds 2i already: don't double it again.",
        of_sine=lambda i, d: -4 * i / d,
    ),
    Mistake(
        "cosine-of-its-own-feature",
        "Each feature has its own exponent, so the cosine's is (2i+1)/d_model, the odd "
        "feature's, and differs from its sine's. A pair shares one frequency: 2i/"
        "d_model for both.",
        of_cosine=lambda i, d: -(2 * i + 1) / d,
    ),
    Mistake(
        "exponent-without-2",
        "The exponent of pair i is i/d_model; it should be 2i/d_model, so that the "
        "frequencies reach from 1 down to nearly 1/10000.",
        of_sine=lambda i, d: -i / d,
    ),
    Mistake(
        "exponent-from-1",
        "The exponents start one pair too late, 2(i+1)/d_model; count i from 0, so "
        "that the first pair has frequency 1.",
        of_sine=lambda i, d: -2 * (i + 1) / d,
    ),
    Mistake(
        "exponent-of-odd-features",
        "Both features of a pair take the odd feature's exponent, (2i+1)/d_model; it "
        "is the even one's, 2i/d_model.",
        of_sine=lambda i, d: -(2 * i + 1) / d,
    ),
    Mistake(
        "exponent-to-the-end",
        "The exponents run from 0 to 1 inclusive, i/(d_model/2 - 1), as in "
        "tensor2tensor's code; here it is 2i/d_model.",
        of_sine=lambda i, d: -i / max(d // 2 - 1, 1),
    ),
    Mistake(
        "exponent-not-divided",
        "The exponent 2i is not divided by d_model; it should be 2i/d_model.",
        of_sine=lambda i, d: -2 * i,
    ),
    Mistake(
        "base-and-exponent-exchanged",
        "Base and exponent are exchanged, (2i/d_model) to the power of 1/10000, so all "
        "pairs but the first turn alike; it is 1/10000 to the power of 2i/d_model.",
        wrong=_power_upside_down,
    ),
    Mistake(
        "exponent-divided-by-max-seq",
        "The exponent is divided by max_seq; it should be 2i/d_model, by the number of "
        "features.",
        wrong=_frequency_for_max_seq,
    ),
    Mistake(
        "frequencies-grow",
        "The frequencies grow with the feature, pos * 10000^(+2i/d_model): the sign of "
        "the exponent is wrong, or the inverse is taken twice. Divide: "
        "pos / 10000^(2i/d_model).",
        of_sine=lambda i, d: 2 * i / d,
    ),
    Mistake(
        "all-at-the-same-speed",
        "All features have frequency 1, as an integer division (//) in the exponent "
        "makes it; pair i has frequency 1 / 10000^(2i/d_model).",
        of_sine=lambda i, d: 0 * i,
    ),
    Mistake(
        "base-1000",
        "The base is 1000; it should be 10000.",
        base=1000.0,
    ),
    Mistake(
        "base-100000",
        "The base is 100000; it should be 10000.",
        base=100000.0,
    ),
    Mistake(
        "base-e",
        "The base is e, exp(-2i/d_model): the factor log(10000) is missing. It is "
        "exp(-2i/d_model * log(10000)) = 10000^(-2i/d_model).",
        base=2.718281828459045,
    ),
    Mistake(
        "log-to-base-10",
        "The logarithm of the base is log10; exp undoes the natural one: "
        "exp(-2i/d_model * math.log(10000)) = 10000^(-2i/d_model).",
        base=10000.0 ** (1 / math.log(10)),
    ),
    Mistake(
        "log-to-base-2",
        "The logarithm of the base is log2; exp undoes the natural one: "
        "exp(-2i/d_model * math.log(10000)) = 10000^(-2i/d_model).",
        base=10000.0 ** (1 / math.log(2)),
    ),
    Mistake(
        "times-two-pi",
        "The angles are 2π times too large; the sine takes radians, "
        "pos / 10000^(2i/d_model).",
        frequencies=lambda f: f * 2 * torch.pi,
    ),
    Mistake(
        "frequencies-reversed",
        "The frequencies stand in reverse order, the slowest first; feature 0 is the "
        "fastest, sin(pos).",
        frequencies=lambda f: f.flip(0),
    ),
    Mistake(
        "sine-and-cosine-exchanged",
        "Sine and cosine are exchanged: even features are sines, odd ones cosines, so "
        "that the row of position 0 is 0, 1, 0, 1 and so on.",
        functions=(torch.cos, torch.sin),
    ),
    Mistake(
        "sines-only",
        "All features are sines; odd features are the cosines of the same angles.",
        functions=(torch.sin, torch.sin),
    ),
    Mistake(
        "cosines-only",
        "All features are cosines; even features are the sines of the same angles.",
        functions=(torch.cos, torch.cos),
    ),
    Mistake(
        "cosines-missing",
        "The odd features are left at 0: they are the cosines of the same angles.",
        functions=(torch.sin, torch.zeros_like),
    ),
    Mistake(
        "frequency-outside",
        "The sine and the cosine are taken of the position alone and multiplied by the "
        "frequency afterwards; the frequency belongs inside: sin(pos * frequency).",
        wrong=_frequency_outside,
    ),
    Mistake(
        "angles-returned",
        "The angles come back without sine and cosine: take the sine at even features "
        "and the cosine at odd ones.",
        wrong=_angles,
    ),
    Mistake(
        "halves-not-interleaved",
        "The sines fill the first half of the features and the cosines the second "
        "(concatenated); they take turns: sines at even features, cosines at odd ones "
        "(interleaved).",
        weave=glued,
    ),
    Mistake(
        "sine-at-even-positions",
        "Sine and cosine alternate from position to position (rows, table[0::2]); "
        "they alternate from feature to feature, table[:, 0::2].",
        wrong=_by_position,
    ),
    Mistake(
        "positions-from-1",
        "The positions start at 1, shifted by one; the first is 0, so that row 0 is 0, "
        "1, 0, 1 and so on.",
        counted=lambda p: p + 1,
    ),
    Mistake(
        "positions-divided",
        "The positions are divided by max_seq, so that a table of another length has "
        "other rows; take them as they are: 0, 1, 2 and so on.",
        counted=lambda p: p / len(p),
    ),
    Mistake(
        "positions-without-effect",
        "Every position has the same row: the frequencies are never multiplied by the "
        "position.",
        counted=torch.ones_like,
    ),
    Mistake(
        "scaled-by-root",
        "The table is multiplied by √d_model; that factor belongs to the token "
        "embeddings in the paper, not to the positions.",
        scale=lambda d: d**0.5,
    ),
    Mistake(
        "transposed",
        "The table is transposed, (d_model, max_seq); a row is a position: "
        "(max_seq, d_model).",
        result=lambda t: t.mT,
    ),
    Mistake(
        "batch-axis-added",
        "The table's shape has an axis for the batch, (1, max_seq, d_model); it is "
        "asked for without, (max_seq, d_model).",
        result=lambda t: t[None],
    ),
    Mistake(
        "float64",
        "The table is float64; it is asked for in float32: end with .float().",
        result=lambda t: t.double(),
    ),
]
