"""The seconds of the newest runs of each side at one load level, on one clock."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from apps.comparison.api import ClockEvent, RunTimeline, newest, timelines
from apps.comparison.pure import ComparedRun, Comparison, Level
from apps.core.answers import Hidden
from apps.runs.pure import CLIENT
from apps.web.compare.charts import ChartMetric, ChartSide, Span, chart_metrics, chart_sides
from apps.web.compare.view import CompareView
from apps.web.compare.wording import doubted_runs
from apps.web.components.addresses import timeline_address
from apps.web.runs.steps import UNMARKED


@dataclass(frozen=True)
class SecondsRun:
    """A run whose seconds are drawn; times are s on the chosen clock. `measured` None: unknown."""

    run: int
    side: int
    repetition: int
    measured: Span | None
    events: Sequence[ClockEvent]


@dataclass(frozen=True)
class SecondsView:
    """The newest runs of each side at a load level; `runs_total` over all sides."""

    level: str | None
    apart: bool
    clock: Literal["run", "measured"]
    runs: Sequence[SecondsRun]
    runs_total: Hidden[int]


@dataclass(frozen=True)
class SecondsCharts:
    sides: Sequence[ChartSide]
    metrics: Sequence[ChartMetric]
    series: SecondsView


def context(seen: CompareView) -> dict[str, Any]:
    comparison, address, level = seen.comparison, seen.address, seen.level
    on_run = address.option("clock") == "run"
    clocks = seen.read(timelines.SECTION)
    series = _seconds(comparison, level, clocks, apart=address.apart, on_run=on_run)
    return {
        "seconds": SecondsCharts(chart_sides(comparison), chart_metrics(comparison), series),
        "seconds_runs": timelines.SECONDS_RUNS,
        **doubted_runs(newest(comparison, level)),
        # The seconds of a zoom have another meaning on the other clock.
        "clock_url": replace(address.with_option("clock", "" if on_run else "run"), zoom=None).url() + "#seconds",
        "apart_url": replace(address, apart=not address.apart).url() + "#seconds",
        "timeline_url": timeline_address(_first_series(comparison, level), align="run" if on_run else "measured"),
    }


def _first_series(comparison: Comparison, level: Level | None) -> list[tuple[int, str, str]]:
    """Run, metric and node of the newest run of each side: the initial selection of the Timeline page."""
    last = {run.side: run.id for run in newest(comparison, level)}
    metrics = [metric.key for metric in comparison.metrics if metric.kind == "throughput"]
    return [(run, metric, CLIENT) for metric in metrics for run in last.values()]


def _seconds(
    comparison: Comparison, level: Level | None, clocks: Sequence[RunTimeline], *, apart: bool, on_run: bool
) -> SecondsView:
    positions = {side.slug: side.position for side in comparison.sides}
    known = {clock.run: clock for clock in clocks}
    return SecondsView(
        level=level.key if level else None,
        apart=apart,
        clock="run" if on_run else "measured",
        runs=[_seconds_run(run, positions[run.side], known.get(run.id), on_run) for run in newest(comparison, level)],
        runs_total=sum(level is not None and run.level == level.id for run in comparison.counted),
    )


def _seconds_run(run: ComparedRun, side: int, clock: RunTimeline | None, on_run: bool) -> SecondsRun:
    """Measured phase and events are on the chosen clock."""
    if clock is None or clock.measured_from is None or clock.measured_to is None:
        return SecondsRun(run.id, side, run.repetition, None, ())
    zero = 0.0 if on_run else clock.measured_from
    events = [
        replace(
            event,
            starts_at=event.starts_at - zero,
            ends_at=None if event.ends_at is None else event.ends_at - zero,
        )
        for event in clock.events
        if event.kind not in UNMARKED
    ]
    measured = (clock.measured_from - zero, clock.measured_to - zero)
    return SecondsRun(run.id, side, run.repetition, measured, events)
