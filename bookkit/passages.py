"""The book's own sections as passages to be found: where each stands, how it begins."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from docutils.nodes import make_id

CHAPTERS = Path(__file__).parents[1] / "chapters"
LONG = 150  # characters of a passage, to the end of a word

#: Sections that say nothing of their own.
_LEFT_OUT = (
    "Exercise:",
    "Check yourself",
    "In five lines",
    "Further",
    "Where this goes",
)

#: What markup becomes in plain text, in this order.
_PLAIN = [
    (r"(?s)```.*?```|:::.*?:::|\$\$.*?\$\$|^\|.*?$", " "),
    (r"\{(?:cite|cite:t|cite:p|ref|numref)\}`[^`]*`", ""),
    (r"\{[\w:]+\}`([^`<]*?)\s*(?:<[^`]*>)?`", r"\1"),
    (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"[*`$\\]|<[^>]*>", ""),
    (r"\s+", " "),
]


@dataclass(frozen=True)
class Passage:
    """A section: its chapter's title, its heading, how it begins, and its address."""

    chapter: str
    heading: str
    text: str
    link: str

    @property
    def title(self) -> str:
        return f"{self.chapter} · {self.heading}"


def passages(folder: Path = CHAPTERS, files: Sequence[str] = ()) -> list[Passage]:
    """The sections of the chapters in a folder, in the order of the book."""
    found = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    chosen = [path for path in found if not files or path.stem in files]
    return [one for path in chosen for one in sections(path)]


def sections(path: Path) -> Iterator[Passage]:
    """The sections of one chapter."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    text = "\n\n".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
    )
    chapter, *parts = re.split(r"^#{1,3} (.+)$", text, flags=re.MULTILINE)[1:]
    number = str(int(path.name[:2]))
    seen: set[str] = set()
    for heading, body in zip([chapter, *parts[1::2]], parts[::2], strict=True):
        words, anchor = beginning(body), make_id(plain(heading))
        known = anchor in seen
        seen.add(anchor)
        if len(words) < 60 or known or heading.startswith(_LEFT_OUT):
            continue
        yield Passage(number, plain(heading), words, f"{path.stem}.html#{anchor}")


def plain(text: str) -> str:
    """Markdown without its marks, in one line."""
    for pattern, instead in _PLAIN:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text.strip()


def beginning(body: str) -> str:
    """How a section begins: whole words of its first paragraphs, as plain text."""
    text = plain(body)
    if len(text) <= LONG:
        return text
    return text[:LONG].rsplit(" ", 1)[0] + " …"
