"""A run so small that a step takes milliseconds."""

from minigpt import parts
from minigpt.recipes import Recipe
from minigpt.trainer import Run

RECIPE = Recipe(
    d_model=16, n_layers=2, n_heads=2, seq_len=8, batch_size=4, steps=12, warmup=3
)
TEXT = "the cat sat on the mat. the dog sat on the log. " * 20


def a_run(recipe=RECIPE, text=TEXT, **more):
    return Run(recipe, text, parts.references(), **more)


def trained(run):
    """All of a run's reports."""
    return list(run.steps(check_every=4))
