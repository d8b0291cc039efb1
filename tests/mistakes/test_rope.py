"""Chapter 4, rotary positions: slips named, unusual right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

ANGLES = """
import math
import torch

def rope_angles(positions, d_k, base=10000.0):
    if d_k % 2:
        raise ValueError("d_k is odd")
    step = torch.arange(0, d_k, 2, device=positions.device)
    turns = 1.0 / base ** (step.float() / d_k)
    angles = torch.outer(positions.float(), turns)
    return angles
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("step.float() / d_k", "2 * step / d_k", "exponent-doubled"),
        ("step.float() / d_k", "step / (d_k / 2)", "exponent-doubled"),
        ("arange(0, d_k, 2,", "arange(0, d_k // 2,", "exponent-without-2"),
        ("arange(0, d_k, 2,", "arange(1, d_k, 2,", "exponent-of-odd-features"),
        ("arange(0, d_k, 2,", "arange(2, d_k + 1, 2,", "exponent-from-1"),
        ("arange(0, d_k, 2,", "arange(0, d_k,", "frequency-per-feature"),
        ("step.float() / d_k", "step // d_k", "all-at-the-same-speed"),
        ("1.0 / base", "base", "exponent-positive"),
        ("1.0 / base", "1.0 / 10000.0", "base-ignored"),
        ("positions.float()", "torch.arange(len(positions)).float()", None),
        ("positions.float()", "(positions - positions[0]).float()", None),
        ("positions.float()", "positions.long().float()", "positions-rounded"),
        ("positions.float()", "-positions.float()", "angles-negative"),
        ("positions.float()", "(positions + 1).float()", "positions-from-1"),
        (", device=positions.device", "", "left-on-cpu"),
        ("d_k % 2", "False", "not-refused"),
        ("return angles", "return torch.cat([angles] * 2, -1)", "a-column-per-feature"),
        (
            "return angles",
            "return angles.repeat_interleave(2, -1)",
            "each-column-twice",
        ),
        (
            "return angles",
            "return angles.cos(), angles.sin()",
            "cosines-and-sines-returned",
        ),
        ("return angles", "return angles.T", "angles-transposed"),
        ("return angles", "return angles % (2 * math.pi)", "angles-wrapped"),
        ("return angles", "return turns", "frequencies-only"),
        ("return angles", "return angles * 2 * math.pi", "times-two-pi"),
        (
            "angles = torch.outer(positions.float(), turns)",
            "angles = (positions.bfloat16()[:, None] * turns.bfloat16()).float()",
            "angles-in-bfloat16",
        ),
        (
            "return angles",
            "return angles.to(torch.promote_types(positions.dtype, torch.half))",
            None,
        ),
        (
            "return angles",
            "return torch.polar(torch.ones_like(angles), angles)",
            "turns-returned",
        ),
    ],
)
def test_slip_in_the_angles_is_named(right, slip, mistake):
    verdict = slipped(ANGLES, right, slip)
    assert mistake is None or verdict.mistake == mistake


@pytest.mark.parametrize("log", ["log10", "log2"])
def test_another_logarithm_of_the_base_is_named(log):
    verdict = check_source(
        RIGHT_ANGLES["logarithms, any dtype of positions"].replace(
            "math.log", f"math.{log}"
        )
    )
    assert verdict.mistake == log.replace("log", "log-to-base-")


def test_angles_in_the_dtype_of_half_precision_positions_are_named():
    cast = "angles.to(positions.dtype if positions.is_floating_point() else None)"
    verdict = slipped(ANGLES, "return angles", f"return {cast}")
    assert verdict.mistake == "angles-in-half-precision"
    assert "256" in verdict.message


def test_another_default_is_described():
    verdict = slipped(ANGLES, "base=10000.0", "base=1000.0")
    assert "`base` is left out; its default is 10000.0" in verdict.message


RIGHT_ANGLES = named("""
# logarithms, any dtype of positions
import math
import torch

def rope_angles(positions, d_k, base=10000.0):
    assert d_k % 2 == 0
    step = torch.arange(0, d_k, 2, dtype=torch.float32, device=positions.device)
    return positions[:, None] * torch.exp(-math.log(base) * step / d_k)

# float64 throughout
import torch

def rope_angles(positions, d_k, base=10000.0):
    if d_k % 2:
        raise ValueError
    i = torch.arange(d_k // 2, dtype=torch.float64, device=positions.device)
    return positions.double().unsqueeze(-1) * base ** (-2 * i / d_k)

# Python's numbers
import torch

def rope_angles(positions, d_k, base=10000.0):
    if d_k % 2:
        raise ValueError
    turns = [base ** (-2 * i / d_k) for i in range(d_k // 2)]
    rows = [[float(position) * turn for turn in turns] for position in positions]
    return torch.tensor(rows, device=positions.device)

# without gradients
import torch

@torch.no_grad()
def rope_angles(positions, d_k, base=10000.0):
    if d_k % 2:
        raise ValueError
    part = torch.linspace(0, 1, d_k // 2 + 1, device=positions.device)[:-1]
    return positions.float().reshape(-1, 1) @ (base**-part).reshape(1, -1)
""")


@pytest.mark.parametrize("name", RIGHT_ANGLES)
def test_unusual_angles_are_accepted(name):
    verdict = check_source(RIGHT_ANGLES[name])
    assert verdict.passed, verdict.message


ROPE = """
import torch

def apply_rope(x, positions, base=10000.0):
    d_k = x.shape[-1]
    if d_k % 2:
        raise ValueError("d_k is odd")
    step = torch.arange(0, d_k, 2, device=x.device)
    angles = positions.float()[:, None] / base ** (step / d_k)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    first = a * cos - b * sin
    second = a * sin + b * cos
    y = torch.stack([first, second], dim=-1).flatten(-2)
    return y.to(x.dtype)
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("a, b = x[..., 0::2], x[..., 1::2]", "a, b = x.chunk(2, -1)", "halves-woven"),
        (
            "torch.stack([first, second], dim=-1).flatten(-2)",
            "torch.cat([first, second], dim=-1)",
            "result-glued-in-halves",
        ),
        ("[first, second]", "[second, first]", "features-exchanged"),
        (
            "a, b = x[..., 0::2], x[..., 1::2]",
            "b, a = x[..., 0::2], x[..., 1::2]",
            "pair-read-backwards",
        ),
        ("angles.sin()", "-angles.sin()", "direction-reversed"),
        ("a * cos - b * sin", "a * cos + b * sin", "both-plus"),
        ("a * sin + b * cos", "a * sin - b * cos", "both-minus"),
        ("a * sin + b * cos", "b * cos - a * sin", "second-row-flipped"),
        ("a * sin + b * cos", "first * sin + b * cos", "first-feature-overwritten"),
        ("cos, sin = angles", "sin, cos = angles", "cosine-and-sine-exchanged"),
        ("second = a * sin + b * cos", "first, second = a * cos, b * cos", None),
        (
            "angles.cos(), angles.sin()",
            "angles[:, None].cos(), angles[:, None].sin()",
            "turned-along-the-heads",
        ),
        ("positions.float()", "torch.arange(x.shape[-2]).float()", None),
        ("positions.float()", "(positions + 1).float()", "positions-from-1"),
        ("positions.float()", "positions.long()", "positions-rounded"),
        (
            "positions.float()",
            "(positions - positions[0]).float()",
            "positions-from-their-first",
        ),
        ("/ base **", "/ 10000 **", "base-ignored"),
        ("/ base **", "* base **", "exponent-positive"),
        ("(step / d_k)", "(2 * step / d_k)", "exponent-doubled"),
        ("(step / d_k)", "(step / d_k / 2)", "exponent-without-2"),
        ("arange(0, d_k, 2,", "arange(1, d_k, 2,", "exponent-of-odd-features"),
        (", device=x.device", "", "left-on-cpu"),
        ("y.to(x.dtype)", "y", "not-cast-back"),
        ("y.to(x.dtype)", "x + y.to(x.dtype)", "input-added"),
        ("y.to(x.dtype)", "y.to(x.dtype).detach()", "no-gradient"),
        ("positions.float()", "positions.to(x.dtype)", "angles-in-half-precision"),
        ("d_k % 2", "False", "wrong-exception"),
    ],
)
def test_slip_in_the_rotation_is_named(right, slip, mistake):
    verdict = slipped(ROPE, right, slip)
    assert mistake is None or verdict.mistake == mistake


def test_writing_into_x_is_named():
    verdict = slipped(
        ROPE, "first = a * cos - b * sin", "first = a.copy_(a * cos - b * sin)"
    )
    assert verdict.mistake == "first-feature-overwritten"


ROTATE_HALF = """
import torch

def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([-b, a], dim=-1)

def apply_rope(x, positions, base=10000.0):
    d_k = x.shape[-1]
    if d_k % 2:
        raise ValueError
    turns = base ** (-torch.arange(0, d_k, 2, device=x.device) / d_k)
    angles = positions[:, None] * turns
    angles = torch.cat([angles, angles], dim=-1)
    return (x * angles.cos() + rotate_half(x) * angles.sin()).to(x.dtype)
"""


def test_the_half_split_layout_is_named():
    verdict = check_source(ROTATE_HALF)
    assert verdict.mistake == "half-split"
    assert "interleaved" in verdict.message


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            "torch.cat([angles, angles], dim=-1)",
            "angles.repeat_interleave(2, dim=-1)",
            "mixed-layouts",
        ),
        (
            "torch.cat([-b, a], dim=-1)",
            "torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)",
            "mixed-layouts-halves",
        ),
        (
            "x.chunk(2, dim=-1)",
            "x[..., 0::2], x[..., 1::2]",
            "neighbours-glued-in-halves",
        ),
    ],
)
def test_mixed_layouts_are_named(right, slip, mistake):
    assert slipped(ROTATE_HALF, right, slip).mistake == mistake


RIGHT_ROPE = named("""
# complex numbers
import torch

def apply_rope(x, positions, base=10000.0):
    d_k = x.shape[-1]
    if d_k % 2:
        raise ValueError
    turns = 1.0 / base ** (torch.arange(0, d_k, 2, device=x.device).float() / d_k)
    angles = torch.outer(positions.float(), turns)
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    z = z * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(z).flatten(-2).type_as(x)

# partners of every two
import torch

def apply_rope(x, positions, base=10000.0):
    d_k = x.shape[-1]
    assert d_k % 2 == 0
    turns = base ** (-torch.arange(0, d_k, 2, device=x.device) / d_k)
    angles = (positions[:, None] * turns).repeat_interleave(2, dim=-1)
    partner = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)
    return (x * angles.cos() + partner * angles.sin()).to(x.dtype)

# cosines and sines in x's dtype
import torch

def apply_rope(x, positions, base=10000.0):
    d_k = x.shape[-1]
    if d_k % 2:
        raise ValueError
    turns = base ** (-torch.arange(0, d_k, 2, device=x.device) / d_k)
    angles = positions.float()[:, None] * turns
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    y = torch.empty_like(x)
    y[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    y[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return y

# matrices of two by two, without gradients to the angles
import torch

def apply_rope(x, positions, base=10000.0):
    d_k = x.shape[-1]
    if d_k % 2:
        raise ValueError
    with torch.no_grad():
        turns = base ** (-torch.arange(0, d_k, 2, device=x.device) / d_k)
        cos, sin = torch.cos(positions[:, None] * turns), torch.sin(
            positions[:, None] * turns
        )
        turn = torch.stack([cos, -sin, sin, cos], -1).unflatten(-1, (2, 2))
    pairs = x.to(turn.dtype).unflatten(-1, (-1, 2))
    return torch.einsum("tiab,...tib->...tia", turn, pairs).flatten(-2).to(x.dtype)

# a table of all positions, looked up
import torch

def apply_rope(x, positions, base=10000.0):
    d_k = x.shape[-1]
    if d_k % 2:
        raise ValueError
    turns = base ** (-torch.arange(0, d_k, 2, device=x.device) / d_k)
    table = torch.arange(int(positions.max()) + 1, device=x.device)[:, None] * turns
    cos, sin = table.cos()[positions], table.sin()[positions]
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).view(x.shape).to(x)
""")


@pytest.mark.parametrize("name", RIGHT_ROPE)
def test_unusual_rotation_is_accepted(name):
    verdict = check_source(RIGHT_ROPE[name])
    assert verdict.passed, verdict.message


SCALED = """
import torch

def scaled_rope_angles(positions, d_k, base=10000.0, scale=1.0, method="linear"):
    if d_k % 2:
        raise ValueError("d_k is odd")
    positions = positions.double()
    if method == "linear":
        positions = positions / scale
    elif method == "ntk":
        if d_k <= 2:
            raise ValueError("d_k is too small")
        base = base * scale ** (d_k / (d_k - 2))
    else:
        raise ValueError(method)
    step = torch.arange(0, d_k, 2, device=positions.device).double()
    return torch.outer(positions, base ** (-step / d_k))
"""


def test_right_scaling_is_accepted():
    verdict = check_source(SCALED)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("positions / scale", "positions * scale", "positions-multiplied"),
        ("positions / scale", "positions // scale", "positions-floored"),
        ("positions = positions / scale", "base = base * scale", "base-for-positions"),
        ("positions = positions / scale", "pass", "scale-ignored-linear"),
        ("scale ** (d_k / (d_k - 2))", "scale", "base-times-scale"),
        ("(d_k / (d_k - 2))", "((d_k - 2) / d_k)", "exponent-upside-down"),
        ("(d_k / (d_k - 2))", "(d_k / (d_k - 1))", "exponent-minus-one"),
        ("base * scale **", "(base * scale) **", "power-of-the-product"),
        ("base * scale **", "base / scale **", "base-divided"),
        ("base * scale **", "10000 * scale **", "base-ignored-ntk"),
        ("base = base", "positions, base = positions / scale, base", "both-at-once"),
        ('method="linear"):', 'method="ntk"):', "ntk-by-default"),
        ("d_k <= 2", "False", "wrong-exception"),
        ("d_k <= 2", "d_k <= 4", None),
        ("raise ValueError(method)", "pass", "not-refused"),
        ("raise ValueError(method)", "raise KeyError(method)", "wrong-exception"),
    ],
)
def test_slip_in_the_scaling_is_named(right, slip, mistake):
    assert slipped(SCALED, right, slip).mistake == mistake
