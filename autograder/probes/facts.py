"""Facts that several probes find: each a name in words, and a text that tells it."""

from typing import Any

from torch import Tensor


def form(inputs: Any, targets: Any) -> dict[str, str]:
    """Shapes and dtypes, or what there is instead of a tensor."""
    facts = {}
    for name, one in {"inputs": inputs, "targets": targets}.items():
        tensor = isinstance(one, Tensor)
        shape = str(tuple(one.shape)) if tensor else f"a {type(one).__name__}"
        facts[f"shape of the {name}"] = shape
        facts[f"dtype of the {name}"] = str(one.dtype)[6:] if tensor else "none"
    return facts
