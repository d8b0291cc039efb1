"""Every link inside the built book leads somewhere."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from bookkit.site import HTML

PAGES = sorted(
    path.relative_to(HTML).as_posix()
    for path in HTML.rglob("*.html")
    if path.name != "404.html"  # its links are from the server's root
    and "_static" not in path.parts  # the theme's own pieces
)


class Links(HTMLParser):
    """The places that a page has, and those that it points to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id" or (tag == "a" and key == "name"):
                self.places.add(value)
            if key in ("href", "src", "action") and value:
                self.targets.add(value)


@cache
def links(path: Path) -> Links:
    return Links(path.read_text("utf-8"))


def dead(page: Path) -> list[str]:
    """The targets inside the book that aren't there."""
    found = []
    for target in sorted(links(page).targets):
        parts = urlsplit(target)
        if parts.scheme or parts.netloc or target == "#":
            continue
        path = page.parent / unquote(parts.path) if parts.path else page
        if not path.is_file():
            found.append(target)
        elif parts.fragment and path.suffix == ".html":
            if unquote(parts.fragment) not in links(path.resolve()).places:
                found.append(target)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_every_link_inside_the_book_resolves(name):
    assert dead((HTML / name).resolve()) == []


def test_a_dead_link_is_seen(tmp_path):
    page = tmp_path / "a.html"
    page.write_text(
        "<h1 id='b'></h1><a href='#b'></a><a href='#c'></a><a href='d'></a>"
    )
    assert dead(page) == ["#c", "d"]
