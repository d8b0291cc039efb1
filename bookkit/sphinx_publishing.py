"""A Sphinx extension: what a published book has beside its chapters.

The book's address is one setting: `html_baseurl` in _config.yml, or BOOK_ADDRESS in the
environment for one build. With it each page names its canonical address, a description
and a picture for previews, and the sitemap and robots.txt are written. Without it these
alone are missing. The page for addresses that lead nowhere is always there.
"""

import os
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

LINE = "#0072b2"  # on the preview pictures
NEEDS_ADDRESS = ("sphinxext.opengraph", "sphinx_sitemap")
NOT_FOUND = """<h1>There is no page here</h1>
<p>The address may be mistyped, or the page has moved.</p>
<ul>
<li>Begin at the <a href="{0}index.html">first page</a>.</li>
<li><a href="{0}search.html">Search</a> the whole book.</li>
<li>Or choose a chapter in the sidebar.</li>
</ul>
"""


def whole_address(text: str) -> str:
    """An address with a slash at its end, or nothing.

    Raises ExtensionError for one that doesn't say where on the web the book will be.
    """
    parts = urlsplit(text)
    if text and not (parts.scheme in ("http", "https") and parts.netloc):
        raise ExtensionError(
            f"the book's address is {text!r}; give all of it, such as "
            "https://example.org/book/"
        )
    return text.rstrip("/") + "/" if text else ""


def robots(address: str) -> str:
    """What robots.txt says: read everything, the list of pages is there."""
    return f"User-agent: *\nAllow: /\n\nSitemap: {address}sitemap.xml\n"


def write_robots(app: Sphinx, exception: Exception | None) -> None:
    """Write robots.txt once all pages are written."""
    if exception is None:
        text = robots(app.config.html_baseurl)
        (Path(app.outdir) / "robots.txt").write_text(text, encoding="utf-8")


def name_the_project(app: Sphinx, config: Config) -> None:
    """Call the project as the book: Jupyter Book sets the pages' title alone, and
    previews name the project."""
    config.project = config.html_title


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx, and those that it sets up."""
    address = whole_address(os.environ.get("BOOK_ADDRESS") or app.config.html_baseurl)
    home = urlsplit(address).path or "/"
    app.connect("config-inited", name_the_project)
    app.setup_extension("notfound.extension")
    settings: dict[str, Any] = {
        "html_baseurl": address,
        "notfound_urls_prefix": home,
        "notfound_context": {
            "title": "There is no page here",
            "body": NOT_FOUND.format(escape(home)),
        },
    }
    if address:
        for name in NEEDS_ADDRESS:
            app.setup_extension(name)
        app.connect("build-finished", write_robots)
        settings |= {
            "ogp_site_url": address,
            "ogp_social_cards": {"image_mini": "_static/logo.png", "line_color": LINE},
            "sitemap_url_scheme": "{link}",
            "sitemap_excludes": ["404.html", "search.html"],
        }
    for name, value in settings.items():
        setattr(app.config, name, value)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
