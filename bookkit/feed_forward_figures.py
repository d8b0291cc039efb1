"""Chapter 6's figures: where parameters are, seeds as dots, what neurons fire on."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bookkit.figures import INK, MUTED, PALETTE
from bookkit.widgets import Picture

PARTS = {"attention": PALETTE[4], "feed-forward": PALETTE[0], "embeddings": PALETTE[5]}
GREY = "#aab2ba"


def draw_shares(shares: Mapping[str, Mapping[str, float]], title: str) -> Figure:
    """Draw one bar a model, cut into its parts' shares, the percentages written in.

    shares: models' names -> parts (attention, feed-forward, embeddings) -> 0 to 1.
    """
    fig, ax = plt.subplots(figsize=(6.4, 0.42 * len(shares) + 0.9))
    for row, parts in enumerate(shares.values()):
        left = 0.0
        for part, colour in PARTS.items():
            share = parts[part]
            ax.barh(row, share, left=left, color=colour, height=0.74)
            if share > 0.05:
                ink = "white" if part == "feed-forward" else INK
                middle = left + share / 2
                ax.text(
                    middle, row, f"{share:.0%}", ha="center", va="center", color=ink
                )
            left += share
    first = next(iter(shares.values()))
    left = 0.0
    for part in PARTS:
        ax.text(left, -0.62, part, ha="left", va="bottom", fontweight="bold")
        left += max(first[part], 0.19)
    ax.set(xlim=(0, 1), ylim=(len(shares) - 0.5, -1.1), xticks=[], title=title)
    ax.set_yticks(range(len(shares)), list(shares))
    ax.tick_params(length=0, labelcolor=INK)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return fig


def draw_seeds(
    rows: Mapping[str, torch.Tensor], ax: Axes, colours: Sequence[str] = ()
) -> None:
    """Draw each row's numbers as dots, one a seed, and their mean as a stroke."""
    for row, values in enumerate(rows.values()):
        colour = colours[row] if colours else PALETTE[0]
        ax.plot(values, [row] * len(values), "o", color=colour, alpha=0.65, ms=6)
        ax.plot([values.mean()] * 2, [row - 0.32, row + 0.32], color=INK, lw=1.8)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    ax.grid(axis="y", visible=False)


class Memory(NamedTuple):
    """What was found about a neuron: the ending of its contexts, and what it does."""

    neuron: int
    contexts: list[str]  # where it fires most, the strongest first
    pattern: str  # the ending that they share
    votes: list[str]  # the characters its value raises most
    next: str  # what followed most often
    before: float  # that character's mean probability
    after: float  # the same, with the neuron silenced


def draw_memories(memories: Sequence[Memory], title: str, lines: int = 4) -> Figure:
    """List neurons: contexts with the shared ending in colour, votes, and silencing."""
    fig, axes = plt.subplots(
        math.ceil(len(memories) / 2),
        2,
        figsize=(7.4, 1.36 * math.ceil(len(memories) / 2)),
    )
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    for ax in axes.flat:
        ax.set(xlim=(0, 1), ylim=(lines + 0.2, -0.9), xticks=[], yticks=[])
        ax.grid(False)
        ax.spines[:].set_visible(False)
    for ax, memory in zip(axes.flat, memories, strict=False):
        ax.text(0, -0.55, f"neuron {memory.neuron}", color=MUTED, va="center")
        mono = {"family": "monospace", "va": "center"}
        for row, context in enumerate(memory.contexts[:lines]):
            cut = len(context) - len(memory.pattern)
            ax.text(0, row + 0.3, context[:cut] + " " * len(memory.pattern), **mono)
            blue = {"color": PALETTE[0], "fontweight": "bold"}
            ax.text(0, row + 0.3, " " * cut + memory.pattern, **mono, **blue)
        ax.text(0.36, 0.3, "votes for", color=MUTED, va="center")
        votes = "  ".join(memory.votes)
        ax.text(0.58, 0.3, votes, color=PALETTE[1], fontweight="bold", **mono)
        ax.text(0.36, 1.5, f"probability of  {memory.next}", color=MUTED, va="center")
        for row, (name, p) in enumerate(
            [("", memory.before), ("silenced", memory.after)]
        ):
            colour = PALETTE[0] if row == 0 else PALETTE[1]
            ax.barh(2.3 + row, 0.44 * p, left=0.36, height=0.6, color=colour)
            ax.text(0.38 + 0.44 * p, 2.3 + row, f"{p:.2f} {name}", va="center")
    return fig


def swish_picture(beta: float) -> Picture:
    """Draw z · sigmoid(beta z) over ReLU and the line z / 2, for a moving picture."""
    width, height, zero, low, high = 340, 232, 152, -5.0, 5.0  # zero: where y is 0
    z = torch.linspace(low, high, 81)

    def path(values: torch.Tensor, style: str) -> str:
        x = (z - low) / (high - low) * width
        y = zero - values * 30
        points = "L".join(f"{a:.0f} {b:.1f}" for a, b in zip(x, y, strict=True))
        return f"<path d='M{points}' fill='none' {style}/>"

    ghost = f"stroke='{GREY}' stroke-width='2' stroke-dasharray='4'"
    body = f"<path d='M0 {zero}H{width}' stroke='{MUTED}'/>"
    body += path(z.relu(), ghost) + path(z / 2, ghost)
    for x, y, name in [(232, 68, "ReLU"), (300, 100, "z / 2")]:
        body += f"<text x='{x}' y='{y}' font-size='12' fill='{MUTED}'>{name}</text>"
    body += path(z * (beta * z).sigmoid(), f"stroke='{PALETTE[0]}' stroke-width='3'")
    at = torch.tensor([-1.0, 1.0])
    values = (at * (beta * at).sigmoid()).tolist()
    left, right = (round(value, 2) + 0 for value in values)  # + 0 makes -0.0 a zero
    said = f"β = {beta:g}: the curve is {left:.2f} at z = −1 and {right:.2f} at z = 1."
    return Picture(body, width, height, said.replace("-", "−"))
