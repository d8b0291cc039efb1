"""The built book as a reader meets it, in headless Chromium."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.book.conftest import CHAPTERS, DESK, HTML, PHONE

PAGES = ["index", "glossary", "references", *(f"chapters/{name}" for name in CHAPTERS)]
ATTENTION = "chapters/02_attention"


@pytest.fixture
def elsewhere(page: Page, site: str) -> list[str]:
    """The addresses on other hosts that the page asks for; they get no answer."""
    asked: list[str] = []

    def answer(route: Route) -> None:
        if route.request.url.startswith(site):
            route.continue_()
        else:
            asked.append(route.request.url)
            route.abort()

    page.route("**/*", answer)
    return asked


def open_page(page: Page, name: str) -> None:
    page.goto(f"/{name}.html", wait_until="load")


@pytest.mark.parametrize("name", PAGES)
def test_page_loads_without_an_error_and_from_here_alone(page, elsewhere, name):
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console",
        lambda said: errors.append(said.text) if said.type == "error" else None,
    )
    open_page(page, name)
    page.wait_for_load_state("networkidle")
    assert errors == []
    assert elsewhere == []


@pytest.mark.parametrize("name", PAGES)
def test_phone_scrolls_down_only(page, name):
    page.set_viewport_size(PHONE)
    open_page(page, name)
    page.wait_for_load_state("networkidle")
    for folded in page.locator("details").all():
        folded.evaluate("box => box.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


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


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", PAGES)
def test_tables_keep_words_and_numbers_whole(page, name, size):
    page.set_viewport_size(size)
    open_page(page, name)
    assert page.locator(".bd-article table").evaluate_all(BROKEN_WORDS) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_figures_keep_their_shape_on_a_phone(page, name):
    page.set_viewport_size(PHONE)
    open_page(page, f"chapters/{name}")
    page.wait_for_load_state("networkidle")
    for figure in page.locator(".bd-article figure img").all():
        shape = (
            "i => [i.clientWidth / i.clientHeight, i.naturalWidth / i.naturalHeight]"
        )
        shown, drawn = figure.evaluate(shape)
        assert shown == pytest.approx(drawn, rel=0.02)


@pytest.mark.parametrize("name", CHAPTERS)
def test_verdicts_stand_on_the_dark_page_itself(page, name):
    page.emulate_media(color_scheme="dark")
    open_page(page, f"chapters/{name}")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    for output in page.locator(".cell_output .text_html").all():
        expect(output).to_have_css("background-color", "rgba(0, 0, 0, 0)")


@pytest.mark.parametrize("name", CHAPTERS)
def test_sidebar_and_links_number_the_chapters(page, name):
    open_page(page, f"chapters/{name}")
    current = page.locator(".bd-sidebar-primary .current.active > a").first
    expect(current).to_contain_text(f"{int(name[:2])} · ")
    after = CHAPTERS[CHAPTERS.index(name) + 1 :]
    if after:
        following = page.locator(".prev-next-area .right-next .prev-next-title")
        expect(following).to_contain_text(f"{int(after[0][:2])} · ")


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_formula_is_drawn(page, name):
    open_page(page, f"chapters/{name}")
    page.evaluate("MathJax.startup.promise")
    assert page.locator("mjx-container").count() > 0
    assert page.locator("mjx-merror").count() == 0
    assert page.locator(".math").count() == page.locator(".math mjx-container").count()


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_figure_loads_and_is_described(page, name):
    open_page(page, f"chapters/{name}")
    pictures = page.locator("article img").all()
    for picture in pictures:
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("img => img.decode().then(() => img.naturalWidth)") > 0
        assert len(picture.get_attribute("alt")) > 20, picture.get_attribute("src")
    assert pictures


@pytest.mark.parametrize("name", CHAPTERS)
def test_hints_and_solution_unfold_under_each_exercise(page, name):
    open_page(page, f"chapters/{name}")
    helps = page.locator(".exercise-help")
    stubs = page.locator(".cell_input", has_text=re.compile(r"^\s*@exercise\s"))
    assert helps.count() == stubs.count() > 0
    for box in helps.first.locator("details").all():
        body = box.locator(".sd-card-body, .sd-summary-content").first
        expect(body).to_be_hidden()
        box.locator("summary").click()
        expect(body).to_be_visible()
    titles = [text.strip() for text in helps.first.locator("summary").all_inner_texts()]
    assert titles == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Solution"]
    expect(helps.first.locator(".solution pre")).to_contain_text('"""')


def test_search_finds_an_exercise(page):
    page.goto("/search.html?q=scaled_dot_product_attention")
    expect(page.locator("#search-results a").first).to_be_visible()
    links = page.locator("#search-results a").all()
    assert any(ATTENTION in link.get_attribute("href") for link in links)


def test_dark_mode_follows_the_system_and_the_button(page):
    page.emulate_media(color_scheme="dark")
    open_page(page, ATTENTION)
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    button = page.locator("button.theme-switch-button:visible").first
    button.click()  # from the system's choice to light
    expect(root).to_have_attribute("data-theme", "light")
    button.click()
    expect(root).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")


def test_notebook_downloads_as_published(page):
    open_page(page, ATTENTION)
    page.locator(".dropdown-download-buttons > button").click()
    link = page.locator(".btn-download-source-button")
    with page.expect_download() as waiting:
        link.evaluate(
            "a => { a.removeAttribute('target'); a.download = ''; a.click() }"
        )
    published = Path(HTML.parents[1] / f"{ATTENTION}.ipynb").read_text()
    assert Path(waiting.value.path()).read_text() == published


def test_citation_leads_to_the_reference(page):
    open_page(page, ATTENTION)
    page.locator("a[href*='references.html#id']").first.click()
    expect(page).to_have_url(re.compile(r"references\.html#id\d+$"))
    assert page.locator(":target").count() == 1


def test_code_has_a_copy_button(page):
    open_page(page, ATTENTION)
    cell = page.locator(".cell_input").first
    cell.hover()
    expect(cell.locator("button.copybtn")).to_be_visible()
