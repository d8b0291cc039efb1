"""Run notebooks and store what they print, byte for byte the same each time.

    python -m bookkit.refresh [NOTEBOOK...]     all chapters, if none is named
    python -m bookkit.refresh --check           say which would change, change none

Text and verdicts are stored, so that nbval can compare them; images are not, since the
book draws them anew.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from bookkit.notebooks import WIDGET, run

IGNORE_OUTPUT = "nbval-ignore-output"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# The lexer knows magics such as %%time; versions are left out, they differ by machine.
LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}


def normalise(notebook: NotebookNode) -> None:
    """Take out, in place, whatever differs from one run or machine to the next."""
    kept = {k: v for k, v in notebook.metadata.items() if k != "widgets"}
    notebook.metadata = nbformat.from_dict(
        kept | {"kernelspec": KERNEL, "language_info": LANGUAGE}
    )
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        cell.source = cell.source.rstrip("\n")
        if cell.cell_type == "code":
            _normalise_outputs(cell)


def read(text: str) -> NotebookNode:
    """A notebook from its text. A cell without an id of its own gets one made from what
    it says, before nbformat would draw one at random."""
    raw = json.loads(text)
    raw["nbformat"], raw["nbformat_minor"] = 4, 5
    taken: set[str] = set()
    for cell in raw["cells"]:
        name, again = cell.get("id"), 0
        while not name or name in taken:
            said = f"{cell['cell_type']} {again} {''.join(cell['source'])}"
            name, again = hashlib.sha256(said.encode()).hexdigest()[:8], again + 1
        cell["id"] = name
        taken.add(name)
    return nbformat.reads(json.dumps(raw), as_version=4)


def _normalise_outputs(cell: NotebookNode) -> None:
    if any(WIDGET in output.get("data", {}) for output in cell.outputs):
        # nbval can't tell what a widget prints inside itself from what the cell prints
        tags = cell.metadata.setdefault("tags", [])
        if IGNORE_OUTPUT not in tags:
            tags.append(IGNORE_OUTPUT)
    for output in cell.outputs:
        output.pop("transient", None)
        if "data" in output:
            output.metadata = nbformat.from_dict({})
            output.data = nbformat.from_dict(
                {
                    kind: value
                    for kind, value in output.data.items()
                    if kind != WIDGET and not kind.startswith("image/")
                }
            )
    cell.outputs = [o for o in cell.outputs if o.get("data", True)]


def dumps(notebook: NotebookNode) -> str:
    """The notebook's text as Jupyter itself writes it: sorted keys, one space deep."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def refreshed(path: Path, progress: Progress | None = None) -> str:
    """The text that the notebook at `path` has once it was run and normalised."""
    notebook = read(path.read_text(encoding="utf-8"))
    bar = progress or Progress(disable=True)
    task = bar.add_task(path.name, total=len(notebook.cells))
    run(notebook, path.parent.resolve(), lambda: bar.advance(task))
    bar.update(task, completed=len(notebook.cells))
    normalise(notebook)
    return dumps(notebook)


def main(arguments: list[str] | None = None) -> int:
    """Refresh or check the notebooks; 0 if all is well, 1 if one fails or differs."""
    parser = argparse.ArgumentParser(prog="python -m bookkit.refresh")
    parser.description = "Run notebooks and store their text outputs."
    parser.add_argument("notebooks", nargs="*", metavar="NOTEBOOK", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="say which would change, change none"
    )
    options = parser.parse_args(arguments)
    paths = options.notebooks or sorted(Path("chapters").glob("*.ipynb"))
    for path in paths:
        if path.suffix != ".ipynb" or not path.is_file():
            parser.error(f"{path} is no notebook; give the path of an .ipynb file")
    if not paths:
        parser.error("no chapters/*.ipynb here; run it from the project's folder")
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns) as progress:
        results = [_refresh(path, options.check, progress) for path in paths]
    return 0 if all(results) else 1


def _refresh(path: Path, check: bool, progress: Progress) -> bool:
    try:
        text = refreshed(path, progress)
    except CellExecutionError as error:
        progress.print(f"{path}: a cell raises\n{error}", markup=False)
        return False
    if text == path.read_text(encoding="utf-8"):
        progress.print(f"{path}: up to date", markup=False)
        return True
    if check:
        progress.print(
            f"{path}: differs; store it with: python -m bookkit.refresh {path}",
            markup=False,
        )
        return False
    path.write_text(text, encoding="utf-8")
    progress.print(f"{path}: stored", markup=False)
    return True


if __name__ == "__main__":
    sys.exit(main())
