"""A MiniGPT drawn from what its hooks saw: the stream, its parts, and their shapes."""

from collections.abc import Mapping, Sequence

from bookkit.assembly import Step
from bookkit.figures import INK, MUTED, PALETTE
from bookkit.moving import Picture

ROW, LEFT, WIDTH = 22, 16, 440
#: The rows of the drawing: a part's name in the model, and how far it is set in.
PARTS: Mapping[str, int] = {
    "embed": 0,
    "pos_embed": 0,
    "blocks.0.norm1": 1,
    "blocks.0.attn.W_q": 2,
    "blocks.0.attn.softmax": 2,
    "blocks.0.attn": 1,
    "blocks.0.norm2": 1,
    "blocks.0.ff.W_1": 2,
    "blocks.0.ff": 1,
    "blocks.0": 0,
    "norm": 0,
    "head": 0,
}
WRITERS = ("embed", "pos_embed", "blocks.0.attn", "blocks.0.ff")


def blueprint(steps: Sequence[Step], tokens: tuple[int, ...], blocks: int) -> Picture:
    """Draw the parts from top to bottom, each with the shape that it puts out.

    steps: from `follow`; tokens: the shape of what came in. The blue line is the
    stream, a dot on it marks a part that writes into it. Parts that the model doesn't
    have under these names are left out.
    """
    seen = {step.name: step for step in steps}
    rows = [name for name in PARTS if name in seen]
    head = _row(0, "", "puts out", "holds", MUTED) + _row(1, "tokens", str(tokens), "")
    body = "".join(
        _part(2 + i, name, PARTS[name], seen[name], blocks)
        for i, name in enumerate(rows)
    )
    last = 2 + rows.index("norm") if "norm" in rows else 2 + len(rows)
    top, end = int(2.2 * ROW), int((last + 0.3) * ROW)
    line = f"<path d='M{LEFT} {top}V{end}' stroke='{PALETTE[0]}' stroke-width='4'/>"
    return Picture(head + line + body, WIDTH, (len(rows) + 2) * ROW + 6)


def _part(row: int, name: str, depth: int, step: Step, blocks: int) -> str:
    said = name.replace("blocks.0.", "")
    if name == "blocks.0":
        said = f"the block; {blocks - 1} more like it"
    y = row * ROW + 11
    dot = f"<circle cx='{LEFT}' cy='{y}' r='6' fill='{PALETTE[1]}'/>"
    written = _row(row, said, str(step.shape), f"{step.parameters:,}", depth=depth)
    return (dot if name in WRITERS else "") + written


def _row(
    row: int, name: str, shape: str, held: str, colour: str = INK, depth: int = 0
) -> str:
    y = row * ROW + 16
    texts = [(LEFT + 18 + 18 * depth, "start", name), (250, "start", shape)]
    texts.append((WIDTH - 6, "end", held))
    return "".join(
        f"<text x='{x}' y='{y}' text-anchor='{anchor}' font-size='13' "
        f"fill='{colour}'>{text}</text>"
        for x, anchor, text in texts
    )
