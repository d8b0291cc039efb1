"""JUnit's XML and Gradescope's JSON, read by parsers of theirs."""

import json
from xml.etree import ElementTree as xml

import pytest

from autograder.exports.gradescope import gradescope_json
from autograder.exports.junit import SAYS, junit_xml
from autograder.verdict import STATUSES
from tests.exports.classroom import a_class, submission, verdict


@pytest.fixture(scope="module")
def suites():
    root = xml.fromstring(junit_xml(a_class()))
    assert root.tag == "testsuites"
    return {suite.get("name"): suite for suite in root}


def test_a_suite_is_a_submission_and_a_case_an_exercise(suites):
    assert list(suites) == ["ada", "ben", "=2+3", "finn"]
    cases = suites["ben"].findall("testcase")
    assert [one.get("name") for one in cases] == ["project_qkv", "attention_scores"]
    assert cases[0].get("classname") == "ben.chapter_2"
    assert list(cases[0]) == []
    assert "√d_k.\nAt all." in cases[1].find("failure").text
    points = suites["ben"].find("properties/property[@name='points']")
    assert points.get("value") == "1"


def test_counts_are_those_of_the_cases(suites):
    root = xml.fromstring(junit_xml(a_class()))
    keys = ("tests", "failures", "errors", "skipped")
    assert [root.get(key) for key in keys] == ["8", "2", "2", "1"]
    assert [suites["=2+3"].get(key) for key in keys] == ["3", "1", "1", "1"]


def test_what_could_not_be_read_is_an_error_of_its_own(suites):
    error = suites["finn"].find("testcase/error")
    assert error.get("message") == "the notebook breaks off at line 46"


def test_every_status_is_told_to_ci():
    assert {*SAYS, "passed"} == set(STATUSES)


def test_nothing_in_a_submission_breaks_the_xml(suites):
    text = suites["=2+3"].find("testcase/error").text
    assert "<script>alert(1)</script> &" in text
    assert "\x1b" not in text


def test_gradescope_gets_score_tests_and_output():
    found = json.loads(gradescope_json(a_class()[1]))
    assert found["score"] == 1
    assert found["output"] == "1 of 3 points"
    assert [one["status"] for one in found["tests"]] == ["passed", "failed"]
    wrong = found["tests"][1]
    assert wrong["name"] == "attention_scores"
    assert (wrong["score"], wrong["max_score"]) == (0, 2)
    assert wrong["output"].startswith("not right yet\n\nThe scores are not divided by")
    assert wrong["output_format"] == "text"


def test_gradescope_is_told_why_there_are_no_tests():
    found = json.loads(gradescope_json(a_class()[3]))
    assert (found["score"], found["tests"]) == (0, [])
    assert found["output"] == "Not graded: the notebook breaks off at line 46"


def test_an_optional_exercise_is_a_test_only_where_it_was_tried():
    entry = submission(
        "ada",
        verdict("missing", "attention_entropy", 0.0),
        verdict("not_attempted"),
        verdict("failed", "pairwise_dots", 0.0),
    )
    names = [one["name"] for one in json.loads(gradescope_json(entry))["tests"]]
    assert names == ["attention_scores", "pairwise_dots"]


def test_notes_are_handed_on():
    assert "it is no notebook" in json.loads(gradescope_json(a_class()[2]))["output"]
