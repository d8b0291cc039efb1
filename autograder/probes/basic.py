"""The two probes most exercises need: call a function, or build a class and call it.

`x` holds
  args      the arguments, by name, in the order of the contract's parameters
  keywords  the names among them that must be given by keyword
  make      (build) the constructor's arguments
  weights   (build) the parameters, by name
  keeps     (build) attributes that are asked for
  dtype     (build) the floating-point type that the module is given
  device    where it runs: "cpu", or "meta" to find tensors left behind
  grads     whether gradients are asked for
  twice     whether it is called a second time, which gradients need anyway
  seed      of the numbers that an output is weighed with for its gradient
  watch     families of built-ins to look for
  sizes     whether to note the largest tensor made

What comes back: `out` (or `out.0`, `out.1` … for several), `kind` of the result,
`changed` inputs, `again` (the second call gave the same), `grad.NAME`, `called`
families, `largest`, `parameters` (name to shape), `kept` attributes, `eps` of the
norms, `hidden` parameters, `error` or `grad_error`.
"""

import os
import traceback
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from autograder.probes.devices import OneDevice
from autograder.probes.facts import kind_of
from autograder.probes.watch import Watch
from autograder.wire import BITS_LIMIT

Probe = Callable[
    [Callable[..., Any], dict[str, Any], Mapping[str, Any]], dict[str, Any]
]

#: Frames of these are the grader's, torch's or Python's own, never the learner's line.
_OURS = (
    "/autograder/",
    "\\autograder\\",
    "site-packages",
    "/torch/",
    "<frozen",
    str(Path(os.__file__).parent),
)


def call(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Call a function."""
    return observe(theirs, x, {})


def build(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Build a class, give it the weights by name, and call it."""
    made = theirs(*x["make"].values())  # by position, as the contract orders them
    if not isinstance(made, nn.Module):
        kind = type(made).__name__
        return {"kind": kind, "parameters": None}
    weights: dict[str, Tensor] = x["weights"]
    has = named_parameters(made, weights)
    shapes = {name: list(p.shape) for name, p in has.items()}
    if any(shapes.get(name) != list(w.shape) for name, w in weights.items()):
        hidden = _hidden(made)
        return {"kind": "module", "parameters": shapes, "hidden": hidden}
    furnish(made, weights, x["dtype"], x["device"])
    if not x["args"]:
        return {"kind": "module", "parameters": shapes}
    has = named_parameters(made, weights)
    kept = {name: plain(getattr(made, name, None)) for name in x["keeps"]}
    seen = observe(made, x, {name: has[name] for name in weights})
    return seen | {"parameters": shapes, "kept": kept, "eps": _eps(made)}


def _eps(made: nn.Module) -> dict[str, float]:
    """The eps of each norm, by its place in the module, where it keeps one."""
    found = {}
    for place, one in made.named_modules():
        eps = getattr(one, "eps", None)
        if eps is None and isinstance(one, nn.RMSNorm) and one.weight is not None:
            eps = torch.finfo(one.weight.dtype).eps  # which it takes by itself
        if isinstance(eps, (int, float)):
            found[place] = float(eps)
    return found


def _hidden(made: nn.Module) -> dict[str, str]:
    """What keeps parameters from being found under a name: by that name, what it is."""
    found: dict[str, str] = {}
    first: dict[int, str] = {}
    known = set(made.modules())
    for name, parameter in made.named_parameters(remove_duplicate=False):
        other = first.setdefault(id(parameter), name)
        if other != name:
            found[name] = other
    for place, module in made.named_modules():
        for name, value in vars(module).items():
            if name.startswith("_"):
                continue
            path = f"{place}.{name}" if place else name
            inside = value.values() if isinstance(value, dict) else value
            listed = isinstance(value, (list, tuple, dict))
            if listed and any(
                isinstance(m, nn.Module) and m not in known for m in inside
            ):
                found[path] = f"a plain {type(value).__name__}"
            elif isinstance(value, Tensor) and value.is_floating_point():
                found[path] = "a plain tensor"
    return found


def named_parameters(made: nn.Module, asked: Collection[str]) -> dict[str, Tensor]:
    """A module's parameters, each once: by the name that is asked for, if it has more.

    A layer that is held in a list or a Sequential, too, has several names.
    """
    names: dict[Tensor, str] = {}
    for name, parameter in made.named_parameters(remove_duplicate=False):
        known = names.setdefault(parameter, name)
        if known not in asked and name in asked:
            names[parameter] = name
    return {name: parameter for parameter, name in names.items()}


def furnish(
    made: nn.Module, weights: Mapping[str, Tensor], dtype: str, device: str
) -> None:
    """Give a module these parameters, in this type, on this device.

    `to` and `load_state_dict` walk through the whole module, which takes longer than
    a small model's forward pass, so they are left out where nothing is to be done.
    """
    kind = getattr(torch, dtype)
    held = (*made.parameters(), *made.buffers())
    if any(one.is_floating_point() and one.dtype != kind for one in held):
        made.to(dtype=kind)
    has = dict(made.named_parameters(remove_duplicate=False))
    with torch.no_grad():
        for name, weight in weights.items():
            has[name].copy_(weight)
    if device != "cpu":
        made.to(device=device)


PROBES: dict[str, Probe] = {"call": call, "build": build}


def run(
    probe: str, theirs: Callable[..., Any], x: dict[str, Any], parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Run a probe by name; an exception of the learner's code comes back as data.

    It gets copies: in a notebook the inputs serve again when the cell is run again.
    """
    if "args" in x:
        args = {
            name: value.clone() if isinstance(value, Tensor) else value
            for name, value in x["args"].items()
        }
        x = {**x, "args": args}
    try:
        return PROBES[probe](theirs, x, parts)
    except (Exception, SystemExit) as error:
        return {"error": described(error)}


def observe(
    fn: Callable[..., Any], x: dict[str, Any], parameters: Mapping[str, Tensor]
) -> dict[str, Any]:
    """Call `fn`, twice or with gradients if that is asked, and note what happens."""
    given = {name: _copy(value, x["device"]) for name, value in x["args"].items()}
    strict = OneDevice() if x["device"] == "meta" else nullcontext()
    with strict, Watch(x["watch"], x["sizes"]) as watch:
        out = _called(fn, given, x)
    seen: dict[str, Any] = _flat(out)
    seen["changed"] = [
        name
        for name, value in x["args"].items()
        if isinstance(value, Tensor)
        and given[name].device.type != "meta"
        and not _identical(given[name], value)
    ]
    seen["called"] = sorted(watch.called)
    if x["sizes"]:
        seen["largest"] = watch.largest
    if x["grads"]:
        try:
            seen |= _gradients(fn, x, parameters, out)
        except Exception as error:
            seen["grad_error"] = described(error)
    elif x.get("twice"):
        seen["again"] = _again(fn, x, out)
    return seen


def _again(fn: Callable[..., Any], x: dict[str, Any], before: Any) -> bool:
    given = {name: _copy(value, x["device"]) for name, value in x["args"].items()}
    try:
        return _same(before, _called(fn, given, x))
    except Exception:
        return False


def _called(fn: Callable[..., Any], given: dict[str, Any], x: dict[str, Any]) -> Any:
    by_position = [v for name, v in given.items() if name not in x["keywords"]]
    by_name = {name: given[name] for name in x["keywords"]}
    return fn(*by_position, **by_name)


def _gradients(
    fn: Callable[..., Any],
    x: dict[str, Any],
    parameters: Mapping[str, Tensor],
    before: Any,
) -> dict[str, Any]:
    leaves = {
        name: _copy(value, x["device"]).requires_grad_()
        for name, value in x["args"].items()
        if isinstance(value, Tensor) and value.is_floating_point()
    }
    leaves = {name: leaf for name, leaf in leaves.items() if name not in _MASKS}
    # A copy of the leaf is given, so that code which writes into its input runs too.
    given = {
        name: leaves[name].clone() if name in leaves else _copy(value, x["device"])
        for name, value in x["args"].items()
    }
    out = _called(fn, given, x)
    seen: dict[str, Any] = {"again": _same(before, out)}
    sources = {**leaves, **parameters}
    generator = torch.Generator().manual_seed(x["seed"])
    total = torch.zeros((), dtype=torch.float64)
    for one in _tensors(out):
        weight = torch.randn(one.shape, generator=generator).to(one.device, one.dtype)
        if one.requires_grad:
            total = total + (one * weight).sum().double()
    if not total.requires_grad:
        return seen | {f"grad.{name}": None for name in sources}
    found = torch.autograd.grad(total, list(sources.values()), allow_unused=True)
    return seen | {f"grad.{name}": g for name, g in zip(sources, found, strict=True)}


#: A mask given as numbers is no quantity to differentiate by.
_MASKS = ("mask",)


def _copy(value: Any, device: str) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone().to(device)
    return value


def _identical(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and bool(torch.equal(a, b))


def _flat(out: Any) -> dict[str, Any]:
    """A result as named values: `out`, or `out.0`, `out.1` …, and its kind."""
    if isinstance(out, Tensor):
        return {"kind": "tensor", "out": out.detach()}
    if isinstance(out, (tuple, list)):
        flat = {
            f"out.{i}": one.detach() if isinstance(one, Tensor) else plain(one)
            for i, one in enumerate(out[:16])
        }
        return {"kind": f"{len(out)} values"} | flat
    one = _number(out)
    return {"kind": type(one).__name__, "out": plain(one)}


def _number(value: Any) -> Any:
    """NumPy's numbers, fractions and their like as Python's; the rest as it is."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def plain(value: Any) -> Any:
    """A value that can be sent: a number or text as it is, else what it is."""
    value = _number(value)
    if type(value) is int and value.bit_length() > BITS_LIMIT:
        digits = int(value.bit_length() * 0.30103) + 1  # log10(2)
        return f"an int of about {digits:,} digits"
    if value is None or type(value) in (bool, int, float, str):
        return value
    return kind_of(value)


def _values(out: Any) -> list[Any]:
    return list(out) if isinstance(out, (tuple, list)) else [out]


def _tensors(out: Any) -> list[Tensor]:
    return [one for one in _values(out) if isinstance(one, Tensor)]


def _same(before: Any, after: Any) -> bool:
    pairs = _values(before), _values(after)
    return len(pairs[0]) == len(pairs[1]) and all(map(_alike, *pairs))


def _alike(a: Any, b: Any) -> bool:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return repr(plain(a)) == repr(plain(b))  # NaN is like NaN
    return a.shape == b.shape and (
        a.is_meta or torch.allclose(a, b.detach().to(a), 1e-3, 1e-4, True)
    )


def described(error: BaseException) -> dict[str, Any]:
    """An exception as data: its class, what it says, and the learner's line."""
    line, number = "", 0
    for frame in traceback.extract_tb(error.__traceback__):
        if not any(mark in frame.filename for mark in _OURS):
            line, number = (frame.line or "").strip(), frame.lineno or 0
    return {
        "type": type(error).__name__[:80],
        "classes": [kind.__name__[:80] for kind in type(error).__mro__[:8]],
        "message": _said(error),
        "line": line[:200],
        "number": number,
    }


def _said(error: BaseException) -> str:
    """What an exception says; nothing where it can't, as its class may be theirs."""
    try:
        text = str(error)
    except (Exception, SystemExit):
        return ""
    return text.partition("\nException raised from ")[0][:400]  # torch's own frames
