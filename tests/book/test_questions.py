"""The questions on the chapters' pages, by mouse, by keyboard, and before an answer."""

import pytest
from playwright.sync_api import expect

from bookkit.questions import files, questions_of
from tests.book.conftest import CHAPTERS

NAMES = {path.stem: questions_of(path) for path in files()}


@pytest.mark.parametrize("name", CHAPTERS)
def test_questions_answer_by_mouse_and_by_keyboard(swift, name):
    swift.goto(f"/chapters/{name}.html")
    cards = swift.locator(".ask")
    assert cards.count() == len(NAMES[name])
    for card in cards.all():  # nothing is told before
        expect(card.get_by_role("status")).to_be_empty()
        assert card.locator("details, .ask-question").count() == 0

    by_text = {one.ask: one for one in NAMES[name].values() if one.kind == "one"}
    card = swift.locator(".ask[data-kind=one]").first
    shown = card.locator("legend").inner_text()
    question = next(
        one for text, one in by_text.items() if plain(text)[:40] == plain(shown)[:40]
    )
    right = next(i for i, option in enumerate(question.options) if option.right)
    wrong = next(i for i, option in enumerate(question.options) if not option.right)
    status = card.get_by_role("status")
    inputs = card.get_by_role("radio")

    inputs.nth(wrong).check()
    card.get_by_role("button", name="Check").click()
    expect(status).to_contain_text("Not this one.")
    inputs.nth(right).focus()
    swift.keyboard.press("Space")
    swift.keyboard.press("Enter")
    expect(status).to_contain_text("Right.")
    assert status.locator("p").count() == 1


def test_a_page_that_no_kernel_runs_asks_too(swift):
    swift.goto("/closing.html")
    card = swift.locator(".ask").first
    card.get_by_text("In attention, and nowhere else").click()
    card.get_by_role("button", name="Check").click()
    expect(card.get_by_role("status")).to_contain_text("Right.")


def plain(text):
    """A text without the marks that become code or stress."""
    return text.replace("`", "").replace("*", "")


def test_a_card_takes_the_dark_page_s_colours(swift):
    swift.emulate_media(color_scheme="dark")
    swift.goto(f"/chapters/{CHAPTERS[0]}.html")
    card = swift.locator(".ask").first
    same = "(e) => getComputedStyle(e).color === getComputedStyle(document.body).color"
    assert card.evaluate(same)
