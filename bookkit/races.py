"""What the recorded runs of chapter 15's decoders say, and how surely."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, variance
from typing import Any

from bookkit.recorded import recorded


@dataclass(frozen=True)
class Finisher:
    """A decoder's runs, one from each seed."""

    name: str
    losses: list[float]  # on all unseen text, by seed, in nats a character
    parts: list[list[float]]  # the same, by seed, for each part of that text
    tokens: list[int]  # read until each check
    checks: list[list[float]]  # by seed, the loss at each check, on a part of the text
    parameters: int
    steps: int
    seconds: float  # that a step takes

    @property
    def loss(self) -> float:
        """The mean over the seeds."""
        return fmean(self.losses)

    @property
    def spread(self) -> float:
        """From the lowest loss of a seed to the highest."""
        return max(self.losses) - min(self.losses)


@dataclass(frozen=True)
class Gap:
    """How much higher one decoder's loss is than another's."""

    by_seed: list[float]
    error: float  # standard error of the mean: of seeds and of text

    @property
    def mean(self) -> float:
        return fmean(self.by_seed)

    @property
    def told_apart(self) -> bool:
        """Whether the mean is more than two standard errors from none."""
        return abs(self.mean) > 2 * self.error


def finishers(record: dict[str, Any] | None = None) -> dict[str, Finisher]:
    """The decoders whose runs are recorded, by name."""
    record = recorded("modern") if record is None else record
    found = {}
    for name, by_seed in record["runs"].items():
        runs = [by_seed[seed] for seed in sorted(by_seed, key=int)]
        plan = runs[0]["plan"]
        batch = plan["batch_size"] * plan["seq_len"]
        found[name] = Finisher(
            name,
            [run["loss"] for run in runs],
            [run["parts"] for run in runs],
            [step * batch for step, _ in runs[0]["checks"]],
            [[loss for _, loss in run["checks"]] for run in runs],
            runs[0]["parameters"],
            plan["steps"],
            record["seconds"].get(name, float("nan")),
        )
    return found


def seed_deviation(finishers: Iterable[Finisher]) -> float:
    """How much a decoder's loss varies from seed to seed: the standard deviation.

    Taken over all decoders together, since two or three seeds of one say little.
    Raises ValueError if none has two.
    """
    several = [one.losses for one in finishers if len(one.losses) > 1]
    if not several:
        raise ValueError("no decoder was trained from two seeds: give --seeds 2")
    squares = sum((len(some) - 1) * variance(some) for some in several)
    return sqrt(squares / sum(len(some) - 1 for some in several))


def gaps(
    over: Finisher, others: Iterable[Finisher], deviation: float
) -> dict[str, Gap]:
    """How much higher the others' losses are, compared seed by seed.

    Runs from one seed saw the same batches. The error has two parts: of seeds, from the
    `deviation` of one decoder's loss, and of text, from how much the gap differs
    between the parts of the text.
    """
    found = {}
    for one in others:
        pairs = list(zip(one.losses, over.losses, strict=False))
        n = len(pairs)
        theirs = [fmean(part) for part in zip(*one.parts[:n], strict=True)]
        ours = [fmean(part) for part in zip(*over.parts[:n], strict=True)]
        by_part = [a - b for a, b in zip(theirs, ours, strict=True)]
        error = sqrt(2 * deviation**2 / n + variance(by_part) / len(by_part))
        found[one.name] = Gap([a - b for a, b in pairs], error)
    return found
