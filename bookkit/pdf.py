"""The whole book as one PDF, printed by Chromium: python -m bookkit.pdf [--out FILE]

Every page is printed as a browser prints it, with its folded parts open. The page
numbers run through, the outline lists chapters and sections, and links inside the book
lead to their place in the file.
"""

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

from playwright.sync_api import Browser
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from bookkit.site import DESK, ROOT, built, chromium, page_names, served, settle

LINK = NameObject("/Link")
PAPER = """
@page {{
  size: A4;
  margin: 18mm 16mm 20mm;
  font: 9pt system-ui, sans-serif;
  color: #636b74;
  @bottom-left {{ content: {title} }}
  @bottom-right {{ content: counter(page) }}
}}
html {{ counter-reset: page {before} }}
"""

# A formula too wide for the paper is set smaller: on paper nobody can scroll.
WIDTH = {"width": 672, "height": 1000}  # CSS pixels between A4's margins of 16 mm
FIT = """() => {
  for (const formula of document.querySelectorAll("mjx-container[display]")) {
    const share = formula.clientWidth / formula.scrollWidth
    const size = parseFloat(getComputedStyle(formula).fontSize)
    if (share < 1) formula.style.fontSize = `${0.98 * share * size}px`
  }
}"""


def printed(browser: Browser, address: str, before: int) -> bytes:
    """A page as a PDF whose first page has the number before + 1."""
    page = browser.new_page(viewport=DESK, color_scheme="light")
    page.goto(address)
    settle(page)
    title = page.locator("article h1").first.evaluate("h => h.firstChild.data.trim()")
    quoted = '"' + title.replace("\\", "\\\\").replace('"', '\\"') + '"'
    page.add_style_tag(content=PAPER.format(title=quoted, before=before))
    page.set_viewport_size(WIDTH)
    page.emulate_media(media="print")
    page.evaluate(FIT)
    data = page.pdf(prefer_css_page_size=True, outline=True, tagged=True)
    page.close()
    return data


def bind(parts: dict[str, bytes]) -> PdfWriter:
    """One PDF of many, each by its address; links inside the book stay inside."""
    book, starts, names = PdfWriter(), {}, {}
    for address, data in parts.items():
        reader = PdfReader(io.BytesIO(data))
        starts[address] = len(book.pages)
        names[address] = places(reader)
        book.append(reader, import_outline=True)
    ends = [*list(starts.values())[1:], len(book.pages)]
    for (address, start), end in zip(starts.items(), ends, strict=True):
        for page in book.pages[start:end]:
            for link in page.get("/Annots") or []:
                redirect(link.get_object(), address, starts, names, book)
    return book


def places(reader: PdfReader) -> dict[str, tuple[int, Any]]:
    """Where each named place of a PDF is: its page, and the height on it."""
    return {
        name.lstrip("/"): (reader.get_destination_page_number(place) or 0, place.top)
        for name, place in reader.named_destinations.items()
    }


def redirect(
    link: DictionaryObject,
    address: str,
    starts: dict[str, int],
    names: dict[str, dict[str, tuple[int, Any]]],
    book: PdfWriter,
) -> None:
    """Lead a link that points into the book to its page; others stay as they are."""
    if link.get("/Subtype") != LINK:
        return
    action = link.get("/A", DictionaryObject()).get_object()
    if "/URI" in action:
        target, anchor = urldefrag(str(action["/URI"]))
    else:
        target = address
        anchor = str(link.get("/Dest") or action.get("/D")).lstrip("/")
    if target not in starts:
        return
    page, top = names[target].get(anchor, (0, None))
    place = [
        book.pages[starts[target] + page].indirect_reference,
        NameObject("/FitH") if top is not None else NameObject("/Fit"),
    ]
    if top is not None:
        place.append(NumberObject(round(float(top))))
    link.pop("/A", None)
    link[NameObject("/Dest")] = ArrayObject(place)


def write(names: Sequence[str], path: Path, progress: Progress) -> int:
    """Print these pages into one file; the number of its pages."""
    parts: dict[str, bytes] = {}
    count = 0
    task = progress.add_task("", total=len(names))
    with served(built()) as site, chromium() as browser:
        for name in names:
            progress.update(task, description=name)
            address = f"{site}/{name}.html"
            parts[address] = printed(browser, address, count)
            count += len(PdfReader(io.BytesIO(parts[address])).pages)
            progress.advance(task)
    book = bind(parts)
    book.add_metadata({"/Title": "Transformer by Hand"})
    book.compress_identical_objects(remove_unreferenced=True)
    book.write(path)
    return count


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the PDF and say where it is; 1 if there is no book or browser."""
    parser = argparse.ArgumentParser(prog="python -m bookkit.pdf")
    parser.description = "Print the built book into one PDF."
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "book.pdf")
    options = parser.parse_args(arguments)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    try:
        with Progress(*columns) as progress:
            count = write(page_names(), options.out, progress)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    size = options.out.stat().st_size / 2**20
    print(f"{options.out.resolve()}: {count} pages, {size:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
