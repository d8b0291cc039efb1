"""The built book, served on this machine and opened in a headless Chromium."""

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from bookkit.browser import FLAGS, find

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
DESK: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 360, "height": 740}

# Formulas are drawn, every picture has come and fonts are in use.
_SETTLED = """async () => {
  document.querySelectorAll("img[loading]").forEach(img => { img.loading = "eager" });
  await Promise.all([...document.images].map(img => img.decode().catch(() => {})));
  if (window.MathJax?.startup) await window.MathJax.startup.promise;
  await document.fonts.ready;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each request."""

    def log_message(self, *_: object) -> None:
        pass


def page_names(root: Path = ROOT) -> list[str]:
    """Every page of _toc.yml in reading order, by its path without the ending."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    files = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    return [toc["root"], *files]


def built(folder: Path = HTML) -> Path:
    """The folder of the built book. Raises FileNotFoundError if there is none."""
    if not (folder / "index.html").is_file():
        raise FileNotFoundError("there is no book yet; build it with: make book")
    return folder


@contextmanager
def served(
    folder: Path, handler: type[http.server.SimpleHTTPRequestHandler] = Quiet
) -> Iterator[str]:
    """Serve a folder while the block runs; gives the address, without a slash."""
    serve = functools.partial(handler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium while the block runs. Raises FileNotFoundError for none."""
    executable = find()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=list(FLAGS)
        )
        yield browser
        browser.close()


def settle(page: Page) -> None:
    """Wait until nothing that the page shows is still to come."""
    page.evaluate(_SETTLED)
