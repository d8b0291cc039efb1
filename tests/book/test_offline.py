"""The book without internet or a server: opened as files, nothing is missing."""

import re

import pytest

from bookkit.site import HTML, page_names, settle
from tests.book.conftest import PATIENCE, watch

ELSEWHERE = r"(?:https?:)?//"
# What a browser fetches by itself: not the links that a reader follows.
FETCHED = re.compile(
    rf"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\ssrc=["']?{ELSEWHERE}[^>]*
       |<link\b(?![^>]*rel=["']?canonical)[^>]*\shref=["']?{ELSEWHERE}[^>]*""",
    re.VERBOSE,
)
STYLED = re.compile(rf"""(?:url\(\s*|@import\s+)["']?{ELSEWHERE}[^)\s;]*""")


@pytest.mark.parametrize("name", page_names())
def test_page_opened_as_a_file_is_whole(chromium, name):
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE)
    guard = watch(page)
    page.goto((HTML / f"{name}.html").as_uri())
    settle(page)
    assert guard.elsewhere == []
    assert guard.errors == []
    assert page.locator(".math:not(:has(mjx-container))").count() == 0
    assert page.locator("i[class*='fa-']").count() == 0
    page.close()


def test_search_works_in_files(chromium):
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE)
    guard = watch(page)
    page.goto((HTML / "search.html").as_uri() + "?q=scaled_dot_product_attention")
    link = page.locator("#search-results a[href*='02_attention']").first
    link.wait_for()
    link.click()
    page.wait_for_url("**/chapters/02_attention.html*")
    assert guard.elsewhere == []
    assert guard.errors == []
    page.close()


def test_no_page_names_a_file_elsewhere_to_fetch():
    found = {
        f"{path.relative_to(HTML)}: {hit}"
        for path in HTML.rglob("*.html")
        for hit in FETCHED.findall(path.read_text("utf-8"))
    }
    assert found == set()


def test_no_style_fetches_anything_elsewhere():
    styles = [*HTML.rglob("*.css"), *HTML.rglob("*.html")]
    found = {
        f"{path.relative_to(HTML)}: {hit}"
        for path in styles
        for hit in STYLED.findall(path.read_text("utf-8"))
    }
    assert found == set()
