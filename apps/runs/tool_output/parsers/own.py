"""Parser of a CSV or JSON file of the sender's own, by its mapping. Pure.

Totals are read as they stand, or taken from the rows of a series where that is exact: the mean of a rate over the
rows' lengths, the sum of counts, the longest of the longest. Percentiles are never averaged.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise

from apps.runs.tool_output.file_map import ABSOLUTE, OVER_ROWS, TIMES, FileMapping, Source, TimeColumn
from apps.runs.tool_output.parsers.own_rows import CSV_EXPECTED, OwnFile, csv_file, json_file
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat, ParsedOutput, ParsedValue

VERSION = "1"
LARGEST = 1e18
LONGEST = 1e9  # s
LATE = 3600.0  # s from the run's start to the first row
SPLIT = "a run is one row, or a series with time; `splashboard submit --split COLUMN` sends each row's run by itself"


@dataclass(frozen=True)
class OwnClock:
    """End and length of each row's interval, s; the rows that count: after the warm-up."""

    ends: tuple[float, ...]
    lengths: tuple[float, ...]
    counted: tuple[int, ...]


def parse(content: bytes, mapping: FileMapping, started_at: datetime) -> ParsedOutput:
    """`started_at`: of the run, for times of day. Raises NotThisFormat."""
    file = _file(content, mapping)
    clock = _clock(file, mapping.time, mapping.warmup, started_at) if mapping.time else None
    values = [_total(file, source, clock) for source in mapping.totals]
    elapsed = next((value.value for value in values if value.metric == "client.elapsed" and value.value >= 0), None)
    measured = (0.0, elapsed) if elapsed is not None else None
    if clock:
        first = clock.counted[0]
        measured = (max(0.0, clock.ends[first] - clock.lengths[first]), clock.ends[-1])
    return ParsedOutput(
        threads=_whole(file, "threads", mapping.threads, most=100_000),
        rate=_stated(file, "rate", mapping.rate),
        repetition=_whole(file, "repetition", mapping.repetition, most=100_000),
        values=tuple(values),
        clock=clock.ends if clock else (),
        series={
            source.metric.key: tuple(_cell(file, row, source) for row in range(file.count)) for source in mapping.series
        },
        measured=measured,
    )


def _file(content: bytes, mapping: FileMapping) -> OwnFile:
    if not content.strip():
        raise NotThisFormat(1, "", f"the file is empty; expected {CSV_EXPECTED}")
    if content.lstrip()[:1] in (b"{", b"["):
        found = json_file(content)
        if mapping.time:
            found.take_rows(mapping.rows)
        return found
    if mapping.rows:
        raise NotThisFormat(1, "", "JSON, since the mapping has rows: leave it out for a CSV, whose lines are the rows")
    table = csv_file(content)
    if mapping.time is None and table.count > 1:
        table.refuse(1, next(iter(table.columns)), f"no second row: {SPLIT}")
    from_row = next((source for source in mapping.totals if source.way == "from"), None)
    if mapping.time and from_row:
        ways = ", ".join(OVER_ROWS)
        message = f"{from_row.metric.key} by {ways}: a row of a series is no total"
        raise NotThisFormat(1, "", message)
    return table


# ---------------------------------------------------------------- numbers


def _total(file: OwnFile, source: Source, clock: OwnClock | None) -> ParsedValue:
    if source.way == "from":
        text, (start, end) = file.alone(source.place)
        number = file.number(text)
        if number is None:
            file.refuse_alone(source.place, f"a number for {source.metric.key}")
        return ParsedValue(source.metric.key, _scaled(number, source), start, end)
    assert clock  # noqa: S101  (the mapping has a time for it)
    cells = [_cell(file, row, source, needed=True) for row in clock.counted]
    found = [value for value in cells if value is not None]
    lengths = [clock.lengths[row] for row in clock.counted]
    first, last = file.span(clock.counted[0], source.place), file.span(clock.counted[-1], source.place)
    return ParsedValue(source.metric.key, _over(source.way, found, lengths), first[0], last[1])


def _over(way: str, values: Sequence[float], lengths: Sequence[float]) -> float:
    if way == "mean":
        return math.fsum(value * length for value, length in zip(values, lengths, strict=True)) / math.fsum(lengths)
    return math.fsum(values) if way == "sum" else max(values) if way == "max" else min(values)


def _cell(file: OwnFile, row: int, source: Source, *, needed: bool = False) -> float | None:
    """None: an empty cell."""
    text = file.text(row, source.place)
    if not text and not needed:
        return None
    number = file.number(text)
    if number is None:
        rule = f"a number; a {source.way} needs one in each row" if needed else "a number, or nothing"
        file.refuse(row, source.place, f"{rule}, such as 1234.5 (1234,5 where ; or tabs separate)")
    return _scaled(number, source)


def _scaled(number: Decimal, source: Source) -> float:
    value = float(number * source.times / source.per)
    if abs(value) > LARGEST:
        raise NotThisFormat(1, "", f"{source.metric.key} of at most {LARGEST:g}")
    return value


def _whole(file: OwnFile, name: str, stated: float | str | None, *, most: int) -> int | None:
    value = _stated(file, name, stated)
    if value is not None and (value != int(value) or value > most):
        raise NotThisFormat(1, "", f"a whole number of {name}, at most {most:,}, not {value:g}")
    return None if value is None else int(value)


def _stated(file: OwnFile, name: str, stated: float | str | None) -> float | None:
    """A number, or the one that all rows have at that place. Raises NotThisFormat at the first row with another."""
    if not isinstance(stated, str):
        return stated
    in_rows = file.has_column(stated)
    texts = [file.text(row, stated) for row in range(file.count)] if in_rows else [file.alone(stated)[0]]
    for row, text in enumerate(texts):
        if text != texts[0]:
            file.refuse(row, stated, f"the {name} of the rows before, {texts[0]!r:.40}: {SPLIT}")
    number = file.number(texts[0])
    if number is None or not 0 < number <= 1e9:
        raise NotThisFormat(1, "", f"a number above 0 as {name} at {stated!r:.80}, not {texts[0]!r:.40}")
    return float(number)


# ---------------------------------------------------------------- time


def _clock(file: OwnFile, column: TimeColumn, warmup: float, started_at: datetime) -> OwnClock:
    times = [_second(file, row, column, started_at) for row in range(file.count)]
    for row, (before, after) in enumerate(pairwise(times), 1):
        if after <= before:
            file.refuse(row, column.place, f"a time after {before:g} s; of another run? {SPLIT}")
    steps = [after - before for before, after in pairwise(times)]
    if column.marks == "start":
        if not steps:
            file.refuse(0, column.place, "two rows or more, to know how long an interval is")
        times, steps = [*times[1:], times[-1] + steps[-1]], [*steps, steps[-1]]
    else:
        if times[0] <= 0:
            file.refuse(0, column.place, "the end of an interval, after 0 s; if it is its start: marks: start")
        steps = [min([times[0], *steps[:1]]), *steps]
    if times[0] - steps[0] > LATE and column.unit in ABSOLUTE:
        file.refuse(0, column.place, f"a time soon after started_at, not {times[0]:,.0f} s later (is its zone UTC?)")
    counted = [row for row in range(file.count) if times[row] - steps[row] >= warmup - 1e-6]
    if not counted:
        raise NotThisFormat(1, "", f"rows after the warm-up of {warmup:g} s; the last ends at {times[-1]:g} s")
    return OwnClock(tuple(times), tuple(steps), tuple(counted))


def _second(file: OwnFile, row: int, column: TimeColumn, started_at: datetime) -> float:
    """s from the run's start."""
    text = file.text(row, column.place)
    if column.unit == "ISO 8601":
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            file.refuse(row, column.place, "a time in ISO 8601, such as 2026-01-31T12:00:00Z")
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        second = (moment - started_at).total_seconds()
    else:
        number = file.number(text)
        if number is None:
            file.refuse(row, column.place, f"a time in {column.unit}")
        elapsed = number * {**TIMES, **ABSOLUTE}[column.unit] / 10**9
        if column.unit in ABSOLUTE:
            elapsed -= Decimal(repr(started_at.timestamp()))
        second = float(elapsed)
    if column.unit in ABSOLUTE and second < 0:
        file.refuse(
            row, column.place, f"a time after started_at, {started_at.isoformat()}, not {-second:,.0f} s before"
        )
    if not abs(second) <= LONGEST:
        file.refuse(row, column.place, f"a time of at most {LONGEST:g} s")
    return round(second, 9)
