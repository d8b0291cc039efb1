"""The map of the book, and what the build puts around a chapter's text."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from bookkit.book_map import PARTS
from tests.book.conftest import CHAPTERS, chapter_by_chapter

NARROW = {"width": 360, "height": 760}


@chapter_by_chapter
def test_the_map_marks_the_chapter_that_is_open(chapter):
    svg = chapter.locator(".chapter-map svg")
    expect(svg).to_be_hidden()
    chapter.get_by_text("Where you are in the Transformer").click()
    expect(svg).to_be_visible()
    marked = svg.locator("a[aria-current=page]").all()
    here = urlsplit(chapter.url).path
    number = int(here.split("/")[-1][:2])
    assert len(marked) == sum(part.chapter == number for part in PARTS) > 0
    for link in marked:
        assert f"chapter {number}," in link.get_attribute("aria-label")
        assert link.evaluate("e => new URL(e.href.baseVal, location).pathname") == here


@chapter_by_chapter
def test_a_chapter_says_how_long_it_takes(chapter):
    told = chapter.locator("h1 + .chapter-time")
    expect(told).to_have_text(
        re.compile(r"^About \d+ minutes to read, .+ with the exercises\.$")
    )


def test_a_page_without_exercises_says_how_long_it_takes(swift):
    swift.goto("/closing.html")
    told = swift.locator("h1 + .chapter-time")
    expect(told).to_have_text(re.compile(r"^About \d+ minutes to read\.$"))
    assert swift.locator(".chapter-map").count() == 0


@chapter_by_chapter
def test_terms_are_linked_in_prose_alone_once_a_section(chapter):
    assert chapter.locator("a.term").count() > 5
    for place in ("pre", "code", "h1", "h2", "h3", "table", "figcaption", ".math"):
        assert chapter.locator(f"{place} a.term").count() == 0
    twice = chapter.locator("section").evaluate_all(
        """sections => sections.flatMap(section => {
          const own = [...section.querySelectorAll("a.term")].filter(
            link => link.closest("section") === section).map(link => link.hash);
          return own.filter((hash, i) => own.indexOf(hash) !== i);
        })"""
    )
    assert twice == []


@chapter_by_chapter
def test_the_page_shows_questions_and_not_their_cells(chapter):
    assert chapter.locator(".ask").count() > 0
    cells = chapter.locator(".cell_input", has_text=re.compile(r"\bask\("))
    assert cells.count() == 0


@chapter_by_chapter
def test_neighbours_fit_a_narrow_window(chapter):
    chapter.set_viewport_size(NARROW)
    for link in chapter.locator(".prev-next-area > a").all():
        box = link.bounding_box()
        assert 0 <= box["x"]
        assert box["x"] + box["width"] <= NARROW["width"]
        assert box["height"] >= 24  # large enough for a finger
        expect(link.locator(".prev-next-title")).to_be_visible()


def test_every_part_of_the_full_map_leads_to_a_page(swift, site):
    swift.goto("/index.html")
    links = swift.locator(".book-map-full svg a").all()
    assert len(links) == len(PARTS)
    for address in {link.evaluate("e => e.href.baseVal") for link in links}:
        assert swift.request.get(f"{site}/{address}").ok


def test_the_map_is_used_by_keyboard_and_has_words(swift):
    swift.goto("/index.html")
    part = swift.get_by_role("link", name="Mask: chapter 7, Masks")
    part.focus()
    swift.keyboard.press("Enter")
    expect(swift).to_have_url(re.compile(r"/chapters/07_masks\.html$"))
    swift.goto("/index.html")
    words = swift.locator(".book-map-list")
    expect(words).to_contain_text("Mask: says who may see whom")
    assert words.locator("a").count() == len(CHAPTERS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_map_can_be_read_on_either_ground(swift, scheme):
    swift.emulate_media(color_scheme=scheme)
    swift.goto("/index.html")
    text = swift.locator(".book-map a text").first
    ratio = text.evaluate(
        """text => {
          const light = colour => {
            const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(v => {
              v /= 255;
              return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const rect = text.parentElement.querySelector("rect");
          const [a, b] = [text, rect].map(e => light(getComputedStyle(e).fill))
            .sort((x, y) => x - y);
          return (b + 0.05) / (a + 0.05);
        }"""
    )
    assert ratio >= 4.5
