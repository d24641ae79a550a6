"""Values of sysbench's text output: headline values, measured phase, intervals, errors. Pure."""

from collections.abc import Iterable
from typing import Any

from apps.runs.ingest.clean_text import printable
from apps.runs.samples.histograms import SYSBENCH, HistogramCounts, OffGrid
from apps.runs.storage.codec import Number
from apps.runs.tool_output.once import once
from apps.runs.tool_output.parsers import sysbench
from apps.runs.tool_output.parsers.sysbench import OutputNumber, ParsedSysbench, SysbenchHistogram, SysbenchInterval
from apps.runs.tool_output.values import LATENCY, Headline, Output, ReadDistribution
from workers.protocol.wire import EventMessage

# Figure of the final report -> metric.
TOTALS = {
    "transactions_per_second": "client.throughput",
    "queries_per_second": "client.queries",
    "errors_per_second": "client.errors",
    "reconnects_per_second": "client.reconnects",
    "transactions": "client.transactions",
    "errors": "client.errors.total",
    "latency_min": "client.latency.min",
    "latency_avg": "client.latency.avg",
    "latency_max": "client.latency.max",
    # cpu and fileio
    "events_per_second": "client.events",
    "file_reads_per_second": "client.file_reads",
    "file_writes_per_second": "client.file_writes",
    "file_fsyncs_per_second": "client.file_fsyncs",
    "file_read_mib_per_second": "client.file_read_mib",
    "file_written_mib_per_second": "client.file_write_mib",
    "operations_per_second": "client.memory_operations",
    "memory_mib_per_second": "client.memory_mib",
}
# A figure in every final report of OLTP, cpu, fileio and memory tests.
KINDS = {"transactions", "events_per_second", "file_reads_per_second", "memory_mib_per_second"}
ELAPSED = "client.elapsed"
# Interval value -> metric of the load generator's series; latency's key depends on the printed percentile.
INTERVALS = {
    "throughput": "client.throughput",
    "queries": "client.queries",
    "reads": "client.reads",
    "writes": "client.writes",
    "others": "client.others",
    "errors": "client.errors",
    "reconnects": "client.reconnects",
    "queue_length": "client.queue_length",
    "concurrency": "client.concurrency",
    "events": "client.events",
    "file_reads_mib": "client.file_read_mib",
    "file_writes_mib": "client.file_write_mib",
    "file_fsyncs": "client.file_fsyncs",
    "memory_mib": "client.memory_mib",
}
LABEL_LIMIT = 200
# Computed from the histogram unless printed.
HISTOGRAM_PERCENTILES = (50, 95, 99)
# Share of events that a checkpoint may count on one side and put into the histogram of the other: percentile ranks
# are then exact to 0.05 %. Observed: up to 0.03 %.
MOST_ASTRAY = 0.0005
EVENT_KINDS = {"WARNING": "warning", "DEBUG": ""}
REPORTED_EVENT_KINDS = ("warning", "error")  # of the events below
# Enough to see what was not parsed; the artifact has all lines.
UNPARSED_KEPT = 1000
CONTRADICTIONS_KEPT = 20


@once
def read(content: bytes) -> Output:
    parsed = sysbench.parse(content)
    return Output(
        parser=sysbench.PARSER,
        version=sysbench.VERSION,
        tool_version=printable(parsed.version),
        complete=has_totals(parsed),
        fatal=printable(parsed.fatal()),
        headlines=tuple(headlines(parsed)),
        intervals=intervals(parsed.intervals),
        measured=measured_phase(parsed),
        distributions=tuple(distributions(parsed)),
        events=tuple(error_events(parsed)),
        unparsed=tuple(unparsed_lines(parsed.unparsed)),
    )


def has_totals(parsed: ParsedSysbench) -> bool:
    """Whether the output has the final report of an OLTP, cpu, fileio or memory test."""
    return parsed.complete and not KINDS.isdisjoint(parsed.totals)


def headlines(parsed: ParsedSysbench) -> list[Headline]:
    """Headline values of a complete output; empty otherwise."""
    if not has_totals(parsed):
        return []
    found = {TOTALS[name]: figure for name, figure in parsed.totals.items() if name in TOTALS}
    for name, figure in parsed.totals.items():
        if name.startswith("latency_p"):
            found[f"client.latency.{name.removeprefix('latency_')}"] = figure
    for percent in HISTOGRAM_PERCENTILES:
        bucket = _of_histogram(parsed, percent)
        if bucket:
            found.setdefault(f"client.latency.p{percent}", bucket)
    values = [Headline(metric, figure.value, figure.start, figure.end) for metric, figure in found.items()]
    return [*values, _elapsed(parsed)] if "total_time" in parsed.totals else values


def intervals(printed: Iterable[SysbenchInterval]) -> dict[float, dict[str, Number]]:
    """Intervals of OLTP, cpu, fileio and memory tests. Of a second printed twice, the last one counts."""
    rows: dict[float, dict[str, Number]] = {}
    for interval in printed:
        if {"throughput", "events", "file_fsyncs", "memory_mib"}.isdisjoint(interval.values):
            continue
        row: dict[str, Number] = {INTERVALS[k]: v for k, v in interval.values.items() if k in INTERVALS}
        if interval.threads is not None:
            row["client.threads"] = interval.threads
        if interval.percentile and "latency" in interval.values:
            row[f"{LATENCY}.p{interval.percentile}"] = interval.values["latency"]
        rows[float(interval.second)] = row
    return rows


def distributions(parsed: ParsedSysbench) -> list[ReadDistribution]:
    """Latencies of a complete output; empty without a histogram of its events on sysbench's grid."""
    histogram, span = _histogram(parsed), measured_phase(parsed)
    return [found] if histogram and span and (found := distribution(histogram, span)) else []


def distribution(histogram: SysbenchHistogram, span: tuple[float, float]) -> ReadDistribution | None:
    """The histogram over `span`; None: without events, or not on sysbench's grid."""
    counted = [(value.value, n) for value, n in zip(histogram.values, histogram.counts, strict=True) if n]
    try:
        buckets = SYSBENCH.printed([value for value, _ in counted])
    except OffGrid:
        return None
    found = HistogramCounts(SYSBENCH, buckets, tuple(count for _, count in counted)) if counted else None
    return ReadDistribution(LATENCY, *span, found, histogram.start, histogram.end) if found else None


def _of_histogram(parsed: ParsedSysbench, percent: int) -> OutputNumber | None:
    histogram = _histogram(parsed)
    return histogram.percentile(percent) if histogram else None


def _histogram(parsed: ParsedSysbench) -> SysbenchHistogram | None:
    """The histogram of a complete output, if its number of events fits the final report."""
    histogram = parsed.histogram
    if histogram is None or not has_totals(parsed):
        return None
    counted = parsed.totals.get("events")
    if counted is None:
        return histogram  # fileio of 1.1 does not count
    events = counted.value
    # Events that end during a checkpoint may be counted on one side of it and be in the histogram of the other.
    tolerance = max(parsed.threads or 0, MOST_ASTRAY * events) if parsed.checkpoints else 0
    return histogram if abs(sum(histogram.counts) - events) <= tolerance else None


def _elapsed(parsed: ParsedSysbench) -> Headline:
    """Seconds covered by the final report, since the last checkpoint or the start."""
    end = parsed.totals["total_time"]
    start = _checkpoint_time(parsed)
    if start is None:
        return Headline(ELAPSED, end.value, end.start, end.end)
    # Another thread of sysbench may print the checkpoint's report later.
    return Headline(ELAPSED, round(end.value - start.value, 4), min(start.start, end.start), max(start.end, end.end))


def _checkpoint_time(parsed: ParsedSysbench) -> OutputNumber | None:
    return parsed.checkpoints[-1].figures.get("total_time") if parsed.checkpoints else None


def measured_phase(parsed: ParsedSysbench) -> tuple[float, float] | None:
    """The time covered by the final report, s on the tool's clock. None: neither totals nor intervals.

    For a truncated output: from the last checkpoint, or the start, to the last interval.
    """
    checkpoint = _checkpoint_time(parsed)
    # Where its report has no time: the second at which it was printed.
    start = checkpoint.value if checkpoint else float(parsed.checkpoints[-1].second) if parsed.checkpoints else 0.0
    if "total_time" in parsed.totals:
        end = parsed.totals["total_time"].value
    elif parsed.intervals:
        end = float(parsed.intervals[-1].second)
    else:
        return None
    return start, max(start, end)


def error_events(parsed: ParsedSysbench) -> list[EventMessage]:
    """Warnings and errors, at the last second printed before them, equal ones counted; and what contradicts itself."""
    found: dict[tuple[str, float, str], EventMessage] = {}
    for message in parsed.messages:
        kind = EVENT_KINDS.get(message.level, "error")
        if not kind:
            continue
        text = printable(message.text)
        label, at = text[:LABEL_LIMIT], float(message.after or 0)
        before = found.get((kind, at, label))
        count = message.count + (before.detail["count"] if before else 0)
        detail: dict[str, Any] = {"level": message.level, "count": count}
        if text != label:
            detail["text"] = text
        found[kind, at, label] = EventMessage(kind=kind, label=label, starts_at=at, node="client", detail=detail)
    odd = [
        EventMessage(kind="warning", label=text, starts_at=float(at), node="client", detail={"contradiction": True})
        for at, text in parsed.contradictions()[:CONTRADICTIONS_KEPT]
    ]
    return [*found.values(), *odd]


def unparsed_lines(lines: list[str]) -> list[str]:
    kept = [printable(line) for line in lines[:UNPARSED_KEPT]]
    more = len(lines) - len(kept)
    return [*kept, f"(and {more} more lines, in the artifact)"] if more else kept
