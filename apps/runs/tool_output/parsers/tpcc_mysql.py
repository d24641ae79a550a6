"""Parser of the output of Percona's tpcc-mysql (tpcc_start). Pure.

Response times of the format with `trx:` are ms (driver.c, since 2014), contrary to its README, and its percentiles are
those of New-Order only. The older format `n(late):rt|max` does not state its unit, so only its counts are read.
"""

import re
from dataclasses import dataclass, field

from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    ParsedOutput,
    ParsedValue,
    TextLine,
    ToolMessage,
    lines,
    number_of,
    scaled,
    shown,
)

VERSION = "1"
EXPECTED = "the banner “TPC-C Load Generator” that tpcc_start prints first"
BANNER = re.compile(rb"^\*\*\* ###?easy###? TPC-C Load Generator \*\*\*$|^\*\*\* .*TPC-C Load Generator \*\*\*$")
BANNER_WITHIN = 1000  # lines; output of a shell may precede it
TYPES = ("new_order", "payment", "order_status", "delivery", "stock_level")
MS = rb"\d{1,15}\.\d{3}"
INTERVAL = re.compile(
    rb"^ *(?P<second>\d{1,15}), trx: (?P<n0>\d{1,15}), 95%%: (?P<p95>%s), 99%%: (?P<p99>%s), max_rt: (?P<max>%s)"
    rb", (?P<n1>\d{1,15})\|%s, (?P<n2>\d{1,15})\|%s, (?P<n3>\d{1,15})\|%s, (?P<n4>\d{1,15})\|%s$" % ((MS,) * 7)
)
OLD_COUNT = rb"(?P<n%d>\d{1,15})\(\d{1,15}\):\d{1,15}\.\d{2,3}(?:\|\d{1,15}\.\d{2,3})?"
OLD_INTERVAL = re.compile(rb"^ *(?P<second>\d{1,15}), " + rb", ".join(OLD_COUNT % i for i in range(5)) + rb"$")
LIKE_INTERVAL = re.compile(rb"^ *\d{1,15}, (?:trx:|\d{1,15}\()")
RAW = re.compile(
    rb"^ {2}\[(?P<type>[0-4])\] sc:(?P<sc>\d{1,15}) +lt:(?P<lt>\d{1,15}) +rt:(?P<rt>\d{1,15}) +fl:(?P<fl>\d{1,15})"
    rb"(?: avg_rt: (?P<avg>\d{1,15}\.\d) \(\d{1,15}\))? *$"
)
SECONDS = re.compile(rb"^ *in (?P<seconds>\d{1,15}) sec\.$")
RAMP_UP = re.compile(rb"^RAMP-UP TIME\.\((?P<seconds>\d{1,15}) sec\.\)$")
CONNECTIONS = re.compile(rb"^ *\[connection\]: (?P<n>\d{1,15})$")
TPMC = re.compile(rb"^ *(?P<tpmc>\d{1,15}\.\d{3}) TpmC *$")
# MySQL errors printed by the tool's error(): number, state, text.
ERROR = re.compile(rb"^(?P<code>\d{4}), (?P<state>[0-9A-Z]{5}), (?P<text>.+)$")
NOTICE = re.compile(
    rb"^(?:\s*|\*+|option \w with value '.*'|<Parameters>|<Constraint Check> .*|<TpmC>|<Raw Results2\(sum ver\.\)>"
    rb"| *\[(?:server|port|DBname|user|pass|warehouse|rampup|measure|socket|ratio)\]: ?.*"
    rb"|MEASURING START\.|STOPPING THREADS\.*|\.+| *\[transaction percentage\]"
    rb"| *\[response time \(at least 90% passed\)\]"
    rb"|Using schema: .*"
    rb"| *(?:New-Order|Payment|Order-Status|Delivery|Stock-Level): (?:-?\d{1,15}\.\d\d|-?nan)% .*)$"
)


@dataclass
class _TpccLog:
    banner: bool = False
    threads: int | None = None
    ramp_up: float = 0.0
    seconds: float | None = None
    in_raw: bool = False
    raw: dict[int, tuple[TextLine, re.Match[bytes]]] = field(default_factory=dict)
    tpmc: ParsedValue | None = None
    clock: list[float] = field(default_factory=list)
    counts: list[list[int]] = field(default_factory=list)
    times: list[tuple[float, float, float] | None] = field(default_factory=list)
    errors: dict[tuple[str, float], int] = field(default_factory=dict)
    unparsed: list[str] = field(default_factory=list)


def parse(content: bytes) -> ParsedOutput:
    """Parses the output of one run. Raises NotThisFormat."""
    reading = _TpccLog()
    for line in lines(content):
        _consume(reading, line)
        if not reading.banner and line.number == BANNER_WITHIN:
            break
    if not reading.banner:
        first = next((line for line in lines(content) if line.text.strip()), None)
        raise first.refuse(EXPECTED) if first else NotThisFormat(1, "", f"the file is empty; expected {EXPECTED}")
    return _output(reading)


def _consume(reading: _TpccLog, line: TextLine) -> None:
    text = line.text
    if BANNER.match(text):
        if reading.tpmc or reading.clock:
            raise line.refuse("the output of one run; this begins another: send each as a file of its own")
        reading.banner = True
    elif LIKE_INTERVAL.match(text):
        _interval(reading, line)
    elif found := TPMC.match(text):
        if reading.tpmc:
            raise line.refuse("the output of one run; this is a second result")
        reading.tpmc = number_of(line, found, "tpmc", "client.new_orders.per_minute")
    elif not (_head(reading, text) or _raw(reading, line) or _error(reading, line) or NOTICE.match(text)):
        reading.unparsed.append(line.shown)


def _head(reading: _TpccLog, text: bytes) -> bool:
    if found := RAMP_UP.match(text):
        reading.ramp_up = float(found["seconds"])
    elif found := CONNECTIONS.match(text):
        reading.threads = int(found["n"])
    return found is not None


def _raw(reading: _TpccLog, line: TextLine) -> bool:
    """The first list of results; the second, per connection, has the same sums."""
    if line.text == b"<Raw Results>":
        reading.in_raw = True
    elif found := SECONDS.match(line.text):
        reading.seconds, reading.in_raw = float(found["seconds"]), False
    elif found := RAW.match(line.text):
        if reading.in_raw:
            reading.raw[int(found["type"])] = (line, found)
    else:
        return False
    return True


def _error(reading: _TpccLog, line: TextLine) -> bool:
    found = ERROR.match(line.text)
    if found:
        at = reading.clock[-1] if reading.clock else 0.0
        key = (f"{found['code'].decode()}: {shown(found['text'])}", at)
        reading.errors[key] = reading.errors.get(key, 0) + 1
    return found is not None


def _interval(reading: _TpccLog, line: TextLine) -> None:
    found = INTERVAL.match(line.text) or OLD_INTERVAL.match(line.text)
    if found is None:
        if not line.ended:
            return  # cut off: no result follows
        raise line.refuse("an interval, “seconds, trx: n, 95%: ms, 99%: ms, max_rt: ms, n|ms, n|ms, n|ms, n|ms”")
    if not line.ended:
        return
    second = float(found["second"])
    if reading.clock and second <= reading.clock[-1]:
        raise line.refuse(f"a second after {reading.clock[-1]:g}")
    reading.clock.append(second)
    reading.counts.append([int(found[f"n{i}"]) for i in range(5)])
    times = tuple(scaled(found[name]) for name in ("p95", "p99", "max")) if "p95" in found.groupdict() else None
    reading.times.append(times if times is None else (times[0], times[1], times[2]))


def _output(reading: _TpccLog) -> ParsedOutput:
    complete = reading.tpmc is not None and len(reading.raw) == len(TYPES) and bool(reading.seconds)
    offset = reading.ramp_up
    end = reading.seconds or (reading.clock[-1] if reading.clock else None)
    return ParsedOutput(
        reason="" if complete else "the output ends before the result (<TpmC>)",
        threads=reading.threads,
        values=tuple(_values(reading)) if complete else (),
        clock=tuple(offset + second for second in reading.clock),
        series=_series(reading),
        events=tuple(ToolMessage("error", label, offset + at, n) for (label, at), n in reading.errors.items()),
        unparsed=tuple(reading.unparsed),
        measured=None if end is None else (offset, offset + end),
    )


def _values(reading: _TpccLog) -> list[ParsedValue]:
    assert reading.tpmc  # noqa: S101  for mypy
    assert reading.seconds  # noqa: S101  for mypy
    ordered = [reading.raw[i] for i in range(len(TYPES))]
    start = min(line.start for line, _ in ordered)
    end = max(line.start + len(line.text) for line, _ in ordered)
    done = sum(int(found["sc"]) + int(found["lt"]) for _, found in ordered)
    values = [
        reading.tpmc,
        ParsedValue("client.throughput", done / reading.seconds, start, end),
        ParsedValue("client.transactions", float(done), start, end),
        ParsedValue("client.errors.total", float(sum(int(found["fl"]) for _, found in ordered)), start, end),
        ParsedValue("client.elapsed", reading.seconds, start, end),
    ]
    for name, (line, found) in zip(TYPES, ordered, strict=True):
        if found["avg"] is not None:
            values.append(number_of(line, found, "avg", f"client.{name}.latency.avg"))
    return values


def _series(reading: _TpccLog) -> dict[str, tuple[float | None, ...]]:
    """Rates per interval, and latencies of New-Order, ms."""
    if not reading.clock:
        return {}
    lengths = [b - a for a, b in zip([0.0, *reading.clock], reading.clock, strict=False)]
    series: dict[str, tuple[float | None, ...]] = {
        "client.throughput": tuple(sum(n) / s for n, s in zip(reading.counts, lengths, strict=True)),
        "client.new_orders": tuple(n[0] / s for n, s in zip(reading.counts, lengths, strict=True)),
    }
    if any(reading.times):
        for place, name in enumerate(("p95", "p99", "max")):
            # For an interval without New-Order, the tool prints stale values of its histogram.
            series[f"client.new_order.latency.{name}"] = tuple(
                times[place] if times and n[0] else None for times, n in zip(reading.times, reading.counts, strict=True)
            )
    return series
