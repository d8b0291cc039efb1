"""Attention rollout with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]
Join = Callable[[Tensor, Tensor], Tensor]


def _scaled(step: Tensor) -> Tensor:
    rows: Tensor = step.sum(-1, keepdim=True)
    return step / rows


def _halves(A: Tensor, identity: Tensor) -> Tensor:
    return 0.5 * A + 0.5 * identity


def steps_of(
    layers: Sequence[Tensor],
    heads: Change = lambda w: w.mean(1),
    residual: Join = _halves,
    scale: Change = _scaled,
) -> list[Tensor]:
    """Each layer's step, (B, T, T)."""
    identity = torch.eye(layers[0].shape[-1]).to(layers[0])
    return [scale(residual(heads(w), identity)) for w in layers]


def rolled(
    layers: Sequence[Tensor],
    *,
    heads: Change = lambda w: w.mean(1),
    residual: Join = _halves,
    scale: Change = _scaled,
    join: Join = lambda rollout, step: step @ rollout,
    used: Callable[[list[Tensor]], list[Tensor]] = lambda steps: steps,
    after: Change = lambda rollout: rollout,
) -> Tensor:
    """The twin of attention_rollout."""
    first, *rest = used(steps_of(layers, heads, residual, scale))
    for step in rest:
        first = join(first, step)
    return after(first)


def _by_the_identity(layers: Sequence[Tensor]) -> Tensor:
    rollout = torch.eye(layers[0].shape[-1]).to(layers[0]).expand_as(layers[0][:, 0])
    for step in steps_of(layers):
        rollout = step * rollout
    return rollout


def _residual_at_the_end(layers: Sequence[Tensor]) -> Tensor:
    rollout = rolled(layers, residual=lambda A, identity: A)
    return _halves(rollout, torch.eye(rollout.shape[-1]).to(rollout))


_ELEMENTS = (
    "The layers' steps are multiplied element by element; they are chained by the "
    "matrix product, `@`."
)

ROLLOUT = [
    Mistake(
        "layers-reversed",
        "The layers are multiplied in the wrong order, A_1 A_2 … A_L; the last layer "
        "stands leftmost, A_L … A_2 A_1: in the loop, step @ rollout.",
        join=lambda rollout, step: rollout @ step,
    ),
    Mistake("element-by-element", _ELEMENTS, join=lambda rollout, step: rollout * step),
    Mistake("identity-times-elements", _ELEMENTS, wrong=_by_the_identity),
    Mistake(
        "layers-averaged",
        "The layers are averaged; their steps are multiplied, by the matrix product.",
        wrong=lambda layers: torch.stack(steps_of(layers)).mean(0),
    ),
    Mistake(
        "layers-summed",
        "The layers are added up; their steps are multiplied, by the matrix product.",
        join=lambda rollout, step: rollout + step,
    ),
    Mistake(
        "residual-missing",
        "The residual connection is left out: half of each step is the identity, "
        "0.5 A + 0.5 I.",
        residual=lambda A, identity: A,
    ),
    Mistake(
        "residual-at-the-end",
        "The identity is mixed in once, after the product; each layer has a residual "
        "connection of its own, so it belongs to each step.",
        wrong=_residual_at_the_end,
    ),
    Mistake(
        "identity-added-unscaled",
        "A + I is multiplied without scaling its rows back to a sum of 1: every layer "
        "doubles them, and L layers give 2^L times too much.",
        residual=lambda A, identity: A + identity,
        scale=lambda step: step,
    ),
    Mistake(
        "rows-not-scaled",
        "The rows aren't scaled to sum to 1. For attention weights as the softmax "
        "gives them 0.5 A + 0.5 I has such rows already, but not for weights taken "
        "after a dropout: divide each step's rows by their sums.",
        scale=lambda step: step,
    ),
    Mistake(
        "rows-scaled-at-the-end",
        "The rows are scaled once, at the end; each layer's step is scaled before it "
        "is multiplied, or layers with larger rows weigh more.",
        scale=lambda step: step,
        after=_scaled,
    ),
    Mistake(
        "columns-scaled",
        "The columns are scaled to sum to 1; it is the rows, the sum over dim=-1: a "
        "row says where one position's content came from.",
        scale=lambda step: step / step.sum(-2, keepdim=True),
    ),
    Mistake(
        "scaled-without-keepdim",
        "The sums of the rows are taken without keepdim, so that they line up with "
        "the columns: `step / step.sum(-1, keepdim=True)`.",
        scale=lambda step: step / step.sum(-1)[:, None],
    ),
    Mistake(
        "softmax-for-scaling",
        "The rows go through a softmax, which makes them nearly even; divide them by "
        "their sums.",
        scale=lambda step: step.softmax(-1),
    ),
    Mistake(
        "scaled-before-the-identity",
        "The rows are scaled before the identity is mixed in; the step's rows are "
        "scaled, those of 0.5 A + 0.5 I.",
        residual=lambda A, identity: _halves(_scaled(A), identity),
    ),
    Mistake(
        "heads-summed",
        "The heads are summed; their mean is asked for, else they outweigh the "
        "residual's half.",
        heads=lambda w: w.sum(1),
    ),
    Mistake(
        "largest-head",
        "Of the heads the largest weight is taken; their mean is asked for.",
        heads=lambda w: w.amax(1),
    ),
    Mistake(
        "smallest-head",
        "Of the heads the smallest weight is taken; their mean is asked for.",
        heads=lambda w: w.amin(1),
    ),
    Mistake(
        "first-head-only",
        "Only the first head is followed; the heads are averaged.",
        heads=lambda w: w[:, 0],
    ),
    Mistake(
        "heads-kept",
        "Each head is followed by itself, so the result has an axis of heads; the "
        "heads are averaged in each layer, since the next one reads what all wrote.",
        heads=lambda w: w,
    ),
    Mistake(
        "heads-averaged-last",
        "Each head is followed by itself and the heads are averaged at the end; "
        "average them in each layer, since the next one reads what all wrote.",
        heads=lambda w: w,
        after=lambda rollout: rollout.mean(1),
    ),
    Mistake(
        "last-layer-only",
        "Only the last layer is in the result; the steps of all layers are multiplied.",
        used=lambda steps: steps[-1:],
    ),
    Mistake(
        "first-layer-only",
        "Only the first layer is in the result; the steps of all layers are "
        "multiplied.",
        used=lambda steps: steps[:1],
    ),
    Mistake(
        "first-layer-twice",
        "The first layer is in the product twice: the product starts with its step, "
        "and the loop begins with it again. Start with the identity, or loop over "
        "layers[1:].",
        used=lambda steps: [steps[0], *steps],
    ),
    Mistake(
        "first-layer-left-out",
        "The first layer is left out of the product; all layers belong to it.",
        used=lambda steps: (
            steps[1:]
            or [torch.eye(steps[0].shape[-1]).to(steps[0]).expand_as(steps[0])]
        ),
    ),
    Mistake(
        "rollout-transposed",
        "The result is transposed: row i says where position i's content came from.",
        after=lambda rollout: rollout.mT,
    ),
    Mistake(
        "batch-averaged",
        "The batch is averaged too; each sequence keeps its own rollout, (B, T, T).",
        after=lambda rollout: rollout.mean(0),
    ),
]
