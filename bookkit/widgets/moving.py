"""Show a picture with controls that move it, drawn ahead for every choice."""

import hashlib
import html
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from IPython.display import HTML

from bookkit.pasted import in_one_line
from bookkit.widgets.frames import column, encode
from bookkit.widgets.pictures import Picture
from bookkit.widgets.theme import style, themed

NOTE = "This figure moves where its script may run: on the page, or in a cell just run."


class Moving(HTML):
    """A figure that moves, as HTML; where that isn't shown, its title and a text."""

    def __init__(self, data: str, said: str) -> None:
        super().__init__(data)
        self.said = said

    def __repr__(self) -> str:
        return self.said


def moving(
    draw: Callable[..., Picture],
    *,
    title: str,
    alt: str,
    play: str = "",
    start: Mapping[str, Any] | None = None,
    **controls: Sequence[Any],
) -> Moving:
    """Show a picture that changes with its controls, in the notebook and on the page.

    draw(**values) draws one picture; `controls` are its keywords with the values that
    each takes, and it is called for every combination. Numbers get a slider, anything
    else buttons to choose from. A play button steps the control named `play`. `start`
    says where controls begin, else at their first value; `alt` what the figure shows,
    for those who don't see it. The picture's words stand below it, and are read out as
    they change.
    """
    for name in ([play] if play else []) + list(start or {}):
        if name not in controls:
            known = ", ".join(controls)
            raise ValueError(f"no control {name!r}; there are {known}")
    for name, value in (start or {}).items():
        if value not in controls[name]:
            raise ValueError(f"{name} starts at {value!r}, which it doesn't offer")
    choices = {name: list(values) for name, values in controls.items()}
    begin = [
        values.index((start or {}).get(name, values[0]))
        for name, values in choices.items()
    ]
    drawn = _fitted(
        [
            draw(**dict(zip(choices, values, strict=True)))
            for values in itertools.product(*choices.values())
        ]
    )
    shape = [len(values) for values in choices.values()]
    first = 0
    for at, size in zip(begin, shape, strict=True):
        first = first * size + at
    svgs = [themed(picture.svg()) for picture in drawn]
    data = encode(svgs, shape)
    strides, numbers = data["drawing"]
    number = numbers[sum(a * b for a, b in zip(strides, begin, strict=True))]
    data["drawings"][number]["svg"] = ""  # the page has it already
    data |= {"first": number, "values": [_said(values) for values in choices.values()]}
    data["words"] = column([picture.words for picture in drawn], shape)
    if play:
        data["play"] = list(choices).index(play)
    boxes = "".join(
        _control(name, values, at)
        for (name, values), at in zip(choices.items(), begin, strict=True)
    )
    card = _card(title, alt, svgs[first], drawn[first].words, boxes, bool(play), data)
    return Moving(card, f"{title}: {alt}")


def _fitted(pictures: list[Picture]) -> list[Picture]:
    """The same pictures, each panel as large as the largest in its place, so that
    nothing around them moves when they do."""
    panels = [picture.panels or (picture,) for picture in pictures]
    sizes = [
        (max(one.width for one in place), max(one.height for one in place))
        for place in itertools.zip_longest(*panels, fillvalue=Picture("", 0, 0))
    ]
    return [
        replace(
            picture,
            panels=tuple(
                replace(panel, width=width, height=height)
                for panel, (width, height) in zip(row, sizes, strict=False)
            ),
        )
        for picture, row in zip(pictures, panels, strict=True)
    ]


def _card(
    title: str, alt: str, svg: str, words: str, boxes: str, play: bool, data: object
) -> str:
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # a text may not end the script that it stands in, nor open another
    told = told.replace("</", "<\\/").replace("<!--", "\\u003c!--")
    key = hashlib.sha256(f"{alt}{told}{svg}".encode()).hexdigest()[:12]
    # Its data-lm-suppress-shortcuts keep the arrow keys from JupyterLab, which looks
    # for them from the focused element on: so each control has its own.
    script = in_one_line(Path(__file__).parent / "card.js")
    name = html.escape(title, quote=True)
    button = "<button type='button'>Play</button>" if play else ""
    return (
        f"<div class='mv' data-moving='{key}' role='group' aria-label='{name}'>"
        f"<style>{style()}</style><p class='mv-title'>{html.escape(title)}</p>"
        f"<div class='mv-picture' role='img' "
        f"aria-label='{html.escape(alt, quote=True)}'>{svg}</div>"
        f"<p class='mv-words' aria-live='polite'>{html.escape(words)}</p>"
        f"<form hidden>{boxes}{button}</form><p class='mv-note'>{NOTE}</p>"
        f"<script type='application/json'>{told}</script></div>"
        f"<script>{script.replace('KEY', key)}</script>"
    )


def _said(values: Sequence[Any]) -> list[str]:
    said = [str(value) for value in values]
    return [text.replace("-", "\u2212") for text in said] if _numbers(values) else said


def _numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def _control(name: str, values: Sequence[Any], at: int) -> str:
    shown = html.escape(name.replace("_", " "))
    said = [html.escape(text) for text in _said(values)]
    if _numbers(values):
        return (
            f"<label class='mv-control'><span class='mv-name'>{shown}</span>"
            f"<input type='range' min='0' max='{len(values) - 1}' value='{at}' "
            f"aria-valuetext='{said[at]}'><output>{said[at]}</output></label>"
        )
    chips = "".join(
        f"<label class='mv-chip'><input type='radio' name='{shown}' value='{i}'"
        f"{' checked' * (i == at)}><span>{text}</span></label>"
        for i, text in enumerate(said)
    )
    return (
        f"<div class='mv-control' role='radiogroup' aria-label='{shown}'>"
        f"<span class='mv-name' aria-hidden='true'>{shown}</span>{chips}</div>"
    )
