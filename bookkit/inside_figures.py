"""Figures of chapter 14: a model that learns, and where its heads look."""

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure
from torch import Tensor

from bookkit.figures import PALETTE, heatmap, label_line
from bookkit.induction import History


def draw_history(history: History) -> Figure:
    """The loss on repeated letters above, the heads' best scores below."""
    fig, (above, below) = plt.subplots(2, 1, figsize=(6, 4.4), sharex=True)
    above.plot(history.steps, history.again, color=PALETTE[1])
    above.set(ylabel="loss", title="The loss falls as the heads appear")
    label_line(above, "letters that come again", at=3, dx=70)
    pairs = {"induction": history.induction, "previous token": history.previous}
    for name, scores in pairs.items():
        best = torch.stack(scores).flatten(1).amax(-1)  # (times,)
        below.plot(history.steps, best, color=PALETTE[0 if name[0] == "i" else 2])
        label_line(below, name, at=-3, dy=6 if name[0] == "i" else -14)
    below.set(xlabel="training step", ylabel="best score of a head", ylim=(0, 1))
    return fig


def draw_heads(weights: Tensor, title: str) -> Figure:
    """Where one token looks: a row of weights for each head, (h, m)."""
    h, m = weights.shape
    fig, ax = plt.subplots(figsize=(7, 0.9 + 0.5 * h))
    cols = [str(i + 1) for i in range(m - 1)] + ["?"]
    rows = [f"head {i + 1}" for i in range(h)]
    heatmap(weights, rows, cols, title, ax=ax, limit=1.0)
    return fig
