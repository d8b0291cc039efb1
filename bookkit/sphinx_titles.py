"""A Sphinx extension: the links to the pages before and after say the chapter's number.

The sidebar takes its titles from _toc.yml, "2 · Queries, keys, values". Sphinx writes
the links at the foot of a page from the headings, which carry no number.
"""

from collections.abc import Mapping
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

NEIGHBOURS = (("prev", -1), ("next", 1))


def with_titles(
    context: Mapping[str, Any], page: str, titles: Mapping[str, str | None]
) -> dict[str, Any]:
    """The links to a page's neighbours, under their titles in _toc.yml.

    `titles` holds every page in reading order, None where _toc.yml gives no title.
    """
    order = list(titles)
    links: dict[str, Any] = {}
    for name, step in NEIGHBOURS:
        place = order.index(page) + step
        title = titles[order[place]] if 0 <= place < len(order) else None
        if title and context.get(name):
            links[name] = {**context[name], "title": escape(title)}
    return links


def toc_titles(site_map: Any) -> dict[str, str | None]:
    """Every page of a table of contents, in reading order, with the title it gives."""
    return {name: site_map[name].title for name in site_map}


def number_links(
    app: Sphinx, page: str, _: str, context: dict[str, Any], __: nodes.document | None
) -> None:
    """Put the titles into the links of a page that Sphinx is about to write."""
    titles = toc_titles(app.env.external_site_map)  # type: ignore[attr-defined]
    if page in titles:
        context.update(with_titles(context, page, titles))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("html-page-context", number_links)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
