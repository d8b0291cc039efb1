"""Filter logits; draw tokens from some whose chances are known, and say what came.

Draws can't be compared number by number, so what comes back are facts: texts that are
the same for every answer that draws as asked. A share is told to the nearest 10%. Where
the right shares are whole tenths, a right answer that draws 4,000 times leaves one with
a probability below 3e-10, all of them together below 1e-8.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.probes.basic import observe

#: How often a row of logits is drawn from.
DRAWS = 4000

#: Rows in which chance shows: that two calls agree in all of them happens never.
ROWS = 40


def filtering(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """A call; the gradients are those of the probabilities that come of the logits.

    A logit of -inf has none that counts, however it came about.
    """
    seen = observe(theirs, x | {"grads": False}, {})
    if x["grads"] and seen["kind"] == "tensor" and seen["out"].is_floating_point():
        given = observe(lambda *args, **more: theirs(*args, **more).softmax(-1), x, {})
        keys = ("grad", "again")
        seen |= {k: v for k, v in given.items() if k.startswith(keys)}
    return seen


def sampling(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Facts about drawn tokens. The argument `facts` says which:

    "shares"   how often each token comes, when the one row of logits is drawn from
    "tokens"   which token each row gives, where there is no chance
    "chance"   where the chance comes from, when many rows are drawn from
    """
    options = dict(x["args"])
    kind, dtype = options.pop("facts"), options.pop("dtype", x["dtype"])
    logits = options.pop("logits").to(getattr(torch, dtype))
    rows = {"shares": DRAWS, "tokens": 1, "chance": ROWS}[kind]
    given = logits.repeat(rows, 1)
    before = given.clone()
    got: list[Any] = []

    def drawn(logits: Tensor) -> Any:
        got.append(theirs(logits, **options))
        return got[-1]

    args = {"args": {"logits": logits}, "keywords": []}
    seen = observe(lambda logits: drawn(given), x | args, {})
    reply = {k: v for k, v in seen.items() if k.split(".")[0] != "out"}
    if not isinstance(got[0], Tensor):
        return reply | {"out": seen.get("out")}
    facts = _form(got[0])
    if facts == {"shape of the result": f"({len(given)}, 1)", **_INTEGERS}:
        tokens = got[0].flatten()
        if kind == "tokens":
            facts["tokens taken"] = " ".join(map(str, tokens.tolist()))
        if kind == "shares":
            facts |= _shares(tokens, logits.shape[-1])
        if kind == "chance":
            facts |= _chance(lambda **more: theirs(given.clone(), **options, **more))
    facts["logits given"] = "as before" if torch.equal(given, before) else "changed"
    return reply | {f"out.{name}": fact for name, fact in facts.items()}


_INTEGERS = {"kind of the numbers": "integers"}


def _form(out: Tensor) -> dict[str, str]:
    kind = str(out.dtype).removeprefix("torch.")
    if out.is_floating_point() and bool((out == out.floor()).all()):
        kind += ", though without a fraction"
    elif not (out.is_floating_point() or out.is_complex() or out.dtype == torch.bool):
        kind = "integers"
    return {
        "shape of the result": str(tuple(out.shape)),
        "kind of the numbers": kind,
    }


def _shares(tokens: Tensor, vocab: int) -> dict[str, str]:
    """How often each token is drawn, to the nearest tenth."""
    facts = {}
    for token in range(vocab):
        share = float((tokens == token).double().mean())
        facts[f"share of token {token} among {DRAWS:,} draws"] = (
            "never drawn"
            if share == 0
            else "hardly ever drawn"
            if share < 0.05
            else f"about {10 * round(10 * share)}%"
        )
    return facts


def seeded(seed: int) -> torch.Generator:
    """A generator whose draws are none of those that the inputs came from."""
    return torch.Generator().manual_seed(seed ^ 0x51F3A7)


def _chance(draw: Callable[..., Tensor]) -> dict[str, str]:
    """Whether draws follow the generator given, and differ without one."""
    state = torch.get_rng_state()
    generator = seeded(1)
    first, again = draw(generator=generator), draw(generator=generator)
    same, other = draw(generator=seeded(1)), draw(generator=seeded(2))
    alone = torch.equal(state, torch.get_rng_state())
    return {
        "a generator of the same seed gives": told(first, same),
        "a generator of another seed gives": told(first, other),
        "a second call with the same generator gives": told(first, again),
        "torch's own random state, with a generator": "left alone"
        if alone
        else "changed",
        "a second call without a generator gives": told(draw(), draw()),
    }


def told(one: Tensor, other: Tensor) -> str:
    """Whether two draws of tokens are the same."""
    return "the same tokens" if torch.equal(one, other) else "other tokens"
