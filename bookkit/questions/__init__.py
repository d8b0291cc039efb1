"""Questions that answer back, on the page and in JupyterLab.

    from bookkit.questions import ask

    ask("a-nudge-to-every-key")

The questions of a chapter stand in one file beside this module, `02_attention.toml`:

    [a-nudge-to-every-key]
    ask = "The same vector is added to every key. What changes?"

    [[a-nudge-to-every-key.options]]
    wrong = "The weights."              # or: right = "Nothing."
    reply = "Why it is tempting, why it isn't so, and where to look again."

With one right option a reader chooses, with several they tick. A question with a
`number` (and a `tolerance`) asks for a number: `reply` says why it is that one, each
`[[….slips]]` has the `number` of a common slip and what to say of it, `otherwise` meets
every other number. Texts may hold `code` and *stress*.

What is shown needs no kernel, no library, no internet. It is written as folded replies,
for readers without JavaScript; a small script makes a form of them.
"""

import hashlib
import html
import math
import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from bookkit.pasted import in_one_line

HERE = Path(__file__).resolve().parent


STYLE, SCRIPT = in_one_line(HERE / "card.css"), in_one_line(HERE / "card.js")


@dataclass(frozen=True)
class Option:
    """One of the answers to choose from, and what is said to who chooses it."""

    text: str
    right: bool
    reply: str


@dataclass(frozen=True)
class Slip:
    """A number that comes out of a known slip, and what is said to who enters it."""

    number: float
    reply: str


@dataclass(frozen=True)
class Question:
    """A question with its replies; shown as a card, or as plain text without them."""

    name: str
    ask: str
    options: tuple[Option, ...] = ()
    number: float = math.nan
    tolerance: float = 0.0
    reply: str = ""
    otherwise: str = ""
    slips: tuple[Slip, ...] = field(default=())

    @property
    def asks_for_a_number(self) -> bool:
        """Whether the answer is typed, not chosen."""
        return not self.options

    @property
    def kind(self) -> str:
        """How it is answered: "one" or "several" of its options, or a "number"."""
        if self.asks_for_a_number:
            return "number"
        return "one" if sum(one.right for one in self.options) == 1 else "several"

    def __repr__(self) -> str:
        letters = "abcdefgh"
        lines = [f"  {letters[i]}) {one.text}" for i, one in enumerate(self.options)]
        return "\n".join([f"? {self.ask}", *lines])

    def _repr_html_(self) -> str:
        body = _number_body(self) if self.asks_for_a_number else _options_body(self)
        key = hashlib.sha256(f"{self.name}{body}".encode()).hexdigest()[:12]
        return (
            f'<div class="ask" data-ask="{key}" data-kind="{self.kind}">'
            f"<style>{STYLE}</style>"
            f'<p class="ask-question">{formatted(self.ask)}</p>{body}</div>'
            f"<script>{SCRIPT.replace('KEY', key)}</script>"
        )


def ask(name: str) -> Question:
    """The question of this name, which a cell shows if it is its last line.

    Raises ValueError if no file of questions has it.
    """
    for questions in map(questions_of, files()):
        if name in questions:
            return questions[name]
    raise ValueError(f"no question {name!r} in bookkit/questions/")


def files() -> list[Path]:
    """The files that hold the chapters' questions."""
    return sorted(HERE.glob("*.toml"))


@cache
def questions_of(path: Path) -> dict[str, Question]:
    """The questions in a file, by name. Raises ValueError if one is malformed."""
    with path.open("rb") as file:
        read = tomllib.load(file)
    return {name: _question(name, entry) for name, entry in read.items()}


def formatted(text: str) -> str:
    """A text as HTML, with `code` as code and *stress* stressed."""
    code = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\*([^*\s][^*]*)\*", r"<em>\1</em>", code)


def _question(name: str, entry: dict[str, Any]) -> Question:
    options = tuple(
        Option(
            _line(one.get("right") or one["wrong"]), "right" in one, _line(one["reply"])
        )
        for one in entry.get("options", [])
    )
    if options and not any(one.right for one in options):
        raise ValueError(f"question {name!r} has no right option")
    if not options and "number" not in entry:
        raise ValueError(f"question {name!r} has neither options nor a number")
    return Question(
        name=name,
        ask=_line(entry["ask"]),
        options=options,
        number=float(entry.get("number", math.nan)),
        tolerance=float(entry.get("tolerance", 0)),
        reply=_line(entry.get("reply", "")),
        otherwise=_line(entry.get("otherwise", "")),
        slips=tuple(
            Slip(float(slip["number"]), _line(slip["reply"]))
            for slip in entry.get("slips", [])
        ),
    )


def _line(text: str) -> str:
    return " ".join(text.split())


def _options_body(question: Question) -> str:
    return "".join(
        f"<details{' data-right' if one.right else ''}>"
        f"<summary>{formatted(one.text)}</summary>"
        f"<p><strong>{'Right.' if one.right else 'Not this one.'}</strong> "
        f"{formatted(one.reply)}</p></details>"
        for one in question.options
    )


def _number_body(question: Question) -> str:
    slips = "".join(
        f'<p data-number="{slip.number!r}"><strong>{slip.number:,.10g}?</strong> '
        f"{formatted(slip.reply)}</p>"
        for slip in question.slips
    )
    return (
        f'<details data-number="{question.number!r}" '
        f'data-tolerance="{question.tolerance:g}"><summary>Answer</summary>'
        f"<p><strong>{question.number:,.10g}.</strong> {formatted(question.reply)}</p>"
        f"{slips}<p data-otherwise><strong>Another number?</strong> "
        f"{formatted(question.otherwise)}</p></details>"
    )
