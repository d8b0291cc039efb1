"""The submissions in examples/ get the verdicts that the README shows."""

import json
from pathlib import Path

import pytest

from autograder.classroom import grade

FOLDER = Path(__file__).parents[2] / "examples" / "submissions"


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """(submission, exercise) -> status and what was said."""
    out = tmp_path_factory.mktemp("results")
    grade([FOLDER], out)
    results = json.loads((out / "results.json").read_text("utf-8"))
    return {
        (entry["submission"], one["id"]): (
            one["status"],
            " ".join(found["message"] for found in one["diagnosis"]),
        )
        for entry in results["submissions"]
        for one in entry["exercises"]
    }


@pytest.mark.parametrize(
    ("name", "exercise", "status", "words"),
    [
        ("ada", "project_qkv", "passed", ""),
        ("ada", "attention_scores", "passed", ""),
        ("ada", "scaled_dot_product_attention", "passed", ""),
        ("ben", "attention_scores", "failed", "divided by d_k"),
        ("ben", "scaled_dot_product_attention", "failed", "runs over the queries"),
        ("chen", "project_qkv", "passed", ""),
        ("chen", "attention_scores", "passed", ""),
        ("chen", "scaled_dot_product_attention", "not_attempted", ""),
        ("dora", "attention_scores", "error", "scores = Q @ K.t()"),
        ("dora", "scaled_dot_product_attention", "error", "'(' was never closed"),
        ("eli", "weighted_sum", "passed", ""),
        ("eli", "stable_softmax", "failed", "overflow"),
        ("eli", "split_heads", "passed", ""),
        ("eli", "merge_heads", "failed", "mixes tokens"),
        ("eli", "MultiHeadAttention", "failed", "the mistake comes from there"),
    ],
)
def test_verdict(verdicts, name, exercise, status, words):
    assert verdicts[name, exercise][0] == status
    assert words in verdicts[name, exercise][1]
