"""A verdict shown: plain text, a page's HTML, the terminal. All see results only."""

from autograder.render.page import as_html
from autograder.render.plain import as_text
from autograder.render.terminal import as_rich

__all__ = ["as_html", "as_rich", "as_text"]
