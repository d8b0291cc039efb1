"""How loading published weights goes wrong, by name."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any

from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.loading import (
    ALL,
    State,
    broadcastable,
    exchanged,
    fill,
    passed_over,
)
from solutions.modern import published_name


def raising(kind: str, error: Callable[[str], Exception]) -> Callable[[str], Exception]:
    """One kind of fault raises another error than the rest."""
    return lambda found: error(found) if found == kind else ValueError(found)


def _weight_for_bias(name: str) -> str:
    if "norm" not in name:
        return name
    part, _, kind = name.rpartition(".")
    return f"{part}.{'bias' if kind == 'weight' else 'weight'}"


def _given_up(model: Any, state_dict: State) -> None:
    with suppress(ValueError):
        fill(model, state_dict)


def _turned(name: str, tensor: Tensor) -> Tensor:
    square = tensor.dim() == 2 and tensor.shape[0] == tensor.shape[1]
    return tensor.mT if square and name.startswith("encoder.") else tensor


def _by_load_state_dict(
    model: Any, state_dict: Mapping[str, Tensor], *, strict: bool = True
) -> None:
    ours = {published_name(name): name for name, _ in model.named_parameters()}
    given = {name: t for name, t in state_dict.items() if not passed_over(name)}
    named = {ours.get(name, name): t for name, t in given.items()}
    model.load_state_dict(named, strict=strict)


def _refuse(model: Any, state_dict: Mapping[str, Tensor]) -> None:
    raise ValueError("names")


def _known_or_inside(model: Any, state_dict: State) -> State:
    """Without what is unknown among the embeddings."""
    known = {published_name(name) for name, _ in model.named_parameters()}
    return {
        name: tensor
        for name, tensor in state_dict.items()
        if name in known or not name.startswith("embeddings.")
    }


def _poured(model: Any, state_dict: State) -> State:
    """Every tensor with the shape of its parameter, if it has as many numbers."""
    own = {published_name(name): p for name, p in model.named_parameters()}
    return {
        name: tensor.reshape(own[name].shape)
        if name in own and own[name].numel() == tensor.numel()
        else tensor
        for name, tensor in state_dict.items()
    }


def _with_gradients(model: Any, state_dict: Mapping[str, Tensor]) -> None:
    for name, p in model.named_parameters():
        p.copy_(state_dict[published_name(name)])


_UNCHANGED = "Look at all names and shapes first, and copy only when everything fits."

LOADED = [
    Mistake(
        "square-weights-transposed",
        "The matrices are transposed, which shows in no shape where they are square; "
        "published and own layers are both nn.Linear, (out, in): copy them as they "
        "are.",
        turned=_turned,
    ),
    Mistake(
        "query-and-key-exchanged",
        "Query and key are swapped: attention.self.query belongs to W_q, "
        "attention.self.key to W_k.",
        renamed=exchanged("W_q", "W_k"),
    ),
    Mistake(
        "key-and-value-exchanged",
        "Key and value are swapped: attention.self.key belongs to W_k, "
        "attention.self.value to W_v.",
        renamed=exchanged("W_k", "W_v"),
    ),
    Mistake(
        "norms-exchanged",
        "norm1 and norm2 are swapped: attention.output.LayerNorm is norm1, "
        "output.LayerNorm is norm2.",
        renamed=exchanged("norm1", "norm2"),
    ),
    Mistake(
        "biases-skipped",
        "The biases are not loaded: every parameter, biases too, has its tensor.",
        left=lambda name: name.endswith("bias"),
    ),
    Mistake(
        "norms-skipped",
        "The norms are not loaded: their weights and biases have tensors too.",
        left=lambda name: "norm" in name,
    ),
    Mistake(
        "embeddings-norm-skipped",
        "The norm of the embeddings is not loaded: embeddings.LayerNorm is `norm`.",
        left=lambda name: name.startswith("norm."),
    ),
    Mistake(
        "type-embeddings-skipped",
        "type_embed is not loaded: embeddings.token_type_embeddings belongs to it.",
        left=lambda name: name.startswith("type_embed"),
    ),
    Mistake(
        "weight-and-bias-exchanged",
        "The norms' weights and biases are swapped, which shows in no shape: weight "
        "(BERT's authors call it gamma) to weight, bias (beta) to bias.",
        renamed=_weight_for_bias,
    ),
    Mistake(
        "pooler-refused",
        "pooler.* counts as unknown; the published file has it, as it has "
        "embeddings.position_ids, and the model has no place for either: ignore both.",
        skipped=lambda name: False,
    ),
    Mistake(
        "position-ids-refused",
        "embeddings.position_ids counts as unknown; published files have it and the "
        "model has no place for it: ignore it.",
        skipped=lambda name: name.startswith("pooler."),
    ),
    Mistake(
        "missing-accepted",
        "A missing tensor goes unnoticed, and its parameter keeps the numbers it "
        "started with: raise ValueError.",
        needs_all=False,
    ),
    Mistake(
        "unknown-accepted",
        "An unknown tensor goes unnoticed; apart from embeddings.position_ids and "
        "pooler.*, a name that the model has no place for is an error: raise "
        "ValueError.",
        knows_all=False,
    ),
    Mistake(
        "nothing-refused",
        "Missing and unknown tensors go unnoticed, as with strict=False: raise "
        "ValueError.",
        needs_all=False,
        knows_all=False,
    ),
    Mistake(
        "strict-false",
        "load_state_dict with strict=False passes over tensors that are missing or "
        "unknown, and raises RuntimeError for another shape: raise ValueError for "
        "each of the three.",
        wrong=partial(_by_load_state_dict, strict=False),
    ),
    Mistake(
        "unknown-embeddings-accepted",
        "An unknown tensor whose name begins with `embeddings.` goes unnoticed; of "
        "these only embeddings.position_ids may be ignored: raise ValueError.",
        wrong=lambda model, state: fill(model, _known_or_inside(model, state)),
    ),
    Mistake(
        "always-refused",
        "Every state dict is refused, a right one too: a name, a shape or a number of "
        "layers that you expect is not the published one. Print what you miss and what "
        "is left over. Go by names, not by the order in the file, and mind that "
        "attention.output.dense is W_o, output.dense is ff.W_2.",
        wrong=_refuse,
    ),
    Mistake(
        "not-in-place",
        "The model that was given is as it was: a copy is filled, or nothing. Write "
        "into its own parameters, p.copy_(tensor) under torch.no_grad().",
        wrong=lambda model, state: fill(deepcopy(model), state),
    ),
    Mistake(
        "numbers-counted",
        "A tensor of another shape is accepted where it has as many numbers, and "
        "poured into the shape asked for. Compare the shapes and raise ValueError.",
        wrong=lambda model, state: fill(model, _poured(model, state)),
    ),
    Mistake(
        "shapes-stretched",
        "A tensor of another shape is accepted where it can be broadcast: copy_ "
        "stretches it without a word. Compare the shapes and raise ValueError.",
        fits=broadcastable,
    ),
    Mistake(
        "shapes-compared-in-part",
        "A tensor of another shape is accepted where its first axis is right, and "
        "copy_ stretches the others: compare whole shapes, p.shape != tensor.shape.",
        fits=lambda p, tensor: p.shape[0] == tensor.shape[0],
    ),
    Mistake(
        "shapes-not-compared",
        "The shapes are not compared: copy_ raises RuntimeError when others have been "
        "copied already, and stretches a tensor that can be broadcast. Compare all "
        "shapes first and raise ValueError.",
        fits=broadcastable,
        refuse=raising("shape", RuntimeError),
        late={"shape"},
    ),
    Mistake(
        "shapes-compared-late",
        "The shapes are compared one by one while copying, so the model is changed "
        "although a ValueError is raised. Compare all of them before the first copy.",
        late={"shape"},
    ),
    Mistake(
        "unknown-found-late",
        "An unknown tensor is found when the others have been copied, so the model is "
        f"changed although a ValueError is raised. {_UNCHANGED}",
        late={"unknown"},
    ),
    Mistake(
        "shapes-passed-over",
        "A tensor of another shape is passed over, and its parameter keeps the numbers "
        "it started with: raise ValueError.",
        wrong=lambda model, state: fill(
            model,
            {
                name: tensor
                for name, tensor in state.items()
                if _fitting(model, name, tensor)
            },
            needs_all=False,
        ),
    ),
    Mistake(
        "runtime-error",
        "A tensor that is missing, unknown or of another shape raises RuntimeError; a "
        "ValueError is asked for.",
        refuse=RuntimeError,
    ),
    Mistake(
        "key-error",
        "A tensor that is missing, unknown or of another shape raises KeyError; a "
        "ValueError is asked for.",
        refuse=KeyError,
    ),
    Mistake(
        "missing-key-error",
        "A missing tensor raises KeyError, as state_dict[name] does; a ValueError is "
        "asked for: compare the two sets of names first.",
        refuse=raising("missing", KeyError),
    ),
    Mistake(
        "plain-exception",
        "A tensor that is missing, unknown or of another shape raises a plain "
        "Exception; a ValueError is asked for.",
        refuse=Exception,
    ),
    Mistake(
        "noticed-but-not-raised",
        "A state dict that doesn't fit is left alone without an error (a return, a "
        "print, a warning): raise ValueError.",
        wrong=_given_up,
    ),
    Mistake(
        "left-to-load_state_dict",
        "The check is left to load_state_dict, which raises RuntimeError when it has "
        "already copied what fits: a ValueError is asked for, and a model that is "
        f"unchanged. {_UNCHANGED}",
        wrong=_by_load_state_dict,
    ),
    Mistake(
        "partly-loaded",
        "A tensor that doesn't fit is found when others have been copied already, so "
        f"the model is changed although a ValueError is raised. {_UNCHANGED}",
        late=ALL,
    ),
    Mistake(
        "state-dict-emptied",
        "The state dict is changed: entries are taken out of it (pop, del). Whoever "
        "calls will miss them: work on a copy, dict(state_dict).",
        end=dict.clear,
    ),
    Mistake(
        "copied-with-gradients",
        "Parameters are leaves of the graph and can't be written to while gradients "
        "are tracked: put the copying under torch.no_grad().",
        wrong=_with_gradients,
    ),
]


def _fitting(model: Any, name: str, tensor: Tensor) -> bool:
    shapes = {published_name(name): p.shape for name, p in model.named_parameters()}
    return name not in shapes or tensor.shape == shapes[name]
