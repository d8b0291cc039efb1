"""Numbers and lists as a sentence has them, and what a diagnosis blames."""

import re
from collections.abc import Iterable

BLAME = "from-an-earlier-part"


def num(value: float) -> str:
    """`3`, `2.5`, `1,204`."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}".rstrip("0")


def times(count: float, noun: str) -> str:
    """`1 point`, `2.5 points`."""
    return f"{num(count)} {noun}{'' if count == 1 else 's'}"


def percent(part: int, whole: int) -> str:
    """A share that never claims all or none where it is not."""
    if not whole:
        return "–"
    share = round(100 * part / whole)
    if share == 0 and part:
        return "<1 %"
    return ">99 %" if share == 100 and part < whole else f"{share} %"


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def blamed(diagnosis: Iterable[tuple[str | None, str]]) -> list[str]:
    """The earlier exercises from which a mistake comes, where the grader says so."""
    for mistake, message in diagnosis:
        if mistake == BLAME:
            return list(dict.fromkeys(re.findall(r"`(\w+)`", message)))
    return []
