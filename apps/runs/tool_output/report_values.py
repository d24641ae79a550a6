"""Values of our own tools' reports: totals, intervals, events, checks; and of sysbench's lines around them. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from apps.runs.ingest.clean_text import printable, printable_value
from apps.runs.samples.columns import KIND_LIMIT, NAME_LIMIT
from apps.runs.samples.histograms import SYSBENCH, HistogramCounts, OffGrid
from apps.runs.storage.codec import Number
from apps.runs.tool_output import sysbench_values
from apps.runs.tool_output.once import once
from apps.runs.tool_output.parsers import report
from apps.runs.tool_output.parsers import sysbench as text
from apps.runs.tool_output.parsers.report import (
    End,
    Error,
    Placed,
    ReportCheck,
    ReportEvent,
    ReportHistogram,
    ReportInterval,
    Total,
)
from apps.runs.tool_output.values import LATENCY, Headline, Output, ReadDistribution
from workers.protocol.wire import EventMessage

LABEL_LIMIT = sysbench_values.LABEL_LIMIT
# Count -> metric of its rate; all others: "client." plus the name.
RATES = {"transactions": "client.throughput"}
# Count -> metric of its sum.
SUMS = {"transactions": "client.transactions", "errors": "client.errors.total"}
STATEMENTS = ("reads", "writes", "others")


def is_report(content: bytes) -> bool:
    return content.startswith(report.MARK) or b"\n" + report.MARK in content


@once
def read(content: bytes) -> Output:
    found, parsed = report.parse(content), text.parse(content)
    total = next((placed for placed in reversed(found.lines) if isinstance(placed.line, Total)), None)
    # Our own tools print an End line; sysbench ends with its totals.
    begun, ended = (any(isinstance(p.line, kind) for p in found.lines) for kind in (report.Begin, End))
    intervals = _intervals(found.lines)
    unparsed = [line for line in parsed.unparsed if not line.startswith(report.MARK.decode())]
    return Output(
        parser=report.PARSER,
        version=report.VERSION,
        tool_version=printable(_version(found.lines) or parsed.version),
        complete=total is not None and (ended or not begun),
        fatal=printable(parsed.fatal()),
        failures=tuple(
            printable(p.line.label) for p in found.lines if isinstance(p.line, ReportCheck) and not p.line.held
        ),
        headlines=tuple(_headlines(total, parsed)) if total else (),
        intervals=intervals,
        measured=_measured(total, intervals),
        distributions=tuple(_distributions(found.lines, total, parsed)),
        events=(*_events(found.lines), *sysbench_values.error_events(parsed)),
        unparsed=tuple(sysbench_values.unparsed_lines([*unparsed, *found.broken])),
    )


def metric_of(name: str) -> str:
    """The metric of a value: `latency.p95` is `client.latency.p95`, `failover.detect` is itself."""
    first, dot, _ = name.partition(".")
    return name if dot and first != "latency" else f"client.{name}"


def _version(lines: Iterable[Placed]) -> str:
    return next((f"{p.line.tool} {p.line.version}".strip() for p in lines if isinstance(p.line, report.Begin)), "")


def _counts(counts: Mapping[str, int | float]) -> dict[str, int | float]:
    """`counts`, with the sum of all kinds of statements as "queries"."""
    parts = [counts[name] for name in STATEMENTS if name in counts]
    return {**({"queries": sum(parts)} if parts else {}), **counts}


def _intervals(lines: Iterable[Placed]) -> dict[float, dict[str, Number]]:
    """End of interval -> values. Of an interval printed twice, the last one counts."""
    rows: dict[float, dict[str, Number]] = {}
    for placed in lines:
        line = placed.line
        if not isinstance(line, ReportInterval) or line.seconds <= 0:
            continue
        row: dict[str, Number] = {
            RATES.get(name, f"client.{name}"): count / line.seconds for name, count in _counts(line.counts).items()
        }
        if line.threads is not None:
            row["client.threads"] = line.threads
        rows[line.t] = row | {metric_of(name): value for name, value in line.values.items()}
    return rows


def _headlines(placed: Placed, parsed: text.ParsedSysbench) -> Iterator[Headline]:
    total = placed.line
    assert isinstance(total, Total)  # noqa: S101  (chosen as one)
    values: dict[str, float] = {"client.elapsed": round(total.to - total.from_, 6)}
    for name, count in _counts(total.counts).items():
        if total.to > total.from_:
            values[RATES.get(name, f"client.{name}")] = count / (total.to - total.from_)
        if name in SUMS:
            values[SUMS[name]] = count
    values |= {metric_of(name): value for name, value in total.values.items() if value is not None}
    for metric, value in values.items():
        yield Headline(metric, value, placed.start, placed.end)
    histogram = _text_histogram(total, parsed)
    for percent in sysbench_values.HISTOGRAM_PERCENTILES:
        figure = histogram.percentile(percent) if histogram else None
        if figure and f"{LATENCY}.p{percent}" not in values:
            yield Headline(f"{LATENCY}.p{percent}", figure.value, figure.start, figure.end)


def _measured(total: Placed | None, intervals: Mapping[float, object]) -> tuple[float, float] | None:
    if total is not None and isinstance(total.line, Total):
        return total.line.from_, max(total.line.from_, total.line.to)
    return (0.0, max(intervals)) if intervals else None


def _text_histogram(total: Total, parsed: text.ParsedSysbench) -> text.SysbenchHistogram | None:
    """sysbench's histogram, if its number of events fits the totals."""
    events = total.counts.get("events", total.counts.get("transactions"))
    if parsed.histogram is None or events is None:
        return None
    tolerance = max(parsed.threads or 0, sysbench_values.MOST_ASTRAY * events) if total.from_ > 0 else 0
    return parsed.histogram if abs(sum(parsed.histogram.counts) - events) <= tolerance else None


def _distributions(
    lines: Iterable[Placed], total: Placed | None, parsed: text.ParsedSysbench
) -> Iterator[ReadDistribution]:
    distributions: dict[str, ReadDistribution] = {}
    for placed in lines:
        line = placed.line
        if isinstance(line, ReportHistogram) and (found := _on_grid(line)):
            distributions[line.metric] = ReadDistribution(
                line.metric, line.from_, line.to, found, placed.start, placed.end
            )
    if LATENCY not in distributions and total is not None and isinstance(total.line, Total):
        histogram = _text_histogram(total.line, parsed)
        span = total.line.from_, total.line.to
        if histogram and (read_one := sysbench_values.distribution(histogram, span)):
            distributions[LATENCY] = read_one
    yield from distributions.values()


def _on_grid(line: ReportHistogram) -> HistogramCounts | None:
    counted = [(value, count) for value, count in line.buckets if count]
    try:
        buckets = SYSBENCH.printed([round(value, 3) for value, _ in counted])
    except OffGrid:
        return None
    return HistogramCounts(SYSBENCH, buckets, tuple(count for _, count in counted)) if counted else None


def _events(lines: Iterable[Placed]) -> Iterator[EventMessage]:
    for placed in lines:
        line = placed.line
        if isinstance(line, ReportEvent):
            yield _event(line.event, line.label, (line.from_, line.to), line.node, dict(line.detail))
        elif isinstance(line, ReportCheck):
            detail = {"check": line.check, "held": line.held, "expected": line.expected, "found": line.found}
            yield _event("check", line.label, (line.t or 0.0, None), "client", detail)
        elif isinstance(line, Error):
            detail = {"code": line.code, "count": line.count, "level": "ERROR"}
            yield _event("error", line.text, (line.t, None), "client", detail)


def _event(
    kind: str, label: str, span: tuple[float, float | None], node: str, detail: dict[str, object]
) -> EventMessage:
    readable = printable(label)
    if len(readable) > LABEL_LIMIT:
        detail["text"] = readable
    start, end = span
    return EventMessage(
        kind=printable(kind)[:KIND_LIMIT],
        label=readable[:LABEL_LIMIT],
        starts_at=start,
        ends_at=end,
        node=printable(node)[:NAME_LIMIT],
        detail=printable_value(detail),
    )
