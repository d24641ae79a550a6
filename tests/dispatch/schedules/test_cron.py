"""When a schedule is due, in a time zone, and what its clock changes do."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from apps.dispatch.schedules import cron

SPRING = datetime(2026, 3, 28, 12, tzinfo=UTC)  # clocks in Helsinki go from 03:00 to 04:00 on the 29th
AUTUMN = datetime(2026, 10, 24, 12, tzinfo=UTC)  # and from 04:00 back to 03:00 on the 25th
ZONE = "Europe/Helsinki"


def due(moment: datetime, expression: str, count: int, zone: str = ZONE) -> list[str]:
    found = islice(cron.after(moment, expression=expression, zone=zone), count)
    return [f"{each:%d %H:%M}" for each in found]


def test_times_are_those_of_the_zone() -> None:
    moment = datetime(2026, 1, 5, tzinfo=UTC)
    assert due(moment, "30 2 * * *", 2) == ["05 00:30", "06 00:30"]
    assert due(moment, "30 2 * * *", 2, "UTC") == ["05 02:30", "06 02:30"]
    assert due(datetime(2026, 1, 5, 0, 30, tzinfo=UTC), "30 2 * * *", 1) == ["06 00:30"], "strictly after"


def test_a_time_that_is_skipped_comes_right_after_and_only_that_day() -> None:
    assert due(SPRING, "30 3 * * *", 3) == ["29 01:00", "30 00:30", "31 00:30"]


def test_a_time_that_comes_twice_is_due_once_even_asked_between_both() -> None:
    assert due(AUTUMN, "30 3 * * *", 2) == ["25 00:30", "26 01:30"]
    # 03:10 for the second time: 03:30 is over.
    assert due(datetime(2026, 10, 25, 1, 10, tzinfo=UTC), "30 3 * * *", 1) == ["26 01:30"]


def test_what_is_due_every_half_hour_goes_on_evenly() -> None:
    night = datetime(2026, 10, 25, 0, 0, tzinfo=UTC)
    assert due(night, "*/30 * * * *", 4) == ["25 00:30", "25 01:00", "25 01:30", "25 02:00"]


@pytest.mark.parametrize(
    ("moment", "expression", "expected"),
    [
        (SPRING, "30 3 * * *", "forward by 1 h on 2026-03-29 at 03:00: 03:30 is skipped that day and due right after."),
        (AUTUMN, "30 3 * * *", "go back by 1 h on 2026-10-25 at 04:00: 03:30 comes twice and is due the first time."),
        (AUTUMN, "*/30 * * * *", "03:00, 03:30 are due both times."),
        (SPRING, "0 22 * * *", "this schedule is not affected."),
    ],
)  # fmt: skip
def test_the_next_clock_change_is_shown(moment: datetime, expression: str, expected: str) -> None:
    change = cron.clock_change(moment, expression=expression, zone=ZONE)
    assert change is not None
    assert change.sentence.endswith(expected)
    assert timedelta(0) < change.at - moment < timedelta(days=1)


def test_a_zone_without_clock_changes_has_none_to_tell() -> None:
    assert cron.clock_change(SPRING, expression="0 3 * * *", zone="UTC") is None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 3 * *", "has 4 fields instead of 5"),
        ("0 0 3 * * *", "has 6 fields instead of 5"),
        ("60 3 * * *", "cannot be read: bad minute"),
        ("0 3 * * XYZ", "cannot be read: bad day-of-week"),
        ("0 0 31 2 *", "cannot be read: bad day-of-month"),
        ("1," * 60 + "1 * * * *", "has 129 characters, at most 100 are allowed"),
    ],
)
def test_an_expression_that_is_wrong_is_refused_with_what_is_wrong(expression: str, expected: str) -> None:
    with pytest.raises(cron.NoCron, match=expected):
        cron.check(expression)


def test_expressions_are_said_in_words() -> None:
    assert cron.in_words("30 2 * * *") == "At 02:30 every day"
    assert cron.in_words("0 22 * * MON-FRI") == "At 22:00 on Monday through Friday"
