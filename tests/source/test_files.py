"""What is read of a file, and the one line that says why it can't be."""

import json
import os
import socket

import pytest

from autograder.source import SourceFile, UnreadableError, files, read_file


def notebook(*cells, **metadata):
    """A notebook of code cells, as data."""
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": metadata,
        "cells": [{"cell_type": "code", "source": cell} for cell in cells],
    }


def written(tmp_path, content, name="ada.ipynb"):
    path = tmp_path / name
    if not isinstance(content, bytes):
        text = content if isinstance(content, str) else json.dumps(content)
        content = text.encode()
    path.write_bytes(content)
    return path


def test_notebook_gives_its_code_cells_and_chapter(tmp_path):
    data = notebook("x = 1", ["y = 2\n", "z = 3"], autograder={"chapter": 2})
    prose = {"cell_type": "markdown", "source": ["# f = 1"], "metadata": {}}
    data["cells"].insert(1, prose)
    data["cells"].insert(0, {"cell_type": "raw", "source": "raw"})
    path = written(tmp_path, data)
    assert read_file(path) == SourceFile(path, ("x = 1", "y = 2\nz = 3"), 2)
    assert read_file(str(path)).chapter == 2


def test_notebook_of_format_3_is_read(tmp_path):
    cells = [
        {"cell_type": "heading", "source": "Title"},
        {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "language": "python"},
    ]
    data = {"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    assert read_file(written(tmp_path, data)).cells == ("x = 1\ny = 2",)


@pytest.mark.parametrize(
    ("metadata", "chapter"),
    [
        ({}, None),
        ({"autograder": {"chapter": 0}}, 0),
        ({"autograder": {"chapter": "2"}}, None),
        ({"autograder": {"chapter": True}}, None),
        ({"autograder": {"chapter": 2.0}}, None),
        ({"autograder": [2]}, None),
        ({"autograder": None}, None),
        (
            {"kernelspec": {"language": "python"}, "language_info": {"name": "python"}},
            None,
        ),
        ({"kernelspec": 3, "language_info": []}, None),
    ],
)
def test_chapter_is_a_number_in_the_metadata_or_none(tmp_path, metadata, chapter):
    assert read_file(written(tmp_path, notebook("x", **metadata))).chapter == chapter


def test_metadata_may_be_anything(tmp_path):
    data = notebook("x = 1")
    for metadata in (None, [], 3, "text"):
        data["metadata"] = metadata
        assert read_file(written(tmp_path, data)).cells == ("x = 1",)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\n", "x = 1\n"),
        (b"x = 1\r\ny = 2\rz = 3", "x = 1\ny = 2\nz = 3"),
        (b"\xef\xbb\xbfx = 1", "x = 1"),
        (b"# coding: latin-1\nx = '\xfc'", "# coding: latin-1\nx = 'ü'"),
        ("x = 'ü'".encode(), "x = 'ü'"),
        (b"# %%\nx = 1\n# %% [markdown]\n", "# %%\nx = 1\n# %% [markdown]\n"),
        (b"def f(:", "def f(:"),
    ],
)
def test_python_file_is_one_cell(tmp_path, data, text):
    path = written(tmp_path, data, "ada.py")
    assert read_file(path) == SourceFile(path, (text,), None)


def test_ending_may_be_in_capitals(tmp_path):
    assert read_file(written(tmp_path, "x", "A.PY")).cells == ("x",)
    assert read_file(written(tmp_path, notebook("x"), "B.IPYNB")).cells == ("x",)


def test_byte_order_mark_in_a_cell_is_dropped(tmp_path):
    assert read_file(written(tmp_path, notebook("\ufeffx = 1"))).cells == ("x = 1",)


def test_half_characters_are_replaced(tmp_path):
    path = written(tmp_path, notebook("x = '\ud83d'"))
    assert read_file(path).cells == ("x = '?'",)


CELL = {"cell_type": "code", "source": "x"}
UNREADABLE = {
    "empty": ("ada.ipynb", b" \n", "the file is empty; save your work"),
    "cut off": ("ada.ipynb", b'{"cells": [\n{"cell', "breaks off at line 2; save it"),
    "cut off later": ("ada.ipynb", b'{"cells":\n[', "breaks off at line 2; save it"),
    "a stray comma": (
        "ada.ipynb",
        b'{"cells": [],\n\n,}',
        "isn't valid JSON at line 3",
    ),
    "a merge": ("ada.ipynb", b'{\n<<<<<<< HEAD\n"cells": []', "unfinished git merge"),
    "a web page": ("ada.ipynb", b"<!DOCTYPE html>", "a web page, not a notebook"),
    "git-lfs": (
        "ada.ipynb",
        b"version https://git-lfs.example",
        "a pointer of git-lfs",
    ),
    "Python": ("ada.ipynb", b"import torch", "if it is Python, name it .py"),
    "a list": ("ada.ipynb", b"[]", "JSON, but not a notebook"),
    "a number": ("ada.ipynb", b"12", "JSON, but not a notebook"),
    "no cells": ("ada.ipynb", {"metadata": {}}, "not a notebook: no cells"),
    "cells that are none": ("ada.ipynb", {"cells": 3}, "not a notebook: no cells"),
    "worksheets of none": (
        "ada.ipynb",
        {"worksheets": [3]},
        "not a notebook: no cells",
    ),
    "a cell that is none": (
        "ada.ipynb",
        {"cells": [CELL, 1]},
        "cell 2 of the notebook",
    ),
    "a cell without type": ("ada.ipynb", {"cells": [{}]}, "cell 1 of the notebook"),
    "no source": ("ada.ipynb", {"cells": [{"cell_type": "code"}]}, "source of cell 1"),
    "a wrong source": ("ada.ipynb", {"cells": [CELL | {"source": [1]}]}, "of cell 1"),
    "nested": ("ada.ipynb", b'{"a":' + b"[" * 100_000, "isn't one that Jupyter wrote"),
    "a long number": ("ada.ipynb", b'{"a":' + b"9" * 5000, "that Jupyter wrote"),
    "not UTF-8": ("ada.ipynb", b'{"\xff": 1}', "isn't text in UTF-8; save it so"),
    "UTF-16": ("ada.ipynb", "{}".encode("utf-16"), "UTF-16; save it as UTF-8"),
    "UTF-16, no mark": ("ada.ipynb", "{}".encode("utf-16-be"), "in UTF-16; save it as"),
    "binary": ("ada.ipynb", b"\x7fELF\0\0", "binary, not text; hand in the notebook"),
    "a zip": ("ada.ipynb", b"PK\x03\x04\0\0", "an archive, such as a zip; unpack it"),
    "a gzip": ("ada.py", b"\x1f\x8b\x08x", "an archive, such as a zip; unpack it"),
    "R": (
        "ada.ipynb",
        notebook("x", kernelspec={"language": "R"}),
        "isn't in Python; hand in one with a Python kernel",
    ),
    "a null byte": ("ada.py", b"x = 1\0", "binary, not text"),
    "an unknown encoding": ("ada.py", b"# coding: klingon\n", "save it as UTF-8"),
    "an encoding that isn't for text": ("ada.py", b"# coding: hex\n", "as UTF-8"),
    "another encoding": ("ada.py", b"x = '\xfc'", "save it as UTF-8"),
    "text of another encoding": ("ada.py", b"# coding: ascii\nx='\xfc'", "as UTF-8"),
    "UTF-16 text": ("ada.py", "x = 1".encode("utf-16"), "UTF-16; save it as UTF-8"),
    "another ending": ("ada.txt", b"x = 1", "neither a notebook (.ipynb) nor a .py"),
}


def why(path):
    with pytest.raises(UnreadableError) as caught:
        read_file(path)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 200
    return message


@pytest.mark.parametrize(("name", "data", "words"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_file_says_why_in_one_line(tmp_path, name, data, words):
    assert words in why(written(tmp_path, data, name))


def test_missing_file(tmp_path):
    assert "No such file" in why(tmp_path / "ada.py")
    assert "rename it" in why("a\0.py")


def test_size_is_capped_before_reading(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 2_000_000)
    path = tmp_path / "ada.py"
    with path.open("wb") as file:
        file.truncate(2_000_001)
    assert "larger than 2 MB; clear the notebook's outputs" in why(path)


def test_links_are_not_followed(tmp_path):
    secret = written(tmp_path, "x = 1", "secret.py")
    (tmp_path / "ada.py").symlink_to(secret)
    assert why(tmp_path / "ada.py") == "it is a link; hand in the file itself"


def test_pipes_sockets_and_folders_are_not_opened(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(os, "open", lambda *args: opened.append(args))
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    monkeypatch.chdir(tmp_path)  # a socket's path has to be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        for kind in ("pipe", "folder", "socket"):
            assert f"it is a {kind};" in why(tmp_path / f"{kind}.py")
    assert opened == []


def test_devices_are_not_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "open", lambda *args: pytest.fail("opened"))
    assert "it is a device;" in why("/dev/zero")


def test_link_put_in_the_place_of_a_file_is_not_followed(tmp_path, monkeypatch):
    secret = written(tmp_path, "x = 1", "secret.py")
    path = tmp_path / "ada.py"
    path.symlink_to(secret)
    monkeypatch.setattr(type(path), "lstat", type(path).stat)  # as if it came later
    assert "can't be opened" in why(path)


def test_code_longer_than_anybody_writes_is_not_read(tmp_path):
    comment = "# " + "x" * files.MAX_CODE
    assert "code is longer than 200,000 characters" in why(
        written(tmp_path, comment, "ada.py")
    )
    data = json.dumps(
        {"cells": [{"cell_type": "code", "source": "x" * 150_000}] * 2}
    ).encode()
    assert "code is longer than" in why(written(tmp_path, data, "ada.ipynb"))


def test_outputs_and_text_may_be_longer(tmp_path):
    long = "x" * files.MAX_CODE
    cells = [
        {"cell_type": "code", "source": "y = 1", "outputs": [long]},
        {"cell_type": "markdown", "source": long},
    ]
    path = written(tmp_path, json.dumps({"cells": cells}).encode(), "ada.ipynb")
    assert files.read_file(path).cells == ("y = 1",)
