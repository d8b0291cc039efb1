"""The trials of an exercise: which inputs are tried, and what is asked of each."""

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from autograder import probes
from autograder.definition import PLAIN, Exercise
from autograder.inputs import Case, Sizes, axes_of, draw
from autograder.wire import Packed

HALVES = (torch.float16, torch.bfloat16)

#: The probes that call an answer with a trial's arguments and nothing else.
CALLS = (*PLAIN, "rate", "amount", "fraction")

#: torch's generator is one for all threads: while one has it seeded, others wait.
_generator = threading.RLock()


class Runner(Protocol):
    """Something that runs a probe on an answer: here, or in a worker behind a pipe."""

    def run(self, probe: str, x: dict[str, Any]) -> dict[str, Any]: ...

    def replies(self, probe: str, xs: Packed) -> Iterator[dict[str, Any]]:
        """The replies to some requests, one after the other."""
        ...


@dataclass(frozen=True)
class Local:
    """Run probes on an answer in this process."""

    theirs: Callable[..., Any]
    parts: Mapping[str, Any]

    def run(self, probe: str, x: dict[str, Any]) -> dict[str, Any]:
        with _generator, torch.random.fork_rng(devices=[]):
            # torch.manual_seed looks for accelerators too, which takes milliseconds
            torch.default_generator.manual_seed(0)
            return probes.run(probe, self.theirs, x, self.parts)

    def replies(self, probe: str, xs: Packed) -> Iterator[dict[str, Any]]:
        for x in xs.value:
            yield self.run(probe, x)


@dataclass(frozen=True)
class Trial:
    """One call to try: the case, what is special about it, and the request."""

    case: str
    variant: str
    stage: str  # values, refusals, dtypes, device
    spec: Case
    sizes: Sizes
    dtype: torch.dtype
    x: dict[str, Any]

    @property
    def name(self) -> str:
        return ", ".join(filter(None, (self.case, self.variant)))


def seed_of(*words: object) -> int:
    """A seed drawn from words: the same words, the same seed, on every machine."""
    text = "\x1f".join(map(str, words))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def trials(exercise: Exercise, seed: int) -> Iterator[Trial]:
    """Everything that is tried, in the order in which it is judged."""
    for name, spec in exercise.inputs.items():
        yield trial(exercise, name, spec, Sizes(), seed)
    if exercise.owes("edges"):
        for name, spec in exercise.inputs.items():
            for variant, sizes in _edges(spec, exercise):
                yield trial(exercise, name, spec, sizes, seed, variant)
    for name, spec in exercise.refuses.items():
        yield trial(exercise, name, spec, Sizes(), seed, stage="refusals")
    for number, (name, spec) in enumerate(exercise.inputs.items()):
        x = trial(exercise, name, spec, Sizes(), seed).x
        if exercise.owes("dtypes") and _floats(x):
            # After the first case only what has the smallest range: a case of its own
            # may have a mask of its own, whose numbers don't fit.
            for dtype in (torch.float64, *HALVES) if number == 0 else HALVES[:1]:
                variant = str(dtype).removeprefix("torch.")
                yield trial(
                    exercise, name, spec, Sizes(), seed, variant, "dtypes", dtype
                )
        if exercise.owes("device") and _tensors(x):
            yield trial(exercise, name, spec, Sizes(), seed, "another device", "device")


def trial(
    exercise: Exercise,
    case: str,
    spec: Case,
    sizes: Sizes,
    seed: int,
    variant: str = "",
    stage: str = "values",
    dtype: torch.dtype = torch.float32,
) -> Trial:
    """One trial, its request drawn from the seed and the case's name."""
    spec = {**(exercise.make or {}), **spec}
    x = _request(exercise, spec, sizes, seed_of(seed, exercise.id, case), dtype)
    if stage == "device":
        x["device"] = "meta"
    # Gradients and built-ins are looked at where nothing else is special.
    plain = stage == "values" and not variant
    floats = exercise.owes("gradients") and _floats(x)
    calls = exercise.probe in CALLS and exercise.owes("repeatable") and not variant
    x["twice"] = stage == "values" and (floats or calls)
    x["grads"] = plain and floats
    x["watch"] = list(exercise.forbids) if plain else []
    return Trial(case, variant, stage, spec, sizes, dtype, x)


def with_args(trial: Trial, exercise: Exercise, args: Mapping[str, Any]) -> Trial:
    """The same trial with other arguments."""
    known = [name for name in exercise.parameters() if name in args]
    x = trial.x | _arguments(exercise, {name: args[name] for name in known})
    return Trial(
        trial.case,
        trial.variant,
        trial.stage,
        trial.spec,
        trial.sizes,
        trial.dtype,
        x,
    )


def _edges(spec: Case, exercise: Exercise) -> Iterator[tuple[str, Sizes]]:
    axes = axes_of({**(exercise.make or {}), **spec})
    sizes = Sizes()
    if "..." in axes:
        yield "no leading axes", sizes.but(lead=())
        yield "one leading axis", sizes.but(lead=("B",))
    if "..." in axes or "B" in axes:
        yield "a batch of one", sizes.but({"B": 1})
    short = [axis for axis in ("n", "T") if axis in axes]
    if short:
        yield "a sequence of one", sizes.but({axis: 1 for axis in short})


def _request(
    exercise: Exercise, spec: Case, sizes: Sizes, seed: int, dtype: torch.dtype
) -> dict[str, Any]:
    values = {
        name: value.to(dtype)
        if isinstance(value, Tensor) and value.is_floating_point()
        else value
        for name, value in draw(spec, sizes, seed).items()
    }
    x: dict[str, Any] = {
        "seed": seed % 2**31,
        "dtype": str(dtype).removeprefix("torch."),
        "device": "cpu",
        "sizes": exercise.largest is not None,
    }
    if exercise.make is not None:
        x["keeps"] = list(exercise.keeps)
        made = [name for name in exercise.constructor() if name in values]
        x["make"] = {name: _named(values.pop(name), sizes) for name in made}
        treat = TREATED[str(values.pop("treated", ""))]
        drawn = _weights(exercise, x["make"], seed, dtype)
        x["weights"] = {name: treat(name, weight) for name, weight in drawn.items()}
    known = [name for name in exercise.parameters() if name in values]
    return x | _arguments(exercise, {name: values[name] for name in known})


def _named(value: Any, sizes: Sizes) -> Any:
    """A constructor's argument; an axis's name stands for its size."""
    return sizes[value] if isinstance(value, str) and value in sizes else value


def _arguments(exercise: Exercise, values: dict[str, Any]) -> dict[str, Any]:
    """By position as far as they go without a gap, so that names are the learner's."""
    order = exercise.parameters()
    gap = next((i for i, name in enumerate(order) if name not in values), len(order))
    return {
        "args": values,
        "keywords": [name for name in values if order.index(name) > gap],
    }


def _small(name: str, weight: Tensor) -> Tensor:
    """Weights with which a post-norm block's eps shows, and which GELU it has: near -2
    its exact form and its tanh form differ by half a per cent."""
    if name.endswith("W_1.bias"):
        return torch.full_like(weight, -2.0)
    return weight * (1.0 if name.endswith("W_2.weight") else 0.05)


def _quiet(name: str, weight: Tensor) -> Tensor:
    """The same for pre-norm: little is added to a small stream before its last norm."""
    if name.endswith("W_1.bias"):
        return torch.full_like(weight, -2.0)
    return weight * (0.01 if "W_o" in name or name.endswith("W_2.bias") else 1.0)


def _whisper(name: str, weight: Tensor) -> Tensor:
    """A stream that stays small up to the final norm of a model."""
    if name.startswith("blocks."):
        return weight * (0.1 if "norm" in name else 0.02)
    return weight * (0.1 if "embed" in name else 1.0)


#: What a case of a class may ask for as `treated`: how each weight is made, by its
#: name, from what was drawn.
TREATED: Mapping[str, Callable[[str, Tensor], Tensor]] = {
    "": lambda name, weight: weight,
    "small, hidden numbers near -2": _small,
    "a quiet stream, hidden numbers near -2": _quiet,
    "a small stream": _whisper,
}


def _weights(
    exercise: Exercise, make: dict[str, Any], seed: int, dtype: torch.dtype
) -> dict[str, Tensor]:
    """Random parameters of unit gain: matrices N(0, 1/fan_in), vectors N(0, 1/4)."""
    generator = torch.Generator().manual_seed(seed + 1)
    try:
        with _generator, torch.random.fork_rng(devices=[]):
            module = exercise.reference(**make)
    except ValueError:
        return {}  # arguments that are to be refused
    return {
        name: (
            torch.randn(p.shape, generator=generator)
            * (p.shape[-1] ** -0.5 if p.dim() > 1 else 0.5)
        ).to(dtype)
        for name, p in module.named_parameters()
    }


def _tensors(x: Mapping[str, Any]) -> list[Tensor]:
    """The tensors that a request hands over, as arguments and as weights."""
    given = [*x["args"].values(), *x.get("weights", {}).values()]
    return [value for value in given if isinstance(value, Tensor)]


def _floats(x: Mapping[str, Any]) -> bool:
    return any(value.is_floating_point() for value in _tensors(x))
