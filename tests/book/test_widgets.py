"""Every chapter has a figure that its reader moves, on the page, without a kernel."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.book.conftest import CHAPTERS


def moved(figure: Locator, act) -> None:
    """Act, and see that the picture changed and that words say so."""
    picture, words = figure.locator(".mv-picture"), figure.locator(".mv-words")
    before = picture.inner_html(), words.inner_text()
    act()
    expect(words).not_to_have_text(before[1])
    assert picture.inner_html() != before[0]
    assert words.inner_text()


def all_moved(figure: Locator) -> None:
    """Move a figure with each of its controls, by key and by tap."""
    for control in figure.locator(".mv-control").all():
        slider = control.locator("[type=range]")
        if slider.count():
            moved(figure, lambda slider=slider: slider.press("End"))
            slider.press("Home")
            continue
        unchosen = control.locator(".mv-chip:not(:has(:checked))").first
        chosen = control.locator(":checked")
        moved(figure, lambda chosen=chosen: chosen.press("ArrowRight"))
        moved(figure, lambda unchosen=unchosen: unchosen.click())


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_chapter_has_figures_that_move(page: Page, name):
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"/chapters/{name}.html", wait_until="load")
    figures = page.locator(".mv")
    assert figures.count() > 0
    for figure in figures.all():
        expect(figure.locator(".mv-note")).to_have_count(0)
        all_moved(figure)
    assert errors == []
