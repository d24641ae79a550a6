"""From a load tool's output to what the warehouse says of a run: headline values, measured phase, errors. Pure."""

from dataclasses import dataclass
from typing import Any

from apps.runs.distributions import SYSBENCH, Distribution, OffGrid
from apps.runs.parsers.sysbench import Figure, Histogram, Parsed
from apps.runs.sampled import LABEL_LIMIT
from apps.runs.text import printable
from workers.wire import EventMessage

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
}
ELAPSED = "client.elapsed"
LATENCY = "client.latency"
# Read from the histogram where sysbench was asked for another one.
HISTOGRAM_PERCENTILES = (50, 95, 99)
# Share of the events that a checkpoint may part from their place in the histogram: the rank of a percentile is then
# right to a twentieth of a per cent. Seen: up to 0.03 %.
MOST_ASTRAY = 0.0005
EVENT_KINDS = {"WARNING": "warning", "DEBUG": ""}
EVENT_KINDS_TOLD = ("warning", "error")  # of the events below
# Enough to see what went unread; the artifact has all.
UNPARSED_KEPT = 1000


@dataclass(frozen=True)
class Headline:
    """A value and the bytes of the output from which it was read."""

    metric: str
    value: float
    byte_start: int
    byte_end: int


@dataclass(frozen=True)
class ReadDistribution:
    """A histogram over [`starts_at`, `ends_at`) of the run's clock, s, and the bytes from which it was read."""

    metric: str
    starts_at: float
    ends_at: float
    distribution: Distribution
    byte_start: int
    byte_end: int


def has_totals(parsed: Parsed) -> bool:
    """Whether the final report of an OLTP test is there."""
    return parsed.complete and "transactions" in parsed.totals


def headlines(parsed: Parsed) -> list[Headline]:
    """Of a complete output; none otherwise."""
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
    return [*values, _elapsed(parsed)]


def distributions(parsed: Parsed, *, offset: float) -> list[ReadDistribution]:
    """The latencies of a complete output; none without a histogram that holds its events on sysbench's grid.

    `offset`: the tool's second 0 on the run's clock.
    """
    histogram, span = _histogram(parsed), measured_phase(parsed, offset=offset)
    if histogram is None or span is None:
        return []
    counted = [(value.value, n) for value, n in zip(histogram.values, histogram.counts, strict=True) if n]
    try:
        buckets = SYSBENCH.printed([value for value, _ in counted])
    except OffGrid:
        return []
    found = Distribution(SYSBENCH, buckets, tuple(count for _, count in counted)) if counted else None
    return [ReadDistribution(LATENCY, *span, found, histogram.start, histogram.end)] if found else []


def _of_histogram(parsed: Parsed, percent: int) -> Figure | None:
    histogram = _histogram(parsed)
    return histogram.percentile(percent) if histogram else None


def _histogram(parsed: Parsed) -> Histogram | None:
    """Of a complete OLTP output, when it holds the events that the final report counts."""
    histogram = parsed.histogram
    if histogram is None or not has_totals(parsed):
        return None
    events = parsed.totals["events"].value
    # Events that end while a checkpoint is taken are counted on one side of it and in the histogram of the other.
    astray = max(parsed.threads or 0, MOST_ASTRAY * events) if parsed.checkpoints else 0
    return histogram if abs(sum(histogram.counts) - events) <= astray else None


def _elapsed(parsed: Parsed) -> Headline:
    """Seconds that the final report covers: from the last checkpoint, where there was one."""
    end = parsed.totals["total_time"]
    start = _checkpoint_time(parsed)
    if start is None:
        return Headline(ELAPSED, end.value, end.start, end.end)
    return Headline(ELAPSED, round(end.value - start.value, 4), start.start, end.end)


def _checkpoint_time(parsed: Parsed) -> Figure | None:
    return parsed.checkpoints[-1].figures.get("total_time") if parsed.checkpoints else None


def measured_phase(parsed: Parsed, *, offset: float) -> tuple[float, float] | None:
    """What the final report covers, s on the run's clock; `offset`: the tool's second 0. None: it covers nothing.

    Of an output that broke off: from the last checkpoint, or the start, to the last line.
    """
    checkpoint = _checkpoint_time(parsed)
    start = checkpoint.value if checkpoint else 0.0
    if "total_time" in parsed.totals:
        end = parsed.totals["total_time"].value
    elif parsed.intervals:
        end = float(parsed.intervals[-1].second)
    else:
        return None
    return offset + start, offset + max(start, end)


def error_events(parsed: Parsed, *, offset: float) -> list[EventMessage]:
    """What the tool complained of, at the end of the second after which it did; equal complaints counted."""
    found: dict[tuple[str, float, str], EventMessage] = {}
    for message in parsed.messages:
        kind = EVENT_KINDS.get(message.level, "error")
        if not kind:
            continue
        text = printable(message.text)
        label, at = text[:LABEL_LIMIT], offset + (message.after or 0)
        before = found.get((kind, at, label))
        count = message.count + (before.detail["count"] if before else 0)
        detail: dict[str, Any] = {"level": message.level, "count": count}
        if text != label:
            detail["text"] = text
        found[kind, at, label] = EventMessage(kind=kind, label=label, starts_at=at, node="client", detail=detail)
    return list(found.values())


def unparsed_lines(parsed: Parsed) -> list[str]:
    kept = [printable(line) for line in parsed.unparsed[:UNPARSED_KEPT]]
    more = len(parsed.unparsed) - len(kept)
    return [*kept, f"(and {more} more lines, in the artifact)"] if more else kept
