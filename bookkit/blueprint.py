"""A MiniGPT drawn from what its hooks saw: the stream, its parts, and their shapes."""

from collections.abc import Mapping, Sequence

from bookkit.assembly import Step
from bookkit.figures import INK, MUTED, PALETTE
from bookkit.widgets import Picture
from bookkit.widgets.pictures import text
from bookkit.widgets.theme import PLATE

ROW, LEFT, WIDTH = 24, 16, 384
#: The rows of the drawing: a part's name in the model, how far it is set in, and what
#: it puts out.
PARTS: Mapping[str, tuple[int, str]] = {
    "embed": (0, "a vector for each token; the stream begins"),
    "pos_embed": (0, "a vector for each place, added to the stream"),
    "blocks.0.norm1": (1, "a copy of the stream, brought to size 1"),
    "blocks.0.attn.W_q": (2, "the queries, those of all heads side by side"),
    "blocks.0.attn.softmax": (2, "a weight for each head, query and key"),
    "blocks.0.attn": (1, "what the tokens took from each other, for the stream"),
    "blocks.0.norm2": (1, "a copy of the stream, brought to size 1"),
    "blocks.0.ff.W_1": (2, "each token by itself, four times as wide"),
    "blocks.0.ff": (1, "each token reworked, for the stream"),
    "blocks.0": (0, "the stream, in the shape in which it came"),
    "norm": (0, "the stream's end, brought to size 1"),
    "head": (0, "a score for every token of the vocabulary"),
}
WRITERS = ("embed", "pos_embed", "blocks.0.attn", "blocks.0.ff")


def blueprint(
    steps: Sequence[Step], tokens: tuple[int, ...], blocks: int, lit: int = 0
) -> Picture:
    """Draw the parts from top to bottom, each with the shape that it puts out.

    steps: from `follow`; tokens: the shape of what came in. The blue line is the
    stream, a dot on it marks a part that writes into it, and part number `lit` (from 1;
    0 is the text itself) stands out. Parts that the model doesn't have or doesn't call
    under these names are left out; a number beyond the last part lights the last.
    """
    seen = {step.name: step for step in steps}
    rows = [name for name in PARTS if name in seen]
    lit = min(lit, len(rows))
    body = f"<rect x='0' y='{(1 + lit) * ROW}' width='{WIDTH}' height='{ROW}' rx='5' "
    body += f"fill='{PLATE}' stroke='{PALETTE[0]}'/>"
    last = 2 + rows.index("norm") if "norm" in rows else 2 + len(rows)
    top, end = int(2.2 * ROW), int((last + 0.3) * ROW)
    body += f"<path d='M{LEFT} {top}V{end}' stroke='{PALETTE[0]}' stroke-width='4'/>"
    body += _row(0, "", "puts out", "holds", MUTED) + _row(1, "tokens", str(tokens), "")
    for i, name in enumerate(rows):
        body += _part(2 + i, name, PARTS[name][0], seen[name], blocks)
    said = f"The text goes in: {tokens}, a number for each token."
    if lit:
        name = rows[lit - 1]
        called = _called(name).partition(";")[0]
        said = f"{called} puts out {seen[name].shape}: {PARTS[name][1]}."
    return Picture(body, WIDTH, (len(rows) + 2) * ROW + 6, said)


def _called(name: str, blocks: int = 1) -> str:
    if name == "blocks.0":
        return f"the block; {blocks - 1} more like it"
    return name.replace("blocks.0.", "")


def _part(row: int, name: str, depth: int, step: Step, blocks: int) -> str:
    y = row * ROW + ROW // 2
    dot = f"<circle cx='{LEFT}' cy='{y}' r='6' fill='{PALETTE[1]}'/>"
    shape, held = str(step.shape), f"{step.parameters:,}"
    written = _row(row, _called(name, blocks), shape, held, depth=depth)
    return (dot if name in WRITERS else "") + written


def _row(
    row: int, name: str, shape: str, held: str, colour: str = INK, depth: int = 0
) -> str:
    y, large = row * ROW + 17, " font-size='13'"
    return (
        text(LEFT + 18 + 16 * depth, y, name, colour, more=large)
        + text(212, y, shape, colour, more=large)
        + text(WIDTH - 8, y, held, colour, anchor="end", more=large)
    )
