"""The published schema of results.json describes what the grader really writes."""

import json

import jsonschema
import pytest

from autograder.classroom import grade
from autograder.exports.schema import results_schema
from autograder.grading import Options
from autograder.sandbox import Limits
from autograder.verdict import STATUSES
from tests.exports.classroom import a_class, submission, verdict
from tests.grading.handed_in import ATTENTION, PROJECT, SCORES, notebook, script

SCHEMA = results_schema()
UNREAD = "def attention_scores(Q, K):\n    return (Q"
STUB = "def attention_scores(Q, K):\n    raise NotImplementedError"
ANSWERS = {
    "passed": SCORES,
    "failed": SCORES.replace("** 0.5", ""),
    "error": "def attention_scores(Q, K):\n    raise ValueError('\\x1b[2J no')",
    "not_attempted": STUB,
    "timeout": "def attention_scores(Q, K):\n    while True: pass",
    "out_of_memory": "def attention_scores(Q, K):\n    return bytearray(1 << 40)",
    "crashed": "def attention_scores(Q, K):\n    __import__('os')._exit(1)",
    "forbidden": "from autograder.parts import attention_scores",
}


def closed(schema):
    """The schema for what is written today: a key that it doesn't name is wrong."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(one) for key, one in schema.items()}
    return found | (
        {"additionalProperties": False} if schema.get("type") == "object" else {}
    )


VALIDATOR = jsonschema.Draft202012Validator(closed(SCHEMA))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A class with every status in it, graded."""
    folder = tmp_path_factory.mktemp("class")
    for status, answer in ANSWERS.items():
        script(folder, status, answer)
    notebook(folder, "missing", "x = 1")
    (folder / "unreadable.ipynb").write_text('{"cells": [', "utf-8")
    both = folder / "both"
    both.mkdir()
    script(both, "first", PROJECT, ATTENTION)
    (both / "second.ipynb").write_text("<html>", "utf-8")
    out = tmp_path_factory.mktemp("results")
    options = Options(partial=True, key=b"x", limits=Limits(cpu=1))
    grade([folder], out, options=options)
    return json.loads((out / "results.json").read_text("utf-8"))


def test_what_the_grader_writes_is_what_the_schema_says(results):
    faults = [
        f"{error.json_path}: {error.message}"
        for error in VALIDATOR.iter_errors(results)
    ]
    assert faults == []


def test_the_class_held_every_status_an_error_and_notes(results):
    entries = results["submissions"]
    statuses = {one["status"] for entry in entries for one in entry["exercises"]}
    assert statuses == set(STATUSES)
    assert any("error" in entry for entry in entries)
    assert any("notes" in entry for entry in entries)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    statuses = SCHEMA["$defs"]["exercise"]["properties"]["status"]["enum"]
    assert statuses == list(STATUSES)


def as_results(entries, **also):
    head = {"version": 1, "isolation": [], "inputs": "fixed, seed 0"}
    return head | {"submissions": entries} | also


def test_results_made_by_hand_hold():
    VALIDATOR.validate(as_results(a_class()))


def changed(entry, **keys):
    return as_results([entry | keys])


@pytest.mark.parametrize(
    "wrong",
    [
        as_results([], version=2),
        as_results([], surprise=True),
        changed(submission("ada"), points=-1.0),
        changed(submission("ada"), surprise=True),
        changed(submission("ada\nben")),
        changed(submission("finn", error="cut off"), points=1.0),
        changed(submission("ada"), exercises=[{"id": "attention_scores"}]),
        as_results([submission("ada", verdict("perfect"))]),
        as_results([submission("ada", verdict("failed", message="\x07"))])
        | {"inputs": "guessed"},
    ],
)
def test_what_the_grader_never_writes_is_refused(wrong):
    assert list(VALIDATOR.iter_errors(wrong))


def test_a_wrong_answer_needs_a_diagnosis():
    entry = submission("ada", verdict("failed"))
    entry["exercises"][0]["diagnosis"] = []
    assert list(VALIDATOR.iter_errors(as_results([entry])))


def test_a_reader_of_today_reads_tomorrows_keys():
    reader = jsonschema.Draft202012Validator(SCHEMA)
    reader.validate(changed(submission("ada", verdict("passed")), newer="kept"))
