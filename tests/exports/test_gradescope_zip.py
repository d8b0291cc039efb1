"""The autograder for Gradescope, unpacked and run as Gradescope would."""

import io
import json
import os
import subprocess
import sys
import zipfile

import pytest

from autograder.exports.assignment import chapters
from autograder.exports.errors import ExportError
from autograder.exports.gradescope_zip import ROOT, gradescope_zip
from tests.grading.handed_in import PROJECT, SCORES, script


@pytest.fixture(scope="module")
def packed():
    return gradescope_zip([2], key=b"secret")


@pytest.fixture(scope="module")
def home(packed, tmp_path_factory):
    """What Gradescope calls /autograder, with a submission of two files in it."""
    home = tmp_path_factory.mktemp("autograder")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(home / "source")
    (home / "results").mkdir()
    (home / "submission").mkdir()
    script(home / "submission", "one", PROJECT)
    script(home / "submission", "two", SCORES.replace("** 0.5", ""))
    subprocess.run(
        ["bash", home / "source" / "run_autograder"],
        cwd=home,
        env=os.environ
        | {
            "GRADESCOPE_HOME": str(home),
            "PYTHON": sys.executable,
            "PYTHONPATH": str(home / "source" / "project"),
        },
        check=True,
    )
    return home


def test_the_result_is_where_gradescope_looks(home):
    found = json.loads((home / "results" / "results.json").read_text("utf-8"))
    tests = {one["name"]: one for one in found["tests"]}
    assert found["score"] == 1
    assert tests["project_qkv"]["status"] == "passed"
    assert "divided by d_k" in tests["attention_scores"]["output"]


def test_the_whole_chapter_is_the_assignment(home):
    found = json.loads((home / "results" / "results.json").read_text("utf-8"))
    possible = sum(one["max_score"] for one in found["tests"])
    assert possible == chapters([2]).possible([])
    missing = next(
        one for one in found["tests"] if one["name"] == "scaled_dot_product_attention"
    )
    assert (missing["score"], missing["output"]) == (0, "not in the submission")


def test_the_scripts_stand_at_the_top_and_can_be_run(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for name in ("setup.sh", "run_autograder"):
            entry = archive.getinfo(name)
            assert entry.external_attr >> 16 == 0o755
            text = archive.read(name)
            assert text.startswith(b"#!/usr/bin/env bash\n")
            done = subprocess.run(["bash", "-n"], input=text, capture_output=True)
            assert done.returncode == 0, done.stderr


def test_it_holds_the_grader_and_nothing_that_isnt_needed(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        names = archive.namelist()
    assert "project/autograder/exports/results.schema.json" in names
    assert "project/solutions/attention.py" in names
    tops = {name.split("/")[1] for name in names if name.startswith("project/")}
    assert tops == {
        *("pyproject.toml", "README.md", "LICENSE", "requirements.lock"),
        *("autograder", "solutions"),
    }


def test_the_same_project_is_the_same_zip(packed):
    assert gradescope_zip([2], key=b"secret") == packed


def test_without_a_key_there_is_none():
    with zipfile.ZipFile(io.BytesIO(gradescope_zip())) as archive:
        assert "key" not in archive.namelist()
        run = archive.read("run_autograder").decode()
    assert "--key" not in run
    assert "--chapter" not in run


def test_outside_a_clone_it_says_what_is_needed(tmp_path):
    with pytest.raises(ExportError, match="run this from a clone of the project"):
        gradescope_zip(root=tmp_path)


def test_the_project_is_all_that_is_installed():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert '"autograder.exports" = ["*.json"]' in text
