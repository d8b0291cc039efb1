"""One query at work: choose it, and follow it from scores to output, step by step."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from bookkit.figures import INK, MUTED, PALETTE
from bookkit.widgets.moving import Moving, moving
from bookkit.widgets.pictures import Picture, side_by_side, text
from bookkit.widgets.theme import EMPTY, PLATE
from solutions import attention as reference

BLUE, ORANGE = PALETTE[:2]
STEPS = ("scores", "scale", "softmax", "mix")
ALT = (
    "Arcs lead from the chosen query to every key, thicker where the weight is larger. "
    "A table beside them has a row for each key: its dot product with the query, the "
    "same divided, its weight as a bar, and its value; a last row holds the output."
)
WIDE = 330  # units of the sentence's width
ROW = 30  # units of a table row's height
COLUMNS = (56, 118, 132, 232)  # where scores and scaled scores end, weights, values


def explore(
    tokens: Sequence[str],
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    *,
    scores: Callable[..., Tensor] = reference.attention_scores,
    attention: Callable[..., tuple[Tensor, Tensor]] = (
        reference.scaled_dot_product_attention
    ),
    mask: Tensor | None = None,
    query: str = "",
    title: str = "One query, step by step",
) -> Moving:
    """Let the reader choose a query and follow it through attention's steps.

    n tokens, Q (n, d_k), K (n, d_k), V (n, d_v), mask (n, n) with True = may attend.
    `scores` and `attention` are the reader's own functions, else the reference's; the
    tokens differ from each other, and `query` is the first one chosen.
    """
    n = len(tokens)
    if not len(Q) == len(K) == len(V) == n:
        sizes = f"{len(Q)}, {len(K)} and {len(V)}"
        raise ValueError(f"Q, K and V have {sizes} rows, for {n} tokens")
    scaled = scores(Q, K)
    output, weights = attention(Q, K, V, mask)
    allowed = torch.ones(n, n).bool() if mask is None else mask.expand(n, n).bool()
    raw = (Q @ K.mT).masked_fill(~allowed, -torch.inf)
    scaled = scaled.masked_fill(~allowed, -torch.inf)
    size = raw[allowed].abs().max().clamp(min=1e-9)
    names = list(tokens)

    def draw(query: str, step: str) -> Picture:
        i, at = names.index(query), STEPS.index(step)
        strength = weights[i] if at >= 2 else (raw[i] / size).where(allowed[i], 0.0)
        arcs = _arcs(names, i, strength, weighed=at >= 2)
        table = _table(names, i, at, raw[i], scaled[i], weights[i], V, output[i])
        said = (
            _said_of_scores(names, i, raw[i]),
            _said_of_scale(names, i, scaled[i], Q.shape[-1]),
            _said_of_weights(names, i, weights[i]),
            f"{query} takes each value as much as its weight says, and comes out as "
            f"{_vector(output[i])}.",
        )
        return side_by_side(arcs, table, words=said[at])

    first = query or names[0]
    start = {"query": first}
    return moving(
        draw, title=title, alt=ALT, play="step", start=start, query=names, step=STEPS
    )


def _said_of_scores(names: list[str], i: int, row: Tensor) -> str:
    best = row.max()
    where = [name for name, s in zip(names, row, strict=True) if best - s < 0.005]
    if len(where) == len(names):
        return f"{names[i]}'s query scores {_number(best)} with every key."
    return f"{names[i]}'s query fits {_list(where)} best: the score is {_number(best)}."


def _said_of_scale(names: list[str], i: int, row: Tensor, d_k: int) -> str:
    return (
        f"All scores are divided by √{d_k} = {d_k**0.5:.2f}: "
        f"{names[i]}'s largest is now {_number(row.max())}."
    )


def _said_of_weights(names: list[str], i: int, row: Tensor) -> str:
    order = row.argsort(descending=True, stable=True)[:3].tolist()
    given = [f"{names[j]} {row[j]:.2f}" for j in order]
    return f"Of its weight of 1, {names[i]} gives most to {_list(given)}."


def _list(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def _number(value: Tensor | float) -> str:
    """Two digits after the point, with no negative nought."""
    if float(value) == -torch.inf:
        return "−∞"
    said = f"{float(value):.2f}"
    return said.removeprefix("-") if float(said) == 0 else said.replace("-", "−")


def _vector(row: Tensor) -> str:
    """A vector's first three numbers."""
    said = [_number(value) for value in row[:3].tolist()]
    return f"({', '.join(said + ['…'] * (len(row) > 3))})"


def _arcs(names: list[str], i: int, strength: Tensor, *, weighed: bool) -> Picture:
    """The sentence, with an arc from word i to every word."""
    n, ground = len(names), 148
    gap = WIDE / n
    body = f"<rect x='{i * gap + 2:.4g}' y='{ground - 24}' width='{gap - 4:.4g}' "
    body += f"height='34' rx='6' fill='{PLATE}' stroke='{ORANGE}' stroke-width='2'/>"
    for j, size in enumerate(strength.tolist()):
        start, end = (i + 0.5) * gap, (j + 0.5) * gap
        bend = 34 + 88 * abs(i - j) / max(n - 1, 1)
        if i == j:
            start, end = start - 9, end + 9
        y = ground - 28
        path = f"M{start:.4g} {y}C{start:.4g} {y - bend:.4g} {end:.4g} {y - bend:.4g} "
        thick = 0.8 + (11 if weighed else 5) * abs(size)
        body += (
            f"<path d='{path}{end:.4g} {y}' fill='none' stroke-linecap='round' "
            f"stroke='{ORANGE if size < 0 else BLUE}' stroke-width='{thick:.2f}' "
            f"opacity='{0.25 + 0.6 * abs(size):.2f}'/>"
        )
    for j, name in enumerate(names):
        x = (j + 0.5) * gap
        pick = f" data-pick='0 {j}' font-size='13'"
        tap = f"<rect x='{j * gap:.4g}' y='{ground - 30}' width='{gap:.4g}' "
        body += text(x, ground - 3, name, INK, bold=True, anchor="middle", more=pick)
        body += f"{tap}height='44' fill='transparent' data-pick='0 {j}'/>"
    return Picture(body, WIDE, ground + 14)


def _table(
    names: list[str],
    i: int,
    at: int,
    raw: Tensor,
    scaled: Tensor,
    weights: Tensor,
    V: Tensor,
    output: Tensor,
) -> Picture:
    """A row for each key; columns appear as the steps come to them."""
    left = 14 + 7 * max(len(name) for name in [*names, "output"])
    ends = [left + x for x in COLUMNS]
    wide = 14 + 7 * max(len(_vector(row)) for row in [*V, output])
    shades = [(left + 8, 54), (left + 64, 60), (left + 126, 96), (left + 224, wide)]
    shade, end = shades[at], left + 224 + wide
    height = 26 + ROW * (len(names) + 1)
    body = (
        f"<rect x='{shade[0]}' y='0' width='{shade[1]}' height='{height}' rx='6' "
        f"fill='{PLATE}'/>"
    )
    heads = [("q · k", "end"), ("÷ √d_k", "end"), ("weight", ""), ("value", "")]
    for k, (name, anchor) in enumerate(heads):
        colour = BLUE if k == at else MUTED
        body += text(ends[k], 16, name, colour, bold=True, anchor=anchor or "start")
    for j, name in enumerate(names):
        y = 26 + j * ROW + 19
        weight = float(weights[j])
        body += f"<path d='M0 {26 + j * ROW}h{end}' stroke='{EMPTY}'/>"
        body += text(0, y, name, ORANGE if i == j else INK, bold=True)
        body += text(ends[0], y, _number(raw[j]), anchor="end")
        body += text(ends[1], y, _number(scaled[j]), anchor="end", more=_seen(at >= 1))
        body += (
            f"<rect x='{ends[2]}' y='{y - 13}' width='{52 * weight:.1f}' height='17' "
            f"rx='2' fill='{BLUE}'{_seen(at >= 2)}/>"
        )
        slide = f" transform='translate({52 * weight:.1f})'"
        said = f"{weight:.2f}" if weight else "–"
        body += text(ends[2] + 5, y, said, more=slide + _seen(at >= 2))
        faint = 0.3 + 0.7 * min(1.0, weight / max(float(weights.max()), 1e-9))
        show = f" opacity='{faint if at >= 3 else 0.0:.2f}'"
        body += text(ends[3], y, _vector(V[j]), more=show)
    y = 26 + len(names) * ROW
    body += f"<path d='M0 {y}h{end}' stroke='{MUTED}' stroke-width='1.5'/>"
    body += text(0, y + 20, "output", INK, bold=True, more=_seen(at >= 3))
    body += text(ends[3], y + 20, _vector(output), BLUE, bold=True, more=_seen(at >= 3))
    return Picture(body, end, height)


def _seen(shown: bool) -> str:
    return f" opacity='{int(shown)}'"
