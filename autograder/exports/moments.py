"""Points in time as people write them in options and tables."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from autograder.exports.errors import ExportError

LOOKS = "like 2026-11-30 23:59 or 2026-11-30T23:59:00+01:00"


def zone_named(name: str) -> ZoneInfo:
    """The time zone of a name such as Europe/Berlin."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ExportError(
            f"no time zone {name!r}; write it like Europe/Berlin or UTC"
        ) from None


def moment(text: str, zone: ZoneInfo | None = None, deadline: bool = False) -> datetime:
    """The moment that a text names, in `zone` where that is given.

    An hour that the clocks go through twice is read to the student's good: its second
    time for a deadline, its first for a submission. Raises ExportError for what is no
    moment: no time of day, no zone anywhere, or a deadline that the clocks skip.
    """
    written, own_zone = _parts(text)
    found = _parsed(written, text)
    zone = own_zone or zone
    if found.tzinfo is None:
        if zone is None:
            raise ExportError(
                f"{text!r} has no time zone; add one with --zone, like Europe/Berlin"
            )
        found = found.replace(tzinfo=zone, fold=int(deadline))
        if deadline and _skipped(found):
            raise ExportError(
                f"{text!r} doesn't exist in {zone.key}: the clocks skip that hour; "
                "choose another"
            )
    return found.astimezone(zone) if zone else found


def _parts(text: str) -> tuple[str, ZoneInfo | None]:
    """What was written, apart from the name of a zone at its end."""
    text = " ".join(text.split())
    named = re.fullmatch(r"(.*\d) ?([A-Za-z][\w+/-]+)", text)
    if named is None or named[2].upper() == "Z":
        return text, None
    return named[1], zone_named(named[2])


def _parsed(written: str, text: str) -> datetime:
    if not re.search(r"\d:\d", written):
        raise ExportError(f"{text!r} names no time of day; write it {LOOKS}")
    try:
        return datetime.fromisoformat(re.sub(r" ([+-]\d\d:?\d\d)$", r"\1", written))
    except ValueError:
        raise ExportError(f"{text!r} is no time; write it {LOOKS}") from None


def _skipped(found: datetime) -> bool:
    """Whether the clocks of its zone never show this time."""
    there_and_back = found.astimezone(UTC).astimezone(found.tzinfo)
    return there_and_back.replace(tzinfo=None) != found.replace(tzinfo=None)
