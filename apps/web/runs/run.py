"""The Run page: headline numbers with provenance, series over time, system and workload."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from apps.accounts.current_user import may_write
from apps.comparison.pure import tones
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import and_list
from apps.runs.api import MeasurementDetail, RunDetail, SealWait, SeriesInfo, attachments, queries
from apps.runs.models import Run
from apps.runs.pure import CLIENT, OWN_METRICS, TimelineEntry, timeline
from apps.web.components.addresses import price_address, runs_address, timeline_address
from apps.web.components.pages import is_partial, render_page
from apps.web.runs import attachments as runs_attachments
from apps.web.runs import latency, observation, quality, steps, tabs
from apps.web.runs import timeline as runs_timeline
from apps.web.runs.default_series import choose
from apps.web.runs.latency import LatencyChart
from workers.protocol.workloads import WORKLOADS
from workers.protocol.workloads.foreign import FOREIGN

# Headline numbers in page order; other measurements are in a table.
HEADLINES = (
    "client.throughput",
    "client.goodput",
    "client.new_orders.per_minute",
    "server.transactions.per_minute",
    "client.execution_time.avg",
    "client.latency.p50",
    "client.latency.p95",
    "client.latency.p99",
    "client.latency.max",
    "client.errors.total",
)
MOST_OWN = 6  # of the sender's own metrics
LATEST = ("client.throughput", "client.latency.p50", "client.latency.p95", "client.latency.p99", "client.errors")


@dataclass(frozen=True)
class LatestValue:
    """The last observed second of a live run; `at` in s on the run's clock."""

    name: str
    unit: str
    value: float
    at: float


@dataclass(frozen=True)
class Counters:
    """`drawn`: keys of the series drawn by default; `series` and `changing`: numbers over the whole run."""

    drawn: list[str]
    series: int
    changing: int


@dataclass(frozen=True)
class RunPageData:
    """Initial data of the page's script, which requests series from the API.

    `color`: the platform's place in the palette. `measured`, `whole`: s on the run's clock; None: not known yet.
    `lanes`: key and name of each, in order.
    `latency` None: the run has no histogram.
    """

    id: int
    color: int
    live: bool
    measured: tuple[float, float] | None
    whole: tuple[float, float] | None
    counters: Sequence[str]
    lanes: Sequence[tuple[str, str]]
    events: Sequence[TimelineEntry]
    latency: LatencyChart | None


@require_safe
def show(request: HttpRequest, run_id: int) -> HttpResponse:
    try:
        run = queries.load_run(run_id)
    except Run.DoesNotExist as error:
        raise Http404(f"there is no run {run_id}") from error
    is_live = run.row.state != Run.State.SEALED
    headline = {
        "run": run,
        "row": run.row,
        "is_live": is_live,
        "headlines": headlines(run),
        "latest": latest(run_id) if is_live else [],
        "missing": missing(run.pending) if run.pending else "",
    }
    if is_partial(request):
        response = render_page(request, "web/runs/parts/headline.html", headline)
        if not is_live:
            # Complete since the page was loaded: reload the whole page once.
            response["HX-Refresh"] = "true"
        return response
    found_quality, story, problems = quality.shown(run), steps.run_steps(run.events), tuple[FieldProblem, ...]()
    try:
        shown_tabs = tabs.tabs(request.GET, found_quality, has_steps=bool(story.steps))
    except Invalid as error:
        shown_tabs, problems = tabs.tabs(QueryDict(), found_quality, has_steps=bool(story.steps)), error.errors
    index = queries.series_index(run_id)
    counters = counters_of(index)
    known = [node.variables for node in run.nodes if node.variables is not None]
    whole = whole_clock(run, counters)
    latencies = latency.of_run(run, queries.distributions([run_id]))
    events = happenings(run, whole)
    charts = runs_timeline.charts(index, primary=run.primary_metric, is_live=is_live)
    context = headline | {
        "latency": latencies,
        "counters": counters,
        "clock_charts": charts,
        "story": story,
        "quality": found_quality,
        "tabs": shown_tabs,
        "tab_urls": {tab.name: tab.url for tab in shown_tabs},
        "problems": problems,
        "writers": steps.writers(run.events),
        "hidden": observation.hidden(run.events),
        "overhead": observation.overhead(index),
        "listed": runs_timeline.listed(events, run.events),
        "lanes": bool(run.events) or measured(run) is not None or is_live,
        "lanes_height": runs_timeline.lanes_height(events),
        "timeline_address": timeline_address((run_id, chart.metrics[0], CLIENT) for chart in charts[:1]),
        "data": RunPageData(
            id=run_id,
            color=tones([run.row.platform_color])[0],
            live=is_live,
            measured=measured(run),
            whole=whole,
            counters=counters.drawn,
            lanes=tuple(timeline.LANES.items()),
            events=events,
            latency=latencies.chart,
        ),
        "others": [one for one in run.measurements if one.metric not in headline_keys(run)],
        "attached": runs_attachments.shown(attachments.tables(run_id)),
        "may_write": may_write(request),
        "variable_count": len({name for variables in known for name in variables}),
        "variable_nodes": len(known),
        "compare_address": f"{reverse('web:compare')}?{urlencode(_side(run))}",
        "all_runs_url": runs_address(system=run.system.slug, workload=run.row.workload_id),
        "price_url": _price_url(request, run),
    }
    return render_page(request, "web/runs/run.html", context, status=400 if problems else 200)


def _price_url(request: HttpRequest, run: RunDetail) -> str:
    """The form for the price of the run's hardware; empty: it has one, or the reader may not state it."""
    if run.system.hardware.price_per_hour is not None or not may_write(request):
        return ""
    return price_address(run.system.hardware.slug, back=f"{reverse('web:run', args=[run.row.id])}?tab=configuration")


def headlines(run: RunDetail) -> list[MeasurementDetail]:
    found = [run.measurement(metric) for metric in headline_keys(run)]
    return [one for one in found if one is not None]


def headline_keys(run: RunDetail) -> list[str]:
    """The primary metric first, then metrics specific to the tool."""
    spec = {**FOREIGN, **WORKLOADS}.get(run.row.workload_tool)
    own = [key for key in spec.metrics if key not in HEADLINES] if spec else []
    own += [one.metric for one in run.measurements if one.metric.startswith(OWN_METRICS)][:MOST_OWN]
    return list(dict.fromkeys([run.primary_metric, *own, *HEADLINES]))


def latest(run_id: int) -> list[LatestValue]:
    """The last observed values of a live run; empty before its first second."""
    found = []
    for series in queries.load_series(run_ids=[run_id], metrics=LATEST, nodes=["client"]):
        observed = [(at, value) for at, value in zip(series.at, series.values, strict=True) if not math.isnan(value)]
        if observed:
            at, value = observed[-1]
            found.append(LatestValue(series.name, series.unit, float(value), float(at)))
    return found


def missing(pending: SealWait) -> str:
    """Missing uploads, as “2 of 7 batches and sysbench.txt”; empty: nothing is missing."""
    return and_list([*pending.missing, *(f"what {agent} sampled" for agent in pending.samplers)])


def counters_of(index: Sequence[SeriesInfo]) -> Counters:
    changing = {info.metric for info in index if not info.constant}
    busiest = sorted(index, key=lambda info: info.statistics.mean or 0.0, reverse=True)
    drawn = choose(
        changing=changing,
        constant={info.metric for info in index if info.constant},
        busiest=[info.metric for info in busiest],
    )
    return Counters(drawn=drawn, series=len(index), changing=sum(not info.constant for info in index))


def whole_clock(run: RunDetail, counters: Counters) -> tuple[float, float] | None:
    """From 0 to the last sample, s: the same range for all charts, independent of drawing order. None: no samples.

    Not to the run's end: an interrupted run is ended only when that is detected, which may be a day later.
    """
    if run.archive is None:
        kinds = {key.partition(".")[0]: key for key in reversed(counters.drawn)}
        series = queries.load_series(run_ids=[run.row.id], metrics=["client.throughput", *kinds.values()])
        last = [float(one.at[-1]) for one in series if len(one.at)]
    else:
        # Archived samples are not fetched just for the page.
        last = [node.last for node in run.nodes if node.last is not None]
    if run.measured_to is not None:
        last.append(run.measured_to)
    return (0.0, max(last)) if last else None


def measured(run: RunDetail) -> tuple[float, float] | None:
    """s on the run's clock; None: not known yet."""
    if run.measured_from is None or run.measured_to is None:
        return None
    return run.measured_from, run.measured_to


def happenings(run: RunDetail, whole: tuple[float, float] | None) -> list[TimelineEntry]:
    """From stored events only; the page's script requests those derived from samples."""
    return timeline.happenings(run.events, measured(run), whole[1] if whole else None)


def _side(run: RunDetail) -> dict[str, str | int]:
    return {"side": run.system.slug, "workload": run.row.workload_id}
