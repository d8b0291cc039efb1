"""The published JSON Schema of results.json (draft 2020-12), from its file here."""

import json
from importlib.resources import files
from typing import Any

NAME = "results.schema.json"


def results_schema() -> dict[str, Any]:
    """The schema, as a dictionary for any validator."""
    schema = json.loads(files(__package__).joinpath(NAME).read_text("utf-8"))
    assert isinstance(schema, dict)
    return schema
