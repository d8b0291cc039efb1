"""Every page of the built book as a reader meets it; each is opened once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from bookkit.site import DESK, PHONE, page_names, settle
from tests.book.axe import violations_everywhere
from tests.book.conftest import PATIENCE, Guard, watch

PAGES = page_names()
CHAPTERS = [name for name in PAGES if name.startswith("chapters/")]


@dataclass
class Opened:
    """A page that stays open for all its tests: each sets the size that it needs."""

    name: str
    page: Page
    guard: Guard

    def at(self, size: dict[str, int], scheme: str = "light") -> Page:
        self.page.set_viewport_size(size)
        self.page.emulate_media(color_scheme=scheme)
        return self.page


@pytest.fixture(scope="module")
def opened(request, chromium: Browser, site: str) -> Iterator[Opened]:
    page = chromium.new_page(base_url=site, viewport=DESK, color_scheme="light")
    page.set_default_timeout(PATIENCE)
    guard = watch(page, site)
    page.goto(f"/{request.param}.html", wait_until="load")
    settle(page)
    yield Opened(request.param, page, guard)
    page.close()


every_page = pytest.mark.parametrize("opened", PAGES, indirect=True, scope="module")
every_chapter = pytest.mark.parametrize(
    "opened", CHAPTERS, indirect=True, scope="module"
)


@every_page
def test_page_loads_without_an_error_and_from_here_alone(opened):
    opened.page.wait_for_load_state("networkidle")
    assert opened.guard.errors == []
    assert opened.guard.elsewhere == []


@every_page
def test_phone_scrolls_down_only(opened):
    page = opened.at(PHONE)
    page.evaluate(
        "document.querySelectorAll('details').forEach(box => box.open = true)"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.evaluate(
        "document.querySelectorAll('details').forEach(box => box.open = false)"
    )


BROKEN_WORDS = """tables => tables.flatMap(table => {
  const broken = [], texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, range = document.createRange();
    if (text.parentElement.closest("mjx-container, script, style")) continue;
    for (const word of text.data.matchAll(/[\\p{L}\\p{N}_.]+/gu)) {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = [...range.getClientRects()].map(box => Math.round(box.top));
      if (new Set(lines).size > 1) broken.push(word[0]);
    }
  }
  return broken;
})"""


@every_page
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_tables_keep_words_and_numbers_whole(opened, size):
    tables = opened.at(size).locator(".bd-article table")
    assert tables.evaluate_all(BROKEN_WORDS) == []


@every_page
def test_every_icon_is_drawn(opened):
    names = "icons => icons.map(icon => icon.className)"
    assert opened.page.locator("i[class*='fa-']").evaluate_all(names) == []
    icons = opened.page.locator("svg[data-icon]").evaluate_all(
        "icons => icons.map(icon => icon.querySelector('path')?.getAttribute('d'))"
    )
    assert all(icons)
    assert len(icons) > 5


@every_chapter
def test_figures_keep_their_shape_on_a_phone(opened):
    shapes = (
        opened.at(PHONE)
        .locator(".bd-article figure img")
        .evaluate_all(
            """figures => figures.map(i =>
             [i.clientWidth / i.clientHeight, i.naturalWidth / i.naturalHeight])"""
        )
    )
    for shown, drawn in shapes:
        assert shown == pytest.approx(drawn, rel=0.02)


@every_chapter
def test_verdicts_stand_on_the_dark_page_itself(opened):
    page = opened.at(DESK, "dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    grounds = page.locator(".cell_output .text_html").evaluate_all(
        "boxes => boxes.map(box => getComputedStyle(box).backgroundColor)"
    )
    assert set(grounds) <= {"rgba(0, 0, 0, 0)"}


@every_chapter
def test_sidebar_and_links_number_the_chapters(opened):
    page, number = opened.at(DESK), int(opened.name.split("/")[1][:2])
    current = page.locator(".bd-sidebar-primary .current.active > a").first
    expect(current).to_contain_text(f"{number} · ")
    if opened.name != CHAPTERS[-1]:
        following = page.locator(".prev-next-area .right-next .prev-next-title")
        expect(following).to_contain_text(f"{number + 1} · ")


@every_chapter
def test_every_formula_is_drawn(opened):
    page = opened.page
    assert page.locator("mjx-container").count() > 0
    assert page.locator("mjx-merror").count() == 0
    assert page.locator(".math").count() == page.locator(".math mjx-container").count()


@every_chapter
def test_every_figure_loads_and_is_described(opened):
    pictures = opened.page.locator("article img").evaluate_all(
        "all => all.map(img => [img.src, img.naturalWidth, img.alt])"
    )
    assert pictures
    for address, width, words in pictures:
        assert width > 0, address
        assert len(words) > 20, address


@every_page
def test_every_drawing_on_the_page_is_described(opened):
    unnamed = opened.page.locator("article svg:not([aria-hidden=true])").evaluate_all(
        """all => all.filter(svg => !svg.closest(
             "[role=img][aria-label], mjx-container, button, .sd-summary-title, summary"
           ) && !svg.querySelector("title") && !svg.getAttribute("aria-label"))
           .map(svg => svg.outerHTML.slice(0, 200))"""
    )
    assert unnamed == []


@every_chapter
def test_hints_and_solution_unfold_under_each_exercise(opened):
    page = opened.at(DESK)
    helps = page.locator(".exercise-help")
    stubs = page.locator(".cell_input", has_text=re.compile(r"^\s*@exercise\s"))
    assert helps.count() == stubs.count() > 0
    for box in helps.first.locator("details").all():
        body = box.locator(".sd-card-body, .sd-summary-content").first
        expect(body).to_be_hidden()
        box.locator("summary").press("Enter")  # as with the mouse: a summary is both
        expect(body).to_be_visible()
    titles = [text.strip() for text in helps.first.locator("summary").all_inner_texts()]
    assert titles == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Solution"]
    expect(helps.first.locator(".solution pre")).to_contain_text('"""')


@every_page
def test_axe_finds_nothing_grave(opened):
    # The last, since the page is changed for it.
    assert violations_everywhere(opened.at(DESK)) == []
