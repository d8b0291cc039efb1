"""What comes before a model: lists of ids, told as text, and batches, told as facts.

Ids and pairs are spelled out, so that an `int` of any library and a pair in any
sequence count alike. A batch is drawn by a generator made here, of a given seed; draws
can't be compared number by number, so what comes back are facts, one a name: a text
that is the same for every answer that draws as asked. A chance is taken for what it
should be within limits that a right answer misses less than once in a billion runs.
"""

import copy
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.probes.basic import observe, plain
from autograder.probes.facts import form

#: How much of a long result is told.
LONGEST = 1000

#: From how many pieces on the starts are counted.
MANY = 5000

#: How far, in standard deviations, counts may be from what chance gives.
FAR = 6.2

PIECES = "pieces of the data"


def listed(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """A list of ids, of pairs of ids, or a text; called twice, on arguments of its own.

    What else happens is told in the same breath: another result the second time, an
    argument that is written into.
    """
    given = copy.deepcopy(x["args"])
    out = theirs(*given.values())
    kind, first = _kind(out), spelled(out)  # told now: it may be changed later
    told = first
    for name, value in x["args"].items():
        if given[name] != value:
            told += f", and the argument {name} is changed"
    again = spelled(theirs(*copy.deepcopy(x["args"]).values()))
    if first != again:
        told += f", and when called again {again}"
    return {"kind": kind, "out": told[:LONGEST]}


def _kind(out: Any) -> str:
    return "list" if isinstance(out, (list, tuple)) else type(out).__name__


def spelled(value: Any) -> str:
    """A value as it would be written: whole numbers and pairs alike in any type."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_pair(one) for one in value) + "]"
    if isinstance(value, Tensor):
        return f"tensor({value.tolist()})"
    return _number(value)


def _pair(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(_pair(one) for one in value) + ")"
    if isinstance(value, Tensor) and value.dim() == 1:
        return _pair(value.tolist())
    return _number(value)


def _number(value: Any) -> str:
    try:
        return str(plain(operator.index(value)))
    except TypeError:
        return repr(value)


def cutting(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Facts about a batch: its form, what stands in it, and where pieces start.

    No token occurs twice in the data, so that each piece shows where it starts.
    """
    data, batch_size, seq_len = x["args"].values()
    got: list[Any] = []

    def drawn(*given: Any) -> Any:
        try:
            got.append(theirs(*given, _seeded(x["seed"])))
        except (ValueError, AssertionError) as error:
            if len(data) <= seq_len + 1:  # whatever it says
                raise ValueError("this text is refused") from error
            raise
        return got[-1]

    seen = observe(drawn, x, {})
    reply = {k: v for k, v in seen.items() if k.split(".")[0] != "out"}
    if reply["kind"] != "2 values":
        return reply | {"out": seen.get("out")}
    if x["device"] == "meta":
        return seen
    facts = form(*got[0])
    wanted = torch.empty(batch_size, seq_len, dtype=data.dtype)
    if facts == form(wanted, wanted):
        inputs, targets = (_places(data, one) for one in got[0])
        facts["the inputs are"] = _pieces(inputs)
        facts["the targets are"] = _targets(inputs, targets)
        if facts["the inputs are"] == PIECES:
            facts |= _starts(inputs[:, 0], len(data) - seq_len)
    if len(data) - seq_len > 20:
        facts |= _source(theirs, x)
    return reply | {f"out.{name}": value for name, value in facts.items()}


def _seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _places(data: Tensor, tokens: Tensor) -> Tensor:
    """Where in the data each token stands; -1 where it stands nowhere."""
    found = tokens[..., None] == data  # (B, T, N)
    return torch.where(found.any(-1), found.int().argmax(-1), -1)


def _pieces(places: Tensor) -> str:
    if bool((places < 0).any()):
        return "not all tokens of the data"
    if bool((places.diff(dim=1) == 1).all()):
        return PIECES
    return "tokens of the data, but not neighbours"


def _targets(inputs: Tensor, targets: Tensor) -> str:
    """How the targets lie to the inputs, in tokens."""
    steps = targets - inputs
    if bool((targets < 0).any()):
        return "not all tokens of the data"
    if bool((steps == steps[0, 0]).all()):
        step = int(steps[0, 0])
        if step == 0:
            return "the inputs' own tokens"
        count = "one token" if abs(step) == 1 else f"{abs(step)} tokens"
        return f"{count} {'later' if step > 0 else 'earlier'}"
    if bool((steps[:, :-1] == 1).all()):
        return "one token later, but for the last"
    return "other tokens"


def _starts(starts: Tensor, count: int) -> dict[str, str]:
    """Where pieces start, and whether each start is as likely as any other."""
    if starts.numel() < MANY and count > 1:
        return {}
    facts = {
        "the first start is": str(int(starts.min())),
        "the last start is": str(int(starts.max())),
    }
    if count > 1:
        facts["each start is"] = _even(starts, count, "as likely as any other")
        steps = (starts[1:] - starts[:-1]) % count
        independent = "independent of the one before"
        facts["the next start is"] = _even(steps, count, independent)
    return facts


def _even(counted: Tensor, places: int, right: str) -> str:
    """Pearson's chi-squared, as a standard normal number (Wilson and Hilferty)."""
    counts = torch.bincount(counted, minlength=places)[:places].double()
    if int((counts > 0).sum()) == 1:
        return "the same every time"
    mean, free = counted.numel() / places, places - 1
    chi_squared = float(((counts - mean) ** 2 / mean).sum())
    spread = 2 / (9 * free)
    off = ((chi_squared / free) ** (1 / 3) - (1 - spread)) / spread**0.5
    if off < -FAR:
        return "too even for chance"
    return right if off < FAR else f"not {right}"


def _source(theirs: Callable[..., Any], x: dict[str, Any]) -> dict[str, str]:
    """Where the chance comes from: the generator that is given, and nothing else."""
    data, _, seq_len = x["args"].values()

    def run(generator: torch.Generator) -> list[Tensor]:
        return [one.clone() for one in theirs(data.clone(), 20, seq_len, generator)]

    def told(one: list[Tensor], other: list[Tensor]) -> str:
        same = all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
        return "the same batch" if same else "another batch"

    generator = _seeded(x["seed"])
    first, again = run(generator), run(generator)
    return {
        "a generator of the same seed gives": told(first, run(_seeded(x["seed"]))),
        "a generator of another seed gives": told(first, run(_seeded(x["seed"] + 1))),
        "a second call with the same generator gives": told(first, again),
    }
