"""What the book adds under an exercise: effort, hints, solution."""

import io
import json
from dataclasses import dataclass, field

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.application import Sphinx

from bookkit import sphinx_exercises
from bookkit.notebooks import exercise_name  # any function of ours may be a reference


@dataclass
class Definition:
    hints: list[str] = field(default_factory=lambda: ["Look.", "Look again.", "There."])
    minutes: int = 10
    difficulty: int = 2
    points: float = 3.0
    optional: bool = False
    reference: object = exercise_name
    id: str = "exercise_name"


STUB = "@exercise\ndef exercise_name(cell):\n    raise NotImplementedError"


@pytest.mark.parametrize(
    ("definition", "line"),
    [
        (Definition(), "Difficulty 2 of 5 ●●○○○ · about 10 minutes · 3 points"),
        (
            Definition(minutes=1, difficulty=1, points=1.0),
            "Difficulty 1 of 5 ●○○○○ · about 1 minute · 1 point",
        ),
        (
            Definition(difficulty=5, points=0.0, optional=True),
            "Difficulty 5 of 5 ●●●●● · about 10 minutes · ★ optional, no points",
        ),
    ],
)
def test_effort_in_one_line(definition, line):
    assert sphinx_exercises.effort(definition) == line


def test_help_follows_its_exercise_and_code_cells_stay():
    cells = [
        new_code_cell("import torch"),
        new_code_cell(STUB),
        new_markdown_cell("so"),
    ]
    text = nbformat.writes(new_notebook(cells=cells))
    changed, unknown = sphinx_exercises.with_help(text, {"exercise_name": Definition()})
    kinds = [cell["cell_type"] for cell in json.loads(changed)["cells"]]
    assert kinds == ["code", "code", "markdown", "markdown"]
    assert unknown == []
    source = "".join(json.loads(changed)["cells"][2]["source"])
    assert source.index("Hint 1 of 3") < source.index("Hint 3 of 3")
    assert source.index("Hint 3 of 3") < source.index("Solution")


def test_exercise_without_definition_is_named():
    text = nbformat.writes(new_notebook(cells=[new_code_cell(STUB)]))
    _, unknown = sphinx_exercises.with_help(text, {})
    assert unknown == ["exercise_name"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with one exercise, whose hints hold what Markdown would eat."""
    folder = tmp_path_factory.mktemp("book")
    hints = [
        "Why √d_k, and *not* d_k? 1. See $x$ and <b>.",
        "Use `Q @ K.mT` here.",
        "So:\n\n    scores = Q @ K.mT  # `n x m`\n    return scores\n\nwith care.",
    ]
    cells = [new_markdown_cell("# Title"), new_code_cell(STUB)]
    notebook = new_notebook(cells=cells)
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, folder / "index.ipynb")
    warnings = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        definition = Definition(hints=hints)
        patch.setattr(
            sphinx_exercises, "definitions", lambda: {"exercise_name": definition}
        )
        app = Sphinx(
            srcdir=folder,
            confdir=None,
            outdir=folder / "out",
            doctreedir=folder / "doctrees",
            buildername="html",
            status=None,
            warning=warnings,
            confoverrides={
                "extensions": ["myst_nb", "sphinx_design", "bookkit.sphinx_exercises"],
                "nb_execution_mode": "off",
                "myst_enable_extensions": ["colon_fence", "dollarmath"],
            },
        )
        app.build()
    assert warnings.getvalue() == ""
    return BeautifulSoup((folder / "out" / "index.html").read_text(), "html.parser")


def test_everything_is_folded_away(page):
    boxes = page.select(".exercise-help details")
    titles = [box.summary.get_text(strip=True) for box in boxes]
    assert titles == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Solution"]
    assert not any(box.has_attr("open") for box in boxes)


def test_hints_are_shown_literally(page):
    hints = page.select("details.hint .sd-card-text")
    assert hints[0].get_text() == "Why √d_k, and *not* d_k? 1. See $x$ and <b>."
    assert page.select("details.hint code")[0].get_text() == "Q @ K.mT"


def test_indented_part_of_a_hint_is_code(page):
    (code,) = page.select("details.hint .highlight pre")
    assert code.get_text() == "scores = Q @ K.mT  # `n x m`\nreturn scores\n"


def test_solution_is_the_reference_and_says_where_it_stands(page):
    (solution,) = page.select("details.solution")
    assert "From bookkit/notebooks.py:" in solution.get_text()
    assert solution.select_one("pre").get_text().startswith("def exercise_name(cell")
