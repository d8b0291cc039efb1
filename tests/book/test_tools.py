"""What a reader does with the book: search, dark mode, downloads, copies, citations."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from bookkit.site import ROOT

ATTENTION = "chapters/02_attention"


def open_page(page: Page, name: str) -> None:
    page.goto(f"/{name}.html", wait_until="load")


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
    published = (ROOT / f"{ATTENTION}.ipynb").read_text()
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
