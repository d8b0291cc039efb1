"""A submission's result as Gradescope reads it: the results.json of its autograders."""

import json
from typing import Any

from autograder.exports.words import found, score
from autograder.render.words import SAID
from autograder.results import Entry


def gradescope_json(entry: Entry) -> str:
    """The document for one submission; everything in it is plain text."""
    document = {
        "score": entry["points"],
        "output": _output(entry),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_test(one) for one in entry["exercises"] if _shown(one)],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _output(entry: Entry) -> str:
    if "error" in entry:
        return f"Not graded: {entry['error']}"
    points = score(entry["points"], entry["max_points"])
    return "\n".join([points, *entry.get("notes", [])])


def _shown(exercise: dict[str, Any]) -> bool:
    """An optional exercise that nobody tried is no test."""
    untried = exercise["status"] in ("missing", "not_attempted")
    return bool(exercise["max_points"]) or not untried


def _test(exercise: dict[str, Any]) -> dict[str, Any]:
    status = exercise["status"]
    return {
        "name": exercise["id"],
        "score": exercise["points"],
        "max_score": exercise["max_points"],
        "status": "passed" if status == "passed" else "failed",
        "output": "\n\n".join(filter(None, [SAID[status][1], found(exercise)])),
        "output_format": "text",
    }
