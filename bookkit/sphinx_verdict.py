"""A Sphinx directive that shows code with the verdict that the grader gives on it.

    ```{verdict}
    def attention_scores(Q, K):
        return Q @ K.mT
    ```

The last definition is graded as the answer to the exercise of its name, anew at each
build: a page can't show a verdict that the grader doesn't give.
"""

import io
import linecache
from contextlib import redirect_stdout
from typing import Any

import torch
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def verdict_on(source: str) -> str:
    """The verdict, as HTML, on the last thing that `source` defines."""
    from autograder import render
    from autograder.judge import check
    from autograder.registry import EXERCISES

    place = f"<verdict {hash(source)}>"
    linecache.cache[place] = (len(source), None, source.splitlines(True), place)
    bound: dict[str, Any] = {"torch": torch}
    exec(compile(source, place, "exec"), bound)
    name = list(bound)[-1]
    definition = EXERCISES[name]
    with redirect_stdout(io.StringIO()):
        verdict = check(definition, bound[name])
    return render.as_html(verdict, definition.hints)


class VerdictDirective(SphinxDirective):
    """Show the code, and under it the verdict."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        source = "\n".join(self.content)
        code = nodes.literal_block(source, source, language="python")
        shown = nodes.raw("", verdict_on(source), format="html")
        return [code, nodes.container("", shown, classes=["verdict"])]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("verdict", VerdictDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
