"""Build chapter 15's modules, whole or of small weights, and load published tensors."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from autograder.probes.basic import build, described
from autograder.probes.models import defaults, named

Parts = Mapping[str, Any]
Theirs = Callable[..., Any]


def llama(theirs: Theirs, x: dict[str, Any], parts: Parts) -> dict[str, Any]:
    """Results without the biases that projections may have; they are told of as facts.

    With the argument `facts` there are only those.
    """
    args = dict(x["args"])
    only_facts = bool(args.pop("facts", ""))
    found: list[str] = []

    def quiet(*given: Any) -> Any:
        made = theirs(*given)
        if isinstance(made, nn.Module):
            for name, parameter in made.named_parameters(remove_duplicate=False):
                if ".W_" in name and name.endswith(".bias"):
                    found.append(name)
                    nn.init.zeros_(parameter)
        return made

    seen = build(quiet, x | {"args": {} if only_facts else args}, parts)
    if only_facts and seen.get("kind") == "module":
        seen |= named({"biases of the projections": ", ".join(found) or "none"})
    return seen


_DEFAULTS: dict[str, Callable[[Any], Any]] = {
    "vocab_size": lambda made: made.embed.weight.shape[0],
    "d_model": lambda made: made.embed.weight.shape[1],
    "n_layers": lambda made: len(list(made.blocks)),
    "num_heads": lambda made: made.blocks[0].attn.num_heads,
    "ff_dim": lambda made: made.blocks[0].ff.W_1.weight.shape[0],
    "max_seq": lambda made: made.pos_embed.weight.shape[0],
}


def encoder(theirs: Theirs, x: dict[str, Any], parts: Parts) -> dict[str, Any]:
    """Results, or what the defaults are."""
    if x["args"].get("facts", ""):
        return {"kind": "module"} | named(defaults(theirs, _DEFAULTS))
    return build(theirs, x, parts)


def loading(theirs: Theirs, x: dict[str, Any], parts: Parts) -> dict[str, Any]:
    """Load a made-up state dict into a small encoder: its parameters afterwards or,
    where the tensors don't fit, what is raised and whether the model is as it was.

    `shapes` gives the tensors' names and shapes, `numbers` what they hold.
    """
    args = x["args"]
    model = parts["MiniLMEncoder"](*args["sizes"])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.5)  # whoever wrote it, it starts the same
    state = _state(args["shapes"], args["numbers"])
    given = {name: tensor.clone() for name, tensor in state.items()}
    raised = "nothing"
    try:
        theirs(model, state)
    except (ValueError, AssertionError):
        raised = "ValueError"
    except Exception as error:
        if not args["refused"]:
            return {"error": described(error)}
        raised = type(error).__name__
    facts = {"what is raised": raised}
    if args["refused"]:
        untouched = all(bool((p == 0.5).all()) for p in model.parameters())
        facts["the model afterwards"] = "as it was" if untouched else "changed"
    if "embeddings.position_ids" in given:  # some take out this alone
        kept = "as it was" if _same(given, state) else "changed"
        facts["the state dict afterwards"] = kept
    seen: dict[str, Any] = {"kind": "a model"} | named(facts)
    if args["refused"]:
        return seen
    own = dict(model.named_parameters(remove_duplicate=False))
    return seen | {
        f"out.{name}": own[name].detach().clone() if name in own else None
        for name in args["asked"]
    }


def _state(shapes: Mapping[str, list[int]], numbers: Tensor) -> dict[str, Tensor]:
    state, left = {}, numbers
    for name, shape in shapes.items():
        if name.endswith("position_ids"):
            state[name] = torch.arange(shape[-1])[None]
            continue
        count = prod(shape)
        state[name], left = left[:count].view(shape), left[count:]
    return state


def _same(before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> bool:
    return before.keys() == after.keys() and all(
        torch.equal(tensor, after[name]) for name, tensor in before.items()
    )
