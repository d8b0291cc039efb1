"""What an exercise is: one declaration that the whole grader works from.

Only what is special to the exercise is said here. What every exercise owes the engine
checks by itself: the right shape and dtype, any float dtype, batches and sequences of
one, gradients, untouched inputs, the same result twice, the inputs' device.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import nn

from autograder.inputs import Case

#: What an exercise may opt out of, by name, where its contract says otherwise.
OWED = ("edges", "dtypes", "device", "gradients", "unchanged", "repeatable")

#: Probes that call the answer with a case's arguments, as the contract names them.
PLAIN = ("call", "build", "any_width")


@dataclass(frozen=True)
class Chapter:
    """A chapter's number and title, as the command line lists it."""

    number: int
    title: str
    notebook: str


@dataclass(frozen=True, init=False)
class Mistake:
    """A slip people make, as a switch of the twin, or as a wrong answer of its own.

    Switches say what the twin does differently; rows with different switches merge, so
    two mistakes at once are recognised too. `wrong` is for what no switch can say.
    """

    id: str
    message: str
    wrong: Callable[..., Any] | None
    switches: Mapping[str, Any]

    def __init__(
        self,
        id: str,
        message: str,
        *,
        wrong: Callable[..., Any] | None = None,
        **switches: Any,
    ) -> None:
        if (wrong is None) == (not switches):
            raise ValueError(f"mistake {id!r}: give either switches or wrong=")
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "message", message)
        object.__setattr__(self, "wrong", wrong)
        object.__setattr__(self, "switches", switches)


#: A sentence that holds of a right answer: `property(theirs, x)` returns True, False,
#: or a text or `Mistake` that says what is wrong. Its docstring names the check.
Property = Callable[[Callable[..., Any], dict[str, Any]], "bool | str | Mistake"]


@dataclass(frozen=True, eq=False)
class Exercise:
    """An exercise, declared. See CONTRIBUTING.md for one written from start to end.

    reference   the function or class in `solutions/`: name, signature and answers
    inputs      named cases, each a draw for every argument (`autograder.inputs`)
    make        for a class: the constructor's arguments, an axis's name for its size;
                a case or a refusal may override them by name, or add optional ones
    refuses     named cases for which a ValueError is owed
    twin        the reference once more, with a switch wherever people slip; for a class
                it takes the module first: `twin(module, x, *, switch=right)`
    mistakes    rows of switches, or wrong answers of their own
    keeps       for a class: attributes that the contract names, such as num_heads
    uses        earlier exercises whose parts the learner builds on
    forbids     built-ins that would be the answer: names from `autograder.probes.watch`
    largest     the most elements a tensor may have, given the axes' sizes
    returns     the names of the results, where there are several
    words       what an axis is called here, one and several: {"n": ("row", "rows")}
    without     what this exercise does not owe, out of OWED
    broken      for a repair: the code that its cell gives, wrong as it stands; left as
                it is, it counts as not attempted
    probe       from `autograder.probes`; by default a call, for a class build and call
    tolerance   relative to the largest expected value, in float32
    """

    reference: Callable[..., Any]
    inputs: Mapping[str, Case]
    hints: Sequence[str]
    points: float = 1.0
    minutes: int = 5
    difficulty: int = 1
    make: Mapping[str, Any] | None = None
    refuses: Mapping[str, Case] = field(default_factory=dict)
    properties: Sequence[Property] = ()
    twin: Callable[..., Any] | None = None
    mistakes: Sequence[Mistake] = ()
    keeps: Sequence[str] = ()
    uses: Sequence[Callable[..., Any]] = ()
    forbids: Sequence[str] = ()
    largest: Callable[[Mapping[str, int]], int] | None = None
    returns: Sequence[str] = ()
    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    without: Sequence[str] = ()
    tolerance: float = 1e-5
    probe: str = ""
    optional: bool = False
    broken: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        unknown = set(self.without) - set(OWED)
        if unknown:
            raise ValueError(f"{self.id}: without={sorted(unknown)}, not among {OWED}")
        if not self.probe:
            object.__setattr__(self, "probe", "build" if self.is_class else "call")

    @property
    def id(self) -> str:
        return str(self.reference.__name__)

    @property
    def is_class(self) -> bool:
        return inspect.isclass(self.reference)

    @property
    def is_module(self) -> bool:
        return inspect.isclass(self.reference) and issubclass(self.reference, nn.Module)

    @property
    def parts(self) -> dict[str, Callable[..., Any]]:
        """The references of the exercises that a probe may build on, by name."""
        return {reference.__name__: reference for reference in self.uses}

    def owes(self, what: str) -> bool:
        return what not in self.without

    def parameters(self) -> list[str]:
        """The names of a call's arguments, or of what a probe of its own takes."""
        if self.probe not in PLAIN:
            return list(dict.fromkeys(k for case in self.inputs.values() for k in case))
        called = self.reference
        if inspect.isclass(called) and issubclass(called, nn.Module):
            called = called.forward
        return [name for name in inspect.signature(called).parameters if name != "self"]

    def constructor(self) -> list[str]:
        """The names of a class's arguments, in their order."""
        return list(inspect.signature(self.reference).parameters)

    def defaults(self) -> dict[str, Any]:
        """The optional arguments and their defaults."""
        arguments = inspect.signature(self.reference).parameters.values()
        return {
            one.name: one.default for one in arguments if one.default is not one.empty
        }

    def answer(self, mistakes: Sequence[Mistake] = ()) -> Callable[..., Any]:
        """What a learner who made these mistakes, and no other, would hand in."""
        if not mistakes:
            return self.reference
        if mistakes[0].wrong is not None:
            return mistakes[0].wrong
        if self.twin is None:
            raise ValueError(f"{self.id}: {mistakes[0].id} has switches, but no twin")
        switches = {
            key: value for one in mistakes for key, value in one.switches.items()
        }
        if not self.is_module:
            return partial(self.twin, **switches)
        return partial(_with_forward, self.reference, self.twin, switches)


def _with_forward(
    reference: Callable[..., nn.Module],
    twin: Callable[..., Any],
    switches: Mapping[str, Any],
    *args: Any,
    **kwargs: Any,
) -> nn.Module:
    """The reference module, its forward replaced by the twin's."""
    module = reference(*args, **kwargs)
    module.forward = partial(twin, module, **switches)
    return module
