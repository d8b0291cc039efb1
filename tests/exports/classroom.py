"""Results as `grade` writes them, made without grading."""

from autograder.report import Result
from autograder.verdict import Check, Diagnosis, Verdict

HOSTILE = "=HYPERLINK('evil') <script>alert(1)</script> & \u001b[2J ]]>"


def verdict(status, name="attention_scores", points=2.0, message="It is wrong."):
    tried = status not in ("missing", "not_attempted")
    found = (Diagnosis(None, message),) if tried and status != "passed" else ()
    return Verdict(
        name,
        2,
        status,
        points if status == "passed" else 0.0,
        points,
        (Check("more keys than queries", status == "passed"),) if tried else (),
        found,
    )


def submission(name, *verdicts, **also):
    return Result(name, verdicts, **also).as_json()


def a_class():
    """Right, wrong, hostile, unreadable."""
    return [
        submission("ada", verdict("passed", "project_qkv", 1.0), verdict("passed")),
        submission(
            "ben",
            verdict("passed", "project_qkv", 1.0),
            verdict("failed", message="The scores are not divided by √d_k.\nAt all."),
        ),
        submission(
            "=2+3",
            verdict("forbidden", "project_qkv", 1.0, HOSTILE),
            verdict("timeout", message=HOSTILE),
            verdict("missing", "attention_entropy", 0.0),
            notes=("notes.txt: it is no notebook",),
        ),
        submission("finn", error="the notebook breaks off at line 46"),
    ]
