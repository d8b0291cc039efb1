"""A Sphinx extension: repairs that pages need to be read aloud and used by keyboard.

What Sphinx and its theme write is corrected here, in one place, as a page is written.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

REPAIRS = (
    # A bibliography is a list whose entries don't say that they are items of it.
    (r'(<div class="citation"[^>]*?) role="doc-biblioentry"', r'\1 role="listitem"'),
    # A table's empty corner heads nothing.
    (r'<th class="head">(?:<p></p>)?</th>', '<td class="head"></td>'),
)


def repaired(body: str) -> str:
    """A page's body with every repair made."""
    for broken, whole in REPAIRS:
        body = re.sub(broken, whole, body)
    return body


def repair(
    app: Sphinx, page: str, _: str, context: dict[str, Any], __: nodes.document | None
) -> None:
    """Repair the body of a page that Sphinx is about to write."""
    if "body" in context:
        context["body"] = repaired(context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("html-page-context", repair)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
