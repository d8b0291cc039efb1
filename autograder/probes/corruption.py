"""Corrupt a text with draws from a generator made here, and measure what came of it.

Draws can't be compared number by number, so what comes back are facts, one a name: a
text that is the same for every answer that draws as asked. A share counts as the one
asked for within 6 standard deviations of it, which a right answer misses with
probability 2e-9; all facts together fail a right answer less than once in ten million
runs.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.probes.basic import observe
from autograder.probes.facts import form

#: What a share may be in a way that isn't chance: told apart by whichever is nearest.
SHARES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.18, 0.2, 0.4, 0.5, 0.72, 0.8, 0.9, 1.0)

#: A text from which shares are measured; a shorter one shows what holds exactly.
LONG = 1000

#: A vocabulary in which each token is counted.
FEW = 10

#: Standard deviations from the share asked for within which a share is as asked.
NEAR = 6.0

#: Where the variance of counts lies if tokens are chosen by themselves: of this many
#: counts or more it lies outside with probability 3e-9.
EVEN = (0.45, 1.7)
MANY = 200


def corruption(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Facts about inputs and targets: their form, the shares, what hangs together."""
    text, mask_id, vocab_size, probability = x["args"].values()
    got: list[Any] = []

    def drawn(*given: Any) -> Any:
        got.append(theirs(*given, _seeded(x["seed"])))
        return got[-1]

    seen = observe(drawn, x, {})
    reply = {k: v for k, v in seen.items() if k.split(".")[0] != "out"}
    if reply["kind"] != "2 values":
        return reply | {"out": seen.get("out")}
    inputs, targets = got[0]
    facts = form(inputs, targets)
    if facts == form(text, text):
        facts |= _exact(text, inputs, targets, probability)
        if text.numel() >= LONG:
            facts |= _shares(text, inputs, targets, mask_id, vocab_size, probability)
        if text.numel() >= LONG and 0 < probability < 1:
            facts |= _chance(theirs, x)
    return reply | {f"out.{name}": value for name, value in facts.items()}


def _seeded(seed: int) -> torch.Generator:
    """A generator whose draws are none of those that the text came from."""
    return torch.Generator().manual_seed(seed ^ 0x2B5A3C1)


def _exact(
    text: Tensor, inputs: Tensor, targets: Tensor, probability: float
) -> dict[str, str]:
    """What holds without exception, in the shortest text too."""
    chosen = targets != -100
    others = sorted(set(targets[targets != text].tolist()))
    facts = {}
    if text.numel() >= LONG or probability in (0, 1):
        # How many different ones a short text has is a matter of chance.
        few = text.numel() < LONG and probability == 1 and others
        facts["targets that are not the tokens"] = "some" if few else _listed(others)
    changed = int((inputs != text)[~chosen].sum())
    facts["share of the other tokens that change"] = _share(
        changed, int((~chosen).sum()), 0.0
    )
    if probability in (0, 1):
        facts["share of tokens chosen"] = _share(
            int(chosen.sum()), text.numel(), float(probability)
        )
    return facts


def _listed(numbers: list[int]) -> str:
    if not numbers:
        return "none"
    return str(numbers[0]) if len(numbers) == 1 else "several numbers"


def _share(
    count: int,
    total: int,
    asked: float,
    also: tuple[float, ...] = (),
    wider: float = 1.0,
) -> str:
    """A share in words: the one asked for, another of the usual ones, or as it is.

    `wider` is how much wider than by chance such shares spread.
    """
    if total == 0:
        return "none there"
    share = count / total
    usual = min((*also, *SHARES), key=lambda one: abs(one - share))
    for one in (asked, usual):
        deviation = (one * (1 - one) / total) ** 0.5
        if abs(share - one) <= NEAR * deviation * wider:
            return _percent(one)
    return _percent(round(share, 2))


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _shares(
    text: Tensor,
    inputs: Tensor,
    targets: Tensor,
    mask_id: int,
    vocab_size: int,
    probability: float,
) -> dict[str, str]:
    """How many tokens are chosen, what becomes of them, and whether it is chance."""
    chosen = targets != -100
    apart, wider = _apart(chosen) if 0 < probability < 1 else ({}, 1.0)
    rates = (1 - probability, 0.15, 0.9 * probability, 0.8 * probability)
    facts = {
        "share of tokens chosen": _share(
            int(chosen.sum()), text.numel(), probability, rates, wider
        )
    }
    if vocab_size <= FEW:
        drawn = _drawn(text[chosen], inputs[chosen], mask_id, vocab_size)
        return facts | apart | drawn
    together, wider = _fates_apart(chosen, inputs == mask_id)
    if probability * text.numel() >= 10_000:
        facts |= _fates(text[chosen], inputs[chosen], mask_id, vocab_size, wider)
    return facts | apart | together


def _fates(
    before: Tensor, after: Tensor, mask_id: int, vocab_size: int, wider: float
) -> dict[str, str]:
    """What chosen tokens become."""
    total = before.numel()
    lucky = 0.1 / vocab_size  # a random token is any, also the one it was
    masked = after == mask_id
    stay = (after == before) & ~masked
    random = after[~masked & ~stay]
    inside = bool(((random >= 0) & (random < vocab_size)).all())
    counts = {
        "become mask_id": (masked, 0.8 + lucky),
        "stay": (stay, 0.1 + lucky),
        "become another token": (~masked & ~stay, 0.1 - lucky),
    }
    facts = {
        f"share of the chosen that {fate}": _share(
            int(which.sum()), total, asked, (1 / 9, 8 / 9, 0.24, 0.7, 0.73, 0.03), wider
        )
        for fate, (which, asked) in counts.items()
    }
    facts["random tokens"] = "in the vocabulary" if inside else "outside the vocabulary"
    facts["different random tokens"] = _variety(random, vocab_size)
    return facts


def _variety(random: Tensor, vocab_size: int) -> str:
    """How many different ones there are among random tokens."""
    count = random.numel()
    if count == 0:
        return "none there"
    kinds = len(set(random.tolist()))
    by_chance = vocab_size * (1 - (1 - 1 / vocab_size) ** count)
    return "one" if kinds == 1 else "few" if kinds < by_chance / 2 else "many"


def _drawn(
    before: Tensor, after: Tensor, mask_id: int, vocab_size: int
) -> dict[str, str]:
    """Which tokens a text of a single one draws at random.

    mask_id and the text's own token are drawn if there are more of them than the 80%
    and 10% that become mask_id or stay anyway.
    """
    if before.numel() == 0:
        return {"tokens drawn at random": "none there"}
    own = int(before[0])
    shares = {i: float((after == i).double().mean()) for i in range(vocab_size)}
    lucky = 0.1 / vocab_size
    least = {mask_id: 0.8 + lucky / 2, own: 0.1 + lucky / 2}
    drawn = [i for i in shares if shares[i] > least.get(i, lucky / 10)]
    others = [count for i, count in shares.items() if i not in least]
    spread = (2 * lucky / after.numel()) ** 0.5
    odd = max(others) - min(others) > (NEAR + 1) * spread
    listed = ", ".join(map(str, drawn)) if len(drawn) > 1 else "one at most"
    beyond = bool(((after < 0) | (after >= vocab_size)).any())
    return {
        "tokens drawn at random": listed + (", and others" if beyond else ""),
        "how often each is drawn": "unevenly"
        if odd and len(drawn) == vocab_size
        else "evenly",
    }


def _apart(chosen: Tensor) -> tuple[dict[str, str], float]:
    """Whether each token is chosen by itself, as far as counts show."""
    rate = float(chosen.double().mean())
    facts, ratios = {}, []
    for axis, name in ((1, "row"), (0, "column")):
        counts = chosen.sum(axis).double()
        if counts.numel() < MANY:
            continue
        chance = chosen.shape[axis] * rate * (1 - rate)
        ratios.append(float(counts.var()) / chance if chance else 1.0)
        facts[f"number of chosen tokens from {name} to {name}"] = _spread(ratios[-1])
    both = float((chosen[:, 1:] & chosen[:, :-1]).sum())
    pairs = chosen[:, 1:].numel()
    spread = (pairs * rate**2 * (1 - rate) * (1 + 3 * rate)) ** 0.5
    off = both - pairs * rate**2
    often = "too often" if off > 0 else "too rarely"
    facts["neighbours of chosen tokens are chosen"] = (
        often if abs(off) > NEAR * spread else "as often as others"
    )
    return facts, _wider(max(ratios, default=1.0))


def _spread(ratio: float) -> str:
    low, high = EVEN
    if ratio == 0:
        return "always the same"
    if ratio < low:
        return "too even for chance"
    return "too uneven for chance" if ratio > high else "as by chance"


def _wider(ratio: float) -> float:
    """How much wider shares spread where counts are too uneven for chance."""
    return ratio**0.5 if ratio > EVEN[1] else 1.0


def _fates_apart(chosen: Tensor, masked: Tensor) -> tuple[dict[str, str], float]:
    """Whether what becomes of a chosen token hangs on where it stands."""
    name = "share of mask_id among the chosen from row to row"
    count, hidden = chosen.sum(1).double(), (masked & chosen).sum(1).double()
    rate = float(hidden.sum() / count.sum().clamp(min=1))
    if rate in (0.0, 1.0):
        return {name: "as by chance"}, 1.0
    off = (hidden - rate * count) ** 2 / (rate * (1 - rate) * count).clamp(min=1e-9)
    ratio = float(off.mean())
    return {name: _spread(ratio)}, _wider(ratio)


def _chance(theirs: Callable[..., Any], x: dict[str, Any]) -> dict[str, str]:
    """Where the chance comes from: the generator given, and every token by itself."""
    text, *rest = x["args"].values()

    def run(generator: torch.Generator, rows: int = 4, length: int = 40) -> list[Any]:
        given = text[:rows, :length].clone()
        return [one.clone() for one in theirs(given, *rest, generator)]

    def told(one: list[Any], other: list[Any]) -> str:
        same = all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
        return "the same result" if same else "another result"

    generator = _seeded(x["seed"])
    first, again = run(generator), run(generator)
    counts = {int((run(generator, 1, 10)[1] != -100).sum()) for _ in range(24)}
    return {
        "a generator of the same seed gives": told(first, run(_seeded(x["seed"]))),
        "a generator of another seed gives": told(first, run(_seeded(x["seed"] + 1))),
        "a second call with the same generator gives": told(first, again),
        "number of chosen tokens from call to call": "varies"
        if len(counts) > 1
        else "always the same",
    }
