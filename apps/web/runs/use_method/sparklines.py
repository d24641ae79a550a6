"""Sparklines in cells of USE panels: the series of each reading over the measured phase."""

from collections.abc import Iterable, Mapping, Sequence

from apps.runs.api import MEASURED_PHASE, SeriesValues, queries
from apps.runs.models import Run
from apps.runs.pure import CLIENT
from apps.use_method.pure import Reading, Span
from apps.web.components import sparklines
from apps.web.components.sparklines import Spark

# By metric and node of the readings.
Sparks = Mapping[tuple[str, str], Spark]


def with_series(readings: Iterable[Reading]) -> list[Reading]:
    """Readings that have a series to draw."""
    return [one for one in readings if one.metric and one.value is not None]


def of_runs(readings: Mapping[int, Sequence[Reading]], nodes: Iterable[str]) -> dict[int, Sparks]:
    """Sparklines by run. `readings` by run; `nodes`: names of sampled nodes.

    Runs with archived samples are left out: the archive is not read just for sparklines. Seven queries for any number
    of runs.
    """
    wanted = {run: own for run, each in readings.items() if (own := with_series(each))}
    there = Run.objects.filter(pk__in=wanted, archived__moved_at=None).values_list("pk", "measured_from", "measured_to")
    phases = {run: (start, end) for run, start, end in there if start is not None and end is not None}
    if not phases:
        return {}
    found = queries.load_series(
        run_ids=list(phases),
        metrics={run: sorted({one.metric for one in wanted[run]}) for run in phases},
        between=(0.0, max(end - start for start, end in phases.values())),
        points=sparklines.POINTS,
        align=MEASURED_PHASE,
    )
    series: dict[int, list[SeriesValues]] = {}
    for one in found:
        series.setdefault(one.run_id, []).append(one)
    known = set(nodes)
    return {run: drawn(wanted[run], series[run], phases[run], known) for run in phases if run in series}


def drawn(readings: Iterable[Reading], found: Iterable[SeriesValues], between: Span, known: set[str]) -> Sparks:
    """Sparklines of one run; `between`: its measured phase, s on its clock. `known`: names of its nodes."""
    there = [one for one in found if len(one.at) and not one.problem]
    series = {(one.metric, one.node): one for one in there}
    # Series sampled on the load generator's host count as the client's.
    beside = {one.metric: one for one in there if one.node not in known}
    lines = {}
    for each in readings:
        own = series.get((each.metric, each.node)) or (beside.get(each.metric) if each.node == CLIENT else None)
        if own is None:
            continue
        at, values = own.at + own.zero, own.values.astype("float64")
        if spark := sparklines.draw(at, values, between=between, unit=own.unit, spans=each.spans):
            lines[each.metric, each.node] = spark
    return lines
