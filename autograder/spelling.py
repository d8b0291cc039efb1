"""What somebody may have meant who mistyped a name."""

import difflib
from collections.abc import Iterable


def like(name: str, known: Iterable[str]) -> str:
    """`did you mean '…'?` for a mistyped name; empty where nothing is like it."""
    by_lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"did you mean {by_lower[near[0]]!r}?" if near else ""
