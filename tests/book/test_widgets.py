"""Every chapter has a figure that its reader moves, on the page, without a kernel."""

from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.book.conftest import CHAPTERS


def moved(figure: Locator, act: Callable[[], None]) -> tuple[bool, bool]:
    """Act; whether the picture changed, and whether the words below it did."""
    picture, words = figure.locator(".mv-picture"), figure.locator(".mv-words")
    before, said = picture.inner_html(), words.inner_text()
    act()
    return picture.inner_html() != before, words.inner_text() not in ("", said)


def all_moved(figure: Locator) -> list[tuple[bool, bool]]:
    """Move a figure with each of its controls, by key and by tap.

    A choice may rightly leave the picture as it is: a mask that hides nothing more.
    """
    changes = []
    for control in figure.locator(".mv-control").all():
        slider = control.locator("[type=range]")
        if slider.count():
            key = "Home" if slider.get_attribute("value") != "0" else "End"
            changes.append(moved(figure, partial(slider.press, key)))
            continue
        other = control.locator(".mv-chip:not(:has(:checked))").first
        changes.append(moved(figure, other.click))
        chosen = control.locator(":checked")
        changes.append(moved(figure, partial(chosen.press, "ArrowRight")))
    return changes


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
        pictures, words = zip(*all_moved(figure), strict=True)
        assert any(pictures)
        assert any(words)
    assert errors == []
