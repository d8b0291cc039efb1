"""Three ways to cut a training step among ranks, drawn side by side."""

import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

from bookkit.figures import INK, PALETTE, PAPER, bare, tint

LAYERS, SHARES = 4, 4  # layers of the model; shares of the batch, and of a layer
CUTS = {
    "data: cut the batch": "share of the batch",
    "tensor: cut every layer": "share of each layer's weights",
    "pipeline: cut the depth": "a layer's weights",
}


def draw_cuts() -> None:
    """Four layers, in four shares each; a colour is a rank."""
    _, axes = plt.subplots(1, 3, figsize=(7.4, 2.9), sharey=True)
    for ax, (title, under) in zip(axes, CUTS.items(), strict=True):
        for layer in range(LAYERS):
            for share in range(SHARES):
                rank = layer if title.startswith("pipeline") else share
                place = (share + 0.04, layer + 0.1)
                colour = tint(PALETTE[rank])
                ax.add_patch(Rectangle(place, 0.92, 0.8, color=colour))
                if share == 0 or not title.startswith("pipeline"):
                    ax.text(
                        share + 0.5, layer + 0.5, str(rank), ha="center", va="center"
                    )
        ax.set(xlim=(0, SHARES), ylim=(0, LAYERS), xticks=[], xlabel=under)
        ax.set(yticks=[i + 0.5 for i in range(LAYERS)])
        ax.set_yticklabels([f"layer {i + 1}" for i in range(LAYERS)])
        ax.set_title(title, fontsize=10, color=INK)
        ax.set_facecolor(PAPER)
        bare(ax)
