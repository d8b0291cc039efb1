"""The map of the book: a Transformer, in which each part leads to its chapter.

`PARTS` says where each chapter stands in the machine; the drawing, the list in words
and "you are here" are made from it. A new chapter is one line there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, MIDDLE = 360, 180  # units of the drawing; the page scales it
ROW, GAP, ADD = 34, 14, 30  # heights: of a part, between parts, where a sum stands
SIDES = {
    "machine": (60, 240),
    "block": (60, 240),
    "head": (72, 216),
    "around": (24, 312),
}


@dataclass(frozen=True)
class Part:
    """A part of the machine, and the chapter in which it is built.

    `place` says where it is drawn: in the "machine", in its repeated "block", inside
    the attention "head" above it, or "around" all of them.
    """

    chapter: int
    name: str
    does: str
    place: str


PARTS = (  # from top to bottom
    Part(11, "Sampling", "turns scores into the next token", "machine"),
    Part(9, "Head", "scores every token of the vocabulary", "machine"),
    Part(9, "Last norm", "brings the stream back to size 1", "machine"),
    Part(6, "Feed-forward network", "reworks each token by itself", "block"),
    Part(5, "Norm and residual", "keep what a part reads at size 1", "block"),
    Part(3, "Multi-head attention", "lets tokens look at each other", "block"),
    Part(2, "Queries, keys, values", "what each head works with", "head"),
    Part(7, "Mask", "says who may see whom", "head"),
    Part(11, "KV cache", "remembers keys and values while it writes", "head"),
    Part(12, "Tiles", "never hold all weights at once", "head"),
    Part(5, "Norm and residual", "leave the stream a way around each part", "block"),
    Part(4, "Positions", "say where a token stands", "machine"),
    Part(9, "Embedding", "turns each token into a vector", "machine"),
    Part(10, "Tokens", "make numbers of a text", "machine"),
    Part(0, "Compare, choose, mix", "what attention does, in three steps", "around"),
    Part(1, "Why attention", "and not one token after the other", "around"),
    Part(8, "Encoder, decoder, both", "three machines of the same parts", "around"),
    Part(9, "Block and model", "put the parts together", "around"),
    Part(10, "Training", "finds the numbers in all of it", "around"),
    Part(13, "Parallelism", "shares all of it out among many machines", "around"),
    Part(14, "Looking inside", "what heads do, and what went wrong", "around"),
    Part(15, "A modern decoder", "today's parts, and weights of others", "around"),
)


@dataclass(frozen=True)
class Chapter:
    """A chapter as the map needs it: its title, and the address that leads there."""

    title: str
    address: str


Box = tuple[int, int, int, int]  # x, y, width, height


def layout() -> tuple[list[Box], Box, int]:
    """The box of each part, the frame around the block, and the drawing's height."""
    boxes: list[Box] = []
    y, place = 30, "machine"
    top = bottom = 0
    for index, part in enumerate(PARTS):
        before, place = place, part.place
        if (before, place) == ("machine", "block"):
            top, y = y, y + ADD + 8  # room for the frame's name and the last sum
        elif before == "block" and place == "machine":
            bottom, y = y, y + GAP
        elif before == "head" and place == "block":
            y += GAP - 2
        elif place == "around" and before != "around":
            y += 56  # room for "a text" and for this group's name
        x, width = SIDES[place]
        inside = 0
        for later in PARTS[index + 1 :]:
            if part.place != "block" or later.place != "head":
                break
            inside += ROW + 6
        boxes.append((x, y, width, ROW + inside + (6 if inside else 0)))
        y += ROW + (2 if inside else 6 if place in ("head", "around") else GAP)
        if place == "block" and part.name.startswith("Norm") and not bottom:
            y += ADD - GAP
    return boxes, (24, top, 312, bottom - top), y + 4


def draw_map(chapters: Mapping[int, Chapter], here: int | None = None) -> str:
    """The map as SVG: each part is a link to its chapter; those of `here` are marked.

    A part whose chapter isn't among `chapters` is left out of the links.
    """
    boxes, (left, top, width, tall), height = layout()
    said = "A Transformer, from a text at the bottom to the next token at the top."
    if here is not None:
        said += f" You are here: chapter {here}, {chapters[here].title}."
    drawn = zip(PARTS, boxes, strict=True)
    around = next(
        box[1] for part, box in zip(PARTS, boxes, strict=True) if part.place == "around"
    )
    body = "".join(_part(part, box, chapters, here) for part, box in drawn)
    return (
        f'<svg class="book-map" viewBox="0 0 {WIDTH} {height}" role="group" '
        'aria-labelledby="book-map-title" aria-describedby="book-map-desc">'
        '<title id="book-map-title">Map of the book</title>'
        f'<desc id="book-map-desc">{escape(said)}</desc>'
        f'<rect class="frame" x="{left}" y="{top}" width="{width}" height="{tall}" '
        f'rx="10"/>{_note(left + width - 8, top + 18, "L times", "end")}'
        f"{_wires(boxes)}{_note(MIDDLE, 16, 'the next token')}"
        f"{_note(MIDDLE, around - 34, 'a text')}"
        f"{_note(left, around - 10, 'Around the machine', 'start')}{body}</svg>"
    )


def list_map(chapters: Mapping[int, Chapter]) -> str:
    """The same in words: an HTML list of the chapters, each with its parts."""
    lines = []
    for number, chapter in chapters.items():
        told = [f"{one.name}: {one.does}" for one in PARTS if one.chapter == number]
        parts = f"<br>{'. '.join(map(escape, told))}." if told else ""
        link = f'<a href="{chapter.address}">{number} · {escape(chapter.title)}</a>'
        lines.append(f"<li>{link}{parts}</li>")
    return f'<ul class="book-map-list">{"".join(lines)}</ul>'


def _part(
    part: Part, box: Box, chapters: Mapping[int, Chapter], here: int | None
) -> str:
    x, y, width, height = box
    current = part.chapter == here
    number = f"◂ {part.chapter}" if current else str(part.chapter)
    drawn = (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        f'<text x="{x + 12}" y="{y + 22}">{escape(part.name)}</text>'
        f'<text class="number" x="{x + width - 12}" y="{y + 22}" text-anchor="end">'
        f"{number}</text>"
    )
    kind = "part here" if current else "part"
    if part.chapter not in chapters:
        return f'<g class="{kind}">{drawn}</g>'
    chapter = chapters[part.chapter]
    label = f"{part.name}: chapter {part.chapter}, {chapter.title}"
    state = ' aria-current="page"' if current else ""
    return (
        f'<a class="{kind}" href="{chapter.address}" '
        f'aria-label="{escape(label, quote=True)}"{state}>{drawn}</a>'
    )


def _wires(boxes: list[Box]) -> str:
    """Lines from part to part, and past attention and feed-forward: the residual."""
    flow = [
        box
        for part, box in zip(PARTS, boxes, strict=True)
        if part.place in ("machine", "block")
    ]
    steps = f"M{MIDDLE} {flow[0][1]}V22"
    for (_, upper, _, tall), (_, lower, _, _) in pairwise(flow):
        steps += f"M{MIDDLE} {lower}V{upper + tall}"
    _, last, _, tall = flow[-1]
    steps += f"M{MIDDLE} {last + tall + 8}V{last + tall}"
    signs = ""
    block = [
        box for part, box in zip(PARTS, boxes, strict=True) if part.place == "block"
    ]
    for (_, upper, _, _), (_, lower, _, height) in zip(
        block[::2], block[1::2], strict=True
    ):
        add, leave = upper - 13, lower + height + 7
        steps += f"M{MIDDLE} {leave}H42V{add}H{MIDDLE - 8}"
        signs += f'<circle class="sum" cx="{MIDDLE}" cy="{add}" r="8"/>'
        signs += f'<path class="wire" d="M{MIDDLE - 5} {add}h10m-5 -5v10"/>'
    return f'<path class="wire" d="{steps}"/>{signs}'


def _note(x: int, y: int, text: str, anchor: str = "middle") -> str:
    return f'<text class="note" x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>'
