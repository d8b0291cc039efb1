"""What lateness costs, and which of several submissions counts."""

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from autograder.exports.errors import ExportError
from autograder.exports.policy import Attempt, Policy, count, days_late, settle

BERLIN = ZoneInfo("Europe/Berlin")
UTC = ZoneInfo("UTC")


def at(text, zone=BERLIN, fold=0):
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)


DUE = at("2026-11-26 23:59")


@pytest.mark.parametrize(
    ("submitted", "due", "days"),
    [
        (at("2026-11-25 10:00"), DUE, 0),
        (at("2026-11-26 23:59:00"), DUE, 0),
        (at("2026-11-26 23:59:00.000001"), DUE, 1),
        (at("2026-11-26 23:59:01"), DUE, 1),
        (at("2026-11-27 23:59:00"), DUE, 1),
        (at("2026-11-27 23:59:01"), DUE, 2),
        (at("2026-12-26 23:59"), DUE, 30),
        # the same moments on another clock
        (at("2026-11-26 22:59", UTC), DUE, 0),
        (at("2026-11-26 22:59:01", UTC), DUE, 1),
        (at("2026-11-27 07:59", ZoneInfo("Asia/Tokyo")), DUE, 0),
        # the clocks go back on 25 October at 3:00: that day has 25 hours
        (at("2026-10-25 23:59"), at("2026-10-24 23:59"), 1),
        (at("2026-10-25 23:59:01"), at("2026-10-24 23:59"), 2),
        (at("2026-10-26 23:59"), at("2026-10-24 23:59"), 2),
        (at("2026-10-25 02:30", fold=1), at("2026-10-25 02:30", fold=0), 1),
        (at("2026-10-25 02:30", fold=0), at("2026-10-25 02:30", fold=1), 0),
        # the clocks go forward on 29 March at 2:00: that day has 23 hours
        (at("2026-03-29 23:59"), at("2026-03-28 23:59"), 1),
        (at("2026-03-29 23:59:01"), at("2026-03-28 23:59"), 2),
        (at("2026-03-30 23:59"), at("2026-03-28 23:59"), 2),
        (at("2026-03-30 23:59:01"), at("2026-03-28 23:59"), 3),
        # a deadline with a fixed distance from UTC knows no summer time
        (
            at("2026-03-30 00:59"),
            at("2026-03-28 23:59", timezone(timedelta(hours=1))),
            1,
        ),
    ],
)
def test_days_late_are_days_on_the_deadlines_clock(submitted, due, days):
    assert days_late(submitted, due) == days


def counted(submitted, points=8.0, **policy):
    found = count(Attempt("ada", points, submitted), Policy(DUE, **policy))
    return found.points, found.why


DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("late", "policy", "points", "why"),
    [
        (0 * DAY, {"per_day": 10, "days": 3}, 8, "on time"),
        (1 * DAY, {"per_day": 10, "days": 3}, 7.2, "1 day late, 10% off 8 points"),
        (3 * DAY, {"per_day": 10, "days": 3}, 5.6, "3 days late, 30% off 8 points"),
        (3.1 * DAY, {"per_day": 10, "days": 3}, 0, "4 days late, too late to count"),
        (1 * DAY, {"per_day": 12.5}, 7, "1 day late, 12.5% off 8 points"),
        (20 * DAY, {"per_day": 10}, 0, "20 days late, 100% off 8 points"),
        (20 * DAY, {}, 8, "20 days late, 0% off 8 points"),
        (0.1 * DAY, {"days": 0}, 0, "1 day late, too late to count"),
    ],
)
def test_lateness_costs_by_the_day(late, policy, points, why):
    assert counted(DUE + late, **policy) == (points, why)


def test_points_after_lateness_have_two_digits():
    assert counted(DUE + DAY, 3.33, per_day=10)[0] == 3.0
    assert counted(DUE + DAY, 1.0, per_day=33.3)[0] == 0.67


def test_without_a_deadline_nothing_is_late():
    found = count(Attempt("ada", 8.0, DUE), Policy(per_day=10))
    assert (found.points, found.why) == (8, "as graded")


def test_an_unknown_time_is_on_time_and_said_so():
    assert counted(None, per_day=10) == (8, "no time known, taken as on time")


def test_what_could_not_be_graded_counts_nothing_and_says_why():
    attempt = Attempt("ada", 0.0, DUE, "the file is empty")
    assert count(attempt, Policy(DUE)).why == "not graded: the file is empty"


ATTEMPTS = [
    Attempt("second", 9.0, DUE + 2 * DAY),  # 7.2 of 9 with 10% a day
    Attempt("first", 7.5, DUE - DAY),
    Attempt("last", 6.0, DUE + 3 * DAY),
]


@pytest.mark.parametrize(
    ("policy", "name", "points"),
    [
        (Policy(DUE, 10), "first", 7.5),
        (Policy(DUE, 5), "second", 8.1),
        (Policy(), "second", 9),
        (Policy(DUE, 10, keep="first"), "first", 7.5),
        (Policy(DUE, 10, keep="last"), "last", 4.2),
        (Policy(DUE, 10, days=2, keep="last"), "last", 0),
        (Policy(keep="last"), "last", 6),
    ],
)
def test_of_several_the_policy_keeps_one(policy, name, points):
    found = settle(ATTEMPTS, policy)
    assert (found.attempt.submission, found.points) == (name, points)
    assert found.why.startswith(f"{policy.keep} of 3 submissions: ")


@pytest.mark.parametrize("keep", ["first", "last"])
def test_the_order_needs_times(keep):
    with pytest.raises(ExportError, match=rf"--keep {keep} needs .* 'b' was .*--times"):
        settle([Attempt("a", 1.0, DUE), Attempt("b", 2.0)], Policy(keep=keep))


def test_the_only_submission_needs_no_time():
    assert settle([Attempt("a", 1.0)], Policy(keep="last")).why == "as graded"


@pytest.mark.parametrize(("keep", "name"), [("first", "one"), ("last", "two")])
def test_order_is_that_of_moments_not_of_clocks(keep, name):
    one = Attempt("one", 1.0, at("2026-11-26 10:00"))
    two = Attempt("two", 1.0, at("2026-11-26 09:30", UTC))
    assert settle([two, one], Policy(keep=keep)).attempt.submission == name
