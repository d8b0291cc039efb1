"""Pictures that move on a page without a kernel: drawn ahead, switched by sliders.

`moving` draws one picture for every choice of its sliders' values, with the reader's
own functions, and hands all of them to the page. The page needs nothing else: no
kernel, no library, no internet. The same output works in JupyterLab.
"""

import hashlib
import html
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from IPython.display import HTML
from matplotlib.colors import to_hex

from bookkit.figures import AMOUNT, INK, MUTED, PALETTE, PAPER

CELL = 24  # units of a grid's cell; the page scales a picture to its width
DIAL = 40  # units of a dial's radius
ROW = 15  # units of a bar's height
BAR = 190  # units of the longest bar
EMPTY = "#e3e8ed"  # a cell of value 0, which has to be seen beside the white card
FONT = "font-family='system-ui, sans-serif'"


@dataclass(frozen=True)
class Picture:
    """A drawing: the inside of an SVG, and its size."""

    body: str
    width: int
    height: int

    def svg(self) -> str:
        box = f"0 0 {self.width} {self.height}"
        return f"<svg viewBox='{box}' width='{self.width}' {FONT}>{self.body}</svg>"


def grid(
    matrix: torch.Tensor,
    rows: Sequence[object],
    cols: Sequence[object],
    title: str = "",
) -> Picture:
    """Draw a matrix as a grid of cells: the larger a number, the bluer its cell.

    matrix (n, m), bool or numbers from 0 to 1; n row and m column labels.
    """
    values = matrix.detach().float()
    if values.shape != (len(rows), len(cols)):
        labels = (len(rows), len(cols))
        raise ValueError(f"matrix is {tuple(values.shape)}, its labels say {labels}")
    left = 12 + 7 * max(len(str(row)) for row in rows)
    top = 44 if title else 22
    cells: dict[str, list[str]] = {}  # by colour, since a path may hold many cells
    for i, line in enumerate((values * 20).round().div(20).tolist()):
        for j, value in enumerate(line):
            x, y = left + j * CELL, top + i * CELL
            step = f"M{x} {y}h{CELL - 2}v{CELL - 2}h-{CELL - 2}z"
            colour = to_hex(AMOUNT(value)) if value else EMPTY
            cells.setdefault(colour, []).append(step)
    body = _text(0, 14, title, weight="bold", anchor="start") if title else ""
    body += "".join(
        f"<path fill='{colour}' d='{''.join(steps)}'/>"
        for colour, steps in cells.items()
    )
    for i, row in enumerate(rows):
        body += _text(left - 6, top + i * CELL + 16, str(row), MUTED, anchor="end")
    for j, col in enumerate(cols):
        body += _text(left + j * CELL + CELL / 2 - 1, top - 7, str(col), MUTED)
    width = left + CELL * len(cols)
    return Picture(body, max(width, 8 * len(title)), top + CELL * len(rows))


def clocks(
    angles: Sequence[float] | torch.Tensor, names: Sequence[object], title: str = ""
) -> Picture:
    """Draw a dial for each angle: its hand starts at the right, turns to the left.

    angles in radians, as many names.
    """
    turned = torch.as_tensor(angles).tolist()
    if len(turned) != len(names):
        raise ValueError(f"{len(turned)} angles, but {len(names)} names")
    step, top = 2 * DIAL + 24, 30 if title else 6
    body = _text(0, 14, title, weight="bold", anchor="start") if title else ""
    for i, (angle, name) in enumerate(zip(turned, names, strict=True)):
        x, y = DIAL + 6 + i * step, top + DIAL
        end_x = round(x + DIAL * 0.84 * math.cos(angle), 1)
        end_y = round(y - DIAL * 0.84 * math.sin(angle), 1)
        body += (
            f"<circle cx='{x}' cy='{y}' r='{DIAL}' fill='#f3f6f9'/>"
            f"<path d='M{x} {y}h{DIAL}' stroke='{MUTED}' stroke-dasharray='3'/>"
            f"<path d='M{x} {y}L{end_x} {end_y}' stroke='{PALETTE[0]}' "
            "stroke-width='3'/>"
            f"<circle cx='{end_x}' cy='{end_y}' r='5' fill='{PALETTE[0]}'/>"
        )
        body += _text(x, y + DIAL + 17, str(name))
    width = step * len(turned)
    return Picture(body, max(width, 8 * len(title)), top + 2 * DIAL + 26)


def bars(
    values: Sequence[float] | torch.Tensor,
    names: Sequence[object],
    title: str = "",
    *,
    per: float = 1.0,
) -> Picture:
    """Draw a bar for each number from 0 to `per`, with its name and the number.

    values (n,), n names. A number that is exactly 0 is written as a dash.
    """
    sizes = torch.as_tensor(values).tolist()
    if len(sizes) != len(names):
        raise ValueError(f"{len(sizes)} values, but {len(names)} names")
    left = 12 + 7 * max(len(str(name)) for name in names)
    top = 26 if title else 4
    body = _text(0, 14, title, weight="bold", anchor="start") if title else ""
    for i, (size, name) in enumerate(zip(sizes, names, strict=True)):
        y, length = top + i * (ROW + 3), round(BAR * min(size / per, 1.0), 1)
        said = f"{size:.3f}" if size else "–"
        body += (
            _text(
                left - 6, y + ROW - 4, str(name), INK if size else MUTED, anchor="end"
            )
            + f"<rect x='{left}' y='{y}' width='{length:g}' height='{ROW}' "
            f"fill='{PALETTE[0]}'/>"
            + _text(left + length + 6, y + ROW - 4, said, MUTED, anchor="start")
        )
    width = left + BAR + 44
    return Picture(body, max(width, 8 * len(title)), top + len(sizes) * (ROW + 3))


def side_by_side(*pictures: Picture) -> Picture:
    """Put pictures next to each other."""
    x, body = 0, ""
    for picture in pictures:
        body += f"<g transform='translate({x} 0)'>{picture.body}</g>"
        x += picture.width + 28
    return Picture(body, x - 28, max(one.height for one in pictures))


def moving(
    draw: Callable[..., Picture],
    *,
    title: str,
    alt: str,
    play: str = "",
    start: Mapping[str, Any] | None = None,
    **sliders: Sequence[Any],
) -> HTML:
    """Show a picture that changes as sliders move, in the notebook and on the page.

    draw(**values) draws one picture; `sliders` are its keywords with the values that
    each takes, and it is called for every combination. A play button steps the slider
    named `play`. `start` says where sliders begin, else at their first value; `alt`
    what the picture shows, for those who don't see it.
    """
    for name in ([play] if play else []) + list(start or {}):
        if name not in sliders:
            raise ValueError(f"no slider {name!r}; there are {', '.join(sliders)}")
    choices = {name: list(values) for name, values in sliders.items()}
    begin = [
        values.index((start or {}).get(name, values[0]))
        for name, values in choices.items()
    ]
    drawn = [
        draw(**dict(zip(choices, values, strict=True)))
        for values in product(*choices.values())
    ]
    frames = [picture.svg() for picture in drawn]
    data = json.dumps({"frames": frames, "values": _said(choices)})
    key = hashlib.sha256(data.encode()).hexdigest()[:12]
    first = 0
    for at, values in zip(begin, choices.values(), strict=True):
        first = first * len(values) + at
    controls = "".join(
        _slider(name, values, at)
        for (name, values), at in zip(choices.items(), begin, strict=True)
    )
    if play:
        controls += _BUTTON.format(index=list(choices).index(play))
    data = data.replace("</", "<\\/")  # a text may not end the script it stands in
    tallest = max(picture.height for picture in drawn)
    return HTML(
        f"<div data-moving='{key}' style='{_CARD}'>"
        f"<strong>{html.escape(title)}</strong>"
        f"<div role='img' aria-label='{html.escape(alt, quote=True)}' "
        f"style='overflow-x:auto;min-height:{tallest}px;margin:8px 0'>"
        f"{frames[first]}</div>{controls}"
        f"<script type='application/json'>{data}</script></div>"
        f"<script>{_SCRIPT.replace('KEY', key)}</script>"
    )


def _text(
    x: float,
    y: float,
    text: str,
    colour: str = INK,
    weight: str = "normal",
    anchor: str = "middle",
) -> str:
    style = f"fill='{colour}' font-size='12' font-weight='{weight}'"
    place = f"x='{x:g}' y='{y:g}' text-anchor='{anchor}'"
    return f"<text {place} {style}>{html.escape(text)}</text>"


def _said(choices: Mapping[str, list[Any]]) -> list[list[str]]:
    return [[str(value) for value in values] for values in choices.values()]


def _slider(name: str, values: list[Any], at: int) -> str:
    spoken = html.escape(str(values[at]))
    return (
        "<label style='display:flex;gap:8px;align-items:center;flex-wrap:wrap'>"
        f"<span style='min-width:5em'>{html.escape(name.replace('_', ' '))}</span>"
        f"<input type='range' min='0' max='{len(values) - 1}' value='{at}' step='1' "
        f"aria-valuetext='{spoken}' style='flex:1;max-width:320px'>"
        f"<output style='min-width:4em'>{spoken}</output></label>"
    )


_CARD = (
    f"background:{PAPER};color:{INK};color-scheme:light;padding:12px 16px;"
    "border-radius:8px;max-width:100%;box-sizing:border-box"
)

_BUTTON = (
    "<button type='button' data-steps='{index}' "
    "style='margin-top:6px;padding:2px 14px;cursor:pointer'>Play</button>"
)

# Every copy of the output on the page is set up once; two views of a notebook show two.
_SCRIPT = """
for (const card of document.querySelectorAll("[data-moving='KEY']:not([data-set])")) {
  card.dataset.set = "yes";
  const { frames, values } = JSON.parse(card.querySelector("script").textContent);
  const sliders = [...card.querySelectorAll("input")];
  const picture = card.querySelector("[role=img]");
  const button = card.querySelector("button");
  const show = () => {
    let frame = 0;
    sliders.forEach((slider, i) => {
      const said = values[i][slider.value];
      frame = frame * values[i].length + Number(slider.value);
      slider.setAttribute("aria-valuetext", said);
      slider.parentElement.querySelector("output").textContent = said;
    });
    picture.innerHTML = frames[frame];
  };
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    if (button) button.textContent = "Play";
  };
  for (const slider of sliders) {
    slider.addEventListener("input", () => { stop(); show(); });
  }
  if (button) {
    const slider = sliders[button.dataset.steps];
    button.addEventListener("click", () => {
      if (timer !== null) return stop();
      if (slider.value === slider.max) slider.value = 0;
      button.textContent = "Pause";
      timer = setInterval(() => {
        if (!card.isConnected) return stop();
        slider.value = Number(slider.value) + 1;
        show();
        if (slider.value === slider.max) stop();
      }, 150);
    });
  }
}
"""
