"""Pictures of every page for people to look at: python -m bookkit.pictures [--out DIR]

Each page light and dark, on a desk and on a phone, from top to bottom; index.html shows
them side by side.
"""

import argparse
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from playwright.sync_api import Page
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from bookkit.site import DESK, PHONE, ROOT, built, chromium, page_names, served, settle

SCHEMES = ("light", "dark")
SIZES = {"desk": DESK, "phone": PHONE}
TALLEST = 8000  # pixels; Chromium draws nothing beyond some 16,000 in one picture
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; color-scheme: light dark }
section > div { align-items: flex-start; display: flex; gap: 1rem; overflow-x: auto }
figure { flex: none; margin: 0 } img { border: 1px solid gray; display: block }
.desk { width: 36rem } .phone { width: 12rem }
"""


def shoot(page: Page, folder: Path, name: str) -> list[Path]:
    """Pictures of the whole page, one under the other where it is very long."""
    settle(page)
    height = page.evaluate("document.documentElement.scrollHeight")
    width = page.viewport_size["width"] if page.viewport_size else 0
    paths = []
    for part, top in enumerate(range(0, height, TALLEST), start=1):
        path = folder / f"{name}-{part}.png"
        rest = min(TALLEST, height - top)
        clip = {"x": 0, "y": top, "width": width, "height": rest}
        page.screenshot(path=path, full_page=True, clip=clip, animations="disabled")
        paths.append(path)
    return paths


def sheet(pictures: dict[str, dict[str, list[Path]]]) -> str:
    """A page that shows the pictures: a row for each page of the book."""
    rows = []
    for name, looks in pictures.items():
        figures = "".join(
            f"<figure><figcaption>{escape(look)}</figcaption>"
            + "".join(
                f"<a href='{path.name}'><img class='{look.split()[0]}' loading='lazy' "
                f"src='{path.name}' alt='{escape(name)}, {escape(look)}'></a>"
                for path in paths
            )
            + "</figure>"
            for look, paths in looks.items()
        )
        rows.append(f"<section><h2>{escape(name)}</h2><div>{figures}</div></section>")
    head = "<!doctype html><html lang='en'><meta charset='utf-8'>"
    title = "<title>Every page of the book</title>"
    return f"{head}{title}<style>{STYLE}</style><h1>Every page</h1>{''.join(rows)}"


def take(names: Sequence[str], folder: Path, progress: Progress) -> None:
    """Take the pictures of these pages into `folder`, and write the sheet of them."""
    task = progress.add_task("", total=len(names) * len(SIZES) * len(SCHEMES))
    pictures: dict[str, dict[str, list[Path]]] = {}
    with served(built()) as site, chromium() as browser:
        for name in names:
            progress.update(task, description=name)
            pictures[name] = {}
            for size, viewport in SIZES.items():
                page = browser.new_page(viewport=viewport)
                page.goto(f"{site}/{name}.html")
                for scheme in SCHEMES:
                    page.emulate_media(color_scheme=scheme)
                    stem = f"{name.replace('/', '-')}-{size}-{scheme}"
                    pictures[name][f"{size} {scheme}"] = shoot(page, folder, stem)
                    progress.advance(task)
                page.close()
    (folder / "index.html").write_text(sheet(pictures), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures and say where they are; 1 if there is no book or browser."""
    parser = argparse.ArgumentParser(prog="python -m bookkit.pictures")
    parser.description = "Take pictures of the built book, for people to look at."
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="such as chapters/02_attention"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "pictures")
    options = parser.parse_args(arguments)
    names = page_names()
    for page in options.pages:
        if page not in names:
            parser.error(f"no page {page!r}; choose from {', '.join(names)}")
    options.out.mkdir(parents=True, exist_ok=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    try:
        with Progress(*columns) as progress:
            take(options.pages or names, options.out, progress)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Open {(options.out / 'index.html').resolve().as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
