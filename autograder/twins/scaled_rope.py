"""RoPE beyond its training length, with a switch wherever people slip."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.angles import angles

Power = Callable[[int], float]


def scaled(
    positions: Tensor,
    d_k: int,
    base: float = 10000.0,
    scale: float = 1.0,
    method: str = "linear",
    *,
    read: Callable[[str], str] = lambda method: method,
    stretch: Callable[[Tensor, float], Tensor] = lambda p, s: p / s,
    larger: Callable[[float, float, int], float] = lambda base, s, d: (
        base * s ** (d / (d - 2))
    ),
    too: Callable[[Tensor, float], Tensor] = lambda p, s: p,
    linear_base: Callable[[float, float], float] = lambda base, s: base,
    ntk_base: Callable[[float], float] = lambda base: base,
) -> Tensor:
    """The twin of scaled_rope_angles."""
    if method not in ("linear", "ntk") or (method == "ntk" and d_k <= 2) or d_k % 2:
        raise ValueError(method, d_k)
    p = positions.to(torch.promote_types(positions.dtype, torch.float32))
    if read(method) == "linear":
        return angles(stretch(p, scale), d_k, linear_base(base, scale))
    if d_k <= 2:
        raise ValueError(d_k)
    return angles(too(p, scale), d_k, larger(ntk_base(base), scale, d_k))


def _floored(p: Tensor, scale: float) -> Tensor:
    return (p / scale).floor()


def _ntk_by_default(
    positions: Tensor,
    d_k: int,
    base: float = 10000.0,
    scale: float = 1.0,
    method: str = "ntk",
) -> Tensor:
    return scaled(positions, d_k, base, scale, method)


#: How the scaling goes wrong.
SCALINGS = [
    Mistake(
        "positions-multiplied",
        "Linear: the positions are multiplied by scale, which stretches them even "
        "further; divide, positions / scale, so that they fit the range trained on.",
        stretch=lambda p, s: p * s,
    ),
    Mistake(
        "positions-floored",
        "Linear: positions are divided in whole numbers (//), so that several share "
        "one; interpolation needs the places between: positions / scale.",
        stretch=_floored,
    ),
    Mistake(
        "scale-ignored-linear",
        "Linear: scale has no effect; the positions are divided by it.",
        stretch=lambda p, s: p,
    ),
    Mistake(
        "scale-squared-linear",
        "Linear: the positions are divided by scale twice; once is enough.",
        stretch=lambda p, s: p / s**2,
    ),
    Mistake(
        "scale-ignored-ntk",
        "NTK: scale has no effect; the base is multiplied by scale^(d_k/(d_k-2)).",
        larger=lambda base, s, d: base,
    ),
    Mistake(
        "base-times-scale",
        "NTK: the base is multiplied by scale itself; the exponent d_k/(d_k-2) is "
        "missing: base * scale^(d_k/(d_k-2)).",
        larger=lambda base, s, d: base * s,
    ),
    Mistake(
        "exponent-upside-down",
        "NTK: the exponent is upside down, (d_k-2)/d_k; it is d_k/(d_k-2).",
        larger=lambda base, s, d: base * s ** ((d - 2) / d),
    ),
    Mistake(
        "exponent-minus-one",
        "NTK: the exponent is d_k/(d_k-1); it is d_k/(d_k-2), since the slowest pair's "
        "exponent is (d_k-2)/d_k.",
        larger=lambda base, s, d: base * s ** (d / (d - 1)),
    ),
    Mistake(
        "exponent-of-pairs",
        "NTK: the exponent is counted in pairs, (d_k/2)/(d_k/2 - 2); it is "
        "d_k/(d_k-2).",
        larger=lambda base, s, d: base * s ** (d / (d - 4)),
    ),
    Mistake(
        "exponent-only-2",
        "NTK: the exponent is 2/(d_k-2); it is d_k/(d_k-2).",
        larger=lambda base, s, d: base * s ** (2 / (d - 2)),
    ),
    Mistake(
        "exponent-without-brackets",
        "NTK: scale is raised to d_k and the result divided by d_k - 2, since ** comes "
        "before /. The quotient is the exponent: scale ** (d_k / (d_k - 2)).",
        larger=lambda base, s, d: base * s**d / (d - 2),
    ),
    Mistake(
        "exponent-minus-1",
        "NTK: the exponent is d_k / d_k - 2 = -1, since / comes before -; it is d_k / "
        "(d_k - 2).",
        larger=lambda base, s, d: base / s,
    ),
    Mistake(
        "base-divided",
        "NTK: the base is divided; a larger base turns slower, so multiply: "
        "base * scale^(d_k/(d_k-2)).",
        larger=lambda base, s, d: base / s ** (d / (d - 2)),
    ),
    Mistake(
        "power-of-the-product",
        "NTK: the base, too, is raised to the power d_k/(d_k-2), as in "
        "(base * scale) ** …; only scale is: base * scale ** (…).",
        larger=lambda base, s, d: (base * s) ** (d / (d - 2)),
    ),
    Mistake(
        "both-at-once",
        "NTK: the positions are divided by scale as well; NTK changes the base alone.",
        too=lambda p, s: p / s,
    ),
    Mistake(
        "positions-multiplied-too",
        "NTK: the positions are multiplied by scale as well; NTK changes the base "
        "alone.",
        too=lambda p, s: p * s,
    ),
    Mistake(
        "methods-exchanged",
        'The methods are exchanged: "linear" divides the positions by scale, "ntk" '
        "enlarges the base.",
        read=lambda method: "linear" if method == "ntk" else "ntk",
    ),
    Mistake(
        "always-linear",
        'method has no effect: the positions are divided by scale for "ntk", too, '
        "where the base should grow.",
        read=lambda method: "linear",
    ),
    Mistake(
        "base-for-positions",
        'Linear: the base is multiplied by scale; "linear" divides the positions and '
        "leaves the base as it is.",
        stretch=lambda p, s: p,
        linear_base=lambda base, s: base * s,
    ),
    Mistake(
        "base-ignored",
        "The argument base has no effect: 10000 is written into the code, or base is "
        "not handed on.",
        linear_base=lambda base, s: 10000.0,
        ntk_base=lambda base: 10000.0,
    ),
    Mistake(
        "base-ignored-linear",
        "Linear: the argument base has no effect: hand it on to rope_angles.",
        linear_base=lambda base, s: 10000.0,
    ),
    Mistake(
        "base-ignored-ntk",
        "NTK: the argument base has no effect; it is base that is multiplied by "
        "scale^(d_k/(d_k-2)), not 10000.",
        ntk_base=lambda base: 10000.0,
    ),
    Mistake(
        "ntk-by-default",
        'Without method "ntk" is taken; the default is "linear".',
        wrong=_ntk_by_default,
    ),
]
