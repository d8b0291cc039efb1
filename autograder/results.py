"""`results.json`, read again and looked over before anything is counted."""

import json
from pathlib import Path
from typing import Any

from autograder.verdict import STATUSES

Entry = dict[str, Any]


class ResultsError(ValueError):
    """There are no results to show; the message is one line and says what to do."""


def results_file(folder: Path) -> Path:
    """The file of results in a folder that `grade` wrote to; itself where it is one."""
    return folder if folder.is_file() else folder / "results.json"


def read(folder: Path) -> list[Entry]:
    """The submissions of a folder's `results.json`, or of that file, in their order.

    Raises ResultsError where it isn't there, can't be read or isn't of that form.
    """
    path = results_file(folder)
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise ResultsError(
            f"there is no {path}; grade into that folder first: "
            f"autograder grade PATH… --out {folder}"
        ) from None
    except OSError as error:
        raise ResultsError(f"can't read {path} ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise ResultsError(
            f"{path} isn't whole; grade into that folder again"
        ) from None
    if not isinstance(found, dict) or "version" not in found:
        raise ResultsError(f"{path} isn't what 'autograder grade' writes; name its DIR")
    version = found["version"]
    if version != 1:
        raise ResultsError(
            f"{path} is of version {version!r}, this grader reads 1; grade again"
        )
    try:
        return [_entry(one) for one in found["submissions"]]
    except (KeyError, TypeError, ValueError):
        raise ResultsError(
            f"{path} isn't of the form that 'autograder grade' writes; grade again"
        ) from None


def _entry(one: Entry) -> Entry:
    """The entry; KeyError, TypeError or ValueError if it lacks what is counted on."""
    _of(str, one["submission"], one.get("error") or "")
    _of((int, float), one["points"], one["max_points"])
    for exercise in one["exercises"]:
        _of(str, exercise["id"])
        _of(int, exercise["chapter"])
        if exercise["status"] not in STATUSES:
            raise ValueError(exercise["status"])
        for found in exercise["diagnosis"]:
            _of(str, found["mistake"] or "", found["message"])
    return one


def _of(kind: type | tuple[type, ...], *values: object) -> None:
    if not all(isinstance(value, kind) for value in values):
        raise TypeError(values)
