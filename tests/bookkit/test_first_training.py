"""A first training: pieces, windows, and a model that learns to count."""

import math

import matplotlib.pyplot as plt
import pytest
import torch

from bookkit.first_training import (
    PIECE,
    divide,
    draw,
    held_out_loss,
    smoothed,
    train,
    write,
)
from bookkit.minigpt_figures import draw_lens, draw_parameters, draw_texts
from solutions.minigpt import MiniGPT, initialise


def test_every_tenth_piece_is_held_out_and_none_is_in_both():
    pieces, held = divide(torch.arange(20 * PIECE + 7))
    assert (len(pieces), len(held)) == (18, 2)
    assert held[:, 0].tolist() == [9 * PIECE, 19 * PIECE]
    assert not set(pieces[:, 0].tolist()) & set(held[:, 0].tolist())


def test_windows_run_on_within_one_piece():
    pieces, _ = divide(torch.arange(20 * PIECE))
    windows = draw(pieces, 200, 9, torch.Generator().manual_seed(0))
    assert windows.shape == (200, 9)
    assert (windows.diff(dim=1) == 1).all()
    assert (windows[:, 0] // PIECE == windows[:, -1] // PIECE).all()


def counter():
    """A model of ten digits, and a text that counts."""
    torch.manual_seed(0)
    model = MiniGPT(10, 16, n_layers=1, n_heads=2, max_seq=6)
    initialise(model, 0.1)
    pieces, held = divide(torch.arange(20 * PIECE) % 10)
    return model.eval(), pieces, held


def test_a_model_learns_to_count_and_writes_on():
    model, pieces, held = counter()
    first = held_out_loss(model, held)
    losses = train(model, pieces, steps=60, rate=0.02)
    assert abs(first - math.log(10)) < 0.3
    assert len(losses) == 60
    assert held_out_loss(model, held) < 0.1
    assert write(model, torch.tensor([3]), new=9).tolist() == [
        *range(3, 10),
        *range(3),
    ]


def test_the_same_seed_trains_the_same_model():
    runs = [train(*counter()[:2], steps=3) for _ in range(2)]
    assert runs[0] == runs[1]


def test_smoothing_takes_the_mean_of_what_came_before():
    assert smoothed([1.0, 2.0, 3.0, 4.0], over=2).tolist() == [1.0, 1.5, 2.5, 3.5]


def test_bars_show_shares_and_sums():
    ax = draw_parameters({"small": {"a": 3_000_000, "b": 1_000_000}}, "title")
    texts = [text.get_text() for text in ax.texts]
    assert {"75%", "25%", "4.0 M", "a", "b"} <= set(texts)
    plt.close("all")


def test_texts_are_cut_to_columns_and_rows():
    ax = draw_texts({"name": "abcdef\ng$"}, columns=4, rows=3)
    assert [t.get_text() for t in ax.texts] == ["name", "abcd", "ef", r"g\$"]
    plt.close("all")


def test_the_lens_writes_every_favourite():
    ax = draw_lens([["a", "b"]], torch.tensor([[0.1, 0.9]]), ["x", "y"], ["r"], "t")
    assert [t.get_text() for t in ax.texts] == ["a", "b"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["x", "y"]
    with pytest.raises(ValueError, match="unpack"):
        draw_lens([["a"]], torch.tensor([0.1]), ["x"], ["r"], "t")
    plt.close("all")
