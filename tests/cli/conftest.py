"""A small published book, an empty folder to work in, and commands run in process."""

import json

import pytest
from click.testing import CliRunner

from autograder import chapters
from autograder.cli import cli

STUB = '''
@exercise
def attention_scores(Q, K):
    """Score."""
    raise NotImplementedError
'''.strip()
ANSWER = STUB.replace(
    "raise NotImplementedError", "return Q @ K.mT / K.shape[-1] ** 0.5"
)


def cell(source, outputs=()):
    kind = {"cell_type": "code", "execution_count": 7, "outputs": list(outputs)}
    return {**kind, "id": "a", "metadata": {}, "source": source.splitlines(True)}


def notebook(*sources, chapter=2):
    printed = {"output_type": "stream", "name": "stdout", "text": ["printed\n"]}
    return {
        "cells": [cell(source, [printed]) for source in sources],
        "metadata": {
            "autograder": {"chapter": chapter},
            "kernelspec": {"display_name": "Python 3", "name": "python3"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def write(path, *sources, chapter=2):
    path.write_text(json.dumps(notebook(*sources, chapter=chapter)), "utf-8")
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder that the commands run in."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Two chapters as published, in a clone of their own."""
    folder = tmp_path / "clone" / "chapters"
    folder.mkdir(parents=True)
    write(folder / "02_attention.ipynb", "from autograder import exercise", STUB)
    write(folder / "03_multihead.ipynb", "print('heads')", chapter=3)
    monkeypatch.setattr(chapters, "PUBLISHED", folder)
    return folder


@pytest.fixture
def run(here):
    """Run a command line in process: `run("hint attention_scores 2")`."""

    def run(line, code=0):
        result = CliRunner().invoke(
            cli, line.split() if isinstance(line, str) else line
        )
        assert result.exit_code == code, result.output
        return result

    return run
