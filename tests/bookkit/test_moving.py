"""Pictures drawn ahead: what they hold, and that their sliders move them."""

import math
import re

import pytest
import torch
from playwright.sync_api import sync_playwright

from bookkit.browser import FLAGS, find
from bookkit.moving import bars, clocks, grid, moving, side_by_side


def window(n, width):
    return torch.ones(n, n).tril().triu(1 - width).bool()


def sliding(width):
    return grid(window(4, width), range(4), range(4), f"window {width}")


def test_a_grid_has_a_cell_for_each_entry_and_a_colour_for_each_value():
    picture = grid(window(4, 2), "abcd", "wxyz")
    assert picture.body.count("M") == 16
    assert picture.body.count("<path") == 2
    assert [f">{label}<" in picture.body for label in "abcdwxyz"] == [True] * 8


def test_a_grid_whose_labels_do_not_fit_is_refused():
    with pytest.raises(
        ValueError, match=r"matrix is \(4, 4\), its labels say \(3, 4\)"
    ):
        grid(window(4, 2), range(3), range(4))


def test_a_clock_turns_against_the_sun():
    hand = re.search(r"L([\d.]+) ([\d.]+)'", clocks([math.pi / 2], ["up"]).body)
    across, up = clocks([0.0], ["right"]).body, float(hand[2])
    assert float(hand[1]) == 46.0  # straight above the dial's middle
    assert up < float(re.search(r"L[\d.]+ ([\d.]+)'", across)[1])


def test_a_bar_is_as_long_as_its_number_and_nothing_is_a_dash():
    picture = bars([0.5, 0.25, 0.0], ["cat", "dog", "hen"], "next")
    lengths = [float(w) for w in re.findall(r"width='([\d.]+)'", picture.body)]
    assert lengths[0] == 2 * lengths[1] > lengths[2] == 0
    said = [f">{text}<" in picture.body for text in ("cat", "0.500", "0.250", "–")]
    assert said == [True] * 4


def test_a_bar_never_leaves_its_picture():
    (length,) = re.findall(r"width='([\d.]+)'", bars([3.0], ["a"], per=0.5).body)
    assert float(length) < bars([3.0], ["a"]).width


def test_bars_whose_names_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 values, but 1 names"):
        bars([0.1, 0.9], ["a"])


def test_pictures_side_by_side_take_up_both_widths():
    one = clocks([0.0], ["a"])
    assert side_by_side(one, one).width == 2 * one.width + 28


def test_a_slider_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no slider 'widht'; there are width"):
        moving(sliding, title="t", alt="a", play="widht", width=[1, 2])


def test_a_text_cannot_end_the_script_it_stands_in():
    def draw(name):
        return grid(window(2, 1), range(2), range(2), name)

    page = moving(draw, title="<b>", alt="'\"", name=["</script>", "b"]).data
    assert page.count("</script>") == 2  # the data's and the code's own
    assert "<b>" not in page.split("<script")[0]


@pytest.fixture(scope="module")
def page():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        yield browser.new_page()
        browser.close()


def test_a_slider_moves_the_picture_by_keyboard(page):
    def draw(width, rows):
        return grid(window(rows, width), range(rows), range(rows), f"{rows}, {width}")

    page.set_content(
        moving(
            draw, title="t", alt="a", start={"rows": 3}, width=[1, 2, 3], rows=[2, 3]
        ).data
    )
    assert "3, 1" in page.inner_html("[role=img]")
    page.focus("input >> nth=0")
    page.keyboard.press("ArrowRight")
    assert "3, 2" in page.inner_html("[role=img]")
    assert page.get_attribute("input >> nth=0", "aria-valuetext") == "2"
    page.focus("input >> nth=1")
    page.keyboard.press("Home")
    assert "2, 2" in page.inner_html("[role=img]")


def test_the_play_button_steps_to_the_end(page):
    page.set_content(
        moving(sliding, title="t", alt="a", play="width", width=[1, 2]).data
    )
    page.click("button")
    page.wait_for_function("document.querySelector('output').textContent == '2'")
    assert "window 2" in page.inner_html("[role=img]")
    page.wait_for_function("document.querySelector('button').textContent == 'Play'")
