"""Latency percentiles for the Run and Compare pages, computed in the server so that the browser only draws."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.comparison.api import SideLatency
from apps.core import units
from apps.runs.api import DistributionDetail, RunDetail
from apps.runs.pure import PERCENTILES, HistogramCounts, Quantile
from apps.web.components.axes import TickedAxis
from apps.web.components.ticks import linear_ticks, log_ticks

LABELS = (*(f"p{percent:g}" for percent in PERCENTILES), "max")
# Ticks of the percentile axis: one in this many transactions was slower.
ONE_IN = {1: "0", 2: "50", 10: "90", 100: "99", 1000: "99.9", 10_000: "99.99", 100_000: "99.999", 10**6: "99.9999"}
# Fewer round numbers than these do not make a logarithmic axis readable.
FEWEST_TICKS = 3
ROOM = 1.04
OF_REQUESTS = (
    "fio measures reads, writes and fsyncs, not transactions: their percentiles are among the values, and with "
    "--output-format=json+ their histograms in the API."
)


@dataclass(frozen=True)
class LatencyCurve:
    """One curve; `color`: its side's place in the palette, None: a platform without one."""

    name: str
    color: int | None
    distribution: HistogramCounts


@dataclass(frozen=True)
class LatencyLine:
    """Steps: from `one_in[k]` on (one in that many transactions was slower), transactions took `values[k]` ms.

    `percent[k]` of them took no longer, `slower[k]` did. The last point ends the line.
    """

    name: str
    color: int | None
    one_in: Sequence[float]
    values: Sequence[float]
    percent: Sequence[float]
    slower: Sequence[int]


@dataclass(frozen=True)
class LatencyChart:
    lines: Sequence[LatencyLine]
    values: TickedAxis
    one_in: TickedAxis


@dataclass(frozen=True)
class PercentileRow:
    """`text` in ms; `title`: bounds of the value's bucket, and number of slower transactions."""

    label: str
    text: str
    title: str
    beyond: int


@dataclass(frozen=True)
class RunLatency:
    """Latency of one run; without a histogram only the reason `missing`. `step`: width of a bucket."""

    missing: str = ""
    read: DistributionDetail | None = None
    rows: Sequence[PercentileRow] = ()
    step: str = ""
    chart: LatencyChart | None = None


@dataclass(frozen=True)
class SidesLatency:
    """Latency at one load level on the Compare page: each side's percentiles, named in `labels`."""

    labels: Sequence[str]
    sides: Sequence[tuple[SideLatency, Sequence[PercentileRow]]]
    step: str
    chart: LatencyChart | None


def of_sides(sides: Sequence[SideLatency]) -> SidesLatency:
    merged = [side.merged for side in sides if side.merged]
    return SidesLatency(
        labels=LABELS,
        sides=[(side, rows(side.merged) if side.merged else []) for side in sides],
        step=step(merged),
        chart=latency_chart(
            [LatencyCurve(side.side.name, side.side.tone, side.merged) for side in sides if side.merged]
        ),
    )


def rows(distribution: HistogramCounts) -> list[PercentileRow]:
    found = [*map(distribution.percentile, PERCENTILES), distribution.maximum]
    return [
        PercentileRow(label, units.format_number(one.value), _title(one), one.beyond)
        for label, one in zip(LABELS, found, strict=True)
    ]


def _title(quantile: Quantile) -> str:
    low, high = units.format_number(quantile.low, 4), units.format_number(quantile.high, 4)
    value, noun = units.all_digits(quantile.value), "transaction" if quantile.beyond == 1 else "transactions"
    return f"{value} ms: the histogram's step from {low} to {high} ms; {quantile.beyond:,} {noun} took longer"


def step(distributions: Sequence[HistogramCounts]) -> str:
    """Relative width of the widest bucket with a percentile of the table, for example "1.8 %"."""
    found = [distribution.percentile(percent) for distribution in distributions for percent in PERCENTILES]
    widths = [one.high / one.low - 1 for one in found if one.low > 0 and math.isfinite(one.high)]
    return f"{max(widths):.1%}".replace("%", f"{units.NBSP}%") if widths else "not known"


def latency_chart(curves: Sequence[LatencyCurve]) -> LatencyChart | None:
    """None without any curve."""
    if not curves:
        return None
    lines = [_line(curve) for curve in curves]
    values = [value for line in lines for value in line.values if value > 0]
    low, high = min(values) / ROOM, max(values) * ROOM
    ticks = log_ticks(low, high)
    if len(ticks) < FEWEST_TICKS:
        ticks = linear_ticks(low, high)
    last = max(curve.distribution.count for curve in curves)
    places = [place for place in ONE_IN if place <= last]
    return LatencyChart(
        lines=lines,
        values=TickedAxis((low, high), ticks, [f"{tick:,.10g}" for tick in ticks]),
        one_in=TickedAxis((1, max(last, 2) * ROOM), places, [ONE_IN[place] for place in places]),
    )


def _line(curve: LatencyCurve) -> LatencyLine:
    distribution = curve.distribution
    count, reached = distribution.count, distribution.reached
    values = [distribution.grid.value(bucket) for bucket in distribution.buckets]
    return LatencyLine(
        name=curve.name,
        color=curve.color,
        one_in=[_digits(count / (count - before)) for before in (0, *reached[:-1])] + [count],
        values=[*values, values[-1]],
        percent=[float(f"{100 * upto / count:.9g}") for upto in (*reached, count)],
        slower=[count - upto for upto in (*reached, count)],
    )


def _digits(value: float) -> float:
    return float(f"{value:.6g}")


def of_run(run: RunDetail, found: Sequence[DistributionDetail]) -> RunLatency:
    if not found:
        return RunLatency(missing=missing(run))
    (one, *_) = found
    return RunLatency(
        read=one,
        rows=rows(one.distribution),
        step=step([one.distribution]),
        chart=latency_chart([LatencyCurve("this run", run.row.platform_color, one.distribution)]),
    )


def missing(run: RunDetail) -> str:
    """Why a run has no histogram, and how to get one."""
    tool = run.row.workload_tool
    if run.row.provenance == "rig":
        return "This run was generated by the scale rig, without a histogram."
    if run.row.state != "sealed":
        return f"The histogram arrives with the last lines of {tool}, when the run ends."
    if not run.measurements:
        return f"{tool} printed no final report, so there is no histogram."
    if tool != "sysbench":
        return (
            OF_REQUESTS
            if tool == "fio"
            else f"{tool} printed no histogram of all transactions; the latencies that it printed are above."
        )
    read = [one for one in ("client.latency.p50", "client.latency.p99") if run.measurement(one)]
    if len(read) == 2:
        return "This run was stored before histograms existed: manage.py reseal reads it from the output again."
    return (
        f"{tool} printed no histogram that holds all transactions, so only its own percentile is known. Run it with "
        "--histogram=on, as the agents do."
    )
