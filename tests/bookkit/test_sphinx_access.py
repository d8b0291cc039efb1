"""Repairs of what Sphinx writes."""

from bookkit.sphinx_access import repaired


def test_entries_of_a_bibliography_are_items_of_its_list():
    entry = '<div class="citation" id="id2" role="doc-biblioentry">'
    assert repaired(entry) == '<div class="citation" id="id2" role="listitem">'


def test_an_empty_corner_heads_nothing():
    row = '<th class="head"><p></p></th><th class="head"><p>a</p></th>'
    assert repaired(row) == '<td class="head"></td><th class="head"><p>a</p></th>'
