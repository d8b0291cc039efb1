"""The pages that a class is handed, in headless Chromium: on any screen, on paper."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from autograder import overview, similarity
from autograder.overview.charts import bins, histogram
from autograder.overview.feedback import feedback
from autograder.render import as_html
from autograder.report import Result
from autograder.verdict import Check, Diagnosis, Example, Row, Verdict
from bookkit.browser import FLAGS, find
from tests.overview.classes import a_class, write
from tests.similarity.answers import DISGUISED, RESHAPE, VIEWS, hand_in

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}
NAMES = ["class", "feedback", "similar", "verdict"]

WIDE = "0.12  -0.34   0.56   0.78   0.91  -1.23   4.56   7.89   0.12  -0.34   0.56"


def verdicts() -> tuple[Verdict, ...]:
    """A right answer, a wrong one with wide numbers, one that isn't there."""
    checks = (Check("self-attention", False), Check("gradients flow", True))
    example = Example("two queries", (("Q", WIDE),), (Row("weights", WIDE, WIDE),))
    said = Diagnosis("unscaled-scores", "The scores are not divided by `d_k ** 0.5`.")
    name = "scaled_dot_product_attention"
    return (
        Verdict("project_qkv", 2, "passed", 1.0, 1.0, checks=checks[1:]),
        Verdict("attention_scores", 2, "not_attempted", 0.0, 2.0),
        Verdict(name, 2, "failed", 0.0, 3.0, checks, (said,), example),
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, str]:
    """The address of each kind of page."""
    out = tmp_path_factory.mktemp("pages")
    overview.write(write(out, *a_class(70)))
    student = Result("student-0001", verdicts(), notes=("notes.txt: not code",))
    (out / "feedback.html").write_text(feedback(student), "utf-8")
    cells = "".join(as_html(one, ["Which axis?"]) for one in verdicts())
    head = '<!doctype html><html lang="en"><title>Cell</title><main><h1>Cell</h1>'
    (out / "verdict.html").write_text(f"{head}{cells}</main></html>", "utf-8")
    class_ = hand_in(out / "in", ada=RESHAPE, ben=DISGUISED, chen=VIEWS, dora="def (")
    similarity.compare([class_], out / "similar.html")
    return {name: (out / f"{name}.html").as_uri() for name in NAMES}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A fresh tab on a desk; an error in the console fails the test at its end."""
    tab = chromium.new_page(viewport=DESK)
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda said: errors.append(said.text))
    yield tab
    tab.close()
    assert errors == []


def unfold(page: Page) -> None:
    page.evaluate(
        "document.querySelectorAll('details').forEach(box => box.open = true)"
    )


@pytest.mark.parametrize("name", NAMES)
def test_page_is_accessible_light_and_dark_wide_and_narrow(page, pages, name):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name])
    unfold(page)
    for size, scheme in ((DESK, "light"), (PHONE, "dark")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        grave = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], one["nodes"][0]["html"]) for one in grave] == []
        width = "document.documentElement.scrollWidth"
        assert page.evaluate(width) <= size["width"]
    assert asked == [pages[name]]


def test_students_can_be_sorted_and_filtered(page, pages):
    page.goto(pages["class"])
    unfold(page)
    points = page.locator("#everybody tbody tr td:nth-child(2)")
    page.get_by_role("button", name="points").click()
    got = [float(text) for text in points.all_inner_texts()]
    assert got == sorted(got)
    page.get_by_role("button", name="points").click()
    assert [float(text) for text in points.all_inner_texts()] == sorted(got)[::-1]
    page.get_by_label("Show only rows with").fill("student-0007")
    expect(page.locator("#everybody tbody tr:visible")).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text("1 of 70")


def test_without_script_the_table_is_whole_and_has_no_dead_controls(chromium, pages):
    tab = chromium.new_page(java_script_enabled=False)
    tab.goto(pages["class"])
    tab.locator("summary", has_text="70 submissions").click()
    expect(tab.locator("#everybody tbody tr:visible")).to_have_count(70)
    expect(tab.locator("button, input")).to_have_count(0)
    tab.close()


def test_script_of_somebody_else_does_not_run(chromium, pages):
    tab = chromium.new_page()
    tab.goto(pages["class"])
    ran = tab.evaluate(
        """() => { const script = document.createElement("script");
        script.textContent = "window.ran = true"; document.body.append(script);
        return window.ran === true }"""
    )
    tab.close()
    assert not ran


def test_on_paper_every_check_stands_and_the_first_hint(page, pages):
    page.goto(pages["feedback"])
    check = page.get_by_text("✗ fails: self-attention")
    hints = page.locator(".ag details:has(> p)")
    expect(check).not_to_be_visible()
    page.emulate_media(media="print")
    assert check.bounding_box()["height"] > 0
    assert hints.nth(0).locator("p").bounding_box()["height"] > 0
    expect(hints.nth(1)).to_be_hidden()


def test_on_paper_a_class_has_its_hints_and_a_long_table_stays_folded(page, pages):
    page.goto(pages["class"])
    page.emulate_media(media="print")
    hint = page.locator(".mistakes details li").first
    assert hint.bounding_box()["height"] > 0
    assert page.locator("#everybody").bounding_box()["height"] == 0


def test_the_points_below_the_bars_stand_apart_on_a_phone(page, tmp_path):
    """Submissions of different chapters: shares of the points, in eleven bars."""
    overview.write(write(tmp_path, *a_class(3)))
    shares = [(float(part), most) for part in range(5) for most in (5.0, 8.0)]
    page.set_viewport_size(PHONE)
    page.goto((tmp_path / "class.html").as_uri())
    drawn = histogram(*bins(shares))
    page.evaluate("drawn => document.querySelector('figure').innerHTML = drawn", drawn)
    boxes = [one.bounding_box() for one in page.locator(".label:visible").all()]
    assert len(boxes) == 6
    for left, right in pairwise(boxes):
        assert left["x"] + left["width"] < right["x"]
