"""Figures that move, in headless Chromium: by slider, keyboard, tap, and not at all."""

import re

import pytest
import torch
from playwright.sync_api import expect, sync_playwright

from bookkit.browser import FLAGS, find
from bookkit.widgets import Picture, bars, grid, moving, side_by_side
from bookkit.widgets.theme import COLOURS

PHONE = {"width": 360, "height": 800}


def window(n, width):
    return torch.ones(n, n).tril().triu(1 - width).bool()


def sliding(width):
    return grid(window(4, width), range(4), range(4), words=f"A window of {width}.")


def sized(rows, mask):
    wide = rows if mask == "causal" else 2
    picture = grid(window(rows, wide), range(rows), range(rows), f"{rows} rows")
    tap = "<rect width='20' height='20' data-pick='1 1'/>"
    body = f"{picture.body}{tap}"
    return Picture(body, picture.width, picture.height, f"{rows} rows, {mask}.")


def figure(draw=sliding, **more):
    return moving(draw, title="A title", alt="What it shows", **more)


def both(**more):
    return figure(sized, rows=[2, 3, 4], mask=["causal", "window"], **more)


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def show(chromium):
    """Open a page that holds a figure: show(figure, frame, **context's options)."""
    contexts = []

    def opened(shown, frame="<body>{}</body>", **options):
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_content(f"<!doctype html><html>{frame.format(shown.data)}</html>")
        assert errors == []
        return page

    yield opened
    for context in contexts:
        context.close()


def words(page):
    return page.locator(".mv-words").first


def test_a_slider_moves_the_picture_by_keyboard_and_says_so(show):
    page = show(both(start={"rows": 3}))
    expect(words(page)).to_have_text("3 rows, causal.")
    page.focus("[type=range]")
    page.keyboard.press("ArrowRight")
    expect(words(page)).to_have_text("4 rows, causal.")
    expect(page.locator(".mv-picture")).to_contain_text("4 rows")
    expect(page.locator("output")).to_have_text("4")
    expect(page.locator("[type=range]")).to_have_attribute("aria-valuetext", "4")
    page.keyboard.press("Home")
    expect(words(page)).to_have_text("2 rows, causal.")
    assert page.locator(".mv-picture g path").count() == 4


def test_buttons_are_chosen_by_tap_and_by_arrow_keys(show):
    page = show(both(), has_touch=True)
    page.locator(".mv-chip", has_text="window").tap()
    expect(words(page)).to_have_text("2 rows, window.")
    page.keyboard.press("ArrowLeft")
    expect(words(page)).to_have_text("2 rows, causal.")


def test_a_part_of_the_picture_can_be_tapped(show):
    page = show(both(), has_touch=True)
    page.locator("[data-pick]").tap()
    expect(words(page)).to_have_text("2 rows, window.")
    expect(page.locator("input:checked")).to_have_attribute("value", "1")


def test_the_picture_is_moved_and_not_drawn_anew(show):
    page = show(figure(width=[1, 2, 3]))
    page.evaluate("document.querySelector('.mv-picture g path').dataset.kept = 1")
    before = page.locator("g path").evaluate_all(
        "all => all.map(p => +p.getAttribute('opacity'))"
    )
    page.locator("[type=range]").press("End")
    after = page.locator("g path").evaluate_all(
        "all => all.map(p => +p.getAttribute('opacity'))"
    )
    assert (sum(before), sum(after)) == (4, 9)
    assert page.locator("[data-kept]").count() == 1


@pytest.mark.parametrize(
    ("wish", "moves"), [("no-preference", True), ("reduce", False)]
)
def test_motion_is_left_out_where_the_reader_asks_for_it(show, wish, moves):
    page = show(figure(width=[1, 2]), reduced_motion=wish)
    cell = page.locator("g path").first
    duration = cell.evaluate("cell => getComputedStyle(cell).transitionDuration")
    assert (duration != "0s") is moves


def test_the_play_button_steps_to_the_end_and_speaks_at_its_end(show):
    page = show(figure(play="width", width=range(1, 23)))
    button = page.get_by_role("button")
    button.click()
    expect(button).to_have_text("Pause")
    expect(words(page)).to_have_attribute("aria-live", "off")
    expect(words(page)).to_have_text("A window of 22.")
    expect(button).to_have_text("Play")
    expect(words(page)).to_have_attribute("aria-live", "polite")
    button.click()
    expect(page.locator("output")).not_to_have_text("22")
    button.click()
    expect(button).to_have_text("Play")


def test_two_copies_of_a_figure_move_by_themselves(show):
    card = both()
    frame = f"<body>{{}}{card.data.replace('{', '{{').replace('}', '}}')}</body>"
    page = show(card, frame)
    page.locator(".mv-chip", has_text="window").nth(1).click()
    expect(words(page)).to_have_text("2 rows, causal.")
    expect(page.locator(".mv-words").nth(1)).to_have_text("2 rows, window.")


def test_without_scripts_the_first_picture_stands_with_a_note(show):
    page = show(both(start={"rows": 3}), java_script_enabled=False)
    expect(page.locator(".mv-picture")).to_contain_text("3 rows")
    expect(page.locator(".mv-note")).to_be_visible()
    expect(page.locator("form")).to_be_hidden()


def test_with_scripts_the_note_is_gone(show):
    page = show(both())
    expect(page.locator(".mv-note")).to_have_count(0)
    expect(page.locator("form")).to_be_visible()


def test_on_paper_only_what_was_chosen_is_left(show):
    page = show(both(play="rows"))
    page.emulate_media(media="print")
    for gone in ("[type=range]", "button", ".mv-chip:has-text('window')"):
        expect(page.locator(gone)).to_be_hidden()
    for kept in (".mv-picture svg", "output", ".mv-chip:has-text('causal')"):
        expect(page.locator(kept)).to_be_visible()


DARK = {
    "the book": "<html data-theme='dark'><body>{}</body>",
    "JupyterLab": "<body data-jp-theme-light='false'>{}</body>",
    "VS Code": "<body class='vscode-dark'>{}</body>",
    "Colab": "<html theme='dark'><body>{}</body>",
}


def colours(page):
    """The card's ground and the first cell's colour."""
    style = "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).fill]"
    card, cell = page.locator(".mv"), page.locator("g path").first
    return card.evaluate(style)[0], cell.evaluate(style)[1]


def as_rgb(colour):
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


def expected(column):
    return tuple(as_rgb(COLOURS[name][column]) for name in ("paper", "blue"))


@pytest.mark.parametrize("where", DARK)
def test_a_dark_page_gets_a_dark_card(show, where):
    page = show(figure(width=[1, 2]), DARK[where])
    assert colours(page) == expected(1)
    page.emulate_media(media="print")
    assert colours(page) == expected(0)


LIGHT = ["<html data-theme='light'><body>{}", "<body data-jp-theme-light='true'>{}"]


@pytest.mark.parametrize("frame", [*LIGHT, "<body class='vscode-light'>{}"])
def test_a_light_page_stays_light_on_a_dark_system(show, frame):
    page = show(figure(width=[1, 2]), frame + "</body>", color_scheme="dark")
    assert colours(page) == expected(0)


def test_a_page_that_says_nothing_follows_the_system(show):
    page = show(figure(width=[1, 2]), color_scheme="dark")
    assert colours(page) == expected(1)


def test_forced_colours_are_the_systems_own(show):
    page = show(figure(width=[1, 2]), forced_colors="active")
    probe = "<i style='color:Highlight;background:Canvas;forced-color-adjust:none'>"
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', `{probe}</i>`)")
    style = "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
    assert list(colours(page)) == page.locator("i").evaluate(style)


def wide(rows):
    return side_by_side(*(bars([0.5] * rows, ["a word"] * rows) for _ in range(3)))


def test_on_a_phone_nothing_is_cut_and_all_can_be_hit(show):
    choices = [f"choice {i}" for i in range(8)]
    card = figure(lambda rows, of: wide(rows), play="rows", rows=[1, 9], of=choices)
    frame = "<head><meta name='viewport' content='width=device-width'></head><body>{}"
    page = show(card, frame, viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for target in page.locator("button, .mv-chip, [type=range]").all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 40


def test_nothing_below_moves_when_the_picture_changes(show):
    page = show(figure(lambda rows: wide(rows), rows=[1, 9]))
    before = page.locator("form").bounding_box()
    page.locator("[type=range]").press("End")
    assert page.locator("form").bounding_box() == before


def test_focus_can_be_seen(show):
    page = show(both())
    page.keyboard.press("Tab")
    expect(page.locator("[type=range]")).to_have_css("outline-style", "solid")
    page.keyboard.press("Tab")
    expect(page.locator(":checked + span")).to_have_css("outline-style", "solid")


def test_everything_has_a_name(show):
    page = show(both(play="rows"))
    expect(page.get_by_role("group", name="A title")).to_be_visible()
    expect(page.get_by_role("img", name="What it shows")).to_be_visible()
    expect(page.get_by_role("slider", name="rows")).to_be_visible()
    expect(page.get_by_role("radiogroup", name="mask")).to_be_visible()
    expect(page.get_by_role("radio", name="window")).to_have_count(1)


def test_a_text_cannot_end_the_script_it_stands_in(show):
    hostile = ["</script><b>", "<!--<script>", "plain"]

    def draw(name):
        return grid(window(2, 1), range(2), range(2), name, words=name)

    page = show(moving(draw, title="<b>", alt="'\"><b>", name=hostile))
    assert page.locator("b").count() == 0
    for text in hostile:
        page.locator(".mv-chip", has_text=text).click()
        expect(words(page)).to_have_text(text)


def test_where_html_is_not_shown_it_says_what_it_is():
    assert repr(figure(width=[1, 2])) == "A title: What it shows"


def test_the_same_figure_is_the_same_text():
    assert both().data == both().data
    assert both().data != both(start={"rows": 3}).data


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"play": "widht"}, "no control 'widht'; there are width"),
        ({"start": {"rows": 2}}, "no control 'rows'; there are width"),
        ({"start": {"width": 9}}, "width starts at 9, which it doesn't offer"),
    ],
)
def test_a_choice_that_is_not_there_is_refused(more, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        figure(width=[1, 2], **more)
