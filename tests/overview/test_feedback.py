"""The feedback page: what is said first, and that nothing of theirs is markup."""

import pytest

from autograder.overview.feedback import feedback, look_first, page_names, summary
from autograder.report import Result
from autograder.verdict import Check, Diagnosis, Example, Row, Verdict
from tests.overview.classes import UNUSED_PART
from tests.overview.markup import markup_of

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&`<b>`"
ORDER = ["project_qkv", "attention_scores", "scaled_dot_product_attention"]


def verdict(name="attention_scores", status="failed", said="Not divided.", **more):
    idle = status in ("passed", "missing", "not_attempted")
    found = () if idle else (Diagnosis("unscaled-scores", said),)
    points = 2.0 if status == "passed" else 0.0
    return Verdict(name, 2, status, points, 2.0, diagnosis=found, **more)


def blamed(name):
    one = verdict(name)
    part = Diagnosis("from-an-earlier-part", UNUSED_PART)
    return Verdict(name, 2, "failed", 0.0, 2.0, diagnosis=(*one.diagnosis, part))


def test_the_summary_counts_in_words():
    states = ["passed", "passed", "failed", "missing", "error", "error"]
    said = summary([verdict(status=one) for one in states])
    assert said == (
        "Of 6 exercises, 2 are right, 1 is not right yet, 1 is not in the submission "
        "and 2 stop with an error."
    )


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (["passed"], "<code>attention_scores</code> is right."),
        (["timeout"], "<code>attention_scores</code> takes too long."),
        (["passed", "passed"], "Everything is right."),
        (["failed", "crashed"], "none is right, 1 is not right yet and 1 ended its"),
        (["crashed"] * 2, "2 ended their processes."),
        (["forbidden"] * 2, "2 use built-ins that are the exercises."),
    ],
)
def test_the_summary_reads_well_for_one_and_for_many(states, said):
    assert said in summary([verdict(status=one) for one in states])


def test_one_begins_with_the_mistake_on_which_others_wait():
    first = look_first(
        [verdict("project_qkv"), verdict(), blamed("scaled_dot_product_attention")]
    )
    assert first.startswith('Look first at <a href="#attention_scores">')
    assert "Not divided." in first
    assert "Once it is right, <a" in first
    assert first.endswith("is too.")


def test_without_a_mistake_one_goes_on_with_what_is_left():
    left = [verdict("project_qkv", "passed"), verdict(status="not_attempted")]
    assert look_first(left).startswith('Next: <a href="#attention_scores">')
    assert look_first(left[:1]) == ""


def test_every_exercise_can_be_linked_to_under_headings_in_order():
    page = feedback(Result("ada", tuple(verdict(one) for one in ORDER)))
    for name in ORDER:
        assert f'<h3 id="{name}">{name}</h3>' in page
        assert f'href="#{name}"' in page
    levels = [tag for tag, _ in markup_of(page) if tag in ("h1", "h2", "h3", "h4")]
    assert levels == ["h1", "h2", "h3", "h3", "h3"]


def test_the_section_of_a_wrong_answer_is_named():
    assert "chapter 2, “Why divide by √d_k?”" in feedback(Result("ada", (verdict(),)))
    right = feedback(Result("ada", (verdict(status="passed"),)))
    assert "In the book" not in right


def everywhere(text):
    """A result with the text in every place that a submission can fill."""
    example = Example(text, ((text, text),), (Row(text, text, text),))
    checks = (Check(text, True), Check(text, False))
    wrong = verdict(said=text, example=example, checks=checks, notes=(text,))
    return Result(text, (wrong, verdict("project_qkv", "passed")), notes=(text,))


def test_nothing_of_a_submission_is_markup():
    harmless = feedback(everywhere("a`b`"))
    assert markup_of(feedback(everywhere(HOSTILE))) == markup_of(harmless)
    plain = feedback(Result("a", error="b"))
    assert markup_of(feedback(Result(HOSTILE, error=HOSTILE))) == markup_of(plain)


def test_control_characters_are_left_out():
    page = feedback(everywhere("a\x1b[31m\u202eb\x00"))
    assert not any(char in page for char in "\x1b\u202e\x00")


def test_page_names_are_safe_short_and_none_twice():
    names = page_names(["ada", "Ada", "a/../b", "class", "results.json", "å" * 200, ""])
    assert names[:4] == ["ada.html", "Ada_2.html", "a_.._b.html", "class_2.html"]
    assert len(set(map(str.lower, names))) == len(names)
    assert all(len(name.encode()) < 200 and "/" not in name for name in names)
