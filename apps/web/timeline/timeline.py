"""The Timeline page: any series of any runs on one clock. The address contains the whole state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from apps.core.problems import FieldProblem, Invalid
from apps.core.query import whole_number
from apps.runs.api import NEWEST_FIRST, RunRow, described, rows_of
from apps.runs.models import Event, Run, RunNode
from apps.web.components.pages import render_page
from apps.web.timeline import series
from apps.web.timeline.series import MEASURED, RUN, TimelineAddress

# Kinds of events that runs may be aligned to.
MOMENTS = ("fault", "outage", "ddl", "promotion", "phase")
CLOCKS = {RUN: "start of the run", MEASURED: "measured phase"}
# Number of suggested runs of the same workload.
OFFERED = 8


@dataclass(frozen=True)
class ChosenSeries:
    """`node`: its name, or "sum" or "mean" over the nodes. `tone`: place in the palette; `dash`: below DASHES."""

    run: int
    metric: str
    node: str
    label: str
    tone: int
    dash: int


@dataclass(frozen=True)
class ChosenRun:
    id: int
    label: str


@dataclass(frozen=True)
class TimelinePageData:
    """Initial data of the page's script, which requests series from the API.

    `align`: origin of time, RUN, MEASURED or the first event of this kind. `totals`: instead of rates.
    """

    series: Sequence[ChosenSeries]
    runs: Sequence[ChosenRun]
    align: str
    totals: bool
    live: bool


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    try:
        address = TimelineAddress.read(request.GET)
        added = _added(request.GET.get("add", ""))
    except Invalid as error:
        return _page(request, TimelineAddress(), problems=error.errors, status=400)
    if added is None:
        return _page(request, address)
    if not Run.objects.filter(pk=added).exists():
        return _page(request, address, problems=[FieldProblem("add", f"there is no run {added}")], status=404)
    return HttpResponseRedirect(address.with_run(added, _nodes([*address.runs, added])).url())


def _page(
    request: HttpRequest,
    address: TimelineAddress,
    *,
    problems: "tuple[FieldProblem, ...] | list[FieldProblem]" = (),
    status: int = 200,
) -> HttpResponse:
    runs = address.runs
    rows = {row.id: row for row in rows_of(Run.objects.filter(pk__in=runs))}
    unknown = [run for run in runs if run not in rows]
    problems = [*problems, *(FieldProblem("series", f"there is no run {run}") for run in unknown)]
    keys = [key for key in address.series if key.run in rows]
    metrics = {key: spec.name for key, spec in described({key.metric for key in keys}).items()} if keys else {}
    named = series.named(keys, rows, metrics)
    lines = series.lines([rows[key.run].platform_color for key in keys])
    known = [run for run in runs if run in rows]
    kinds = Event.objects.filter(run_id__in=known, kind__in=MOMENTS).order_by().values_list("run_id", "kind").distinct()
    moments = series.shared_kinds(kinds, known, MOMENTS) if known else []
    clocks = CLOCKS | {kind: f"first {kind}" for kind in moments}
    if address.align not in clocks:
        clocks[address.align] = f"first {address.align.replace('_', ' ')}"
    context: dict[str, Any] = {
        "problems": problems,
        "address": address,
        "common": series.common(keys, rows, metrics),
        "series": [
            (one, rows[one.key.run], address.without(one.key).url(), line)
            for one, line in zip(named, lines, strict=True)
        ],
        "clocks": [(to, words, address.aligned(to).url()) for to, words in clocks.items()],
        "clock_words": clocks[address.align],
        "others": _others(rows[known[0]], known) if known else [],
        "first_run": known[0] if known else "",
        "most": series.MOST_SERIES,
        "is_full": len(keys) >= series.MOST_SERIES,
        "data": TimelinePageData(
            series=[
                ChosenSeries(one.key.run, one.key.metric, one.key.node, one.label, *line)
                for one, line in zip(named, lines, strict=True)
            ],
            runs=[ChosenRun(run, _run_words(rows[run], len(known))) for run in known],
            align=address.align,
            totals=address.totals,
            live=any(row.state != Run.State.SEALED for row in rows.values()),
        ),
    }
    return render_page(request, "web/timeline/timeline.html", context, status=404 if unknown and not keys else status)


def _added(text: str) -> int | None:
    """Raises Invalid."""
    if not text:
        return None
    run = whole_number(text)
    if not run:
        raise Invalid([FieldProblem("add", f"{text[:40]!r} is not a run", "write its number")])
    return run


def _nodes(runs: list[int]) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = {}
    rows = RunNode.objects.filter(run_id__in=runs).order_by("run_id", "number")
    for run, name, role in rows.values_list("run_id", "name", "role"):
        found.setdefault(run, []).append((name, role))
    return found


def _others(row: RunRow, known: list[int]) -> list[RunRow]:
    """The newest other runs of the same workload at the same load, on any system."""
    alike = Run.objects.filter(
        workload_id=row.workload_id, load_level__threads=row.threads, load_level__rate=row.rate, state=Run.State.SEALED
    )
    return rows_of(alike.exclude(pk__in=known).order_by(*NEWEST_FIRST)[:OFFERED])


def _run_words(row: RunRow, runs: int) -> str:
    return f"Run {row.id}" if runs == 1 else f"Run {row.id}, {row.system_name}"
