"""What chapter 15 draws of its recorded runs: curves, and what a part is worth."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bookkit.depth_figures import spread
from bookkit.figures import INK, MUTED, PALETTE
from bookkit.races import Finisher, Gap


def draw_race(finishers: Sequence[Finisher], title: str) -> Figure:
    """Draw the losses on unseen text against tokens, and against the time they took.

    A line is the mean over the seeds, the band round it reaches from the lowest to the
    highest of them.
    """
    fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.4), sharey=True)
    ends = spread([fmean(check[-1] for check in f.checks) for f in finishers], 0.06)
    for ax, what in zip(axes, ("tokens", "time"), strict=True):
        for finisher, colour in zip(finishers, PALETTE, strict=False):
            columns = list(zip(*finisher.checks, strict=True))
            x = _places(finisher, what)
            ax.plot(x, [fmean(column) for column in columns], color=colour, lw=1.5)
            low, high = [min(c) for c in columns], [max(c) for c in columns]
            ax.fill_between(x, low, high, color=colour, alpha=0.25, lw=0)
    for finisher, colour, end in zip(finishers, PALETTE, ends, strict=False):
        axes[1].annotate(
            finisher.name,
            (1, end),
            (6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            color=colour,
            fontweight="bold",
        )
    axes[0].set(xlabel="tokens read, in millions", ylabel="loss, nats a character")
    axes[0].set_ylim(None, 2.4)
    for ax in axes:
        ax.set_xlim(0, None)
    axes[1].set_xlabel("time on one core, in minutes")
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return fig


def _places(finisher: Finisher, what: str) -> list[float]:
    if what == "tokens":
        return [tokens / 1e6 for tokens in finisher.tokens]
    whole = finisher.steps * finisher.seconds / 60
    return [whole * tokens / finisher.tokens[-1] for tokens in finisher.tokens]


def draw_gaps(gaps: Mapping[str, Gap], title: str) -> Axes:
    """A row a decoder: a dot a seed, a bar for the mean give or take two errors.

    Where the bar reaches over 0 the row says that the two can't be told apart.
    """
    _, ax = plt.subplots(figsize=(7, 0.55 * len(gaps) + 1.0))
    ax.axvline(0, color=INK, lw=1)
    right = max(max(*gap.by_seed, gap.mean + 2 * gap.error) for gap in gaps.values())
    for row, gap in enumerate(gaps.values()):
        colour = PALETTE[0] if gap.told_apart else MUTED
        ends = [gap.mean - 2 * gap.error, gap.mean + 2 * gap.error]
        ax.plot(ends, [row, row], color=colour, lw=7, alpha=0.25, solid_capstyle="butt")
        ax.plot(gap.by_seed, [row] * len(gap.by_seed), "o", color=colour)
        said = f"{gap.mean:+.3f}" if gap.told_apart else "can't be told apart"
        ax.text(right * 1.06, row, said, va="center", color=colour)
    ax.set_yticks(range(len(gaps)), list(gaps))
    ax.set(ylim=(len(gaps) - 0.5, -0.5), title=title)
    ax.set_xlabel("how much higher the loss is, nats a character")
    ax.set_xlim(None, right * 1.45)
    ax.grid(axis="y", visible=False)
    return ax
