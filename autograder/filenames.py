"""Names of files for whatever a submission is called."""

import re
from collections.abc import Iterable


def safe_names(
    names: Iterable[str], ending: str, taken: Iterable[str] = ()
) -> list[str]:
    """A file's name for each: safe on every system, and none twice nor taken."""
    found: list[str] = []
    gone = {one.lower() for one in taken}
    for one in names:
        base = re.sub(r"[^\w.()-]+", "_", one).encode()[:120].decode(errors="ignore")
        base = base.strip(".") or "_"
        name, number = f"{base}{ending}", 2
        while name.lower() in gone:
            name, number = f"{base}_{number}{ending}", number + 1
        gone.add(name.lower())
        found.append(name)
    return found
