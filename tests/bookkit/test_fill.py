"""Notebooks answered by the references, and widgets that stand still on a page."""

import sys
import types

import nbformat
import pytest
from nbclient.output_widget import OutputWidget
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookkit import notebooks

MODULE = '''\
from math import sqrt


def scaled(x, d_k):
    return x / sqrt(d_k)


def scores(x, d_k):
    """Docstring."""
    return [scaled(value, d_k) for value in x]
'''


@pytest.fixture
def references(tmp_path, monkeypatch):
    path = tmp_path / "made_up.py"
    path.write_text(MODULE)
    module = types.ModuleType("made_up")
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "made_up", module)
    exec(compile(MODULE, str(path), "exec"), vars(module))
    return {"scores": module.scores, "scaled": module.scaled}


def stub(name):
    source = f'@exercise\ndef {name}(x, d_k):\n    """Docstring."""\n    raise'
    return new_code_cell(f"{source} NotImplementedError")


def test_stub_becomes_the_reference_with_what_it_imports(references):
    filled = notebooks.fill(new_notebook(cells=[stub("scores")]), references)
    assert filled.cells[0].source == (
        "from made_up import scaled\n\n\n"
        '@exercise\ndef scores(x, d_k):\n    """Docstring."""\n'
        "    return [scaled(value, d_k) for value in x]"
    )


def test_an_exercise_of_the_same_notebook_is_not_imported(references):
    notebook = new_notebook(cells=[stub("scaled"), stub("scores")])
    filled = notebooks.fill(notebook, references)
    assert filled.cells[0].source.startswith("from made_up import sqrt\n")
    assert filled.cells[1].source.startswith("@exercise\n")
    assert "raise NotImplementedError" in notebook.cells[0].source


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        (new_code_cell("@exercise\ndef f(x):\n    ..."), "f"),
        (new_code_cell("\n@exercise\nclass F:\n    pass"), "F"),
        (new_code_cell("def f(x):\n    ..."), None),
        (new_code_cell("@exercise\ndef f(x:"), None),
        (new_markdown_cell("@exercise\ndef f(x):\n    ..."), None),
    ],
)
def test_exercise_cells_are_known_by_their_first_line(cell, name):
    assert notebooks.exercise_name(cell) == name


def test_frozen_widget_leaves_what_it_showed_at_first():
    shown = {"output_type": "stream", "name": "stdout", "text": "x is 3\n"}
    state = {
        "box": {"state": {"children": ["IPY_MODEL_slider", "IPY_MODEL_out"]}},
        "slider": {"state": {"value": 3}},
        "out": {"state": {"outputs": [shown]}},
    }
    view = new_output("display_data", {notebooks.WIDGET: {"model_id": "box"}})
    plain = new_output("stream", text="before\n")
    cell = new_code_cell("interact(show)", outputs=[plain, view])
    notebook = new_notebook(cells=[new_markdown_cell("text"), cell])
    notebook.metadata["widgets"] = {notebooks.WIDGET_STATE: {"state": state}}

    notebooks.freeze(notebook)
    assert "widgets" not in notebook.metadata
    assert cell.outputs[:2] == [plain, nbformat.from_dict(shown)]
    assert "run this cell" in cell.outputs[2].data["text/markdown"]


def test_a_widgets_output_is_not_sent_back_to_the_kernel(monkeypatch, tmp_path):
    sent = []
    monkeypatch.setattr(OutputWidget, "send", lambda self, data: sent.append(data))
    source = "from ipywidgets import interact\n\ninteract(lambda x: print(x), x=3);"
    notebook = new_notebook(cells=[new_code_cell(source)])
    notebooks.run(notebook, tmp_path)
    assert sent == []
    notebooks.freeze(notebook)
    assert notebook.cells[0].outputs[0].text == "3\n"
