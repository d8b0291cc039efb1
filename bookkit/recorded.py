"""Long runs, recorded: a chapter draws what takes longer than its minute.

`python -m benchmarks.curves` runs them again and writes the records anew.
"""

import json
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from bookkit.figures import MUTED, PALETTE

FOLDER = Path(__file__).with_suffix("")


def recorded(preset: str) -> dict[str, Any]:
    """A preset's run: `checks`, rows of step, loss and loss on unseen text; `seconds`.

    Raises FileNotFoundError for a preset whose run is not recorded.
    """
    found: dict[str, Any] = json.loads((FOLDER / f"{preset}.json").read_text("utf-8"))
    return found


def draw_recorded(presets: dict[str, str], goals: dict[str, float]) -> list[Axes]:
    """Draw the recorded losses of presets, each with its title, side by side.

    A preset may have a goal: the published loss, as a dashed line.
    """
    _, axes = plt.subplots(
        1, len(presets), figsize=(4 * len(presets), 3.2), sharey=True, squeeze=False
    )
    for ax, (preset, title) in zip(axes[0], presets.items(), strict=True):
        steps, losses, unseen = zip(*recorded(preset)["checks"], strict=True)
        ax.plot(steps, losses, lw=1, color=PALETTE[4])
        ax.plot(steps, unseen, color=PALETTE[0])
        ax.annotate(
            "a batch", (steps[1], losses[1]), (8, 8), textcoords="offset points"
        )
        ax.annotate(
            f"unseen text: {unseen[-1]:.2f}",
            (steps[-1], unseen[-1]),
            (0, 22),
            textcoords="offset points",
            ha="right",
            color=PALETTE[0],
        )
        if preset in goals:
            ax.axhline(goals[preset], color=MUTED, ls="--", lw=1)
            ax.annotate(
                f"published: {goals[preset]:.2f}",
                (0, goals[preset]),
                (4, -12),
                textcoords="offset points",
                color=MUTED,
            )
        ax.set(title=title, xlabel="step")
    axes[0][0].set_ylabel("loss, nats a token")
    return list(axes[0])
