"""Each leaking layer leaks as its name says; perturbing the inputs shows it."""

import pytest
import torch

from bookkit.leaks import PADDED, shades, suspects
from solutions.multihead import MultiHeadAttention

T = 8


def moved_by(layer):
    """(T, T), bool: which outputs (rows) differ when one input (column) is changed."""
    torch.manual_seed(1)
    x = torch.randn(1, T, 12)
    before, columns = layer(x), []
    for j in range(T):
        other = x.clone()
        other[:, j] += torch.randn(12)
        columns.append(((layer(other) - before).abs() > 1e-6).any(dim=-1)[0])
    return torch.stack(columns, dim=1)


@pytest.fixture(scope="module")
def maps():
    torch.manual_seed(0)
    layers = suspects(MultiHeadAttention(12, 3), T, num_heads=3)
    with torch.no_grad():
        return {name: moved_by(layer) for name, layer in layers.items()}


def test_the_right_one_is_a_triangle(maps):
    assert torch.equal(maps["right"], torch.ones(T, T).tril().bool())


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("no mask", torch.ones(T, T)),
        ("off by one", torch.ones(T, T).tril(1)),
        ("flipped", torch.ones(T, T).triu()),
        ("statistics over time", torch.ones(T, T)),
    ],
)
def test_a_leak_has_its_pattern(maps, name, pattern):
    assert torch.equal(maps[name], pattern.bool())


def test_where_padding_replaces_the_causal_mask_all_see_the_real_tokens(maps):
    found = maps["padding instead of causal"]
    assert found[:, :-PADDED].all()
    assert torch.equal(found[:, -PADDED:], torch.eye(T).bool()[:, -PADDED:])


def test_scrambled_heads_reach_into_the_future_somewhere(maps):
    found = maps["scrambled merge"]
    assert torch.equal(found[0], torch.arange(T) < 3)  # head 0's first three tokens
    assert found[2].all()


def test_shades_keep_zero_and_lift_whatever_is_larger():
    strength = torch.tensor([[2.0, 0.0, 0.002], [0.0, 0.0, 0.0]])
    expected = torch.tensor([[1.0, 0.0, 0.2008], [0.0, 0.0, 0.0]])
    torch.testing.assert_close(shades(strength), expected)
