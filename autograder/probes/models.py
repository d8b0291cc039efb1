"""Build a block or a model and call it in eval mode, or find facts about it.

Facts are texts, one a name, for what results don't tell: how a model is put together,
and which values an argument has that is left out.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.probes.basic import build


def model(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Results in eval mode or, where the argument `facts` names some, facts."""
    args = dict(x["args"])
    facts = args.pop("facts", "")
    if facts in _DEFAULTS:
        return {"kind": "module"} | named(defaults(theirs, _DEFAULTS[facts]))
    made: list[Any] = []

    def evaluated(*given: Any) -> Any:
        made.append(theirs(*given))
        if isinstance(made[0], nn.Module):
            made[0].eval()
            _quieten(made[0], x["weights"])
        return made[0]

    args = {} if facts else args
    seen = build(evaluated, x | {"args": args}, parts)
    if isinstance(made[0], nn.Module) and (facts == "wiring" or "out" not in seen):
        seen |= named(_wiring(made[0], x["weights"]))
    return seen


def named(facts: Mapping[str, str]) -> dict[str, str]:
    """Facts as they stand in a reply."""
    return {f"out.{name}": fact for name, fact in facts.items()}


def _quieten(made: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Set to 0 what nothing is loaded for: a bias of the head, further blocks.

    Where they start is left to chance, and facts tell that they are there.
    """
    blocks = {name.split(".")[1] for name in weights if name.startswith("blocks.")}
    if not blocks:
        return
    with torch.no_grad():
        for name, parameter in made.named_parameters(remove_duplicate=False):
            part, _, rest = name.partition(".")
            beyond = part == "blocks" and rest.split(".")[0] not in blocks
            if beyond or name == "head.bias":
                parameter.zero_()


def _listed(made: Any) -> list[Any]:
    blocks: Any = getattr(made, "blocks", None)
    return list(blocks) if hasattr(blocks, "__iter__") else []


def _wiring(made: Any, weights: Mapping[str, Tensor]) -> dict[str, str]:
    """How a model of blocks is put together."""
    if "head.weight" not in weights:
        return {}
    blocks, head = getattr(made, "blocks", None), getattr(made, "head", None)
    listed = _listed(made)
    bias = getattr(head, "bias", None)
    heads = _found(lambda made: listed[0].attn.num_heads, made)
    return {
        "kind of `blocks`": "a module, as nn.ModuleList is"
        if isinstance(blocks, nn.Module)
        else "not there"
        if blocks is None
        else f"a plain {type(blocks).__name__}",
        "number of blocks": str(len(listed)),
        "weights of the blocks": "each block's own"
        if len({id(one) for one in listed}) == len(listed)
        else "shared, one block used again and again",
        "heads in a block": "as asked" if heads is None else str(heads),
        "bias of the head": "none" if bias is None else "there",
        "weight of the head": _whose(head, getattr(made, "embed", None)),
        "dropout beside the blocks": _dropped_beside(made, listed),
    }


@torch.no_grad()
def _dropped_beside(made: nn.Module, blocks: list[Any]) -> str:
    """Whether training draws anything at random where the blocks don't."""
    tokens = torch.arange(4).view(1, 4)
    try:
        quiet = made.eval()(tokens)
        made.train()
        for one in blocks:
            one.eval()
        found = torch.allclose(made(tokens), quiet, equal_nan=True)
    except Exception:  # what is wrong with it shows in its results
        return "none"
    finally:
        made.eval()
    return "none" if found else "there"


def _whose(head: Any, embed: Any) -> str:
    weight = getattr(head, "weight", None)
    if weight is None:
        return "not there"
    tied = weight is getattr(embed, "weight", None)
    return "tied to that of embed" if tied else "its own"


Measure = Callable[[Any], Any]

#: Where the value of an argument shows in what was made, in the constructor's order.
_DEFAULTS: dict[str, dict[str, Measure]] = {
    "defaults of a block": {
        "d_model": lambda made: made.norm1.weight.shape[0],
        "num_heads": lambda made: made.attn.num_heads,
        "ff_dim": lambda made: made.ff.W_1.weight.shape[0],
    },
    "defaults of a model": {
        "vocab_size": lambda made: made.embed.weight.shape[0],
        "d_model": lambda made: made.embed.weight.shape[1],
        "n_layers": lambda made: len(list(made.blocks)),
        "n_heads": lambda made: _listed(made)[0].attn.num_heads,
        "max_seq": lambda made: made.pos_embed.weight.shape[0],
    },
}


def defaults(
    theirs: Callable[..., Any], measures: Mapping[str, Measure]
) -> dict[str, str]:
    """What each argument is when left out, as measured, else as it is declared."""
    try:
        with torch.device("meta"):  # the sizes are those of a large model
            made = theirs()
    except Exception:
        made = None
    declared = _declared(theirs)
    facts = {}
    for i, (name, measure) in enumerate(measures.items()):
        value = _found(measure, made)
        if value is None:
            value = declared[i] if i < len(declared) else "none"
        facts[f"default of {name}"] = str(value)
    return facts


def _found(measure: Measure, made: Any) -> Any:
    try:
        return measure(made)
    except (AttributeError, IndexError, TypeError):
        return None


def _declared(theirs: Callable[..., Any]) -> list[Any]:
    arguments = inspect.signature(theirs).parameters.values()
    return ["none" if one.default is one.empty else one.default for one in arguments]
