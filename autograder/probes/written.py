"""Let an answer write on with a model, and note how it treats the model."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.probes.basic import observe
from autograder.probes.sampling import seeded, told
from autograder.probes.small_gpt import mini_gpt

Parts = Mapping[str, Any]


class Watched(nn.Module):
    """A language model that looks at every token of its text and knows their places.

    It has a dropout, and notes in which mode it runs and whether gradients are kept.
    """

    def __init__(self, weights: Tensor, max_seq: int) -> None:
        super().__init__()
        self.max_seq = max_seq
        self.embed = nn.Embedding(*weights.shape[1:])
        self.places = nn.Embedding(max_seq, weights.shape[2])
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(weights.shape[2], weights.shape[1], bias=False)
        with torch.no_grad():
            self.embed.weight.copy_(weights[0])
            self.places.weight.copy_(weights[1, :max_seq])
            self.head.weight.copy_(weights[2])
        self.modes: set[str] = set()
        self.kept: set[bool] = set()

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[1]
        if T > self.max_seq:
            raise ValueError(f"T = {T} tokens, more than max_seq = {self.max_seq}")
        self.modes.add(mode_of(self))
        each = self.embed(tokens) + self.places(torch.arange(T))
        counts = torch.arange(1, T + 1)[:, None]
        stream = self.drop(torch.sin(each + 2 * each.cumsum(1) / counts))
        logits: Tensor = self.head(stream)
        self.kept.add(logits.requires_grad)
        return logits


def mode_of(model: nn.Module) -> str:
    """The mode of a model and all that it is made of."""
    modes = {module.training for module in model.modules()}
    return "mixed" if len(modes) > 1 else "train" if modes.pop() else "eval"


def written(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """The tokens and facts about the model; or, asked for chance, about the draws."""
    options = dict(x["args"])
    tokens, weights = options.pop("tokens"), options.pop("weights")
    max_new_tokens, max_seq = options.pop("max_new_tokens"), options.pop("max_seq")
    mode, chance = options.pop("mode"), options.pop("chance", False)
    model = Watched(weights, max_seq).train(mode == "train")
    if chance:
        many = tokens.repeat(12, 1)
        with torch.no_grad():
            return {"kind": "tensor"} | _chance(
                lambda **more: theirs(model, many, max_new_tokens, **more), model
            )
    with torch.enable_grad():  # and back to how it was, whatever the answer does
        seen = observe(
            lambda given: theirs(model, given, max_new_tokens, **options),
            {**x, "args": {"tokens": tokens}, "keywords": []},
            {},
        )
        after = torch.is_grad_enabled()
    modes = " and ".join(sorted(model.modes)) or "eval"
    return seen | {
        "out.mode of the model while it writes": modes,
        "out.mode of the model afterwards": mode_of(model),
        "out.gradients while it writes": "kept" if True in model.kept else "not kept",
        "out.gradients afterwards": "kept, as before" if after else "switched off",
    }


def _chance(draw: Callable[..., Tensor], model: Watched) -> dict[str, str]:
    """Whether draws follow the options given."""
    warm = {"temperature": 5.0}
    one = draw(**warm, generator=seeded(1))
    same, other = draw(**warm, generator=seeded(1)), draw(**warm, generator=seeded(2))
    few, plain = draw(**warm, top_k=2), draw()
    return {
        "out.a generator of the same seed gives": told(one, same),
        "out.a generator of another seed gives": told(one, other),
        "out.a second call without options gives": told(plain, draw()),
        "out.rows of one prompt go on": "differently"
        if len({tuple(row) for row in one.tolist()}) > len(one) // 12
        else "all alike",
        "out.with top_k = 2 the tokens come from": _ranked(few, model),
        "out.the most probable token is drawn": _how_often(plain, model),
    }


@torch.no_grad()
def _how_often(tokens: Tensor, model: Watched) -> str:
    """The most probable token's share of the draws, within 6 standard deviations."""
    model.eval()
    hits = asked = variance = 0.0
    for t in range(tokens.shape[1] - NEW, tokens.shape[1]):
        shares = model(tokens[:, max(0, t - model.max_seq) : t])[:, -1].softmax(-1)
        most, best = shares.max(-1)
        hits += float((tokens[:, t] == best).sum())
        asked += float(most.sum())
        variance += float((most * (1 - most)).sum())
    if abs(hits - asked) <= 6 * variance**0.5:
        return "as often as by its probability"
    return "too rarely" if hits < asked else "too often"


@torch.no_grad()
def _ranked(tokens: Tensor, model: Watched) -> str:
    """From how far down the model's order of tokens the new ones come."""
    model.eval()
    start = tokens.shape[1] - NEW
    worst = 0
    for t in range(start, tokens.shape[1]):
        logits = model(tokens[:, max(0, t - model.max_seq) : t])[:, -1]
        chosen = logits.gather(1, tokens[:, t : t + 1])
        worst = max(worst, int((logits > chosen).sum(1).max()))
    return ("the largest alone", "the 2 largest")[worst] if worst < 2 else "others too"


#: How many tokens are written where the draws are looked at.
NEW = 5


def written_with_cache(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """The tokens, how the model is treated, and how many tokens pass through it.

    It runs in float64: which of two nearly equal logits is larger must not hang on the
    order in which numbers are added.
    """
    tokens, weights, max_new_tokens, max_seq, mode = x["args"].values()
    model = mini_gpt(parts, weights.double(), max_seq).train(mode == "train")
    passed: dict[nn.Module, int] = {}
    modes: set[str] = set()

    def note(module: nn.Module, args: tuple[Any, ...]) -> None:
        wide = isinstance(module, nn.Linear)
        rows = args[0].numel() // (args[0].shape[-1] if wide else 1)
        passed[module] = passed.get(module, 0) + rows
        modes.add(mode_of(model))

    for module in [model.embed, *_linear(model.blocks)]:
        module.register_forward_pre_hook(note)
    with torch.no_grad():
        seen = observe(
            lambda given: theirs(model, given, max_new_tokens),
            {**x, "args": {"tokens": tokens}, "keywords": []},
            {},
        )
    B, T = tokens.shape
    most = max(passed.values(), default=0) // B
    once = most <= T + max_new_tokens  # the last new token may pass, and needn't
    return seen | {
        "out.mode of the model while it writes": " and ".join(sorted(modes)) or "eval",
        "out.mode of the model afterwards": mode_of(model),
        "out.tokens that pass through a layer": "each once"
        if once
        else f"{most} for a text of {T + max_new_tokens}",
    }


def _linear(blocks: nn.Module) -> list[nn.Module]:
    return [one for one in blocks.modules() if isinstance(one, nn.Linear)]
