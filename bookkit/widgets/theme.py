"""A figure's colours, which follow the page: light, dark, forced, or on paper.

Pictures are drawn in the book's own colours. On the card each of them is a name, and
the page says which colour it has there.
"""

from pathlib import Path

from bookkit.figures import BLOCKED, INK, MUTED, PALETTE, PAPER

PLATE = "#f3f6f9"  # the ground of a dial or of what is marked
EMPTY = "#e3e8ed"  # a cell of value 0, which has to be seen beside the card

#: name: on a light page, on a dark page, where the system forces colours
COLOURS = {
    "ink": (INK, "#e6e9ed", "CanvasText"),
    "muted": (MUTED, "#aab3bd", "CanvasText"),
    "paper": (PAPER, "#1d2229", "Canvas"),
    "plate": (PLATE, "#2b323c", "Canvas"),
    "empty": (EMPTY, "#3a434e", "GrayText"),
    "blocked": (BLOCKED, "#56606c", "GrayText"),
    "blue": (PALETTE[0], "#56b4e9", "Highlight"),
    "orange": (PALETTE[1], "#f0883e", "LinkText"),
    "green": (PALETTE[2], "#3fc79a", "VisitedText"),
    "purple": (PALETTE[3], "#d39ac8", "ActiveText"),
}

_DARK = (
    'html:is([data-theme="dark"],[theme="dark"]) .mv,'
    '[data-jp-theme-light="false"] .mv,:is(.vscode-dark,.vscode-high-contrast) .mv'
)
# Where no page says: as the system is set, but not on a page that says it is light.
_UNSAID = (
    "html:not([data-theme],[theme],:has([data-jp-theme-light])) "
    "body:not(.vscode-light,.vscode-high-contrast-light) .mv"
)


def themed(svg: str) -> str:
    """Replace each of the book's colours by its name on the card."""
    for name, (light, _, _) in COLOURS.items():
        svg = svg.replace(light, f"var(--mv-{name})")
    return svg


def style() -> str:
    """The style sheet of every card."""
    light, dark, forced = (_named(column) for column in range(3))
    rules = (Path(__file__).parent / "card.css").read_text(encoding="utf-8")
    return (
        f".mv{{{light}}}@media screen{{{_DARK}{{{dark}}}}}"
        f"@media screen and (prefers-color-scheme:dark){{{_UNSAID}{{{dark}}}}}"
        f"@media (forced-colors:active){{.mv.mv{{{forced}}}}}"
        + "".join(line.strip() for line in rules.splitlines())
    )


def _named(column: int) -> str:
    return "".join(f"--mv-{name}:{three[column]};" for name, three in COLOURS.items())
