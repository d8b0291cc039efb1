"""Facts that several probes find: each a name in words, and a text that tells it."""

from typing import Any

from torch import Tensor


def kind_of(value: Any) -> str:
    """What a value is: "a list", "an int64"."""
    name = type(value).__name__
    vowel = name.startswith(tuple("AEIOaeio")) or name == "ndarray"
    return f"{'an' if vowel else 'a'} {name}"


def form(inputs: Any, targets: Any) -> dict[str, str]:
    """Shapes and dtypes, or what there is instead of a tensor."""
    facts = {}
    for name, one in {"inputs": inputs, "targets": targets}.items():
        tensor = isinstance(one, Tensor)
        shape = str(tuple(one.shape)) if tensor else kind_of(one)
        facts[f"shape of the {name}"] = shape
        facts[f"dtype of the {name}"] = str(one.dtype)[6:] if tensor else "none"
    return facts
