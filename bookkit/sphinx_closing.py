"""A Sphinx extension: all that the book builds, on its closing page.

The directive `everything-built` lists every exercise under its chapter, each with a
link and with what it does. It is made of the exercises' definitions when the book is
built, so an exercise that is added stands there too.
"""

import inspect
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookkit.book_map import Chapter
from bookkit.sphinx_opening import chapters_from


def everything(
    chapters: Mapping[int, Chapter], exercises: Mapping[int, Iterable[Any]]
) -> str:
    """The exercises of all chapters as HTML: what each is called and what it does."""
    parts = []
    for number, chapter in chapters.items():
        built = "".join(_line(one, chapter.address) for one in exercises[number])
        link = f'<a href="{chapter.address}">{number} · {escape(chapter.title)}</a>'
        parts.append(f"<section><h3>{link}</h3><ul>{built}</ul></section>")
    return f'<div class="everything-built">{"".join(parts)}</div>'


def counted(exercises: Iterable[Any]) -> str:
    """How many exercises there are, in words and numbers."""
    all_of_them = list(exercises)
    optional = sum(one.optional for one in all_of_them)
    classes = sum(one.is_module for one in all_of_them)
    return (
        f"{len(all_of_them)} exercises: {classes} modules and "
        f"{len(all_of_them) - classes} functions, {optional} of them challenges (★)."
    )


def _line(exercise: Any, address: str) -> str:
    # The first hint: a heading may be for two exercises, or have words of its own.
    anchor = f"{nodes.make_id(exercise.id)}-hint-1"
    does = (inspect.getdoc(exercise.reference) or "").splitlines()[0]
    does = does.rstrip(".:").replace("`", "")
    star = " ★" if exercise.optional else ""
    return (
        f'<li><a href="{address}#{anchor}"><code>{exercise.id}</code></a>{star}'
        f"<span>{escape(does)}</span></li>"
    )


class everything_built(nodes.General, nodes.Element):
    """Where a page asks for the list; made when all chapters have been read."""


class EverythingBuilt(SphinxDirective):
    """List what the book builds, chapter by chapter."""

    def run(self) -> list[nodes.Node]:
        return [everything_built()]


def list_everything(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Put the list where a page asks for it."""
    places = list(tree.findall(everything_built))
    if not places:
        return
    from autograder.registry import EXERCISES, of_chapter

    chapters = chapters_from(app, page)
    listed = everything(chapters, {number: of_chapter(number) for number in chapters})
    shown = f'<p class="everything-counted">{counted(EXERCISES.values())}</p>{listed}'
    for place in places:
        place.replace_self(nodes.raw("", shown, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.add_node(everything_built)
    app.add_directive("everything-built", EverythingBuilt)
    app.connect("doctree-resolved", list_everything)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
