"""Long runs, recorded: a chapter draws what takes longer than its minute.

`python -m benchmarks.curves` and `python -m benchmarks.modern` make the runs again.
"""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_suffix("")


def recorded(name: str) -> dict[str, Any]:
    """What was recorded under a name.

    Raises FileNotFoundError for a name under which nothing was.
    """
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found
