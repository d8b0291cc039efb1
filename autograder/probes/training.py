"""Give training what it works with: models, an optimiser, and pieces of a batch.

None of them travels: they are made here, of weights that are sent.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.probes.basic import observe
from autograder.probes.facts import kind_of


def loss(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """A loss, which may be float32 whatever the logits are."""

    def measured(logits: Tensor, *rest: Any) -> Any:
        out = theirs(logits, *rest)
        wide = isinstance(out, Tensor) and out.dtype == torch.float32
        return out.to(logits.dtype) if wide else out

    return observe(measured, x, {})


def rate(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """A number, which may be another library's float."""

    def asked(*given: Any) -> Any:
        try:
            out = theirs(*given)
        except ZeroDivisionError as error:
            error.args = ("division by zero",)  # ints and floats say it differently
            raise
        return float(out) if isinstance(out, float) else out

    return observe(asked, x, {})


class Tied(nn.Module):
    """A language model whose output layer is its embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.places = nn.Parameter(torch.zeros(1, 5, 4))
        self.mix = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 4))
        self.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight


class Named(nn.Module):
    """Parameters whose names say nothing of their shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.bias = nn.Parameter(torch.ones(3, 2))
        self.norm = nn.Linear(3, 3, bias=False)
        self.kernel = nn.Conv1d(3, 5, 2)
        self.scale = nn.Parameter(torch.tensor(1.0))


MODELS: dict[str, Callable[[], nn.Module]] = {
    "a linear layer": lambda: nn.Linear(3, 2),
    "two layers with a norm between": lambda: nn.Sequential(
        nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2)
    ),
    "an embedding that is also the output layer": Tied,
    "names that don't tell": Named,
}


def grouped(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Facts about groups: how many, which parameter decays, which is missing."""
    model = MODELS[x["args"]["model"]]()
    made = theirs(model, x["args"]["weight_decay"])
    if isinstance(made, Mapping) or not hasattr(made, "__iter__"):
        return {"kind": f"one {type(made).__name__}"}
    groups = list(made)
    if not all(isinstance(one, Mapping) for one in groups):
        return {"kind": "a list that holds no dictionaries"}
    facts = {"number of groups": str(len(groups))}
    facts |= _membership(model, [dict(one) for one in groups])
    told = {f"out.{name}": text for name, text in facts.items()}
    return {"kind": "a list of groups"} | told


def _membership(model: nn.Module, groups: list[dict[str, Any]]) -> dict[str, str]:
    names = {id(p): name for name, p in model.named_parameters()}
    decays: dict[str, list[str]] = {name: [] for name in names.values()}
    strange = spelled = 0
    for group in groups:
        decay = _decay(group)
        for p in _members(group):
            if id(p) in names:
                decays[names[id(p)]].append(decay)
            else:
                strange += 1
                spelled += isinstance(p, str)
    facts = {
        f"decay of {name}": " and again ".join(found) or "in no group"
        for name, found in decays.items()
    }
    foreign = {0: "none", 1: "one"}.get(strange, f"{strange}")
    if spelled:
        foreign = "texts"
    return facts | {"members that are none of the model's parameters": foreign}


def _members(group: dict[str, Any]) -> list[Any]:
    """The tensors of a group, given as an optimiser takes them."""
    members = group.get("params", [])
    if isinstance(members, Tensor):
        return [members]
    return [one[1] if isinstance(one, tuple) else one for one in members]


def _decay(group: dict[str, Any]) -> str:
    if "weight_decay" not in group:
        return "none given (AdamW takes 0.01)"
    return f"{float(group['weight_decay']):g}"


class Watched(nn.Module):
    """A small language model that notes in which mode it runs."""

    def __init__(self, weights: Tensor, vocab: int, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.head = nn.Linear(width, vocab)
        self.modes: set[bool] = set()
        sizes = [p.numel() for p in self.parameters()]
        parts: tuple[Tensor, ...] = torch.split(weights, sizes)
        with torch.no_grad():
            for p, values in zip(self.parameters(), parts, strict=True):
                p.copy_(values.view_as(p))

    def forward(self, tokens: Tensor) -> Tensor:
        self.modes.add(self.training)
        return torch.as_tensor(self.head(self.embed(tokens).tanh()))


def step(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """A step of plain SGD: the gradient it is taken with, and where it leads.

    The model holds gradients of an earlier step. What it holds afterwards is the
    learner's business.
    """
    args = x["args"]
    vocab, width = args["sizes"]
    model = Watched(args["weights"].clone(), vocab, width).train(args["training"])
    optimizer = torch.optim.SGD(model.parameters(), lr=args["lr"])
    for p in model.parameters():
        p.grad = torch.full_like(p, args["stale"])
    taken: list[Tensor] = []
    # Afterwards, since a closure may make the gradient; SGD leaves it as it was.
    optimizer.register_step_post_hook(lambda *_: taken.append(_gradient(model)))
    pieces = list(zip(args["inputs"].clone(), args["targets"].clone(), strict=True))
    out = theirs(model, optimizer, pieces, *args["max_norm"])
    single = isinstance(out, float) or (isinstance(out, Tensor) and out.numel() == 1)
    value = float(torch.as_tensor(out).detach()) if single else torch.nan
    nothing = torch.full_like(args["weights"], torch.nan)
    return {
        "kind": "a step",
        "out.steps of the optimiser": str(len(taken)),
        "out.mode during the step": _modes(model.modes),
        "out.mode after the step": _modes({model.training}),
        "out.returned is": "a float" if isinstance(out, float) else _what(out),
        "out.new weights": _led(model, args["weights"] - args["lr"] * sum(taken)),
        "out.gradient": torch.stack(taken or [nothing]).squeeze(0),
        "out.loss": torch.tensor(value, dtype=torch.float64),
    }


def _led(model: nn.Module, wanted: Tensor) -> str:
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    near = torch.allclose(weights, wanted, 1e-4, 1e-4)
    return "where the optimiser's steps lead" if near else "elsewhere"


def _gradient(model: nn.Module) -> Tensor:
    found = [
        torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()
    ]
    return torch.cat([one.detach().flatten() for one in found])


def _modes(modes: set[bool]) -> str:
    names = {True: "training", False: "evaluation"}
    return " and ".join(names[one] for one in sorted(modes)) or "never run"


def _what(out: Any) -> str:
    if isinstance(out, Tensor):
        return "a tensor on a graph" if out.requires_grad else "a tensor"
    return "None" if out is None else kind_of(out)
