"""Hand an answer what looks into a model: attention weights, layers, a whole model."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.probes.basic import observe
from autograder.probes.small_gpt import mini_gpt

Parts = Mapping[str, Any]


def spread(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """Call with attention weights; without gradients where one of them is 0, since the
    slope of w log w has no end there.

    A row sums to 1, so what counts of its gradient is how its entries differ: code that
    divides by the sum first is as right.
    """
    weights: Tensor = x["args"]["weights"]
    zeros = weights.device.type != "meta" and bool((weights == 0).any())
    seen = observe(theirs, x | {"grads": x["grads"] and not zeros}, {})
    slope = seen.get("grad.weights")
    if isinstance(slope, Tensor):
        seen["grad.weights"] = slope - slope.mean(-1, keepdim=True)
    return seen


def layered(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """Call with a list of what the first axis holds."""
    return observe(
        lambda layers: theirs([layers[i] for i in range(len(layers))]), x, {}
    )


def lens(theirs: Callable[..., Any], x: dict[str, Any], parts: Parts) -> dict[str, Any]:
    """Call with a small MiniGPT in a given mode, and note what it is like afterwards.

    The argument `mode` is "train", in which dropout would show, or "eval".
    """
    args: dict[str, Any] = x["args"]
    facts: dict[str, str] = {}

    def looked(tokens: Tensor, weights: Tensor) -> Any:
        model = mini_gpt(parts, weights, args["max_seq"]).train(args["mode"] == "train")
        hooks = _hooks(model)
        before = {name: p.detach().clone() for name, p in model.named_parameters()}
        out, again = theirs(model, tokens), theirs(model, tokens)
        facts["mode of the model afterwards"] = _mode(model)
        facts["hooks left on the model"] = str(_hooks(model) - hooks)
        facts["weights of the model afterwards"] = _weights(before, model)
        if isinstance(out, Tensor) and isinstance(again, Tensor):
            facts["result of a second call"] = _second(out, again)
        return out

    given = {name: args[name] for name in ("tokens", "weights")}
    seen = observe(looked, {**x, "args": given, "keywords": []}, {})
    return seen | {f"out.{name}": fact for name, fact in facts.items()}


def _mode(model: nn.Module) -> str:
    modes = {module.training for module in model.modules()}
    return "mixed" if len(modes) > 1 else "training" if modes == {True} else "eval"


def _hooks(model: nn.Module) -> int:
    return sum(
        len(held)
        for module in model.modules()
        for name, held in vars(module).items()
        if name.endswith("_hooks") and isinstance(held, dict)
    )


def _weights(before: Mapping[str, Tensor], model: nn.Module) -> str:
    after = dict(model.named_parameters())
    same = before.keys() == after.keys() and all(
        one.is_meta or torch.equal(one, after[name]) for name, one in before.items()
    )
    return "as they were" if same else "changed"


def _second(out: Tensor, again: Tensor) -> str:
    same = out.shape == again.shape and (
        out.is_meta or torch.allclose(out, again, 1e-3, 1e-4, True)
    )
    return "the same" if same else "another: something is drawn or kept"
