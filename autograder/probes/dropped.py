"""Measure where a block drops numbers in training, and how many.

Dropout can't be compared number by number. One sublayer is silenced, its last
projection set to 0, so what the other one adds to the stream is known from eval mode;
in train mode each number of it is dropped or scaled. What is found are facts, one a
text; a right answer misses one with probability below 1e-8.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.probes.models import model, named

#: Each sublayer by name, and the projection that silences the other one.
SILENCED = {"attention": "ff.W_2", "feed-forward network": "attn.W_o"}

#: Standard deviations within which a share of dropped numbers is as by chance.
NEAR = 6.0

#: Smaller numbers don't tell dropped from kept.
SMALL = 0.1


def block(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Results in eval mode, or the facts that the argument `facts` names."""
    if x["args"].get("facts") != "dropout":
        return model(theirs, x, parts)
    made: list[Any] = []

    def kept(*given: Any) -> Any:
        made.append(theirs(*given))
        return made[0]

    seen = model(kept, x | {"args": {}, "device": "cpu", "dtype": "float32"}, parts)
    if not isinstance(seen.get("parameters"), Mapping):
        return seen
    shapes = {name: list(one.shape) for name, one in x["weights"].items()}
    if any(seen["parameters"].get(name) != shape for name, shape in shapes.items()):
        return seen
    facts = {"attribute `drop`": "there" if hasattr(made[0], "drop") else "not there"}
    for sublayer, other in SILENCED.items():
        facts |= _dropped(made[0], sublayer, other, x)
    return seen | named(facts)


@torch.no_grad()
def _dropped(
    made: nn.Module, sublayer: str, other: str, x: dict[str, Any]
) -> dict[str, str]:
    """Where one sublayer's branch drops numbers, and which share."""
    weights = {name: one.float() for name, one in x["weights"].items()}
    made.load_state_dict(weights, strict=False)
    for name, parameter in made.named_parameters(remove_duplicate=False):
        if name.startswith(other):
            parameter.zero_()
    generator = torch.Generator().manual_seed(x["seed"])
    width = weights["norm1.weight"].shape[0]
    stream = torch.randn(4, 25, width, generator=generator)
    right = made.eval()(stream.clone())
    drawn = made.train()(stream.clone())
    again = made(stream.clone())
    where, share = _place(stream, right - stream, drawn - stream)
    facts = {
        f"dropout in the {sublayer}": where,
        f"share dropped of the {sublayer}'s result": share,
    }
    if where == ON_RESULT:
        anew = "another" if not torch.equal(drawn, again) else "the same"
        facts[f"a second call drops in the {sublayer}"] = f"{anew} choice of numbers"
    return facts


ON_RESULT = "on its result"


def _place(x: Tensor, branch: Tensor, seen: Tensor) -> tuple[str, str]:
    """Where numbers are dropped: on the branch, on the sum, elsewhere or nowhere."""
    if _equal(seen, branch):
        return "nowhere", "none"
    found = _scaled(branch, seen)
    if found is not None:
        return ON_RESULT, _share(*found)
    found = _scaled(x + branch, x + seen)
    if found is not None:
        return "on the sum, the stream itself", _share(*found)
    stream, added = x + seen, branch.abs() > SMALL
    if _holes(stream, x.abs() > SMALL):
        return "elsewhere too, on the stream itself", "not measured"
    if _holes(seen, added):
        return f"{ON_RESULT} and elsewhere too", "not measured"
    return "elsewhere", "not measured"


def _holes(numbers: Tensor, where: Tensor) -> bool:
    """Whether numbers are 0 more often than by chance."""
    return float((numbers.abs() < 1e-4)[where].double().mean()) > 0.02


def _equal(one: Tensor, other: Tensor) -> bool:
    return bool(torch.allclose(one, other, 1e-3, 1e-4))


def _scaled(before: Tensor, after: Tensor) -> tuple[float, float, int] | None:
    """If every number is dropped or scaled alike: share dropped, scale, and count."""
    large = before.abs() > SMALL
    before, after = before[large], after[large]
    kept = after.abs() > 1e-4
    count = int(kept.numel())
    if count == 0 or bool(kept.all()) or not bool(kept.any()):
        return None
    ratios = after[kept] / before[kept]
    scale = float(ratios.median())
    if not _equal(ratios, torch.full_like(ratios, scale)):
        return None
    return 1 - float(kept.double().mean()), scale, count


def _share(share: float, scale: float, count: int) -> str:
    """The rate of a dropout, which its scale 1 / (1 - p) tells exactly."""
    rate = 1 - 1 / scale if scale else 0.0
    spread = (abs(rate * (1 - rate)) / count) ** 0.5
    if abs(share - rate) <= NEAR * spread:
        return f"{100 * rate:.3g}%"
    if abs(scale - 1) < 1e-3:
        return "some, and what is left is not scaled up by 1 / (1 - p)"
    return f"some, and what is left is multiplied by {scale:.3g}"
