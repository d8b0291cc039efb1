"""A Sphinx extension: what stands at the top of a page, and the map of the book.

Under the title of each page that is read from end to end it says how long that takes;
in a chapter it also folds away the map, with the chapter's parts marked. The directive
`book-map` shows the map in full, and in words beside it. Nothing of it is typed by hand
or stands in a notebook.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from nbformat.v4 import new_markdown_cell, new_notebook
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookkit.book_map import Chapter, draw_map, list_map
from bookkit.reading_time import exercises_in, minutes_to_read, told

PAGE = re.compile(r"chapters/(\d+)_\w+$")
NUMBER = re.compile(r"^\d+\s*·\s*")
#: Pages that are read from end to end, besides the chapters.
READ = re.compile(r"closing$|teaching/\w+$")


def chapter_of(page: str) -> int | None:
    """The number of the chapter that a page holds, None if it holds none."""
    found = PAGE.search(page)
    return int(found[1]) if found else None


def chapters_from(app: Sphinx, page: str) -> dict[int, Chapter]:
    """The chapters of the table of contents, addressed as seen from a page."""
    assert app.builder is not None
    chapters = {}
    for name in app.env.external_site_map:  # type: ignore[attr-defined]
        number = chapter_of(name)
        if number is None:
            continue
        title = app.env.external_site_map[name].title or app.env.titles[name].astext()  # type: ignore[attr-defined]
        address = app.builder.get_relative_uri(page, name)
        chapters[number] = Chapter(NUMBER.sub("", title), address)
    return chapters


def duration(app: Sphinx, page: str) -> str:
    """How long a page takes, in words."""
    from autograder.registry import EXERCISES

    path = Path(app.env.doc2path(page))
    if path.suffix == ".ipynb":
        notebook = nbformat.read(path, as_version=4)
    else:
        prose = new_markdown_cell(path.read_text(encoding="utf-8"))
        notebook = new_notebook(cells=[prose])
    exercises = [
        EXERCISES[name] for name in exercises_in(notebook) if name in EXERCISES
    ]
    return told(
        minutes_to_read(notebook), sum(exercise.minutes for exercise in exercises)
    )


def opening(app: Sphinx, page: str) -> str:
    """What stands under a page's title, as HTML; nothing where one looks things up."""
    number = chapter_of(page)
    if number is None and not READ.match(page):
        return ""
    told = f'<p class="chapter-time">{duration(app, page)}</p>'
    if number is None:
        return told
    return (
        f'{told}<details class="chapter-map">'
        "<summary>Where you are in the Transformer</summary>"
        f"{draw_map(chapters_from(app, page), number)}</details>"
    )


def put_opening(
    app: Sphinx, page: str, _: str, context: dict[str, Any], __: nodes.document | None
) -> None:
    """Put the opening under the title of a page that Sphinx is about to write."""
    if "body" in context:
        added = f"</h1>{opening(app, page)}"
        context["body"] = context["body"].replace("</h1>", added, 1)


class book_map(nodes.General, nodes.Element):
    """Where a page asks for the map; drawn when all chapters have been read."""


class BookMapDirective(SphinxDirective):
    """Show the map in full, and the same in words."""

    def run(self) -> list[nodes.Node]:
        return [book_map()]


def draw_maps(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Put the drawing where a page asks for it."""
    for place in list(tree.findall(book_map)):
        chapters = chapters_from(app, page)
        drawn = draw_map(chapters) + list_map(chapters)
        shown = f'<div class="book-map-full">{drawn}</div>'
        place.replace_self(nodes.raw("", shown, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.add_node(book_map)
    app.add_directive("book-map", BookMapDirective)
    app.connect("doctree-resolved", draw_maps)
    app.connect("html-page-context", put_opening)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
