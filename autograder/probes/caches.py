"""Give a cache, or what works with one, a text in chunks, and note every step.

A text of chunks, "4 1 1 2 3", says how many tokens are new in each call. All of it runs
without gradients, so that a cache may write into memory laid out before.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.probes.basic import observe
from autograder.probes.facts import kind_of
from autograder.probes.small_gpt import mini_gpt

Parts = Mapping[str, Any]
Facts = dict[str, str]


def remembered(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """What a cache gives back after every append, and how long it says it is."""
    facts: Facts = {}
    got: dict[str, list[Tensor]] = {"K": [], "V": []}

    def kept(K: Tensor, V: Tensor) -> Any:
        cache, other = theirs(), theirs()
        facts["len of a new cache"] = str(len(cache))
        seen, out = 0, None
        for new in pieces(torch.stack([K, V]), x["args"]["chunks"], axis=-2):
            seen += new.shape[-2]
            out = cache.append(*new)
            if not isinstance(out, (tuple, list)) or len(out) != 2:
                return out
            for name, one in zip("KV", out, strict=True):
                facts[f"all {name} after {_tokens(seen)}"] = _form(one)
                if isinstance(one, Tensor):
                    got[name].append(one.clone())
            facts[f"len of the cache after {_tokens(seen)}"] = str(len(cache))
        facts["len of another cache, which was given nothing"] = str(len(other))
        return out

    seen = _without_gradients(kept, x, "K", "V")
    if seen["kind"] != "2 values":
        return seen
    reply = _told(seen, facts)
    for name, results in got.items():
        if len({(*one.shape[:-2], one.shape[-1]) for one in results}) == 1:
            reply[f"out.{name}"] = torch.cat(results, dim=-2)
    return reply


def attended(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """What an attention layer gives for each chunk, a cache in hand."""
    facts: Facts = {}
    num_heads, chunks = x["args"]["num_heads"], x["args"]["chunks"]

    def whole(tokens: Tensor, weights: Tensor, biases: Tensor) -> Any:
        layer = parts["MultiHeadAttention"](tokens.shape[-1], num_heads)
        layer.to(device=tokens.device, dtype=tokens.dtype)
        for name, W, b in zip("qkvo", weights, biases, strict=True):
            linear = getattr(layer, f"W_{name}")
            linear.weight.copy_(W * W.shape[-1] ** -0.5)
            linear.bias.copy_(b * 0.5)
        cache = parts["KVCache"]()
        found = _chunk_by_chunk(
            lambda new: theirs(layer, new, cache), tokens, chunks, facts
        )
        facts["tokens in the cache at the end"] = str(len(cache))
        return found

    seen = _without_gradients(whole, x, "x", "weights", "biases")
    return _told(seen, facts) | {"out": seen.get("out")}


def continued(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """What a small MiniGPT gives for each chunk, a cache a block in hand."""
    facts: Facts = {}
    max_seq, chunks = x["args"]["max_seq"], x["args"]["chunks"]

    def whole(tokens: Tensor, weights: Tensor) -> Any:
        model = mini_gpt(parts, weights, max_seq).eval()
        caches = [parts["KVCache"]() for _ in model.blocks]
        found = _chunk_by_chunk(
            lambda new: theirs(model, new, caches), tokens, chunks, facts
        )
        lengths = " ".join(str(len(cache)) for cache in caches)
        facts["tokens in the caches at the end"] = lengths
        return found

    seen = _without_gradients(whole, x, "tokens", "weights")
    return _told(seen, facts) | {"out": seen.get("out")}


def pieces(x: Tensor, chunks: str, axis: int = 1) -> Iterator[Tensor]:
    """Pieces of x along an axis, as long as the chunks say and x lasts."""
    start, length = 0, x.shape[axis]
    for size in map(int, chunks.split()):
        size = min(size, length - start)
        if size:
            yield x.narrow(axis, start, size)
        start += size


def _chunk_by_chunk(
    call: Callable[[Tensor], Any], tokens: Tensor, chunks: str, facts: Facts
) -> Any:
    """All results side by side, or the first one that can't stand there."""
    found: list[Tensor] = []
    for new in pieces(tokens, chunks):
        out = call(new)
        if not isinstance(out, Tensor):
            return out
        facts[f"shape of the result for {_tokens(new.shape[1])}"] = _form(out)
        found.append(out)
        if out.dim() != 3 or out.shape[:2] != new.shape[:2]:
            return out
    return torch.cat(found, dim=1)


def _without_gradients(
    call: Callable[..., Any], x: dict[str, Any], *names: str
) -> dict[str, Any]:
    args = {name: x["args"][name] for name in names}
    with torch.no_grad():
        return observe(call, {**x, "args": args, "keywords": []}, {})


def _told(seen: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """A reply with facts in the place of results."""
    reply = {k: v for k, v in seen.items() if k.split(".")[0] != "out"}
    return reply | {f"out.{name}": fact for name, fact in facts.items()}


def _tokens(count: int) -> str:
    return "1 token" if count == 1 else f"{count} tokens"


def _form(value: Any) -> str:
    if isinstance(value, Tensor):
        return str(tuple(value.shape))
    return kind_of(value)
