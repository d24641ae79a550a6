"""Parser of the plain output of go-tpc: tpcc, tpch and ch. Pure.

`Takes` begins with the first end of a transaction of that type. Times of a [Current] block are not printed: blocks come
at equal intervals, whose length is the longest Takes among them. A block without any transaction is not printed
either: then the places of the others are not known, and no series is read.

Percentiles are of a histogram from 1 ms to 16 s with one significant digit; means are taken from sum and count.
"""

import re
from dataclasses import dataclass, field

from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    ParsedOutput,
    ParsedValue,
    TextLine,
    ToolMessage,
    first_line,
    lines,
    number_of,
    scaled,
)

VERSION = "1"
EXPECTED = "go-tpc's plain output, lines of “[Current] NEW_ORDER - Takes(s): …” or “[Summary] …”"
ROW = re.compile(
    rb"^\[(?P<block>Current|Summary)\] (?P<type>[A-Z][A-Z0-9_]{0,39}) *- (?P<rest>(?:Takes\(s\)|Count): .*)$"
)
FIGURE = re.compile(
    rb"(?P<name>[A-Za-z]{1,9}|\d{2}(?:\.\d{1,3})?th)(?:\((?P<unit>ms|s)\))?: (?P<value>\d{1,15}(?:\.\d{1,3})?)(?=,|$)"
)
NAME = rb"(?:Takes\(s\)|Count|TPM|(?:Sum|Avg|Max|\d{2}(?:\.\d{1,3})?th)\(ms\))"
# Go prints rates of no time so.
FIGURES = re.compile(rb"(?:" + NAME + rb": (?:\d{1,15}(?:\.\d{1,3})?|[+-]?(?:NaN|Inf))(?:, (?!$)|$)){2,30}")
MAXPROCS = re.compile(rb"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d maxprocs: ")
QUERY = re.compile(rb"^\[(?P<block>Current|Summary)\] (?P<type>Q\d{1,2}(?:_ERR)?): (?P<mean>\d{1,12}\.\d\d)s$")
RESULT = re.compile(
    rb"^tpmC: (?P<tpmc>\d{1,15}\.\d)(?:, tpmTotal: \d{1,15}\.\d)?(?:, efficiency: (?P<efficiency>\d{1,15}\.\d)%)?$"
)
QPHH = re.compile(rb"^QphH: (?P<rate>\d{1,15}\.\d)$")
FAILED = re.compile(rb"^(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] )?(?P<label>execute run failed, err .*)$")
OLAP = re.compile(rb"^Finished: \d{1,6} OLTP workers, [1-9]\d{0,5} OLAP workers$")
OTHER_STYLE = re.compile(rb'^(?:\+-{5,}|\| +PREFIX |\[\{")')
NOTICE = re.compile(
    rb"^(?:\s*|Finished(?:: .*)?|\[(?:Current|Summary)\] (?:KEYINGTIME|THINKINGTIME)-.*"
    rb")$"
)
PERCENTILES = {b"50th": "p50", b"90th": "p90", b"95th": "p95", b"99th": "p99", b"99.9th": "p999", b"Max": "max"}
IS_QUERY = re.compile(r"Q\d{1,2}(?:_ERR)?")


@dataclass(frozen=True)
class _GoRow:
    line: TextLine
    figures: dict[bytes, re.Match[bytes]]
    offset: int

    def number(self, name: bytes) -> float:
        return scaled(self.figures[name]["value"]) if name in self.figures else 0.0

    def place(self, name: bytes) -> tuple[int, int]:
        start, end = self.figures[name].span("value")
        return self.line.start + self.offset + start, self.line.start + self.offset + end


@dataclass
class _GoTpcLog:
    blocks: list[dict[str, _GoRow]] = field(default_factory=list)
    summary: dict[str, _GoRow] = field(default_factory=dict)
    queries: dict[str, tuple[TextLine, re.Match[bytes]]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    result: tuple[TextLine, re.Match[bytes]] | None = None
    qphh: tuple[TextLine, re.Match[bytes]] | None = None
    is_ch: bool = False
    errors: dict[tuple[str, int], int] = field(default_factory=dict)
    unparsed: list[str] = field(default_factory=list)

    @property
    def known(self) -> bool:
        return bool(self.blocks or self.summary or self.queries or self.seen or self.result or self.qphh)


def parse(content: bytes) -> ParsedOutput:
    """Parses the output of one run. Raises NotThisFormat."""
    reading = _GoTpcLog()
    for line in lines(content):
        if line.ended:
            _consume(reading, line)
    if not reading.known:
        raise first_line(content).refuse(EXPECTED) if content.strip() else NotThisFormat(1, "", EXPECTED)
    return _output(reading)


def _consume(reading: _GoTpcLog, line: TextLine) -> None:
    text = line.text
    if found := ROW.match(text):
        _row(reading, line, found)
    elif found := QUERY.match(text):
        _query(reading, line, found)
    elif found := RESULT.match(text):
        _once(line, reading.result)
        reading.result = (line, found)
    elif found := QPHH.match(text):
        _once(line, reading.qphh)
        reading.qphh = (line, found)
    elif found := FAILED.match(text):
        key = (found["label"].decode("utf-8", "backslashreplace"), len(reading.blocks))
        reading.errors[key] = reading.errors.get(key, 0) + 1
    elif OLAP.match(text):
        reading.is_ch = True
    elif OTHER_STYLE.match(text):
        raise line.refuse("go-tpc's plain output: leave --output out")
    elif MAXPROCS.match(text):
        if reading.known:
            raise line.refuse("the output of one run; another begins here: send each as a file of its own")
    elif not NOTICE.match(text):
        reading.unparsed.append(line.shown)


def _once(line: TextLine, held: object) -> None:
    if held is not None:
        raise line.refuse("the output of one run; this is a second result: send each as a file of its own")


def _row(reading: _GoTpcLog, line: TextLine, found: re.Match[bytes]) -> None:
    name = found["type"].decode()
    if not FIGURES.fullmatch(found["rest"]):
        raise line.refuse("figures such as “Count: 7, TPM: 138.8, Avg(ms): 219.3, 99.9th(ms): 285.2”")
    row = _GoRow(line, {each["name"]: each for each in FIGURE.finditer(found["rest"])}, found.start("rest"))
    if found["block"] == b"Summary":
        _once(line, reading.summary.get(name))
        reading.summary[name] = row
        return
    reading.seen.add(name)
    if reading.summary:
        raise line.refuse("the output of one run; another begins here: send each as a file of its own")
    if IS_QUERY.fullmatch(name):
        return
    # The types of a block are sorted.
    if not reading.blocks or name <= max(reading.blocks[-1]):
        reading.blocks.append({})
    reading.blocks[-1][name] = row


def _query(reading: _GoTpcLog, line: TextLine, found: re.Match[bytes]) -> None:
    name = found["type"].decode()
    reading.seen.add(name)
    if found["block"] == b"Summary":
        _once(line, reading.queries.get(name))
        reading.queries[name] = (line, found)


# ---------------------------------------------------------------- values


def _output(reading: _GoTpcLog) -> ParsedOutput:
    transactions = {name: row for name, row in reading.summary.items() if not IS_QUERY.fullmatch(name)}
    whole = reading.result or reading.qphh or reading.queries
    complete = bool(whole) and reading.seen <= reading.summary.keys() | reading.queries.keys()
    # ch prints both results.
    complete = complete and not ((reading.is_ch or reading.summary.keys() - transactions.keys()) and not reading.qphh)
    elapsed = _elapsed(transactions)
    clock, series = (
        _series(reading.blocks) if not complete or _has_all_blocks(reading, transactions, elapsed) else ((), {})
    )
    interval = clock[0] if clock else 0.0
    length = max([elapsed if complete else 0.0, *clock])
    warnings = []
    if not clock and len(reading.blocks) > 1:
        warnings.append("the number of [Current] blocks does not fit the run's length: no series is read")
    if reading.qphh and _has_failed_query(reading):
        warnings.append("QphH counts queries that failed: it is not read")
    return ParsedOutput(
        reason="" if complete else "the output ends before the result ([Summary] and its last line)",
        values=tuple(_values(reading, transactions, elapsed)) if complete else (),
        clock=clock,
        series=series,
        events=(
            *(ToolMessage("error", label, block * interval, n) for (label, block), n in reading.errors.items()),
            *(ToolMessage("warning", label, 0.0) for label in warnings),
        ),
        unparsed=tuple(reading.unparsed),
        measured=(0.0, length) if length else None,
    )


def _elapsed(rows: dict[str, _GoRow]) -> float:
    """s from the first transaction's end: count per rate of the type with the longest Takes, which has more digits."""
    longest = max(rows.values(), key=lambda row: row.number(b"Takes"), default=None)
    if longest is None:
        return 0.0
    rate, takes = longest.number(b"TPM"), longest.number(b"Takes")
    exact = longest.number(b"Count") * 60 / rate if rate else takes
    return exact if abs(exact - takes) <= 0.1 else takes


def _interval(blocks: list[dict[str, _GoRow]]) -> float:
    return max((row.number(b"Takes") for block in blocks for row in block.values()), default=0.0)


def _has_all_blocks(reading: _GoTpcLog, transactions: dict[str, _GoRow], elapsed: float) -> bool:
    """Whether no block is missing, by the time after the last one and the transactions in it: one that lasts as long as
    a block and has next to none was a block's, somewhere."""
    interval, number = _interval(reading.blocks), len(reading.blocks)
    if not interval:
        return False
    rest = (elapsed - number * interval) / interval
    printed = sum(row.number(b"Count") for block in reading.blocks for row in block.values())
    after = sum(row.number(b"Count") for row in transactions.values()) - printed
    return -1 < rest < 1 and (rest < 0.5 or after > rest * printed / number / 4)


def _series(blocks: list[dict[str, _GoRow]]) -> tuple[tuple[float, ...], dict[str, tuple[float | None, ...]]]:
    interval = _interval(blocks)
    if not interval:
        return (), {}
    clock = tuple(round(interval * number, 6) for number in range(1, len(blocks) + 1))
    rates, errors, orders = [], [], []
    for block in blocks:
        counts = {name: row.number(b"Count") for name, row in block.items()}
        failed = sum(count for name, count in counts.items() if name.endswith("_ERR"))
        rates.append((sum(counts.values()) - failed) / interval)
        errors.append(failed / interval)
        orders.append(counts.get("NEW_ORDER", 0.0) / interval)
    series: dict[str, tuple[float | None, ...]] = {
        "client.throughput": tuple(rates),
        "client.new_orders": tuple(orders),
    }
    if any(errors):
        series["client.errors"] = tuple(errors)
    for name in sorted({name for block in blocks for name in block if not name.endswith("_ERR")}):
        for figure in (b"95th", b"99th"):
            if any(name in block and figure in block[name].figures for block in blocks):
                key = f"client.{name.lower()}.latency.{PERCENTILES[figure]}"
                held = [block.get(name) for block in blocks]
                series[key] = tuple(row.number(figure) if row and figure in row.figures else None for row in held)
    return clock, series


def _values(reading: _GoTpcLog, transactions: dict[str, _GoRow], elapsed: float) -> list[ParsedValue]:
    values = []
    if reading.result:
        line, found = reading.result
        values.append(number_of(line, found, "tpmc", "client.new_orders.per_minute"))
        if found["efficiency"]:
            values.append(number_of(line, found, "efficiency", "client.tpcc_efficiency"))
    if transactions:
        values += _totals(transactions, elapsed)
    if reading.qphh and not _has_failed_query(reading):
        values.append(number_of(*reading.qphh, "rate", "client.queries.per_hour"))
    succeeded = {name: row for name, row in reading.summary.items() if not name.endswith("_ERR")}
    for name, row in succeeded.items():
        values += _latencies(name, row)
    queries = {name: each for name, each in reading.queries.items() if not name.endswith("_ERR")}
    if queries and len(queries) == len(reading.queries):
        # One pass over the queries.
        seconds = sum(scaled(found["mean"]) for _, found in queries.values())
        places = [line for line, _ in queries.values()]
        span = places[0].start, places[-1].start + len(places[-1].text)
        values.append(ParsedValue("client.execution_time.avg", round(seconds, 6), *span))
    values += [
        ParsedValue(f"client.{name.lower()}.latency.avg", scaled(found["mean"]) * 1000, *_span(line, found, "mean"))
        for name, (line, found) in queries.items()
    ]
    return values


def _has_failed_query(reading: _GoTpcLog) -> bool:
    """QphH counts failed queries like others."""
    return any(IS_QUERY.fullmatch(name) and name.endswith("_ERR") for name in reading.summary)


def _span(line: TextLine, found: re.Match[bytes], group: str) -> tuple[int, int]:
    return line.start + found.start(group), line.start + found.end(group)


def _totals(rows: dict[str, _GoRow], elapsed: float) -> list[ParsedValue]:
    places = [row.line for row in rows.values()]
    start, end = places[0].start, places[-1].start + len(places[-1].text)
    good = [row for name, row in rows.items() if not name.endswith("_ERR")]
    done, total = sum(row.number(b"Count") for row in good), sum(row.number(b"Count") for row in rows.values())
    values = [
        ParsedValue("client.transactions", done, start, end),
        ParsedValue("client.errors.total", total - done, start, end),
        ParsedValue("client.elapsed", round(elapsed, 6), start, end),
    ]
    if elapsed:
        values.append(ParsedValue("client.throughput", done / elapsed, start, end))
    if done and all(b"Sum" in row.figures for row in good):
        mean = sum(row.number(b"Sum") for row in good) / done
        values.append(ParsedValue("client.latency.avg", mean, start, end))
    return values


def _latencies(name: str, row: _GoRow) -> list[ParsedValue]:
    metric = f"client.{name.lower()}.latency"
    found = []
    count = row.number(b"Count")
    if b"Sum" in row.figures and count:
        start, end = row.place(b"Count")[0], row.place(b"Sum")[1]
        found.append(ParsedValue(f"{metric}.avg", row.number(b"Sum") / count, start, end))
    for figure, statistic in PERCENTILES.items():
        if figure in row.figures:
            found.append(ParsedValue(f"{metric}.{statistic}", row.number(figure), *row.place(figure)))
    return found
