"""Properties: sentences that hold of a right answer, checked through the same probe."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from autograder import compare
from autograder.definition import Exercise, Mistake, Property
from autograder.trials import Runner, Trial, with_args
from autograder.verdict import Diagnosis


@dataclass(frozen=True)
class Held:
    """Whether a property held: `fault` is empty, or says what is wrong."""

    name: str
    fault: str
    mistake: str | None = None

    def diagnosis(self) -> Diagnosis:
        return Diagnosis(self.mistake, self.fault)


class TheirError(Exception):
    """The learner's code raised an exception where a property called it."""


def name_of(prop: Property) -> str:
    """A property's name: the first line of its docstring."""
    return inspect.getdoc(prop).splitlines()[0]  # type: ignore[union-attr]


def same(one: Any, other: Any, tol: float = 1e-4) -> bool:
    """Whether two results agree."""
    return compare.value_off(one, other, tol) <= 1


def caller(exercise: Exercise, runner: Runner, trial: Trial) -> Callable[..., Any]:
    """`theirs` as a property sees it: called by name, it gives the answer's result."""

    def theirs(**args: Any) -> Any:
        reply = runner.run(exercise.probe, with_args(trial, exercise, args).x)
        if "error" in reply:
            error = reply["error"]
            raise TheirError(f"{error.get('type')}: {error.get('message')}")
        found = list(compare.outputs(reply).values())
        return found[0] if "out" in reply else tuple(found)

    return theirs


def held(exercise: Exercise, runner: Runner, trial: Trial) -> list[Held]:
    """Check every property on the first case's inputs."""
    found = []
    for prop in exercise.properties:
        name = name_of(prop)
        args = {k: _copy(v) for k, v in trial.x["args"].items()}
        try:
            result = prop(caller(exercise, runner, trial), args)
        except TheirError as error:
            found.append(Held(name, f"Checking that {name}, your code raises {error}"))
            continue
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
            result = False  # the result hasn't the form the property works with
        if isinstance(result, Mistake):
            found.append(Held(name, result.message, result.id))
        elif isinstance(result, str):
            found.append(Held(name, result))
        else:
            fault = "" if result else f"It should hold that {name}; it does not."
            found.append(Held(name, fault))
    return found


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value
