"""What a reader's browser fetches for each page, and how soon it shows something.

    python -m benchmarks.pages

Text is sent compressed, as web servers do. A page is opened with an empty cache: once
from this machine, once over a phone's connection (1.6 Mbit/s, 150 ms to the server).
"""

import gzip
import http.server
import io
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from playwright.sync_api import Browser
from rich.progress import track

from bookkit.site import DESK, built, chromium, page_names, served, settle

TEXT = {".html", ".css", ".js", ".json", ".svg", ".txt", ".xml"}
PHONE_LINE = {
    "offline": False,
    "latency": 150,  # ms
    "downloadThroughput": 1.6e6 / 8,  # bytes a second
    "uploadThroughput": 0.75e6 / 8,
}
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


class Compressing(http.server.SimpleHTTPRequestHandler):
    """Serves files, text compressed."""

    def log_message(self, *_: object) -> None:
        pass

    def send_head(self) -> BinaryIO | io.BytesIO | None:
        path = Path(self.translate_path(self.path))
        if path.suffix not in TEXT or not path.is_file():
            return super().send_head()
        body = gzip.compress(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)


@dataclass
class Visit:
    """One page opened once: kB fetched, files fetched, seconds until it shows."""

    kilobytes: float
    files: int
    paint: float


def visit(browser: Browser, address: str, *, phone_line: bool) -> Visit:
    """Open a page with an empty cache and count what comes."""
    page = browser.new_page(viewport=DESK)
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    if phone_line:
        devtools.send("Network.emulateNetworkConditions", PHONE_LINE)
    sizes: list[float] = []
    devtools.on(
        "Network.loadingFinished", lambda e: sizes.append(e["encodedDataLength"])
    )
    page.goto(address, timeout=120_000)
    if not phone_line:
        settle(page)
    paint = page.evaluate(PAINT) / 1000
    page.close()
    return Visit(sum(sizes) / 1000, len(sizes), paint)


def main() -> None:
    near: dict[str, Visit] = {}
    far: dict[str, Visit] = {}
    with served(built(), Compressing) as site, chromium() as browser:
        for name in track(page_names(), "Opening each page twice"):
            address = f"{site}/{name}.html"
            near[name] = visit(browser, address, phone_line=False)
            far[name] = visit(browser, address, phone_line=True)
    print(f"{'page':<28} {'kB':>6} {'files':>6} {'here':>7} {'phone':>7}")
    for name, here in near.items():
        print(
            f"{name:<28} {here.kilobytes:6.0f} {here.files:6} {here.paint:6.2f}s "
            f"{far[name].paint:6.2f}s"
        )
    weights = [one.kilobytes for one in near.values()]
    median, largest = statistics.median(weights), max(weights)
    print(f"\ntransferred: median {median:.0f} kB, largest {largest:.0f} kB")
    for label, visits in (("this machine", near), ("a phone's line", far)):
        paints = [one.paint for one in visits.values()]
        print(
            f"first paint over {label}: median {statistics.median(paints):.2f} s, "
            f"slowest {max(paints):.2f} s"
        )


if __name__ == "__main__":
    main()
