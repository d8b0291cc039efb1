"""The links between pages, under the titles that the table of contents gives."""

import pytest

from bookkit.sphinx_titles import with_titles

TITLES = {"index": None, "zero": "0 · Warm-up", "one": "1 · Why & how", "refs": None}
LINKS = {
    "prev": {"link": "before.html", "title": "Before"},
    "next": {"link": "after.html", "title": "After"},
}


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("index", {"next": "0 · Warm-up"}),
        ("zero", {"next": "1 · Why &amp; how"}),
        ("one", {"prev": "0 · Warm-up"}),
        ("refs", {"prev": "1 · Why &amp; how"}),
    ],
)
def test_neighbours_carry_the_titles_of_the_contents(page, said):
    links = with_titles(LINKS, page, TITLES)
    assert {name: link["title"] for name, link in links.items()} == said
    assert all(link["link"] == LINKS[name]["link"] for name, link in links.items())


def test_a_page_without_links_gets_none():
    assert with_titles({"prev": None, "next": None}, "one", TITLES) == {}
