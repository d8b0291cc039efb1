"""A page that stands alone: no request, no script but ours, light or dark."""

import base64
import hashlib
from functools import cache
from html import escape
from pathlib import Path

HERE = Path(__file__).parent


@cache
def sheet(name: str) -> str:
    """A style sheet or a script that stands beside this module."""
    return (HERE / name).read_text("utf-8")


def document(title: str, body: str, style: str = "", script: str = "") -> str:
    """The page, in English, under a policy that lets in this style and script alone.

    `title` is plain text; `body`, `style` and `script` are ours, whatever comes from
    somebody else in the body escaped before.
    """
    style = "\n" + sheet("base.css") + style
    scripts = f"script-src {_sum(script)}; " if script else ""
    policy = (
        f"default-src 'none'; style-src {_sum(style)}; {scripts}"
        "base-uri 'none'; form-action 'none'"
    )
    ending = f"<script>{script}</script>\n" if script else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
{ending}</body>
</html>
"""


def _sum(text: str) -> str:
    """A text's hash, as a policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
