"""Times as people write them."""

from datetime import UTC, datetime

import pytest

from autograder.exports.errors import ExportError
from autograder.exports.moments import moment, zone_named

BERLIN = zone_named("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "zone", "utc"),
    [
        ("2026-11-30 23:59", BERLIN, "2026-11-30 22:59"),
        ("2026-07-30 23:59", BERLIN, "2026-07-30 21:59"),
        ("2026-11-30T23:59:30+01:00", None, "2026-11-30 22:59:30"),
        ("2026-11-30T23:59:30+05:30", BERLIN, "2026-11-30 18:29:30"),
        ("2026-11-30T23:59:00Z", None, "2026-11-30 23:59"),
        ("2026-11-30 23:59:00 UTC", BERLIN, "2026-11-30 23:59"),
        ("2026-11-30 23:59 Europe/Berlin", None, "2026-11-30 22:59"),
        ("2026-11-30 23:59 America/Argentina/Buenos_Aires", None, "2026-12-01 02:59"),
        (" 2024-09-05  13:09:54 -0700 ", None, "2024-09-05 20:09:54"),
    ],
)
def test_a_time_is_a_moment(text, zone, utc):
    assert moment(text, zone) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


def test_an_hour_that_comes_twice_is_read_to_the_students_good():
    due = moment("2026-10-25 02:30", BERLIN, deadline=True)
    submitted = moment("2026-10-25 02:30", BERLIN)
    assert due.astimezone(UTC).hour == 1
    assert submitted.astimezone(UTC).hour == 0


def test_a_deadline_with_an_offset_keeps_the_clock_of_the_zone():
    due = moment("2026-03-28T23:59:00+01:00", BERLIN, deadline=True)
    assert due.tzinfo is BERLIN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "2026-11-30 23:59",
            "'2026-11-30 23:59' has no time zone; add one with",
        ),
        (
            "2026-11-30",
            "'2026-11-30' names no time of day; write it like 2026",
        ),
        ("30.11.2026 23:59", "'30.11.2026 23:59' is no time; write it like"),
        ("2026-11-31 23:59 UTC", "'2026-11-31 23:59 UTC' is no time; write it like"),
        ("2026-11-30 23:59 Berlin", "no time zone 'Berlin'; write it like"),
        ("tomorrow", "'tomorrow' names no time of day"),
    ],
)
def test_what_is_no_moment_says_what_to_do(text, said):
    with pytest.raises(ExportError) as error:
        moment(text)
    assert str(error.value).startswith(said)


def test_a_deadline_that_the_clocks_skip_is_refused():
    with pytest.raises(ExportError, match="doesn't exist in Europe/Berlin"):
        moment("2026-03-29 02:30", BERLIN, deadline=True)


@pytest.mark.parametrize("name", ["Nowhere/City", "", "../etc/passwd", "/etc/passwd"])
def test_an_unknown_zone_is_said(name):
    with pytest.raises(ExportError, match="no time zone"):
        zone_named(name)
