"""Parameter groups for AdamW, with a switch wherever people slip."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from autograder.definition import Mistake

Named = tuple[str, Tensor]


def split(
    model: nn.Module,
    weight_decay: float,
    *,
    members: Callable[[nn.Module], Iterable[Named]] = lambda model: (
        model.named_parameters()
    ),
    decays: Callable[[str, Tensor], bool] = lambda name, p: p.dim() >= 2,
    skips: Callable[[str, Tensor], bool] = lambda name, p: False,
    decay: Callable[[float], float] = lambda weight_decay: weight_decay,
    rest: Callable[[float], dict[str, float]] = lambda decay: {"weight_decay": 0.0},
    gives: Callable[[Any, Any], Any] = lambda first, second: [first, second],
) -> Any:
    """The twin of parameter_groups."""
    named = [(name, p) for name, p in members(model) if not skips(name, p)]
    matrices = [p for name, p in named if decays(name, p)]
    others = [p for name, p in named if not decays(name, p)]
    return gives(
        {"params": matrices, "weight_decay": decay(weight_decay)},
        {"params": others, **rest(weight_decay)},
    )


def _by_module(model: nn.Module) -> Iterable[Named]:
    """Every module's own parameters: a tied one comes with each of its modules."""
    return model.named_parameters(remove_duplicate=False)


class _Name(str):
    """A parameter's name, which knows how many dimensions it has."""

    def __new__(cls, name: str, parameter: Tensor) -> "_Name":
        made = super().__new__(cls, name)
        made.dimensions = parameter.dim()
        return made

    dimensions: int

    def dim(self) -> int:
        return self.dimensions


GROUPS = [
    Mistake(
        "by-the-name-bias",
        "Whatever isn't called bias decays, gains of norms included; what counts is "
        "the number of dimensions, p.dim() >= 2.",
        decays=lambda name, p: not name.endswith("bias"),
    ),
    Mistake(
        "by-the-name-weight",
        "Whatever is called weight decays, gains of norms included; what counts is "
        "the number of dimensions, p.dim() >= 2.",
        decays=lambda name, p: name.endswith("weight"),
    ),
    Mistake(
        "by-the-names-bias-and-norm",
        "The names decide, bias and norm; what counts is the number of dimensions, "
        "p.dim() >= 2, whatever a tensor is called.",
        decays=lambda name, p: "bias" not in name and "norm" not in name,
    ),
    Mistake(
        "all-decay",
        "Everything decays; biases and gains, of fewer than two dimensions, should "
        "not.",
        decays=lambda name, p: True,
    ),
    Mistake(
        "vectors-decay",
        "Vectors decay too (dim >= 1); only tensors of two and more dimensions do.",
        decays=lambda name, p: p.dim() >= 1,
    ),
    Mistake(
        "matrices-excluded",
        "Only tensors of more than two dimensions decay (dim > 2); those of two do "
        "too: dim >= 2.",
        decays=lambda name, p: p.dim() > 2,
    ),
    Mistake(
        "matrices-only",
        "Only tensors of exactly two dimensions decay (dim == 2); those of more do "
        "too: dim >= 2.",
        decays=lambda name, p: p.dim() == 2,
    ),
    Mistake(
        "groups-exchanged",
        "The two are exchanged: biases and gains decay and matrices don't.",
        decays=lambda name, p: p.dim() < 2,
    ),
    Mistake(
        "embeddings-excluded",
        "Embeddings don't decay here; they have two dimensions, so they do.",
        decays=lambda name, p: p.dim() >= 2 and "embed" not in name,
    ),
    Mistake(
        "tied-twice",
        "A tied tensor is listed once for each module that shares it; every parameter "
        "comes once: model.parameters() sees to that.",
        members=_by_module,
    ),
    Mistake(
        "others-left-out",
        "Biases and gains are in no group, so they are never trained; put them into "
        "one with weight_decay 0.",
        skips=lambda name, p: p.dim() < 2,
    ),
    Mistake(
        "matrices-left-out",
        "The matrices are in no group, so they are never trained.",
        skips=lambda name, p: p.dim() >= 2,
    ),
    Mistake(
        "copies",
        "The groups hold copies (detach, clone, data, state_dict), which the model "
        "doesn't use; put the parameters themselves there.",
        members=lambda model: [(n, p.detach()) for n, p in model.named_parameters()],
    ),
    Mistake(
        "names-for-parameters",
        "The groups hold the parameters' names; an optimiser takes the parameters "
        "themselves: p, not n, of model.named_parameters().",
        members=lambda model: [(n, _Name(n, p)) for n, p in model.named_parameters()],
    ),
    Mistake(
        "decay-not-said-for-the-others",
        "The group of biases and gains doesn't say its weight_decay, so AdamW takes "
        "its own, 0.01; give 0.",
        rest=lambda weight_decay: {},
    ),
    Mistake(
        "decay-hard-coded",
        "The argument weight_decay is not used: it is 0.1 whatever is given.",
        decay=lambda weight_decay: 0.1,
    ),
    Mistake(
        "decay-hard-coded-small",
        "The argument weight_decay is not used: it is 0.01 whatever is given.",
        decay=lambda weight_decay: 0.01,
    ),
    Mistake(
        "lists-without-decay",
        "Two lists of parameters come back; AdamW takes dictionaries, with the keys "
        "params and weight_decay.",
        gives=lambda first, second: (first["params"], second["params"]),
    ),
    Mistake(
        "one-dictionary",
        "One dictionary comes back; two groups are asked for, a list of dictionaries.",
        gives=lambda first, second: {"decay": first, "no_decay": second},
    ),
    Mistake(
        "optimiser-returned",
        "An optimiser comes back; the two groups are asked for, that one gives it.",
        gives=lambda first, second: torch.optim.AdamW([torch.zeros(1)]),
    ),
    Mistake(
        "group-each",
        "Each parameter has a group of its own; two groups are asked for.",
        gives=lambda first, second: [
            {**group, "params": [p]}
            for group in (first, second)
            for p in group["params"]
        ],
    ),
]
