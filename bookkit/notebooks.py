"""Read, run and write notebooks: what the refresher, the book and the tests share."""

import ast
import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.output_widget import OutputWidget
from nbformat import NotebookNode

CELL_TIMEOUT = 300  # seconds; a cell that takes longer hangs
WIDGET = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"


class _SilentOutput(OutputWidget):
    """An output widget that keeps what it shows to itself.

    nbclient would tell the kernel, through the very socket on which it waits for the
    cell's reply; now and then the reply then goes unnoticed until the time is up.
    """

    def sync_state(self) -> None:
        pass


def run(
    notebook: NotebookNode,
    folder: Path,
    on_cell: Callable[[], None] = lambda: None,
) -> None:
    """Execute a notebook in place, in a fresh kernel that works in `folder`.

    `on_cell` is called after each cell. Raises CellExecutionError where a cell raises.
    """

    def executed(**_: Any) -> None:
        on_cell()

    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
        # a kernel on this machine talks unencrypted, and would warn of it each time
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        on_cell_complete=executed,
    )
    client.widget_registry["@jupyter-widgets/output"]["OutputModel"] = _SilentOutput
    # The tensors are small, and several chapters may run at a time.
    client.execute(env={"OMP_NUM_THREADS": "1"} | os.environ)


def freeze(notebook: NotebookNode) -> None:
    """Put what `interact` shows at first in its place, in an executed notebook.

    On a page without a kernel the sliders would stand there and move nothing.
    """
    widgets = notebook.metadata.pop("widgets", {})
    state = widgets.get(WIDGET_STATE, {}).get("state", {})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [
                shown for output in cell.outputs for shown in _still(output, state)
            ]


def _still(output: NotebookNode, state: dict[str, Any]) -> list[NotebookNode]:
    view = output.get("data", {}).get(WIDGET)
    if view is None:
        return [output]
    box = state.get(view["model_id"], {}).get("state", {})
    children = [name.removeprefix("IPY_MODEL_") for name in box.get("children", [])]
    shown = [
        out for child in children for out in state[child]["state"].get("outputs", [])
    ]
    note = "*Open the notebook and run this cell to move the sliders.*"
    told = nbformat.v4.new_output("display_data", {"text/markdown": note})
    return [*map(nbformat.from_dict, shown), told]


def exercise_name(cell: NotebookNode) -> str | None:
    """The exercise that a cell holds: what stands under its `@exercise`, else None."""
    if cell.cell_type != "code" or not cell.source.lstrip().startswith("@exercise"):
        return None
    try:
        first = ast.parse(cell.source).body[0]
    except SyntaxError:
        return None
    if isinstance(first, ast.FunctionDef | ast.ClassDef):
        return first.name
    return None


def exercise_cells(notebook: NotebookNode) -> Iterator[tuple[int, str]]:
    """The position and the exercise of each cell that holds one."""
    for position, cell in enumerate(notebook.cells):
        name = exercise_name(cell)
        if name is not None:
            yield position, name


def fill(notebook: NotebookNode, references: dict[str, Any]) -> NotebookNode:
    """A copy in which every exercise is answered by its reference, as a learner would.

    `references` maps exercises to functions or classes. What a reference uses from its
    own module (imports, helpers, earlier exercises) is imported above it, except for
    exercises that this notebook itself answers.
    """
    filled = nbformat.from_dict(notebook)  # a deep copy
    here = {name for _, name in exercise_cells(notebook)}
    for position, name in exercise_cells(notebook):
        answer = references[name]
        source = inspect.getsource(answer)
        imports = _imports(source, inspect.getmodule(answer), skip=here)
        filled.cells[position].source = f"{imports}@exercise\n{source.rstrip()}"
    return filled


def _imports(source: str, module: ModuleType | None, skip: set[str]) -> str:
    if module is None:
        return ""
    used = {
        node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)
    }
    names = sorted(name for name in used & vars(module).keys() if name not in skip)
    return f"from {module.__name__} import {', '.join(names)}\n\n\n" if names else ""
