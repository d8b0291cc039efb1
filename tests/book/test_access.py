"""The book for everybody: read aloud, by keyboard, without motion, in other colours."""

import pytest
from playwright.sync_api import expect

from autograder.overview.feedback import feedback
from autograder.render.page import as_html
from autograder.report import Result
from autograder.verdict import STATUSES, Check, Diagnosis, Example, Row, Verdict
from bookkit.site import PHONE, settle
from tests.book.axe import prepare, violations, violations_everywhere

ATTENTION = "chapters/02_attention"


@pytest.mark.parametrize("name", ["search", "404"])
def test_axe_finds_nothing_grave(page, name):
    page.goto(f"/{name}.html")
    settle(page)
    assert violations_everywhere(page) == []


@pytest.mark.parametrize(
    ("colour", "scheme"), [("#aaa", "light"), ("#555", "dark")], ids=["light", "dark"]
)
def test_axe_finds_the_one_text_that_is_hard_to_read(page, colour, scheme):
    page.goto("/search.html")
    settle(page)
    page.add_style_tag(
        content=f"html[data-theme={scheme}] .faint {{ color: {colour} }}"
    )
    page.evaluate(
        """document.querySelector("#search-results").innerHTML =
          "<p>Read me.</p>".repeat(20) + "<p class=faint>Read me.</p>" """
    )
    (found,) = violations_everywhere(page)
    assert "color-contrast" in found


def verdict(status: str) -> Verdict:
    """A verdict that has something of everything that it may have."""
    good = status == "passed"
    found = Diagnosis("softmax-over-queries", "The softmax runs over `dim=-2`.")
    wide = "  ".join(f"{number:.2f}" for number in range(40))
    return Verdict(
        "attention_scores",
        2,
        status,
        2.0 if good else 0.0,
        2.0,
        checks=(Check("each query's weights sum to 1", good), Check("a mask", True)),
        diagnosis=() if good else (found,),
        example=None
        if good
        else Example("one query", (("Q", wide),), (Row("weights", wide, "0.09"),)),
        notes=("On Q the published part was used.",),
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_grave_in_verdicts_of_every_kind(page, scheme):
    boxes = [as_html(verdict(status), ["a nudge", "more"]) for status in STATUSES]
    page.emulate_media(color_scheme=scheme)
    page.goto("/search.html")
    page.evaluate(
        "boxes => { document.querySelector('#search-results').innerHTML = boxes }",
        "<article class='bd-article'>" + "".join(boxes) + "</article>",
    )
    assert page.locator(".ag").count() == len(STATUSES)
    prepare(page)
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_grave_on_a_feedback_page(page, scheme):
    result = Result("ada", tuple(verdict(status) for status in STATUSES))
    page.emulate_media(color_scheme=scheme)
    page.set_content(feedback(result))
    assert page.locator(".ag").count() == len(STATUSES)
    prepare(page)
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_first_stop_of_the_keyboard_leads_past_the_menus(page):
    page.goto(f"/{ATTENTION}.html")
    page.keyboard.press("Tab")
    skip = page.locator("#pst-skip-link a")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{page.url.split('#')[0]}#main-content")


def test_what_has_the_focus_is_seen(page):
    page.goto(f"/{ATTENTION}.html")
    first = page.locator(".exercise-help summary").first
    first.scroll_into_view_if_needed()
    page.keyboard.press("Tab")  # the browser shows the focus to who uses the keyboard
    for place in (first, page.locator("article p a").first):
        place.focus()
        assert place.evaluate("it => getComputedStyle(it).outlineStyle") != "none"


def test_solution_unfolds_and_folds_by_keyboard(page):
    page.goto(f"/{ATTENTION}.html")
    box = page.locator(".exercise-help details.solution").first
    summary = box.locator("summary")
    for key, opened in (("Enter", True), ("Enter", False), ("Space", True)):
        summary.press(key)
        assert box.evaluate("box => box.open") is opened


MOVES = """() => [...document.querySelectorAll("*")].filter(it => {
  const style = getComputedStyle(it);
  return [style.transitionDuration, style.animationDuration].some(said =>
    said.split(",").some(time => parseFloat(time) > 0.001));
}).map(it => it.outerHTML.slice(0, 100))"""


def test_nothing_moves_for_whoever_asks_for_stillness(page):
    page.goto(f"/{ATTENTION}.html")
    assert page.evaluate(MOVES) != []  # else the next line would show nothing
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(MOVES) == []


def test_pictures_keep_their_colours_where_the_system_sets_all_others(page):
    page.emulate_media(forced_colors="active")
    page.goto("/chapters/07_masks.html")
    drawn = page.locator("[data-moving] svg").first
    assert drawn.evaluate("it => getComputedStyle(it).forcedColorAdjust") == "none"
    code = page.locator(".bd-article .cell_input").first
    assert code.evaluate("it => getComputedStyle(it).borderTopStyle") == "solid"


def test_everything_is_unfolded_on_paper_and_folded_again(page):
    page.goto(f"/{ATTENTION}.html")
    folded = page.locator("article details:not([open])")
    before = folded.count()
    assert before > 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert folded.count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert folded.count() == before
