"""Every chapter: its stubs match the references, and filled with them it runs through.

As it is published, no exercise attempted, each chapter runs when the book is built;
nbval (`make test`) compares what that gave with the stored outputs.
"""

import ast
import inspect
import textwrap
from pathlib import Path

import nbformat
import pytest

from autograder.registry import CHAPTERS, EXERCISES, of_chapter
from autograder.untouched import untouched
from bookkit.notebooks import exercise_cells, fill, run

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "chapters").glob("*.ipynb"))

chapters = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def stubs():
    """Each exercise's name and the source of its stub, from all chapters."""
    for path in NOTEBOOKS:
        notebook = read(path)
        for position, name in exercise_cells(notebook):
            yield pytest.param(name, notebook.cells[position].source, id=name)


def heads(source):
    """Docstrings and parameters of a definition and, in a class, of its methods."""
    (top,) = ast.parse(textwrap.dedent(source)).body
    methods = [node for node in ast.walk(top) if isinstance(node, ast.FunctionDef)]
    said = {node.name: ast.unparse(node.args) for node in methods}
    return {"docstring": ast.get_docstring(top), **said}


@chapters
def test_chapter_asks_for_its_exercises_once_each_in_order(path):
    notebook = read(path)
    number = notebook.metadata["autograder"]["chapter"]
    assert CHAPTERS[number].notebook == path.stem
    asked = [name for _, name in exercise_cells(notebook)]
    assert asked == [exercise.id for exercise in of_chapter(number)]


@pytest.mark.parametrize(("name", "source"), list(stubs()))
def test_stub_is_the_reference_without_its_body(name, source):
    stub = heads(source)
    reference = heads(inspect.getsource(EXERCISES[name].reference))
    assert stub == {key: reference.get(key) for key in stub}
    assert untouched([source], name)
    if EXERCISES[name].broken is None:  # else the cell holds what is to be mended
        assert "raise NotImplementedError" in source


@chapters
def test_chapter_is_stored_run_and_without_images(path):
    for cell in read(path).cells:
        if cell.cell_type != "code":
            continue
        assert cell.execution_count, cell.source
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            kinds = output.get("data", {})
            assert not any(kind.startswith("image/") for kind in kinds), cell.source


@chapters
def test_stored_boxes_say_what_the_definitions_say(path):
    notebook = read(path)
    for position, name in exercise_cells(notebook):
        one = EXERCISES[name]
        (box,) = notebook.cells[position].outputs
        said = " ".join(box.data["text/plain"].split())
        total = 0 if one.optional else one.points
        assert f"0 of {total:g} point" in said or one.optional, name
        assert f"{one.minutes} minutes, difficulty {one.difficulty} of 5" in said, name


@chapters
def test_every_figure_has_a_caption_or_a_description(path):
    for cell in read(path).cells:
        texts = [
            out.get("data", {}).get("text/plain", "") for out in cell.get("outputs", [])
        ]
        if any(text.startswith("<Figure size") for text in texts):
            shown = cell.metadata.get("mystnb", {})
            assert len(shown.get("image", {}).get("alt", "")) > 20, cell.source
            assert shown.get("figure", {}).get("caption"), cell.source


def test_every_figure_has_a_name_of_its_own():
    named = [
        cell.metadata.get("mystnb", {}).get("figure", {}).get("name")
        for path in NOTEBOOKS
        for cell in read(path).cells
    ]
    names = [name for name in named if name]
    assert sorted(set(names)) == sorted(names)


@chapters
def test_chapter_filled_with_the_references_passes_everything(path, tmp_path):
    references = {name: exercise.reference for name, exercise in EXERCISES.items()}
    filled = fill(read(path), references)
    run(filled, tmp_path)
    for position, name in exercise_cells(read(path)):
        (verdict,) = filled.cells[position].outputs
        assert verdict.data["text/plain"].startswith(f"✓ {name} "), name
