"""The book's colours, as people see them who see fewer, and on grey paper."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from colorspacious import cspace_convert, deltaE
from matplotlib.colors import to_rgb

from bookkit.figures import AMOUNT, PALETTE, PAPER, SIGNED

APART = 10  # a just noticeable difference is 1 or 2


def seen(colour, kind):
    """A colour as a person sees it without one kind of cone."""
    space = {"name": "sRGB1+CVD", "cvd_type": kind, "severity": 100}
    return cspace_convert(to_rgb(colour), space, "sRGB1").clip(0, 1)


def lightness(colour):
    """From 0, black, to 100, white."""
    return float(cspace_convert(to_rgb(colour), "sRGB1", "CIELab")[0])


@pytest.mark.parametrize("kind", ["deuteranomaly", "protanomaly", "tritanomaly"])
def test_colours_stay_apart_without_one_kind_of_cone(kind):
    for one, other in combinations([*PALETTE, PAPER], 2):
        distance = deltaE(seen(one, kind), seen(other, kind), input_space="sRGB1")
        assert distance > APART, (one, other)


def test_amounts_only_get_darker_so_that_grey_paper_keeps_their_order():
    shades = [lightness(AMOUNT(amount)[:3]) for amount in np.linspace(0, 1, 21)]
    assert all(less - more > 1 for less, more in pairwise(shades))


@pytest.mark.parametrize("side", [-1, 1])
def test_signed_amounts_get_darker_away_from_zero(side):
    places = 0.5 + side * np.linspace(0, 0.5, 11)
    shades = [lightness(SIGNED(place)[:3]) for place in places]
    assert all(less - more > 1 for less, more in pairwise(shades))


@pytest.mark.parametrize("kind", ["deuteranomaly", "protanomaly", "tritanomaly"])
def test_signs_of_large_amounts_stay_apart(kind):
    low, high = SIGNED(0.0)[:3], SIGNED(1.0)[:3]
    distance = deltaE(seen(low, kind), seen(high, kind), input_space="sRGB1")
    assert distance > 3 * APART
