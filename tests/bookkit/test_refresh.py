"""Storing a notebook's outputs: text stays, what differs from run to run goes."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookkit import refresh

PICTURE = "import matplotlib.pyplot as plt\n\nplt.plot([0, 1])\nplt.show()"
SLIDER = "from ipywidgets import interact\n\ninteract(lambda x: print(x), x=3);"


@pytest.fixture
def chapter(tmp_path: Path) -> Path:
    """A chapter that prints, draws and moves, not run yet and without cell ids."""
    sources = ["print('shown')\n6 * 7", PICTURE, SLIDER]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    notebook.metadata["autograder"] = {"chapter": 2}
    text = json.loads(nbformat.writes(notebook))
    for cell in text["cells"]:
        del cell["id"]
    path = tmp_path / "02_attention.ipynb"
    path.write_text(json.dumps(text))
    return path


def test_outputs_are_stored_without_images_the_same_each_time(chapter, capsys):
    assert refresh.main([str(chapter)]) == 0
    first = chapter.read_text()
    cells = json.loads(first)["cells"]
    assert [cell["execution_count"] for cell in cells] == [1, 2, 3]
    assert cells[0]["outputs"][0]["text"] == ["shown\n"]
    assert cells[0]["outputs"][1]["data"] == {"text/plain": ["42"]}
    assert [list(out["data"]) for out in cells[1]["outputs"]] == [["text/plain"]]
    assert [list(out["data"]) for out in cells[2]["outputs"]] == [["text/plain"]]
    assert json.loads(first)["metadata"]["autograder"] == {"chapter": 2}
    assert "widgets" not in json.loads(first)["metadata"]
    assert first.endswith("}\n")

    assert refresh.main([str(chapter)]) == 0
    assert chapter.read_text() == first
    assert "up to date" in capsys.readouterr().out


def test_check_tells_and_changes_nothing(chapter, capsys):
    before = chapter.read_text()
    assert refresh.main(["--check", str(chapter)]) == 1
    assert chapter.read_text() == before
    assert "store it with: python -m bookkit.refresh" in capsys.readouterr().out


def test_cell_that_raises_is_reported_and_nothing_stored(tmp_path, capsys):
    path = tmp_path / "broken.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), path)
    before = path.read_text()
    assert refresh.main([str(path)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out
    assert path.read_text() == before


def test_widget_cells_are_told_to_nbval():
    view = {refresh.WIDGET: {"model_id": "1f"}, "text/plain": "interactive(…)"}
    cell = new_code_cell(SLIDER, outputs=[new_output("display_data", view)])
    refresh.normalise(new_notebook(cells=[cell]))
    assert cell.metadata.tags == ["nbval-ignore-output"]


def test_cells_keep_their_ids_and_others_get_them_by_what_they_say():
    cells = [new_code_cell(source) for source in ("1", "2", "3")]
    text = json.loads(nbformat.writes(new_notebook(cells=cells)))
    text["cells"][0]["id"] = text["cells"][1]["id"] = "same"
    del text["cells"][2]["id"]
    first, again = (
        [cell.id for cell in refresh.read(json.dumps(text)).cells] for _ in range(2)
    )
    assert first == again
    assert first[0] == "same"
    assert len(set(first)) == 3


@pytest.mark.parametrize("name", ["missing.ipynb", "README.md"])
def test_what_is_no_notebook_is_refused(tmp_path, name, capsys):
    (tmp_path / "README.md").touch()
    with pytest.raises(SystemExit) as stop:
        refresh.main([str(tmp_path / name)])
    assert stop.value.code == 2
    assert f"{name} is no notebook; give the path of an .ipynb file" in (
        capsys.readouterr().err
    )
