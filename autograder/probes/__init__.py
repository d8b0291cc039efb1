"""What is done beside the learner's code: `probe(theirs, x, parts) -> dict`."""

from collections.abc import Callable, Mapping
from typing import Any

Probe = Callable[[Any, dict[str, Any], Mapping[str, Any]], dict[str, Any]]


def call(theirs: Any, x: dict[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """The result of calling it with `x["args"]`."""
    return {"out": theirs(**x["args"])}


PROBES: dict[str, Probe] = {"call": call}
