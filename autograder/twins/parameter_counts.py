"""Counting parameters with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor, nn

from autograder.definition import Mistake


def all_once(model: nn.Module) -> Iterable[Tensor]:
    return model.parameters()


def each_name(model: nn.Module) -> Iterable[Tensor]:
    """A tied tensor under each of its names."""
    return (one for _, one in model.named_parameters(remove_duplicate=False))


def own_of_each(model: nn.Module) -> Iterable[Tensor]:
    """Module by module, its own parameters: a shared module once, a tied tensor not."""
    return (one for module in model.modules() for one in module.parameters(False))


def every_level(model: nn.Module) -> Iterable[Tensor]:
    return (one for module in model.modules() for one in module.parameters())


def children(model: nn.Module) -> Iterable[Tensor]:
    return (one for child in model.children() for one in child.parameters())


def top_level(model: nn.Module) -> Iterable[Tensor]:
    return model.parameters(recurse=False)


def leaves(model: nn.Module) -> Iterable[Tensor]:
    """Linear layers and embeddings only."""
    kinds = (nn.Linear, nn.Embedding)
    found = [one for one in model.modules() if isinstance(one, kinds)]
    return {id(p): p for module in found for p in module.parameters()}.values()


def weights_alone(model: nn.Module) -> Iterable[Tensor]:
    """What is called weight."""
    return (one for name, one in model.named_parameters() if "weight" in name)


def but_embeddings(model: nn.Module) -> Iterable[Tensor]:
    """All but the embeddings, as nanoGPT counts."""
    found = {one for one in model.modules() if isinstance(one, nn.Embedding)}
    left_out = {id(one.weight) for one in found}
    return (one for one in model.parameters() if id(one) not in left_out)


def of_each_shape(model: nn.Module) -> Iterable[Tensor]:
    return {one.shape: one for one in model.parameters()}.values()


def trainable(one: Tensor) -> bool:
    return one.requires_grad


def count(
    model: nn.Module,
    *,
    which: Callable[[nn.Module], Iterable[Tensor]] = all_once,
    keeps: Callable[[Tensor], bool] = trainable,
    size: Callable[[Tensor], int] = lambda one: one.numel(),
    more: Callable[[nn.Module], int] = lambda model: 0,
    end: Callable[[int], Any] = lambda total: total,
) -> Any:
    """The twin of count_parameters."""
    return end(sum(size(one) for one in which(model) if keeps(one)) + more(model))


def stored(model: nn.Module) -> int:
    return sum(one.numel() for one in model.state_dict().values())


COUNTS = [
    Mistake(
        "frozen-counted",
        "Frozen parameters are counted too; only trainable ones count: "
        "p.requires_grad.",
        keeps=lambda one: True,
    ),
    Mistake(
        "only-frozen-counted",
        "The frozen parameters are counted instead of the trainable ones: "
        "p.requires_grad, not its opposite.",
        keeps=lambda one: not one.requires_grad,
    ),
    Mistake(
        "grad-for-requires_grad",
        "Nothing is counted, always 0: before the first backward no parameter has a "
        "`.grad`. Whether one is trained says p.requires_grad.",
        keeps=lambda one: one.grad is not None,
    ),
    Mistake(
        "tied-counted-twice",
        "A tied (shared) tensor is counted twice, under each of its names; it counts "
        "once: model.parameters() gives each tensor once.",
        which=each_name,
    ),
    Mistake(
        "tied-counted-in-each-module",
        "A tied (shared) tensor is counted twice, in each module that holds it; it "
        "counts once: model.parameters() gives each tensor once.",
        which=own_of_each,
    ),
    Mistake(
        "counted-on-every-level",
        "Parameters are counted again on every level: model.modules() goes through "
        "all modules, and module.parameters() does so once more, so nested ones count "
        "twice or more often.",
        which=every_level,
    ),
    Mistake(
        "children-only",
        "Only the children's parameters are counted: those that stand in the model "
        "itself are missing, and a tensor tied between two children counts twice. "
        "Take model.parameters().",
        which=children,
    ),
    Mistake(
        "top-level-only",
        "Only parameters that stand in the model itself are counted, not those of its "
        "modules (recurse=False).",
        which=top_level,
    ),
    Mistake(
        "linear-and-embedding-only",
        "Only linear layers and embeddings are counted; norms and other parameters "
        "count too.",
        which=leaves,
    ),
    Mistake(
        "buffers-counted",
        "Buffers are counted too, such as running means; they aren't parameters and "
        "aren't trained.",
        more=lambda model: sum(one.numel() for one in model.buffers()),
    ),
    Mistake(
        "state-dict-counted",
        "Everything in state_dict() is counted: buffers, frozen parameters, and a tied "
        "tensor under each of its names. Take model.parameters() with requires_grad.",
        wrong=stored,
    ),
    Mistake(
        "equal-shapes-counted-once",
        "Tensors of the same shape (or size) count as one; it is the same tensor, not "
        "the same shape, that counts once.",
        which=of_each_shape,
    ),
    Mistake(
        "tensors-counted",
        "The tensors are counted, not the numbers in them: p.numel().",
        size=lambda one: 1,
    ),
    Mistake(
        "matrices-only",
        "Only matrices are counted; biases and norms have parameters too.",
        keeps=lambda one: one.requires_grad and one.dim() > 1,
    ),
    Mistake(
        "weights-only",
        "Only what is called weight is counted; biases, and parameters of other names, "
        "count too.",
        which=weights_alone,
    ),
    Mistake(
        "embeddings-left-out",
        "Embeddings are left out; their numbers are learned too, so they count.",
        which=but_embeddings,
    ),
    Mistake(
        "first-axis-only",
        "Of each tensor only the first axis is counted, len(p) or p.shape[0]; all its "
        "numbers count: p.numel().",
        size=len,
    ),
    Mistake(
        "axes-added",
        "The sizes of each tensor's axes are added; they are multiplied: p.numel().",
        size=lambda one: sum(one.shape),
    ),
    Mistake(
        "bytes-counted",
        "The bytes are counted, 4 a number in float32; count the numbers: p.numel().",
        size=lambda one: one.numel() * one.element_size(),
    ),
    Mistake(
        "in-millions",
        "The count is given in millions; return it as it is, an int.",
        end=lambda total: total / 1e6,
    ),
    Mistake(
        "in-thousands",
        "The count is given in thousands; return it as it is, an int.",
        end=lambda total: total / 1e3,
    ),
    Mistake(
        "float-for-int",
        "The count comes as a float; it is a whole number, an int.",
        end=float,
    ),
]
