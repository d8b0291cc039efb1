"""The map of the book and what else stands at the top and the foot of a chapter."""

import re

import pytest
from playwright.sync_api import expect

from bookkit.book_map import PARTS
from tests.book.conftest import CHAPTERS

NARROW = {"width": 360, "height": 760}


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_map_marks_the_chapter_that_is_open(page, name):
    page.goto(f"/chapters/{name}.html")
    svg = page.locator(".chapter-map svg")
    expect(svg).to_be_hidden()
    page.get_by_text("Where you are in the Transformer").click()
    expect(svg).to_be_visible()
    marked = svg.locator("a[aria-current=page]").all()
    number = int(name[:2])
    assert len(marked) == sum(part.chapter == number for part in PARTS) > 0
    for link in marked:
        assert f"chapter {number}," in link.get_attribute("aria-label")
        assert link.evaluate("e => new URL(e.href.baseVal, location).pathname") == (
            f"/chapters/{name}.html"
        )


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_says_how_long_it_takes(page, name):
    page.goto(f"/chapters/{name}.html")
    told = page.locator("h1 + .chapter-time")
    expect(told).to_have_text(
        re.compile(r"^About \d+ minutes to read, .+ with the exercises\.$")
    )


@pytest.mark.parametrize("name", CHAPTERS)
def test_neighbours_fit_a_narrow_window(page, name):
    page.set_viewport_size(NARROW)
    page.goto(f"/chapters/{name}.html")
    for link in page.locator(".prev-next-area > a").all():
        box = link.bounding_box()
        assert 0 <= box["x"]
        assert box["x"] + box["width"] <= NARROW["width"]
        assert box["height"] >= 24  # large enough for a finger
        expect(link.locator(".prev-next-title")).to_be_visible()


def test_every_part_of_the_full_map_leads_to_a_page(page, site):
    page.goto("/index.html")
    links = page.locator(".book-map-full svg a").all()
    assert len(links) == len(PARTS)
    for address in {link.evaluate("e => e.href.baseVal") for link in links}:
        assert page.request.get(f"{site}/{address}").ok


def test_the_map_is_used_by_keyboard_and_has_words(page):
    page.goto("/index.html")
    part = page.get_by_role("link", name="Mask: chapter 7, Masks")
    part.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/chapters/07_masks\.html$"))
    page.goto("/index.html")
    words = page.locator(".book-map-list")
    expect(words).to_contain_text("Mask: says who may see whom")
    assert words.locator("a").count() == len(CHAPTERS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_map_can_be_read_on_either_ground(page, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto("/index.html")
    text = page.locator(".book-map a text").first
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
