"""The chapters' Markdown, said in what every notebook reader shows.

Chapters are written in MyST, for the book. JupyterLab, VS Code and Colab show its
citations and boxes raw, and the answers of "Check yourself" lie open. A learner's copy
has links, `<details>` and quotes in their place. What isn't known here stays as it is.
"""

import html
import re
import textwrap
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

CITATION = r"\{cite(?::(?P<form>[pt]))?\}`(?P<keys>[^`]+)`"
FENCED = (  # code too, so that nothing in it is rewritten
    r"^(?P<indent> *)(?P<fence>(?P<mark>[:`~])(?P=mark){2,}+)"
    r"(?P<head>(?<=:)[^\n]*|[^\n`]*)\n(?P<body>.*?)(?:^ *(?P=fence)(?P=mark)* *$|\Z)"
)
REWRITTEN = re.compile(f"{FENCED}|{CITATION}", re.M | re.S)
DIRECTIVE = re.compile(r" *\{([\w-]+)\} *(.*)")
OPTIONS = re.compile(r"\A(?: *:[\w-]+:[^\n]*\n)*")
MATH = re.compile(r"(\$\$?)(?:(?!\n\n)[^$])+\1")
ENTRY = re.compile(r"^@\w+\{([^,\s]+),(.*?)^\}", re.M | re.S)
FIELD = re.compile(r"^ *(\w+) *= *\{(.*?)\},?$", re.M | re.S)
ACCENT = re.compile(r"\\(['\"`^~])\{?(\w)\}?")
MARKS = {"'": "\u0301", '"': "\u0308", "`": "\u0300", "^": "\u0302", "~": "\u0303"}
KINDS = "attention caution danger error hint important note tip warning"
TITLES = {kind: kind.capitalize() for kind in KINDS.split()} | {"seealso": "See also"}


@dataclass(frozen=True)
class Work:
    """What a citation says of a work: all but the authors may be empty."""

    authors: str
    year: str = ""
    url: str = ""

    def cited(self, year: str) -> str:
        text = self.authors + (year.format(self.year) if self.year else "")
        return f"[{text}]({self.url})" if self.url else text


def bibliography(bib: str) -> dict[str, Work]:
    """The works of a .bib file by their keys; values stand in braces."""
    entries = ENTRY.findall(bib)
    return {
        key: _work({"author": key, **dict(FIELD.findall(of))}) for key, of in entries
    }


def _work(fields: Mapping[str, str]) -> Work:
    url, doi = fields.get("url", ""), fields.get("doi")
    if doi and not url:
        url = f"https://doi.org/{doi}"
    names = [_last_name(name) for name in re.split(r"\s+and\s+", fields["author"])]
    few = len(names) < 3 and "others" not in names
    return Work(
        " and ".join(names) if few else f"{names[0]} et al.",
        fields.get("year", ""),
        url.replace("(", "%28").replace(")", "%29"),  # a bracket would end the link
    )


def _last_name(name: str) -> str:
    """`Kim, Jong Wook` -> Kim, `{Gemma Team}` -> Gemma Team."""
    last = ACCENT.sub(lambda found: found[2] + MARKS[found[1]], name.split(",")[0])
    return unicodedata.normalize("NFC", re.sub(r"[{}]", "", last))


def plain(text: str, works: Mapping[str, Work]) -> str:
    """A cell's Markdown without MyST: citations as links, boxes as HTML and quotes."""

    def rewritten(found: re.Match[str]) -> str:
        return _cited(found, works) if found["keys"] else _box(found, works)

    return REWRITTEN.sub(rewritten, text)


def _cited(found: re.Match[str], works: Mapping[str, Work]) -> str:
    keys = [key.strip() for key in found["keys"].split(",")]
    cited = [works.get(key, Work(key)) for key in keys]
    if found["form"] == "t":
        return ", ".join(one.cited(" ({})") for one in cited)
    return f"({'; '.join(one.cited(', {}') for one in cited)})"


def _box(found: re.Match[str], works: Mapping[str, Work]) -> str:
    """A directive as a block of its own, with blank lines around it."""
    head, indent = DIRECTIVE.match(found["head"]), found["indent"]
    if not head or head[1] not in {"dropdown", "admonition", *TITLES}:
        return found[0]
    body = re.sub(f"^{indent}", "", found["body"], flags=re.M)
    options = "".join(OPTIONS.findall(body)[:1])
    body, title = body[len(options) :], head[2].strip()
    if head[1] in TITLES:  # these have no title of their own: the text begins there
        body, title = f"{title}\n{body}", TITLES[head[1]]
    body = plain(body, works).strip("\n")
    folded = head[1] == "dropdown" or "dropdown" in options
    box = _details(title, body) if folded else _quote(title, body)
    before, after = found.string[: found.start()], found.string[found.end() :]
    above = "\n" if before and not before.endswith("\n\n") else ""
    below = "\n" if re.match(r"\n.*\S", after) else ""
    return above + textwrap.indent(box, indent) + below


def _details(title: str, body: str) -> str:
    """Between blank lines, Markdown and formulas are read as anywhere else."""
    summary = f"<summary>{html.escape(title, quote=False)}</summary>"
    return f"<details>\n{summary}\n\n{body}\n\n</details>"


def _quote(title: str, body: str) -> str:
    # Jupyter takes formulas out first: a quote's `>` inside one would be drawn.
    body = MATH.sub(lambda found: found[0].replace("\n", " "), body)
    lines = f"**{title}**\n\n{body}".split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)
