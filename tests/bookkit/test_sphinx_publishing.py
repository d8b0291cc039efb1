"""What a book has once it knows its address, and what it leaves out until then."""

import re
import subprocess
import sys

import pytest
from sphinx.errors import ExtensionError

from bookkit.sphinx_publishing import whole_address

ADDRESS = "https://example.org/course/book"


def build(folder, address, monkeypatch):
    """A book of two pages, built for an address; a warning is an error."""
    source = folder / "source"
    (source / "deep").mkdir(parents=True)
    (source / "_static").mkdir()
    (source / "_static" / "logo.png").write_bytes(PIXEL)
    (source / "conf.py").write_text(
        "html_title = 'A book'\nextensions = ['bookkit.sphinx_publishing']\n"
    )
    (source / "index.rst").write_text(
        "Start\n=====\n\nHow it begins.\n\n.. toctree::\n\n   deep/page\n"
    )
    (source / "deep" / "page.rst").write_text("Page\n====\n\nWhat a page says.\n")
    monkeypatch.setenv("BOOK_ADDRESS", address)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(source), str(folder)]
    subprocess.run(command, check=True)
    return folder


# A PNG of one pixel, in place of the book's mark.
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        yield build(tmp_path_factory.mktemp("published"), ADDRESS, patch)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        yield build(tmp_path_factory.mktemp("local"), "", patch)


def test_published_page_names_its_address_and_describes_itself(published):
    page = (published / "deep" / "page.html").read_text()
    assert f'<link rel="canonical" href="{ADDRESS}/deep/page.html" />' in page
    assert '<meta name="description" content="What a page says." />' in page
    assert f'<meta property="og:url" content="{ADDRESS}/deep/page.html" />' in page
    assert '<meta property="og:site_name" content="A book" />' in page
    picture = re.search(r'property="og:image" content="([^"]+)"', page)[1]
    assert picture.startswith(f"{ADDRESS}/")
    assert (published / picture.removeprefix(f"{ADDRESS}/")).stat().st_size > 5_000


def test_sitemap_lists_the_pages_and_robots_name_the_sitemap(published):
    found = re.findall("<loc>(.*?)</loc>", (published / "sitemap.xml").read_text())
    assert {f"{ADDRESS}/index.html", f"{ADDRESS}/deep/page.html"} <= set(found)
    assert not [one for one in found if re.search("404|search", one)]
    robots = (published / "robots.txt").read_text()
    assert f"Sitemap: {ADDRESS}/sitemap.xml" in robots


@pytest.mark.parametrize(
    ("book", "home"), [("published", "/course/book/"), ("local", "/")]
)
def test_page_for_lost_readers_links_from_the_root(request, book, home):
    folder = request.getfixturevalue(book)
    page = (folder / "404.html").read_text()
    targets = re.findall(r'(?:href|src)="([^"#]+)', page)
    inside = [one for one in targets if not one.startswith("https://")]
    assert f"{home}index.html" in inside
    assert [one for one in inside if not one.startswith(home)] == []


def test_without_an_address_a_page_names_none(local):
    page = (local / "deep" / "page.html").read_text()
    assert "canonical" not in page
    assert "og:" not in page
    assert not (local / "sitemap.xml").exists()
    assert not (local / "robots.txt").exists()


@pytest.mark.parametrize("given", ["example.org/book", "ftp://example.org", "/book/"])
def test_half_an_address_is_refused_with_an_example(given):
    with pytest.raises(ExtensionError, match=r"give all of it, such as https://"):
        whole_address(given)
