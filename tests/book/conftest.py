"""The built book in headless Chromium, on this machine alone."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route

from bookkit import site as book
from bookkit.site import DESK, HTML, page_names

CHAPTERS = [
    name.removeprefix("chapters/")
    for name in page_names()
    if name.startswith("chapters/")
]

PATIENCE = 180_000  # ms that a busy machine may take for a page


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address at which the built book is served."""
    with book.served(book.built()) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with book.chromium() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser, site: str) -> Iterator[Page]:
    """A fresh tab, light and wide."""
    context = chromium.new_context(
        base_url=site, viewport=DESK, color_scheme="light", accept_downloads=True
    )
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    yield tab
    context.close()


class Guard:
    """What a page asks of other places, which get no answer, and what goes wrong."""

    def __init__(self, page: Page, home: str) -> None:
        self.home = home
        self.elsewhere: list[str] = []
        self.errors: list[str] = []
        page.route(lambda url: not url.startswith((home, "data:", "blob:")), self.stop)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self.hear)
        page.on("requestfailed", lambda asked: self.errors.append(asked.url))

    def stop(self, route: Route) -> None:
        self.elsewhere.append(route.request.url)
        route.abort()

    def hear(self, said) -> None:
        if said.type in ("error", "warning"):
            self.errors.append(said.text)


def watch(page: Page, home: str = HTML.as_uri()) -> Guard:
    """Keep a tab within `home`, and write down what goes wrong in it."""
    return Guard(page, home)


def plain(page: Page) -> Page:
    """The tab, in which neither formulas nor figures are drawn."""
    page.route(re.compile(r"mathjax|/_images/", re.IGNORECASE), lambda r: r.abort())
    page.set_default_timeout(PATIENCE)
    return page


@pytest.fixture
def swift(page: Page) -> Page:
    """A tab that draws neither formulas nor figures, for tests that need neither."""
    return plain(page)


@pytest.fixture(scope="module")
def chapter(request, chromium: Browser, site: str) -> Iterator[Page]:
    """A chapter's page, open for all tests of a module; each sets what it needs."""
    page = plain(chromium.new_page(base_url=site, viewport=DESK))
    page.goto(f"/chapters/{request.param}.html")
    yield page
    page.close()


chapter_by_chapter = pytest.mark.parametrize(
    "chapter", CHAPTERS, indirect=True, scope="module"
)
