"""The glossary, and the words that explain themselves on the chapters' pages."""

import re

from playwright.sync_api import Page, expect

from tests.book.conftest import PATIENCE

ATTENTION = "/chapters/02_attention.html"
NARROW = {"width": 360, "height": 760}


def a_term(page: Page, name: str = "softmax"):
    page.goto(ATTENTION)
    return page.locator(f"a.term[href$='#term-{name}']").first, page.get_by_role(
        "tooltip"
    )


def test_pointing_at_a_term_explains_it(swift):
    term, tip = a_term(swift)
    expect(tip).to_be_hidden()
    term.hover()
    expect(tip).to_be_visible()
    expect(tip).to_contain_text("Turns scores into shares")
    tip.hover()  # the mouse may go there
    swift.wait_for_timeout(350)
    expect(tip).to_be_visible()
    swift.mouse.move(1, 1)
    expect(tip).to_be_hidden()


def test_focus_explains_a_term_and_escape_closes_it(swift):
    term, tip = a_term(swift)
    term.focus()
    expect(tip).to_be_visible()
    expect(term).to_have_attribute("aria-describedby", tip.get_attribute("id"))
    swift.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    assert term.get_attribute("aria-describedby") is None
    expect(term).to_be_focused()


def test_enter_leads_to_the_glossary(swift):
    term, _ = a_term(swift)
    term.focus()
    swift.keyboard.press("Enter")
    expect(swift).to_have_url(re.compile(r"/glossary\.html#term-softmax$"))
    expect(swift.locator(":target")).to_have_text(re.compile("^softmax"))


def test_the_first_tap_explains_and_the_second_leads_on(chromium, site):
    context = chromium.new_context(base_url=site, viewport=NARROW, has_touch=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    term, tip = a_term(page)
    term.tap()
    expect(tip).to_be_visible()
    assert page.url.endswith("02_attention.html")
    page.touchscreen.tap(180, 740)  # beside it
    expect(tip).to_be_hidden()
    term.tap()
    term.tap()
    expect(page).to_have_url(re.compile(r"/glossary\.html#term-softmax$"))
    context.close()


def test_explanations_stay_inside_a_narrow_window(swift):
    swift.set_viewport_size(NARROW)
    swift.goto(ATTENTION)
    tip = swift.get_by_role("tooltip")
    for term in swift.locator("a.term").all():
        term.focus()
        box = tip.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= NARROW["width"]


def test_every_term_says_where_it_is_built(swift):
    swift.goto("/glossary.html")
    meanings = swift.locator("dl.glossary dd")
    assert meanings.count() >= 60
    for meaning in meanings.all():
        link = meaning.locator("a[href*='chapters/']").last
        number = re.search(r"chapters/(\d+)_", link.get_attribute("href"))[1]
        assert link.inner_text() == f"Chapter {int(number)}"
