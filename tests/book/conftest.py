"""The built book, served on this machine to a headless Chromium."""

import functools
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser import FLAGS, find

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
CHAPTERS = sorted(path.stem for path in (HTML / "chapters").glob("*.html"))
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}

expect.set_options(timeout=15_000)  # a busy machine takes its time


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the book without a line for each request."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address at which the built book is served."""
    assert (HTML / "index.html").is_file(), "there is no book yet: run `make book`"
    handler = functools.partial(Quiet, directory=HTML)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    executable = find()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=list(FLAGS)
        )
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, site: str) -> Iterator[Page]:
    """A fresh tab, light and wide, that never leaves this machine."""
    context = chromium.new_context(
        base_url=site, viewport=DESK, color_scheme="light", accept_downloads=True
    )
    tab = context.new_page()
    tab.set_default_timeout(15_000)
    yield tab
    context.close()


@pytest.fixture
def swift(page: Page) -> Page:
    """A tab that draws neither formulas nor figures, for tests that need neither."""
    page.route(re.compile(r"mathjax|/_images/", re.IGNORECASE), lambda r: r.abort())
    page.set_default_timeout(60_000)
    return page
