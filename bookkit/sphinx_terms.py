"""A Sphinx extension: the glossary's terms explain themselves on the chapters' pages.

The first time that a section's prose uses a term, the word becomes a link to the
glossary; what the term means goes along with the page, and `_static/terms.js` shows it.
Code, headings, links, formulas, tables and captions stay as they are, and so do the
notebooks. Words with an everyday meaning are linked only where `FORMS` says so.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from docutils import nodes
from sphinx.addnodes import glossary as glossary_node
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from bookkit.sphinx_opening import chapter_of

GLOSSARY = "glossary"

# How a term is written, if not as itself or with an s, and the chapters in which the
# word means the term.
FORMS: dict[str, tuple[str, set[int]]] = {
    "attention head": (r"[Aa]ttention\s+heads?|[Qq]uery\s+heads?|[Hh]eads?", {3, 4, 7}),
    "attention weight": (r"[Aa]ttention\s+weights", set(range(16))),
    "batch": (r"[Bb]atch(?:es)?(?! norm)", set(range(16))),
    "block": (r"(?<!building )[Bb]locks?", {8, 9, 11}),
    "bubble": (r"[Bb]ubbles?", {13}),
    "d_k": (r"(?<!, )d_k", {2, 3, 4, 8, 11, 12}),  # not inside a shape
    "data parallel": (r"[Dd]ata[ -]parallel(?:ism)?", {10, 13}),
    "decode": (r"[Dd]ecode", {11}),
    "embedding": (r"[Ee]mbeddings?", {4, 6, 9, 10}),
    "gate": (r"[Gg]ates?", {1, 6}),
    "greedy decoding": (r"[Gg]reedy(?: decoding)?", {11}),
    "key": (r"[Kk]eys?(?! idea| point| question)", {2, 3, 4, 7, 8, 11, 12}),
    "mask": (r"[Mm]asks?(?! out)", {2, 3, 4, 7, 9, 11}),
    "neuron": (r"[Nn]eurons?", {6}),
    "micro-batch": (r"[Mm]icro-batch(?:es)?", {10, 13}),
    "pipeline parallel": (r"[Pp]ipeline[ -]parallel(?:ism)?", {13}),
    "projection": (r"[Pp]rojections?", {2, 3, 6, 8}),
    "query": (r"[Qq]uer(?:y|ies)", {2, 3, 4, 7, 8, 11, 12}),
    "rank": (r"[Rr]anks?", {13}),
    "score": (r"[Ss]cores", {0, 2, 3, 4, 7}),
    "temperature": (r"[Tt]emperature", {11}),
    "tensor parallel": (r"[Tt]ensor[ -]parallel(?:ism)?", {13}),
    "value": (r"(?<=keys and )values|(?<=[Kk]eys, )values", {2, 3, 4, 7, 8, 11, 12}),
    "vocabulary": (r"[Vv]ocabular(?:y|ies)", {8, 9, 10, 11}),
}
PROSE = (nodes.paragraph, nodes.emphasis, nodes.strong)
NOT_PROSE = (
    nodes.title,
    nodes.caption,
    nodes.legend,
    nodes.table,
    nodes.reference,
    nodes.literal,
    nodes.math,
    nodes.container,  # cells of code and their outputs, hints, folded answers
    glossary_node,
)


@dataclass(frozen=True)
class Term:
    """A term of the glossary: its address there, and what it means."""

    anchor: str
    meaning: str


def pattern_of(name: str, chapter: int) -> str | None:
    """How a term is written in a chapter's prose, as a pattern; None if it isn't."""
    if name in FORMS:
        form, chapters = FORMS[name]
        return form if chapter in chapters else None
    first, rest = name[0], re.escape(name[1:]).replace(r"\ ", r"\s+")
    if first.islower() and name[1].islower():  # a word, which may begin a sentence
        first = f"[{first}{first.upper()}]"
    return f"{first}{rest}{'' if name.endswith('s') else 's?'}"


def finder(names: Mapping[str, Any], chapter: int) -> tuple[re.Pattern[str], list[str]]:
    """A pattern that finds any of the terms, and the term of each of its groups."""
    forms = {name: pattern_of(name, chapter) for name in names}
    used = sorted((name for name, form in forms.items() if form), key=len, reverse=True)
    groups = [f"({forms[name]})" for name in used]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(groups)})(?![\w-])"), used


def find(
    text: str, pattern: re.Pattern[str], names: list[str]
) -> Iterator[tuple[int, int, str]]:
    """Each term in a text: where it starts, where it ends, and which one it is."""
    for match in pattern.finditer(text):
        assert match.lastindex is not None
        yield match.start(), match.end(), names[match.lastindex - 1]


def terms_of(tree: nodes.document) -> dict[str, Term]:
    """The terms of a glossary's page, by every name that they have."""
    terms = {}
    for item in tree.findall(nodes.definition_list_item):
        heads = [child for child in item.children if isinstance(child, nodes.term)]
        paragraphs = item.children[-1].children
        meaning = " ".join(" ".join(one.astext().split()) for one in paragraphs[:1])
        for head in heads:
            terms[head.astext().strip()] = Term(heads[0]["ids"][0], meaning)
    return terms


class LinkTerms(SphinxPostTransform):
    """Link each term where a section's prose first uses it."""

    default_priority = 400
    formats = ("html",)

    def run(self, **_: Any) -> None:
        chapter = chapter_of(self.env.docname)
        if chapter is None or GLOSSARY not in self.env.found_docs:
            return
        terms = terms_of(self.env.get_doctree(GLOSSARY))
        pattern, names = finder(terms, chapter)
        uri = self.app.builder.get_relative_uri(self.env.docname, GLOSSARY)
        seen: set[tuple[int, str]] = set()
        for text in list(self.document.findall(nodes.Text)):
            section = section_of(text)
            if section is None:
                continue
            pieces: list[nodes.Node] = []
            end = 0
            for start, stop, name in find(str(text), pattern, names):
                anchor = terms[name].anchor
                if (id(section), anchor) in seen:
                    continue
                seen.add((id(section), anchor))
                word = str(text)[start:stop]
                link = nodes.reference(
                    "", word, internal=True, refuri=f"{uri}#{anchor}", classes=["term"]
                )
                pieces += [nodes.Text(str(text)[end:start]), link]
                end = stop
            if pieces:
                text.parent.replace(text, [*pieces, nodes.Text(str(text)[end:])])


def section_of(text: nodes.Text) -> nodes.section | None:
    """The section in whose prose a text stands; None if it isn't prose."""
    node = text.parent
    if not isinstance(node, PROSE):
        return None
    while not isinstance(node, nodes.section):
        if node is None or isinstance(node, NOT_PROSE):
            return None
        node = node.parent
    return node


def hand_over_meanings(
    app: Sphinx, _: str, __: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Put the meanings of the terms that a page links into the page."""
    if tree is None or "body" not in context:
        return
    links = [one for one in tree.findall(nodes.reference) if "term" in one["classes"]]
    if not links:
        return
    used = {one["refuri"].partition("#")[2] for one in links}
    terms = terms_of(app.env.get_doctree(GLOSSARY)).values()
    meanings = {term.anchor: term.meaning for term in terms if term.anchor in used}
    data = json.dumps(meanings, ensure_ascii=False).replace("</", "<\\/")
    context["body"] += f'<script type="application/json" id="terms">{data}</script>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.add_post_transform(LinkTerms)
    app.connect("html-page-context", hand_over_meanings)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
