"""What of a page is markup: its tags and the names of their attributes, no text."""

from html.parser import HTMLParser


def markup_of(page):
    """Every tag of a page with its attributes' names."""
    found = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.append((tag, [name for name, _ in attributes]))

    Parser().feed(page)
    return found
