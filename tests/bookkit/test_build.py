"""The execution cache: filled side by side, dropped when imported code changes."""

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from rich.progress import Progress

from bookkit import build


@pytest.fixture
def project(tmp_path):
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "attention.py").write_text("scale = 0.5\n")
    return tmp_path


def test_cache_is_kept_until_imported_code_changes(project):
    assert build.drop_stale_cache(project)
    cached = project / "_build" / ".jupyter_cache" / "entry"
    cached.parent.mkdir()
    cached.touch()
    assert not build.drop_stale_cache(project)
    assert cached.exists()
    (project / "solutions" / "attention.py").write_text("scale = 1.0\n")
    assert build.drop_stale_cache(project)
    assert not cached.exists()


@pytest.mark.parametrize("change", ["new file", "renamed file", "new question"])
def test_fingerprint_sees(project, change):
    before = build.fingerprint(project)
    path = project / "solutions" / "attention.py"
    if change == "new file":
        path.with_name("rnn.py").touch()
    elif change == "new question":  # a page shows it, as it shows what code prints
        path.with_name("02_attention.toml").touch()
    else:
        path.rename(path.with_name("rnn.py"))
    assert build.fingerprint(project) != before


@pytest.mark.parametrize("package", ["torch", "einops"])
def test_fingerprint_sees_a_library_s_version(project, monkeypatch, package):
    before = build.fingerprint(project)
    monkeypatch.setattr(build, "version", lambda name: f"another {name == package}")
    changed = build.fingerprint(project)
    monkeypatch.setattr(build, "version", lambda name: "another False")
    assert len({before, changed, build.fingerprint(project)}) == 3


def test_only_notebooks_that_the_cache_lacks_are_run(project):
    log = project / "runs.txt"
    source = f"with open({str(log)!r}, 'a') as f:\n    f.write('ran ')"
    paths = [project / "00.ipynb", project / "01.ipynb"]
    for number, path in enumerate(paths):
        cells = [new_code_cell(source), new_code_cell(f"{number}")]
        nbformat.write(new_notebook(cells=cells), path)
    with Progress(disable=True) as progress:
        assert build.fill_cache(project, paths, progress) == []
        assert build.fill_cache(project, paths, progress) == []
    assert log.read_text() == "ran ran "


def test_cell_that_raises_is_reported_by_notebook(project):
    path = project / "00.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), path)
    with Progress(disable=True) as progress:
        (failure,) = build.fill_cache(project, [path], progress)
    assert failure.startswith(f"{path}: a cell raises")
    assert "ZeroDivisionError" in failure


def test_fingerprint_ignores_notebooks(project):
    before = build.fingerprint(project)
    (project / "chapters").mkdir()
    (project / "chapters" / "00.ipynb").write_text(json.dumps({}))
    assert build.fingerprint(project) == before
