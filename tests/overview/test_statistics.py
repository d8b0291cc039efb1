"""What is counted of a class, and what is said of it in sentences."""

import pytest

from autograder.overview.charts import bins
from autograder.overview.findings import findings, opening
from autograder.overview.statistics import statistics
from autograder.overview.wording import listed, num, percent
from autograder.registry import EXERCISES
from tests.overview.classes import blamed, exercise, submission

SCORES, ATTENTION = "attention_scores", "scaled_dot_product_attention"


def unscaled(name=SCORES):
    said = "The scores are not divided by √d_k. Apart from that, your result is right."
    return exercise(name, "failed", "unscaled-scores", said)


def test_each_exercise_is_counted_by_kind():
    kinds = ["passed", "failed", "not_attempted", "missing", "error", "timeout"]
    found = statistics([submission(one, exercise(SCORES, one)) for one in kinds])
    (asked,) = found.asked
    assert asked.kinds == {"passed": 1, "failed": 1, "idle": 2, "stopped": 2}
    assert (asked.total, asked.tried) == (6, 4)


def test_mistakes_are_counted_over_the_class_the_most_frequent_first():
    other = exercise(SCORES, "failed", "softmax-over-queries", "Over the queries.")
    found = statistics(
        [
            submission("ada", other),
            *(submission(n, unscaled()) for n in ("ben", "chen")),
        ]
    )
    first, second = found.slips
    assert (first.mistake, [row.name for row in first.who]) == (
        "unscaled-scores",
        ["ben", "chen"],
    )
    assert second.mistake == "softmax-over-queries"


def test_a_known_mistake_is_told_in_the_definitions_words():
    (slip,) = statistics([submission("ada", unscaled())]).slips
    known = {one.id: one.message for one in EXERCISES[SCORES].mistakes}
    assert slip.message == known["unscaled-scores"]


def test_messages_that_differ_in_values_alone_are_one_mistake():
    said = [
        "Your result is 3 times the right one.",
        "Your result is 4 times the right one.",
    ]
    found = statistics(
        [
            submission(one, exercise(SCORES, "failed", None, one))
            for one in [*said, said[1]]
        ]
    )
    (slip,) = found.slips
    assert (len(slip.who), slip.message, slip.differs) == (3, said[1], True)


def test_a_mistake_that_comes_from_an_earlier_part_is_counted_there_alone():
    found = statistics([submission("ada", unscaled(), blamed(unscaled(ATTENTION)))] * 2)
    assert {slip.exercise for slip in found.slips} == {SCORES}
    assert [asked.blocked for asked in found.asked] == [0, 2]
    (blocker,) = found.blockers
    assert (blocker.exercise, len(blocker.who)) == (SCORES, 2)
    assert blocker.later == {ATTENTION: 2}


def test_what_needs_a_look_is_listed_crashes_first():
    found = statistics(
        [
            submission("slow", exercise(SCORES, "timeout")),
            submission("gone", exercise(SCORES, "crashed")),
            submission("off", exercise(SCORES, "error")),
        ]
    )
    assert [look.row.name for look in found.looks] == ["gone", "slow"]


def test_exercises_come_in_the_books_order():
    found = statistics([submission("ada", exercise(ATTENTION), exercise(SCORES))])
    assert [asked.id for asked in found.asked] == [SCORES, ATTENTION]


def test_many_who_made_a_mistake_are_a_sentence_with_their_number():
    class_ = [submission(f"wrong-{n}", unscaled()) for n in range(3)]
    class_ += [submission(f"right-{n}", exercise(SCORES)) for n in range(4)]
    class_.append(submission("idle", exercise(SCORES, "not_attempted")))
    (finding,) = findings(statistics(class_))
    assert (finding.count, finding.exercise) == ("3 of 7", SCORES)
    assert "√d_k" in finding.text


def test_one_mistake_among_many_is_none_to_explain_to_everybody():
    class_ = [submission("wrong", unscaled())]
    class_ += [submission(f"right-{n}", exercise(SCORES)) for n in range(4)]
    assert findings(statistics(class_)) == []


def test_an_exercise_that_many_left_out_is_said():
    class_ = [submission("ada", exercise(SCORES))]
    class_ += [submission(n, exercise(SCORES, "missing")) for n in ("ben", "chen")]
    (finding,) = findings(statistics(class_))
    assert (finding.count, finding.text) == ("2 of 3", "Not attempted.")


@pytest.mark.parametrize(
    ("class_", "said"),
    [
        ([], "0 submissions."),
        (
            [submission("ada", error="no")],
            "1 submission, of which 1 could not be graded.",
        ),
        ([submission("ada", exercise(SCORES))], "1 submission: 2 of 2 points."),
        (
            [submission(n, exercise(SCORES)) for n in "abc"]
            + [submission("d", exercise(SCORES, "failed"))],
            "4 submissions. The median is 2 of 2 points; "
            "3 have all points and 1 has none.",
        ),
        (
            [
                submission("a", exercise(SCORES)),
                submission("b", exercise("x"), unscaled()),
            ],
            "2 submissions. The median is 75 % of the points; 1 has all points.",
        ),
    ],
)
def test_the_opening_says_how_the_class_did(class_, said):
    assert opening(statistics(class_)) == said


@pytest.mark.parametrize(
    ("points", "labels", "counts"),
    [
        ([(0, 3), (1, 3), (3, 3), (3, 3)], "0 1 2 3", [1, 1, 0, 2]),
        ([(0.5, 2), (1.0, 2), (2.0, 2)], "0–1 1–2 2", [1, 1, 1]),
        ([(0, 18), (17, 18), (18, 18)], None, [1, 0, 0, 0, 0, 0, 0, 0, 1, 1]),
        ([(1, 2), (4, 4)], None, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
    ],
)
def test_points_fall_into_bins_the_most_into_its_own(points, labels, counts):
    found, _ = bins(points)
    assert [one.count for one in found] == counts
    if labels:
        assert [one.label for one in found] == labels.split()


def test_numbers_and_lists_read_as_in_a_sentence():
    assert [num(1234), num(2.5), num(3.0)] == ["1,234", "2.5", "3"]
    assert [percent(1, 400), percent(399, 400), percent(1, 2), percent(0, 3)] == [
        "<1 %",
        ">99 %",
        "50 %",
        "0 %",
    ]
    assert listed("abc") == "a, b and c"
