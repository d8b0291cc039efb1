"""Texts found by meaning: vectors in batches, the best passages, how to show them."""

import html
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from IPython.display import HTML
from torch import Tensor

from bookkit.figures import INK, MUTED, PALETTE
from bookkit.passages import Passage
from bookkit.widgets.pictures import Picture, text

ROW, BAR = 40, 300  # units: a hit's height, the length of likeness 1


def in_batches(
    embed: Callable[[list[str]], Tensor], texts: Sequence[str], size: int = 16
) -> Tensor:
    """The vectors of many texts, `size` at a time; those of like length together, so
    that little is padded.

    `embed` maps B texts to (B, C). -> (len(texts), C), in the order of the texts.
    """
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found: list[Tensor] = []
    for start in range(0, len(order), size):
        found += embed([texts[i] for i in order[start : start + size]])
    vectors = torch.empty(len(texts), found[0].shape[-1])
    vectors[order] = torch.stack(found)
    return vectors


def best(
    query: Tensor, vectors: Tensor, passages: Sequence[Passage], count: int = 5
) -> list[tuple[float, Passage]]:
    """The passages whose vectors are most like the query's, (C,), and how like."""
    top = (vectors @ query).topk(min(count, len(passages)))
    return [
        (like, passages[i])
        for like, i in zip(top.values.tolist(), top.indices.tolist(), strict=True)
    ]


class Hits(HTML):
    """What was found, as HTML with links; as text where that isn't shown."""

    def __init__(self, query: str, found: Sequence[tuple[float, Passage]]) -> None:
        lines = [
            f"<li><b>{like:.2f}</b> <a href='{html.escape(one.link, quote=True)}'>"
            f"{html.escape(one.title)}</a><br><span style='opacity:.8'>"
            f"{html.escape(one.text)}</span></li>"
            for like, one in found
        ]
        asked = f"<p style='margin:0'><i>{html.escape(query)}</i></p>"
        super().__init__(f"{asked}<ol>{''.join(lines)}</ol>")
        self.said = "\n".join(f"{like:.2f}  {one.title}" for like, one in found)

    def __repr__(self) -> str:
        return self.said


def ranking(query: str, found: Sequence[tuple[float, Passage]]) -> Picture:
    """The hits as bars, the best on top, each with the section's title."""
    body = ""
    for i, (like, one) in enumerate(found):
        y = 14 + i * ROW
        body += text(0, y, _short(one.title), INK)
        body += (
            f"<rect x='0' y='{y + 6}' height='9' rx='2' fill='{PALETTE[0]}' "
            f"width='{max(1, round(like * BAR))}'/>"
        )
        body += text(max(1, round(like * BAR)) + 6, y + 15, f"{like:.2f}", MUTED)
    first = found[0][1]
    words = f"“{query}”: best, chapter {first.title}."
    return Picture(body, BAR + 40, 14 + ROW * len(found), words)


def _short(title: str, most: int = 46) -> str:
    return title if len(title) <= most else title[: most - 1].rstrip() + "…"


def by_transformers(folder: Path, tokens: Tensor, mask: Tensor) -> Tensor:
    """What the library `transformers` makes of the same weights: (B, T, C)."""
    from transformers import BertModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    model = BertModel.from_pretrained(folder).eval()
    with torch.no_grad():
        hidden: Tensor = model(tokens, attention_mask=mask.long()).last_hidden_state
    return hidden
