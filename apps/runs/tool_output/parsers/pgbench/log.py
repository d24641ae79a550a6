"""Parser of pgbench's log files, --log with or without --aggregate-interval: series beside its report. Pure.

Times are us. Each worker thread writes a file; together, one after the other, they are one log. Aggregated rows begin
at whole seconds: the first holds less than an interval and gives no rate, and pgbench leaves out what follows the last
whole one. Rows of single transactions are counted by the second of their end; the last is not whole either.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    ParsedOutput,
    ParsedValue,
    TextLine,
    lines,
)

VERSION = "2"
EXPECTED = "pgbench's log: six to eight columns of a transaction, or six to 16 of an interval (--aggregate-interval)"
US_PER_MS, US = 1000, 10**6
# In the column of a transaction's time.
SKIPPED, FAILED = ("skipped",), ("failed", "serialization", "deadlock", "other")
# A log begins in this time: a whole second since 1970 is the first column of aggregated rows, the fifth of others.
EARLIEST, LATEST = 946_684_800, 4_102_444_800
# Of an aggregated row with -R and -L; 15 and newer print 15 or more, with any options.
COLUMNS_TO_14 = 11
PERCENTILES = {"p50": 50, "p95": 95, "p99": 99}


@dataclass
class _LogInterval:
    done: int = 0
    total: float = 0.0  # us
    squares: float = 0.0
    most: float = 0.0
    lag: float = 0.0
    skipped: int = 0
    failed: int = 0
    retries: int = 0
    times: list[float] = field(default_factory=list)


@dataclass
class _LogClient:
    """The rows of one client, which numbers its transactions."""

    line: TextLine  # the first
    least: int
    most: int
    rows: int = 0


@dataclass
class _PgbenchLog:
    intervals: dict[int, _LogInterval] = field(default_factory=lambda: defaultdict(_LogInterval))
    zero: float = math.inf  # s since 1970
    has_lag: bool = False
    has_counts: bool = False
    has_failures: bool = False
    is_cut: bool = False
    first: int = 0
    last: int = 0
    rows: dict[bytes, TextLine] = field(default_factory=dict)
    begins: dict[int, TextLine] = field(default_factory=dict)
    clients: dict[int, _LogClient] = field(default_factory=dict)  # of single transactions


def parse(content: bytes) -> ParsedOutput:
    """Parses one log, or those of all worker threads one after the other. Raises NotThisFormat."""
    log = _PgbenchLog()
    read: Callable[[_PgbenchLog, TextLine, list[str]], None] | None = None
    for line in lines(content):
        if not line.text.strip():
            continue
        words = line.text.decode("ascii", "replace").split()
        if read is None:
            read = _row if _is_time(words[0]) else _transaction
            log.first = line.start
        if not line.ended:
            log.is_cut = True
            break
        read(log, line, words)
        log.last = line.start + len(line.text)
    if read is None:
        raise NotThisFormat(1, "", f"the file is empty; expected {EXPECTED}")
    if not log.intervals:
        return ParsedOutput(reason="the log is cut off in its first line")
    return _aggregated(log) if read is _row else _single(log)


def _is_time(word: str) -> bool:
    return word.isdecimal() and word.isascii() and len(word) < 16 and EARLIEST <= int(word) < LATEST


def _number(line: TextLine, word: str) -> float:
    plain = word.replace(".", "", 1)
    if not (plain.isascii() and plain.isdecimal() and len(word) <= 25):
        raise line.refuse(EXPECTED)
    return float(word)


def _row(log: _PgbenchLog, line: TextLine, words: Sequence[str]) -> None:
    """start, transactions, sum and sum of squares of latency, its minimum and maximum; the same four of lag with -R;
    skipped with -L; retried, retries and failures since 15. Those before count what they skipped as transactions."""
    if not 6 <= len(words) <= 16 or not _is_time(words[0]):
        raise line.refuse(EXPECTED)
    log.begins.setdefault(int(words[0]), line)
    numbers = [_number(line, word) for word in words[1:]]
    done, total, squares, _, most, *more = numbers
    # Of an interval in which nothing ended, the rows of all threads are equal.
    if total and log.rows.setdefault(line.text, line) is not line:
        raise line.refuse("a row once; it is there twice")
    if len(words) == COLUMNS_TO_14:
        done -= more[4]
        if done < 0:
            raise line.refuse("no more skipped transactions than transactions, of which they are part up to 14")
    found = log.intervals[int(words[0])]
    found.done += int(done)
    found.total += total
    found.squares += squares
    found.most = max(found.most, most)
    if len(more) >= 4:
        found.lag += more[0]
        log.has_lag |= bool(more[0])
    if len(more) >= 5:
        found.skipped += int(more[4])
        log.has_counts = True
    if len(more) >= 7:
        found.retries += int(more[6])
        found.failed += int(sum(more[7:]))
        log.has_failures = True


def _transaction(log: _PgbenchLog, line: TextLine, words: Sequence[str]) -> None:
    """client, number, time, script, s and us of its end; lag with -R, retries with --max-tries."""
    if not 6 <= len(words) <= 8 or not _is_time(words[4]):
        raise line.refuse(EXPECTED)
    for word in (*words[:2], words[3], words[5], *(each for each in words[6:] if each not in SKIPPED)):
        _number(line, word)
    name, number = int(_number(line, words[0])), int(_number(line, words[1]))
    client = log.clients.setdefault(name, _LogClient(line, number, number))
    client.least, client.most, client.rows = min(client.least, number), max(client.most, number), client.rows + 1
    second, end = int(words[4]), int(words[4]) + _number(line, words[5]) / US
    found = log.intervals[second]
    log.has_counts = log.has_failures = True
    if words[2] in SKIPPED:
        found.skipped += 1
    elif words[2] in FAILED:
        found.failed += 1
    else:
        time = _number(line, words[2])
        found.done += 1
        found.total += time
        found.squares += time * time
        found.most = max(found.most, time)
        found.times.append(time)
        end -= time / US
    log.zero = min(log.zero, end)


def _aggregated(log: _PgbenchLog) -> ParsedOutput:
    starts = sorted(log.intervals)
    if len(starts) < 2:
        return ParsedOutput(reason="two intervals or more are needed to know their length")
    length = min(b - a for a, b in pairwise(starts))
    for before, after in pairwise(starts):
        if after - before != length:  # pgbench prints intervals without transactions, too
            words = f"an interval {length} s after that of {before}, of the same run: send each run's log by itself"
            raise log.begins[after].refuse(words)
    clock = tuple(float(start - starts[0] + length) for start in starts)
    return _output(log, starts, clock, float(length), partial={starts[0]})


def _single(log: _PgbenchLog) -> ParsedOutput:
    """Whole seconds of the clock, without those between which nothing ended."""
    threads = _clients(log)
    starts = sorted(log.intervals)
    clock = tuple(round(start + 1 - log.zero, 3) for start in starts)
    return replace(_output(log, starts, clock, 1.0, partial={starts[0], starts[-1]}), threads=threads)


def _clients(log: _PgbenchLog) -> int | None:
    """How many ran; None: a run so short that some may have ended nothing. Raises NotThisFormat for a log that lacks
    transactions: a sampled one, or one without the files of all threads."""
    for client in log.clients.values():
        numbered = client.most - client.least + 1
        if client.rows < numbered:
            has = f"it has {client.rows:,} of {numbered:,} of this client, as with --sampling-rate"
            raise client.line.refuse(f"the log of all transactions: {has}")
    # At the start, each client takes its turn before another has its second, also at a fixed rate.
    if all(client.rows == 1 for client in log.clients.values()):
        return None
    count, last = len(log.clients), max(log.clients)
    if count <= last:
        lacks = f"clients are numbered from 0 to {last:,}, and {last + 1 - count:,} of them are missing"
        raise log.clients[last].line.refuse(f"the logs of all worker threads in one file: {lacks}")
    return count


def _output(
    log: _PgbenchLog, starts: Sequence[int], clock: tuple[float, ...], length: float, *, partial: set[int]
) -> ParsedOutput:
    rows = [log.intervals[start] for start in starts]
    series: dict[str, tuple[float | None, ...]] = {}

    def add(metric: str, value: Callable[[_LogInterval], float | None]) -> None:
        series[metric] = tuple(value(row) for row in rows)

    def rate(metric: str, count: Callable[[_LogInterval], int]) -> None:
        whole = [start not in partial for start in starts]
        series[metric] = tuple(count(row) / length if ok else None for ok, row in zip(whole, rows, strict=True))

    rate("client.throughput", lambda row: row.done)
    add("client.latency.avg", lambda row: row.total / row.done / US_PER_MS if row.done else None)
    add("client.latency.stddev", _deviation)
    add("client.latency.max", lambda row: row.most / US_PER_MS if row.done else None)
    if any(row.times for row in rows):
        for row in rows:
            row.times.sort()
        for name, percent in PERCENTILES.items():
            add(f"client.latency.{name}", lambda row, percent=percent: _percentile(row.times, percent))  # type: ignore[misc]
    if log.has_lag:
        add("client.start_delay.avg", lambda row: row.lag / row.done / US_PER_MS if row.done else None)
    if log.has_counts and any(row.skipped for row in rows):
        rate("client.skipped", lambda row: row.skipped)
    if log.has_failures:
        rate("client.errors", lambda row: row.failed)
    if any(row.retries for row in rows):
        rate("client.retries", lambda row: row.retries)
    done = sum(row.done for row in rows)
    inner = [row.done for start, row in zip(starts, rows, strict=True) if start not in partial]
    if not inner or not done:
        return ParsedOutput(reason="one whole interval with a transaction is needed")
    values = {
        "client.throughput": sum(inner) / len(inner) / length,
        "client.transactions": float(done),
        "client.latency.avg": sum(row.total for row in rows) / done / US_PER_MS,
    }
    return ParsedOutput(
        reason="the log is cut off in its last line" if log.is_cut else "",
        values=()
        if log.is_cut
        else tuple(ParsedValue(key, value, log.first, log.last) for key, value in values.items()),
        clock=clock,
        series=series,
        measured=(0.0, clock[-1]),
    )


def _deviation(row: _LogInterval) -> float | None:
    if not row.done:
        return None
    mean = row.total / row.done
    return math.sqrt(max(row.squares / row.done - mean * mean, 0.0)) / US_PER_MS


def _percentile(ordered: Sequence[float], percent: int) -> float | None:
    """The shortest time that so many of 100 did not exceed."""
    if not ordered:
        return None
    place = math.ceil(len(ordered) * percent / 100) - 1
    return ordered[max(place, 0)] / US_PER_MS
