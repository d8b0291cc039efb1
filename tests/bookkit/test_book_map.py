"""The map of the book: what it links, what it marks, and that it is drawn soundly."""

import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

from bookkit.book_map import PARTS, WIDTH, Chapter, draw_map, layout, list_map

CHAPTERS = {i: Chapter(f"Title & {i}", f"{i}.html") for i in (*range(12), 14)}


def links(svg):
    tree = ET.fromstring(svg)  # fails on anything that isn't well formed
    return [one for one in tree.iter("a")]


def test_every_part_leads_to_its_chapter():
    found = [link.get("href") for link in links(draw_map(CHAPTERS))]
    assert found == [f"{part.chapter}.html" for part in PARTS]


def test_every_chapter_has_a_part():
    assert {part.chapter for part in PARTS} >= set(CHAPTERS)


@pytest.mark.parametrize("here", CHAPTERS)
def test_the_parts_of_a_chapter_are_marked_and_no_others(here):
    svg = draw_map(CHAPTERS, here)
    marked = [link for link in links(svg) if link.get("aria-current") == "page"]
    assert {link.get("href") for link in marked} == {f"{here}.html"}
    assert len(marked) == sum(part.chapter == here for part in PARTS) > 0
    assert f"You are here: chapter {here}" in svg


def test_a_part_without_a_chapter_is_drawn_without_a_link():
    svg = draw_map({number: CHAPTERS[number] for number in range(4)})
    assert "Feed-forward network" in svg
    assert {link.get("href") for link in links(svg)} <= {f"{i}.html" for i in range(4)}


def test_links_say_where_they_lead():
    names = [link.get("aria-label") for link in links(draw_map(CHAPTERS))]
    assert "Mask: chapter 7, Title & 7" in names


def test_boxes_stay_inside_and_overlap_only_in_the_head():
    boxes, _, height = layout()
    placed = list(zip(PARTS, boxes, strict=True))
    for _, (x, y, width, tall) in placed:
        assert 0 <= x < x + width <= WIDTH
        assert 0 <= y < y + tall <= height
    for (one, a), (other, b) in combinations(placed, 2):
        apart = a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]
        inside = one.name == "Multi-head attention" and other.place == "head"
        assert apart != inside, (one, other)


def test_the_list_in_words_tells_the_same():
    words = list_map(CHAPTERS)
    for part in PARTS:
        assert part.name in words
    assert words.count("<li>") == len(CHAPTERS)
