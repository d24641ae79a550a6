"""Cron expressions in a time zone: next times, description in words, effect of clock changes.

Five fields as in crontab(5): minute, hour, day of the month, month, day of the week. Clock changes are handled as by
Debian's cron (see cronsim): a skipped time is due right after, a repeated one the first time; an expression due every
hour or more often continues evenly.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

FIELDS = 5
LONGEST = 100
EXAMPLE = "30 2 * * * is every day at 02:30; 0 22 * * MON-FRI is 22:00 on working days"
# Keys: cronsim's names of the fields.
_TAKES = {
    "minute": "0 to 59",
    "hour": "0 to 23",
    "day-of-month": "1 to 31 or L",
    "month": "1 to 12 or JAN to DEC",
    "day-of-week": "0 to 7 or SUN to SAT",
}
# Zones change their clocks at most twice a year; later changes are not reported.
LOOKED_AHEAD = 370  # days


class NoCron(ValueError):
    """The expression is invalid, or no time matches it; the text gives the reason."""


@cache
def zones() -> frozenset[str]:
    return frozenset(available_timezones()) - {"localtime", "Factory"}


def check(expression: str) -> None:
    """Raises NoCron."""
    words = expression.split()
    if len(expression) > LONGEST:
        raise NoCron(f"has {len(expression)} characters, at most {LONGEST} are allowed")
    if len(words) != FIELDS:
        raise NoCron(f"has {len(words)} fields instead of {FIELDS}")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    try:
        next(CronSim(expression, now))
    except CronSimError as error:
        reason = f"{str(error)[:1].lower()}{str(error)[1:]}"
        takes = _TAKES.get(reason.removeprefix("bad "))
        raise NoCron(f"cannot be read: {reason}{f', which is {takes}' if takes else ''}") from error
    except StopIteration as error:
        raise NoCron("never comes due") from error


def after(moment: datetime, *, expression: str, zone: str) -> Iterator[datetime]:
    """The times after `moment`, in UTC, in order. `expression` and `zone` must be valid."""
    last = moment.astimezone(UTC)
    for due in CronSim(expression, moment.astimezone(ZoneInfo(zone))):
        found = due.astimezone(UTC)
        # In a repeated hour, the first of the two times may be over already.
        if found > last:
            last = found
            yield found


def next_after(moment: datetime, *, expression: str, zone: str) -> datetime | None:
    """None: no further time."""
    return next(after(moment, expression=expression, zone=zone), None)


def in_words(expression: str) -> str:
    """For example "At 02:30 every day"; the expression itself if cronsim cannot describe it."""
    try:
        return CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC)).explain()
    except (CronSimError, ValueError, KeyError, IndexError, TypeError):
        return expression


@dataclass(frozen=True)
class ClockChange:
    """A clock change of a time zone.

    `at`: the moment, in UTC. `by`: how far clocks go forward (negative: back). `touched`: times of day of the schedule,
    in local time, that are skipped or repeated.
    """

    at: datetime
    by: timedelta
    zone: str
    touched: tuple[str, ...]
    is_even: bool

    @property
    def sentence(self) -> str:
        local = (self.at - timedelta(seconds=1)).astimezone(ZoneInfo(self.zone)) + timedelta(seconds=1)
        way = "forward" if self.by > timedelta(0) else "back"
        text = f"Clocks in {self.zone} go {way} by {_length(self.by)} on {local:%Y-%m-%d at %H:%M}"
        if not self.touched:
            return f"{text}: this schedule is not affected."
        times = ", ".join(self.touched[:3]) + (" and others" if len(self.touched) > 3 else "")
        verb = "is" if len(self.touched) == 1 else "are"
        if self.is_even:
            return f"{text}: {times} {verb} {'skipped' if way == 'forward' else 'due both times'}."
        if way == "forward":
            return f"{text}: {times} {verb} skipped that day and due right after."
        return f"{text}: {times} {'comes' if len(self.touched) == 1 else 'come'} twice and {verb} due the first time."


def clock_change(moment: datetime, *, expression: str, zone: str) -> ClockChange | None:
    """The next clock change after `moment`; None: the zone has none."""
    found = _next_change(moment.astimezone(UTC), ZoneInfo(zone))
    if found is None:
        return None
    at, before, by = found
    start, end = sorted(((at + before).replace(tzinfo=None), (at + before + by).replace(tzinfo=None)))
    touched: list[str] = []
    for due in islice(CronSim(expression, start - timedelta(seconds=1)), 2 * 24 * 60):
        if due >= end:
            break
        touched.append(f"{due:%H:%M}")
    minute, hour = expression.split()[:2]
    return ClockChange(at, by, zone, tuple(touched), minute.startswith("*") or hour.startswith("*"))


def _next_change(moment: datetime, zone: ZoneInfo) -> tuple[datetime, timedelta, timedelta] | None:
    """The moment, the offset before it, and the change of the offset."""

    def offset(at: datetime) -> timedelta:
        return at.astimezone(zone).utcoffset() or timedelta(0)

    day = timedelta(days=1)
    low = moment.replace(second=0, microsecond=0)
    for _ in range(LOOKED_AHEAD):
        high = low + day
        if offset(high) != offset(low):
            while high - low > timedelta(minutes=1):
                middle = low + (high - low) // 2
                middle = middle.replace(second=0, microsecond=0)
                if offset(middle) == offset(low):
                    low = middle
                else:
                    high = middle
            return high, offset(low), offset(high) - offset(low)
        low = high
    return None


def _length(by: timedelta) -> str:
    minutes = round(abs(by).total_seconds() / 60)
    return f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"
