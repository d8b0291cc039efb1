"""A Sphinx extension: of the theme's 2,000 icons, send those that the book shows.

The theme's pages load all of Font Awesome, 1.5 MB, for a dozen icons. Once the pages
are written, the icons that none of them names are taken out of that script.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

# name:[width,height,[other names and codes],"code","outline"],
ICON = re.compile(
    r'(?:"([\w-]+)"|([A-Za-z]\w*)):\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]+",'
    r'(?:"[^"]*"|\[(?:"[^"]*",?)*\])\],?'
)
CLASS = re.compile(r"\bfa-([a-z0-9-]+)")


def named(texts: Iterable[str]) -> set[str]:
    """The icons that pages and scripts name, by the end of their class: "moon"."""
    return {name for text in texts for name in CLASS.findall(text)}


def with_icons(script: str, names: set[str]) -> str:
    """Font Awesome's script with the icons of these names alone."""

    def kept(icon: re.Match[str]) -> str:
        known = {icon[1] or icon[2], *re.findall(r'"([\w-]+)"', icon[3])}
        return icon[0] if known & names else ""

    return ICON.sub(kept, script)


def drop_icons(app: Sphinx, exception: Exception | None) -> None:
    """Rewrite the script in the book that was built."""
    if exception is not None:
        return
    place = Path(app.outdir)
    path = place / "_static" / "scripts" / "fontawesome.js"
    pages = place.rglob("*.html")
    scripts = [
        *(place / "_static").glob("*.js"),
        *(other for other in path.parent.glob("*.js") if other != path),
    ]
    names = named(page.read_text("utf-8") for page in (*pages, *scripts))
    if not path.is_file():
        logging.getLogger(__name__).warning(f"the theme has no {path.name} any more")
        return
    path.write_text(with_icons(path.read_text("utf-8"), names), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("build-finished", drop_icons)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
