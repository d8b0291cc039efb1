"""A Sphinx directive that asks a question on a page that no kernel runs.

    ```{ask} where-tokens-meet
    ```

It is the same card that `ask("where-tokens-meet")` shows in a chapter.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookkit.questions import ask


class AskDirective(SphinxDirective):
    """Show the question of this name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        try:
            question = ask(self.arguments[0])
        except ValueError as error:
            raise self.error(str(error)) from None
        return [nodes.raw("", question._repr_html_(), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("ask", AskDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
