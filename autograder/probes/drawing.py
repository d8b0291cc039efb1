"""Let an answer draw a MiniGPT's weights anew, and measure what came of it.

Draws can't be compared number by number, so what comes back are facts, one a text. A
standard deviation counts as the one asked for within 6 of its own standard errors,
which a right answer misses with probability 2e-9; all facts together fail a right
answer less than once in a million runs.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

#: Standard errors within which a measured number is as asked.
NEAR = 6.0

#: The fourth moment over the square of the second: 3 where numbers are normal, 1.8
#: where they are uniform. Of 4,096 normal numbers 0.08 is one standard error.
NORMAL = (2.3, 4.0)

#: Which weights are told of, and the endings of their names.
GROUPS = {
    "embed": ("embed.weight",),
    "pos_embed": ("pos_embed.weight",),
    "W_q, W_k and W_v": ("W_q.weight", "W_k.weight", "W_v.weight"),
    "W_o": ("W_o.weight",),
    "W_1": ("W_1.weight",),
    "W_2": ("W_2.weight",),
    "head": ("head.weight",),
}

TIED = ("embed.weight", "head.weight")


def drawing(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Facts about the weights of a model after `theirs(model)` or `theirs(model, std)`.

    The arguments: `n_layers`; `std`, or none for the default; `tied`, whether the
    head's weight is that of the embedding.
    """
    args: dict[str, Any] = x["args"]
    model = parts["MiniGPT"](300, 64, args["n_layers"], 4, 200)
    if args.get("tied"):
        model.head.weight = model.embed.weight
    _disturb(model, x["seed"])
    before = _parameters(model)
    old = {name: one.detach().clone() for name, one in before.items()}
    theirs(model, *([args["std"]] if "std" in args else []))
    after = _parameters(model)
    facts = _names(before, after)
    if facts["parameters of the model"] == "the same ones":
        now = {name: one.detach().double() for name, one in after.items()}
        facts |= _rest(old, now)
        if args.get("tied"):  # under which of its names a tied weight counts is free
            now = {n: one for n, one in now.items() if n not in TIED}
        facts |= _weights(old, now, args.get("std", 0.02), args["n_layers"])
    return {"kind": "facts"} | {f"out.{name}": fact for name, fact in facts.items()}


def _parameters(model: nn.Module) -> dict[str, nn.Parameter]:
    return dict(model.named_parameters(remove_duplicate=False))


def _disturb(model: nn.Module, seed: int) -> None:
    """Give biases and norms numbers, so that one sees who sets them."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.copy_(torch.rand(parameter.shape, generator=generator) + 1)


def _names(before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    same = before.keys() == after.keys() and all(
        before[name] is after[name] for name in before
    )
    return {
        "parameters of the model": "the same ones" if same else "replaced by new ones"
    }


def _weights(
    old: dict[str, Tensor], now: dict[str, Tensor], std: float, n_layers: int
) -> dict[str, str]:
    """Standard deviation, mean and form of what was drawn."""
    facts, means, forms = {}, set(), set()
    for group, ends in GROUPS.items():
        names = [name for name in now if _ends(name, ends)]
        if not names:
            continue
        drawn = [now[name] for name in names]
        if all(torch.equal(old[name], now[name].to(old[name])) for name in names):
            facts[f"standard deviation of {group}"] = "as it was, nothing drawn"
            continue
        facts[f"standard deviation of {group}"] = _spread(drawn, std, n_layers)
        numbers = torch.cat([one.flatten() for one in drawn])
        means.add(_mean(numbers, std))
        forms.add(_form(numbers))
    facts["mean of the weights"] = " or ".join(sorted(means)) or "not measured"
    facts["distribution of the weights"] = " or ".join(sorted(forms)) or "not measured"
    return facts


def _ends(name: str, ends: tuple[str, ...]) -> bool:
    return any(name == end or name.endswith(f".{end}") for end in ends)


def _spread(drawn: list[Tensor], std: float, n_layers: int) -> str:
    """The standard deviation in words: one of the usual ones, or as it is."""
    each = [float((one - one.mean()).pow(2).mean().sqrt()) for one in drawn]
    errors = [(2 * one.numel()) ** -0.5 for one in drawn]
    count = sum(one.numel() for one in drawn)
    whole = (
        sum(s**2 * d.numel() for s, d in zip(each, drawn, strict=True)) / count
    ) ** 0.5
    if whole == 0:
        return "0, all numbers are the same"
    if any(
        abs(one / whole - 1) > (NEAR + 1) * error
        for one, error in zip(each, errors, strict=True)
    ):
        return "another in each block or matrix"
    for words, usual in _usual(std, n_layers).items():
        if abs(whole / usual - 1) <= NEAR * (2 * count) ** -0.5:
            return words
    return f"{whole:.2g}, with std = {std:g}"


def _usual(std: float, n_layers: int) -> dict[str, float]:
    """Standard deviations that are asked for, or come about by a slip."""
    return {
        "std": std,
        "std / sqrt(2 n_layers)": std / (2 * n_layers) ** 0.5,
        "std / sqrt(n_layers)": std / n_layers**0.5,
        "std / (2 n_layers)": std / (2 * n_layers),
        "std / n_layers": std / n_layers,
        "std / sqrt(2)": std / 2**0.5,
        "std * sqrt(2 n_layers)": std * (2 * n_layers) ** 0.5,
        "std / sqrt(12), as for 6 layers": std / 12**0.5,
        "std / sqrt(24), as for 12 layers": std / 24**0.5,
        "0.02, whatever std is": 0.02,
        "0.02 / sqrt(2 n_layers), whatever std is": 0.02 / (2 * n_layers) ** 0.5,
        "std ** 2": std**2,
        "std ** 2 / sqrt(2 n_layers)": std**2 / (2 * n_layers) ** 0.5,
        "sqrt(std)": std**0.5,
        "sqrt(std) / sqrt(2 n_layers)": (std / (2 * n_layers)) ** 0.5,
        "std / sqrt(3)": std / 3**0.5,
        "std / sqrt(6 n_layers)": std / (6 * n_layers) ** 0.5,
        "1": 1.0,
    }


def _mean(numbers: Tensor, std: float) -> str:
    error = float(numbers.std()) / numbers.numel() ** 0.5
    if abs(float(numbers.mean())) <= NEAR * error:
        return "0"
    return "std" if abs(float(numbers.mean()) - std) <= NEAR * error else "not 0"


def _form(numbers: Tensor) -> str:
    centred = numbers - numbers.mean()
    square = float(centred.pow(2).mean())
    if square == 0:
        return "none, all numbers are the same"
    fourth = float(centred.pow(4).mean()) / square**2
    low, high = NORMAL
    return "normal" if low < fourth < high else "uniform" if fourth < low else "neither"


def _rest(old: dict[str, Tensor], now: dict[str, Tensor]) -> dict[str, str]:
    """What becomes of biases and norms, and whether matrices differ."""
    norms = {name for name in now if "norm" in name.split(".")[-2]}
    vectors = {
        "biases of the linear layers": [
            name for name in now if name.endswith(".bias") and name not in norms
        ],
        "weights of the norms": [n for n in norms if n.endswith(".weight")],
        "biases of the norms": [n for n in norms if n.endswith(".bias")],
    }
    facts = {
        what: " or ".join(sorted({_became(old[name], now[name]) for name in names}))
        for what, names in vectors.items()
    }
    twins = [
        now[f"blocks.0.attn.{name}.weight"] for name in ("W_q", "W_k", "W_v", "W_o")
    ]
    alike = any(
        bool(torch.allclose(one / one.std(), other / other.std()))
        for i, one in enumerate(twins)
        for other in twins[:i]
    )
    facts["matrices of one shape"] = "the same numbers" if alike else "different ones"
    return facts


def _became(old: Tensor, now: Tensor) -> str:
    if torch.equal(old.double(), now):
        return "left as they were"
    for number in (0, 1):
        if bool((now == number).all()):
            return f"set to {number}"
    return "set to another number" if bool((now == now[0]).all()) else "other numbers"
