"""`autograder report`: one page on a class, from its results alone."""

import pytest

from autograder import overview
from autograder.overview.sections import place
from autograder.registry import EXERCISES
from tests.cli.conftest import here, run  # noqa: F401
from tests.overview.classes import a_class, exercise, submission, write
from tests.overview.markup import markup_of

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


@pytest.fixture
def page(tmp_path):
    """The page on some submissions."""

    def page(*submissions, book=None):
        return overview.write(write(tmp_path, *submissions), book).read_text("utf-8")

    return page


def test_the_command_writes_the_page_and_says_where(run, here):  # noqa: F811
    write(here, *a_class(3))
    assert run("report .").output == "Class report: class.html\n"
    assert "<h1>Class report</h1>" in (here / "class.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no nowhere/results.json; grade into that folder first"),
        ('{"version": 1, "subm', "isn't whole; grade into that folder again"),
        ("[" * 100_000, "isn't whole; grade into that folder again"),
        ('{"version": 2}', "is of version 2, this grader reads 1; grade again"),
        ("[]", "isn't what 'autograder grade' writes; name its DIR"),
        ('{"version": 1, "submissions": [{}]}', "grade again"),
        ('{"version": 1, "submissions": 3}', "grade again"),
    ],
)
def test_results_that_are_none_are_one_line(run, here, text, said):  # noqa: F811
    if text is not None:
        (here / "nowhere").mkdir()
        (here / "nowhere" / "results.json").write_text(text, "utf-8")
    complaint = run("report nowhere", 2).stderr
    assert said in complaint
    assert complaint.count("\n") == 1


def test_a_books_address_must_be_one(run, here):  # noqa: F811
    assert "begins with https://" in run("report . --book javascript:1", 2).stderr


def test_sections_are_named_and_with_a_books_address_linked(page):
    wrong = exercise("attention_scores", "failed", "unscaled-scores", "Not divided.")
    assert "Chapter 2, “Why divide by √d_k?”" in page(submission("ada", wrong))
    linked = page(submission("ada", wrong), book="https://example.org/book/")
    address = "https://example.org/book/chapters/02_attention.html"
    assert f'<a href="{address}#exercise-attention-scores">' in linked


def test_every_exercise_has_its_section_in_the_book():
    lost = [name for name in EXERCISES if not (place(name) and place(name).section)]
    assert lost == []


def test_the_same_results_give_the_same_bytes(tmp_path):
    write(tmp_path, *a_class(40))
    assert (
        overview.write(tmp_path).read_bytes() == overview.write(tmp_path).read_bytes()
    )


def test_nothing_of_a_submission_is_markup(page):
    def class_(text):
        crashed = exercise("attention_scores", "crashed", text, text)
        unknown = exercise("no" + text, "failed", None, text)
        return submission(text, crashed, unknown), submission("b" + text, error=text)

    assert markup_of(page(*class_(HOSTILE))) == markup_of(page(*class_("harmless")))


def test_feedback_pages_are_linked_by_their_own_names(page):
    text = page(
        submission("ada", exercise("attention_scores")),
        submission("a/b c", exercise("attention_scores")),
        submission("class", exercise("attention_scores")),
    )
    assert 'href="ada.html"' in text
    assert 'href="a_b_c.html"' in text
    assert 'href="class_2.html"' in text


@pytest.mark.parametrize("size", [0, 1, 2, 70])
def test_any_size_of_class_has_its_page(page, size):
    text = page(*a_class(size))
    assert text.count('<tr><th scope="row"><a') >= size
    assert ('<details class="long"' in text) == (size > 60)


def test_thousands_of_submissions_stay_one_page(page):
    few = a_class(60)
    text = page(*({**few[n % 60], "submission": f"s{n}"} for n in range(5000)))
    assert "5,000 submissions" in text
    assert len(text) < 3_000_000


def test_more_than_a_page_holds_are_left_to_the_table(page, monkeypatch):
    monkeypatch.setattr("autograder.overview.people.LONGEST", 5)
    assert "grades.csv has a line for each" in page(*a_class(6))


def test_the_text_equivalents_hold_the_numbers(page):
    statuses = ["passed"] * 5 + ["failed"] * 2 + ["timeout", "missing"]
    text = page(
        *(
            submission(f"s{n}", exercise("attention_scores", one))
            for n, one in enumerate(statuses)
        )
    )
    words = "5 right, 2 not right yet, 1 stopped or not allowed, 1 not attempted"
    assert f'aria-label="attention_scores, of 9: {words}"' in text
    assert f'<p class="soft">{words}</p>' in text
    assert "Distribution of points, of 2. 0: 4 submissions; 2: 5 submissions" in text
