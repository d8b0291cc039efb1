"""Find or bring a Chromium, for tests, pictures and the PDF: python -m bookkit.browser

In this order: a Chromium or Chrome that is installed, the one that Playwright keeps or
can download, Debian's package where this process may install it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import sync_playwright

COMMANDS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
PLACES = (
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path(r"C:\Program Files\Google\Chrome\Application\chrome.exe"),
)
ADVICE = (
    "no Chromium here: install Chromium or Chrome, or let Playwright download one "
    "with: python -m playwright install --with-deps chromium"
)
# Root may not use Chromium's sandbox; the rest keeps it quiet and off the network.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def installed(
    commands: Iterable[str] = COMMANDS, places: Iterable[Path] = PLACES
) -> Path | None:
    """A Chromium or Chrome on the search path or in its usual place, else None."""
    found = [Path(path) for path in map(shutil.which, commands) if path]
    return next((path for path in [*found, *places] if path.is_file()), None)


def playwrights() -> Path | None:
    """The Chromium that Playwright has downloaded before, else None."""
    with sync_playwright() as playwright:
        path = Path(playwright.chromium.executable_path)
    return path if path.is_file() else None


def runs(path: Path) -> bool:
    """Whether a browser starts: a download may lack libraries that it needs."""
    try:
        return subprocess.run([path, "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


def find() -> Path:
    """The browser to test with, of those that are there. Raises FileNotFoundError."""
    for look in (installed, playwrights):
        path = look()
        if path is not None and runs(path):
            return path
    raise FileNotFoundError(ADVICE)


def bring() -> Path:
    """The browser to test with; one is fetched if there is none, and that is said."""
    try:
        return find()
    except FileNotFoundError:
        print("No Chromium or Chrome here: Playwright downloads one.", flush=True)
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])
    try:
        return find()
    except FileNotFoundError:
        if not (shutil.which("apt-get") and os.geteuid() == 0):
            raise
        print("That failed: Debian's package is installed instead.", flush=True)
    subprocess.run(["apt-get", "update", "-q"])
    subprocess.run(["apt-get", "install", "-q", "-y", "chromium"])
    return find()


def main() -> int:
    """Print the browser's path; 1 and advice if there is none to be had."""
    try:
        print(f"Browser: {bring()}")
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
