"""A kernel that runs nothing: it answers with what the book's own run has given.

Building the book runs every chapter. So that nbval can compare the outputs of that run
with the stored ones, and no chapter is run twice, it may talk to this kernel instead:

    JUPYTER_PATH=bookkit/jupyter pytest chapters --nbval --nbval-kernel-name replay
"""

from pathlib import Path
from typing import Any

import nbformat
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel
from jupyter_cache import get_cache
from nbformat import NotebookNode


def executed(folder: Path, first: str) -> list[NotebookNode]:
    """The code cells, as the book ran them, of the notebook in `folder` that begins
    with this code. Raises LookupError if there is none, or it wasn't run."""
    cache = get_cache(str(folder.parent / "_build" / ".jupyter_cache"))
    for path in sorted(folder.glob("*.ipynb")):
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        if [cell.source for cell in _code(notebook)[:1]] == [first]:
            try:
                key = cache.match_cache_notebook(notebook).pk
            except KeyError:
                raise LookupError(f"{path.name} wasn't run: make book") from None
            return _code(cache.get_cache_bundle(key).nb)
    raise LookupError("no notebook here begins with this cell")


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


class Replay(Kernel):
    """Answers each cell, in the notebook's order, with its recorded outputs."""

    implementation, implementation_version = "replay", "1"
    language_info: dict[str, Any] = {"name": "python", "file_extension": ".py"}  # noqa: RUF012
    banner = "Nothing runs here: outputs come from the book's own run."
    _left: list[NotebookNode] | None = None

    def do_execute(self, code: str, silent: bool, *_: Any, **__: Any) -> dict[str, Any]:
        try:
            if self._left is None:
                self._left = executed(Path.cwd(), code)
            while self._left[0].source != code:  # a cell that nbval leaves out
                del self._left[0]
        except (LookupError, OSError) as error:
            told = str(error)  # nbval shows the traceback alone
            said = {"ename": "NotRecorded", "evalue": told, "traceback": [told]}
            self.send_response(self.iopub_socket, "error", said)
            return {"status": "error", "execution_count": 0} | said
        for output in self._left.pop(0).outputs:
            content = {k: v for k, v in output.items() if k != "output_type"}
            self.send_response(self.iopub_socket, output.output_type, content)
        return {
            "status": "ok",
            "execution_count": self.execution_count,
            "payload": [],
            "user_expressions": {},
        }


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=Replay)
