"""Drawing a model's weights, with switches for slips, and the slips by name."""

import copy
from collections.abc import Callable, Container
from typing import Any

import torch
from torch import Tensor, nn

import solutions.minigpt as solutions
from autograder.definition import Mistake

#: Fills a parameter: `draw(parameter, std)`.
Draw = Callable[[Tensor, float], Any]


def normal(weight: Tensor, std: float) -> None:
    nn.init.normal_(weight, std=std)


def as_mean(weight: Tensor, std: float) -> None:
    nn.init.normal_(weight, std)


def uniform(weight: Tensor, std: float) -> None:
    nn.init.uniform_(weight, -std, std)


def uniform_as_wide(weight: Tensor, std: float) -> None:
    nn.init.uniform_(weight, -std * 3**0.5, std * 3**0.5)


def to_0(bias: Tensor, std: float) -> None:
    nn.init.zeros_(bias)


def to_1(weight: Tensor, std: float) -> None:
    nn.init.ones_(weight)


def to_a_hundredth(bias: Tensor, std: float) -> None:
    nn.init.constant_(bias, 0.01)


def alone(parameter: Tensor, std: float) -> None:
    """Nothing is drawn."""


#: How small the residual stream's writers are: `quiet(std, n_layers, block)`.
Quiet = Callable[[float, int, int], float]


def by_root_of_two(std: float, n_layers: int, block: int) -> float:
    return float(std / (2 * n_layers) ** 0.5)


def initialised(
    model: Any,
    std: float = 0.02,
    *,
    plain: Callable[[float], float] = lambda std: std,
    quiet: Quiet = by_root_of_two,
    writers: Container[str] = ("W_o", "W_2"),
    skipped: Container[str] = (),
    draw: Draw = normal,
    biases: Draw = to_0,
    norm_weights: Draw = alone,
    norm_biases: Draw = alone,
    replaced: bool = False,
) -> None:
    """The twin of initialise."""
    for name, module in model.named_modules():
        path = name.split(".")
        if isinstance(module, nn.LayerNorm):
            norm_weights(module.weight, std)
            norm_biases(module.bias, std)
        if not isinstance(module, nn.Linear | nn.Embedding):
            continue
        if replaced:
            module.weight = nn.Parameter(torch.empty_like(module.weight))
        if path[-1] not in skipped:
            block = int(path[1]) if path[0] == "blocks" else 0
            small = quiet(plain(std), len(model.blocks), block)
            draw(module.weight, small if path[-1] in writers else plain(std))
        if isinstance(module, nn.Linear) and module.bias is not None:
            biases(module.bias, std)


def of_a_copy(model: Any, std: float = 0.02) -> Any:
    made = copy.deepcopy(model)
    solutions.initialise(made, std)
    return made


_TWO = "each of the n_layers blocks writes twice: it should be std / sqrt(2 n_layers)"

INITIALISED = [
    Mistake(
        "residual-projections-not-scaled",
        "W_o and W_2 have the same std as the rest; as they write to the residual "
        "stream they should be scaled down, std / sqrt(2 n_layers).",
        quiet=lambda std, n, i: std,
    ),
    Mistake(
        "root-of-n_layers",
        f"W_o and W_2 are scaled down by sqrt(n_layers); the 2 is missing, {_TWO}.",
        quiet=lambda std, n, i: std / n**0.5,
    ),
    Mistake(
        "divided-by-2-n_layers",
        "W_o and W_2 are divided by 2 n_layers, without the square root; it should be "
        "std / sqrt(2 n_layers).",
        quiet=lambda std, n, i: std / (2 * n),
    ),
    Mistake(
        "divided-by-n_layers",
        "W_o and W_2 are divided by n_layers; it should be the square root of twice as "
        "many, std / sqrt(2 n_layers).",
        quiet=lambda std, n, i: std / n,
    ),
    Mistake(
        "divided-by-root-2",
        "W_o and W_2 are divided by sqrt(2) only: the number of layers is missing, "
        "std / sqrt(2 n_layers).",
        quiet=lambda std, n, i: std / 2**0.5,
    ),
    Mistake(
        "multiplied-by-the-root",
        "W_o and W_2 are scaled up, multiplied by sqrt(2 n_layers); divide by it.",
        quiet=lambda std, n, i: std * (2 * n) ** 0.5,
    ),
    Mistake(
        "six-layers-always",
        "W_o and W_2 are scaled as for 6 layers, whatever the model has: n_layers is "
        "len(model.blocks), std / sqrt(2 n_layers).",
        quiet=lambda std, n, i: std / 12**0.5,
    ),
    Mistake(
        "twelve-layers-always",
        "W_o and W_2 are scaled as for 12 layers, whatever the model has: n_layers is "
        "len(model.blocks), std / sqrt(2 n_layers).",
        quiet=lambda std, n, i: std / 24**0.5,
    ),
    Mistake(
        "scaled-by-depth",
        "W_o and W_2 get smaller from block to block (by the block's own number); all "
        "blocks have the same, std / sqrt(2 n_layers).",
        quiet=lambda std, n, i: std / (2 * (i + 1)) ** 0.5,
    ),
    Mistake(
        "w-o-not-scaled",
        "Only W_2 is scaled down; W_o, the attention's projection, writes to the "
        "residual stream as well: std / sqrt(2 n_layers) for both.",
        writers=("W_2",),
    ),
    Mistake(
        "w-2-not-scaled",
        "Only W_o is scaled down; W_2, the feed-forward network's second projection, "
        "writes to the residual stream as well: std / sqrt(2 n_layers) for both.",
        writers=("W_o",),
    ),
    Mistake(
        "w-1-for-w-2",
        "W_1 is scaled down instead of W_2; it is W_2 that writes to the residual "
        "stream.",
        writers=("W_o", "W_1"),
    ),
    Mistake(
        "w-1-scaled-too",
        "W_1 is scaled down too; only W_o and W_2 write to the residual stream, W_1 "
        "has std.",
        writers=("W_o", "W_1", "W_2"),
    ),
    Mistake(
        "whole-blocks-scaled",
        "All matrices of the blocks are scaled down; only W_o and W_2 write to the "
        "residual stream, the others have std.",
        writers=("W_q", "W_k", "W_v", "W_o", "W_1", "W_2"),
    ),
    Mistake(
        "everything-scaled",
        "All weights are scaled down by sqrt(2 n_layers); only W_o and W_2, which "
        "write to the residual stream, are, and the others have std.",
        writers=(
            *("W_q", "W_k", "W_v", "W_o", "W_1", "W_2"),
            *("embed", "pos_embed", "head"),
        ),
    ),
    Mistake(
        "head-scaled-too",
        "The head is scaled down too; only W_o and W_2 write to the residual stream, "
        "the head has std.",
        writers=("W_o", "W_2", "head"),
    ),
    Mistake(
        "embeddings-untouched",
        "The embeddings are left as they were, N(0, 1): they are drawn too, from "
        "N(0, std), embed and pos_embed.",
        skipped=("embed", "pos_embed"),
    ),
    Mistake(
        "pos_embed-untouched",
        "pos_embed is left as it was, N(0, 1): every embedding is drawn from "
        "N(0, std).",
        skipped=("pos_embed",),
    ),
    Mistake(
        "embed-untouched",
        "embed is left as it was, N(0, 1): every embedding is drawn from N(0, std).",
        skipped=("embed",),
    ),
    Mistake(
        "linear-layers-untouched",
        "The linear layers are left as they were: they are drawn too, as the "
        "embeddings are.",
        skipped=("W_q", "W_k", "W_v", "W_o", "W_1", "W_2", "head"),
    ),
    Mistake(
        "only-the-blocks",
        "Only the blocks are drawn; embed, pos_embed and head are left as they were.",
        skipped=("embed", "pos_embed", "head"),
    ),
    Mistake(
        "head-untouched",
        "The head is left as it was; it is a linear layer like the others, N(0, std).",
        skipped=("head",),
    ),
    Mistake(
        "residual-projections-only",
        "Only W_o and W_2 are drawn; all linear and embedding weights are, from "
        "N(0, std).",
        skipped=("W_q", "W_k", "W_v", "W_1", "head", "embed", "pos_embed"),
    ),
    Mistake(
        "biases-untouched",
        "The biases of the linear layers are left as they were; set them to 0 (zeros).",
        biases=alone,
    ),
    Mistake(
        "biases-drawn",
        "The biases of the linear layers are drawn at random too; set them to 0 "
        "(zeros).",
        biases=normal,
    ),
    Mistake(
        "biases-set-to-a-number",
        "The biases of the linear layers are all set to the same number; that number "
        "should be 0 (zeros).",
        biases=to_a_hundredth,
    ),
    Mistake(
        "norms-reset",
        "The norms are reset, weights to 1 and biases to 0; leave the norms alone, "
        "whatever they hold.",
        norm_weights=to_1,
        norm_biases=to_0,
    ),
    Mistake(
        "norms-biases-zeroed",
        "The norms' biases are set to 0 along with the others; leave the norms alone: "
        "only biases of linear layers become 0.",
        norm_biases=to_0,
    ),
    Mistake(
        "norms-drawn",
        "The norms' weights are drawn at random, which all but switches them off; "
        "leave the norms alone.",
        norm_weights=normal,
    ),
    Mistake(
        "norms-drawn-and-zeroed",
        "The norms are overwritten, weights at random and biases with 0; leave the "
        "norms alone.",
        norm_weights=normal,
        norm_biases=to_0,
    ),
    Mistake(
        "everything-drawn",
        "Every parameter is drawn at random, biases and norms too: biases of linear "
        "layers become 0, and the norms are left alone.",
        biases=normal,
        norm_weights=normal,
        norm_biases=normal,
    ),
    Mistake(
        "std-ignored",
        "std has no effect: 0.02 is used whatever it is (hard-coded).",
        plain=lambda std: 0.02,
    ),
    Mistake(
        "std-squared",
        "The standard deviation is std ** 2, the variance: normal_ takes the standard "
        "deviation, std.",
        plain=lambda std: std**2,
    ),
    Mistake(
        "std-under-a-root",
        "The standard deviation is sqrt(std), as if std were the variance: normal_ "
        "takes the standard deviation, std.",
        plain=lambda std: std**0.5,
    ),
    Mistake(
        "std-given-as-mean",
        "std is given as the mean, and the standard deviation is 1: it is "
        "normal_(weight, mean=0.0, std=std), so give std by name.",
        draw=as_mean,
    ),
    Mistake(
        "uniform-from-minus-std",
        "The numbers are drawn uniformly from -std to std; they should be normal, "
        "N(0, std): nn.init.normal_.",
        draw=uniform,
    ),
    Mistake(
        "uniform-as-wide",
        "The numbers are drawn uniformly; they should be normal, N(0, std): "
        "nn.init.normal_.",
        draw=uniform_as_wide,
    ),
    Mistake(
        "all-zeros",
        "All weights are set to 0, so nothing can be learned: draw them from "
        "N(0, std).",
        draw=to_0,
    ),
    Mistake(
        "parameters-replaced",
        "The parameters are replaced by new ones (nn.Parameter), so a tied weight is "
        "tied no longer and an optimiser holds the old ones. Draw in place: "
        "nn.init.normal_(module.weight, std=std).",
        replaced=True,
    ),
    Mistake(
        "nothing-drawn",
        "The model that was given is left as it was: draw in place, not in a copy.",
        wrong=of_a_copy,
    ),
]
