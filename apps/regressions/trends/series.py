"""Runs of stored trends, release by release, then in order of time, as series for change detection."""

import json
import math
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from django.db import connection

from apps.catalog.models import Metric
from apps.comparison.api import Occurrence, lasting_facts, session_numbers
from apps.comparison.pure import THROUGHPUT
from apps.core.answers import Hidden, Rounded
from apps.regressions import detection
from apps.regressions.detection import ChangeLimits, Conditions, HostMeasure, ResultSeries
from apps.regressions.models import Trend
from apps.regressions.thresholds import Thresholds
from apps.runs.api import places
from apps.runs.models import Run

# Origins of measured runs; synthetic runs are analysed only in trends without measured ones.
MEASURED = (Run.Provenance.AGENT, Run.Provenance.SUBMITTED)
MOST_RUNS = 2**31 - 1
# Why a change of its value is not looked for.
RATED = "at a fixed rate: its value is the number of arrivals; whether the rate is held stands on the board"
# What is measured of the host; a step of stolen time is a percentage point.
CANARY, STOLEN_TIME = "canary", "stolen"

# Start of a run's campaign, UTC.
CAMPAIGN = """
SELECT to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') FROM dispatch_jobrun r
JOIN dispatch_job j ON j.id = r.job_id JOIN dispatch_campaign c ON c.id = j.campaign_id WHERE r.run_id = runs.run
"""
# Zone of the server that was the first to write, of systems in several zones.
ZONE = """
SELECT n.zone FROM runs_event e JOIN catalog_node n ON n.system_id = runs.system AND n.name = e.node
WHERE e.run_id = runs.run AND e.kind = 'role' AND e.detail ->> 'role' = 'writer'
  AND EXISTS (SELECT FROM catalog_node o WHERE o.system_id = runs.system AND o.zone NOT IN (n.zone, ''))
ORDER BY e.starts_at LIMIT 1
"""
# Stolen CPU time, %, of the node that lost most; a value that never changed is kept with its node.
STOLEN = """
SELECT max(mean) FROM runs_series WHERE run_id = runs.run AND metric_id = (
    SELECT id FROM catalog_metric WHERE key = 'derived.cpu.steal')
"""
NEVER_STOLEN = """
SELECT max((constants ->> 'derived.cpu.steal')::float) FROM runs_runnode WHERE run_id = runs.run
"""
# Excluded runs never count; a ratio needs positive values, only errors may be zero.
SERIES = f"""
SELECT id, run, system, release, version, version_key, started_at, value, server_version, slug, warmup, duration,
    data_bytes, tool_version, host - 'canary', CASE WHEN %(campaigns)s THEN ({CAMPAIGN}) END, ({ZONE}),
    coalesce(({STOLEN}), ({NEVER_STOLEN})), host -> 'canary', server_started_at, session, provenance
FROM (
SELECT h.id, runs_run.id AS run, s.id AS system, release.id AS release, version, version_key, started_at, m.value,
    server_version, s.slug, warmup, duration, data_bytes, tool_version, host, server_started_at, session,
    provenance, row_number() OVER (PARTITION BY h.id ORDER BY started_at DESC, runs_run.id DESC) AS back
FROM regressions_history h
JOIN catalog_release release ON release.platform_id = h.platform_id
JOIN catalog_system s
  ON s.release_id = release.id AND s.hardware_class_id = h.hardware_class_id AND s.settings_hash = h.settings_hash
JOIN runs_run
  ON runs_run.system_id = s.id AND runs_run.workload_id = h.workload_id AND runs_run.load_level_id = h.load_level_id
JOIN runs_measurement m ON m.run_id = runs_run.id AND m.metric_id = coalesce(%(metric)s, h.metric_id)
WHERE h.id = ANY(%(trends)s) AND {places.COUNTED} AND m.value < 'infinity'
  AND (m.value > 0 OR %(zero)s AND m.value = 0)
) runs WHERE back <= %(newest)s
ORDER BY version_key, version, started_at, run
"""  # noqa: S608  our own names


@dataclass(frozen=True)
class SeriesRun:
    """A run of a series. `reset`: compared with the runs before. `build`: version that the server reported;
    `slug`: of the system; `campaign`: its start where asked for, as 2026-11-25 21:04:30, UTC; `machine`: name of the
    load generator, and the writer's zone where it can differ, empty: not known. `canary`: CPU time of a fixed piece of
    work on the load generator, ms, and what work; `stolen`: CPU time, %; nan: not known. `session`: its number.
    `length`: of the measured phase as asked for, s; 0: not known. `commit`: where asked for (`builds`); empty: not
    known."""

    run: int
    system: Hidden[int]
    release: Hidden[int]
    version: str
    version_key: Hidden[tuple[int, ...]]
    started_at: datetime
    value: Annotated[Rounded, "in the metric's unit"]
    reset: Annotated[str, "differences of conditions from the runs before; empty: none known"] = ""
    build: Hidden[str] = ""
    slug: Hidden[str] = ""
    campaign: Hidden[str] = ""
    machine: Hidden[str] = ""
    canary: Hidden[tuple[float, str]] = (math.nan, "")
    stolen: Hidden[float] = math.nan
    session: Hidden[int] = 0
    length: Hidden[float] = 0.0
    commit: Hidden[str] = ""

    @property
    def order(self) -> tuple[tuple[int, ...], str, datetime, int]:
        return self.version_key, self.version, self.started_at, self.run


@dataclass(frozen=True)
class TrendSeries:
    """A stored trend with its current `points`, and `results` with the limits that apply."""

    trend: Trend
    points: Sequence[SeriesRun]
    results: ResultSeries


def read(trends: Collection[Trend], chosen: Thresholds) -> list[TrendSeries]:
    """In the order of `trends`, with the limits of these thresholds. One query."""
    rows = runs_of(trends)
    return [trend_series(trend, rows[trend.pk], chosen.of(trend.workload_id, trend.metric_id)) for trend in trends]


def runs_of(
    trends: Collection[Trend],
    *,
    metric: int | None = None,
    newest: int | None = None,
    zero: bool = False,
    campaigns: bool = False,
) -> dict[int, list[SeriesRun]]:
    """Trend -> its runs in order. `metric`: another than the trend's; `newest`: at most so many of the last runs by
    time; `zero`: with values of 0; `campaigns`: with their campaigns. One query."""
    rows: dict[int, list[Sequence[Any]]] = {trend.pk: [] for trend in trends}
    asked = {
        **{"trends": list(rows), "metric": metric, "newest": newest or MOST_RUNS},
        **{"zero": zero, "campaigns": campaigns},
    }
    with connection.cursor() as cursor:
        cursor.execute(SERIES, asked)
        for trend_id, *row in cursor.fetchall():
            rows[trend_id].append(row)
    return {trend_id: _points(own) for trend_id, own in rows.items()}


def trend_series(trend: Trend, points: Sequence[SeriesRun], limits: ChangeLimits) -> TrendSeries:
    results = ResultSeries(
        values=np.array([point.value for point in points], dtype=np.float64),
        resets=[place for place, point in enumerate(points) if point.reset],
        boundaries=[place for place in range(1, len(points)) if points[place].release != points[place - 1].release],
        limits=limits,
        days=[point.started_at.toordinal() for point in points],
        machines=[point.machine for point in points] if all(point.machine for point in points) else (),
        host=_host(points, sign=-1 if trend.metric.direction == Metric.Direction.HIGHER else 1),
        sessions=_sessions(points),
    )
    return TrendSeries(trend, points, results)


def _sessions(points: Sequence[SeriesRun]) -> list[int]:
    """Of each run, for the order of a series: one that measured two releases in turns has two parts, one after the
    other, which differ by more than the session."""
    numbers: dict[tuple[int, int], int] = {}
    return [numbers.setdefault((point.release, point.session), len(numbers)) for point in points]


def _host(points: Sequence[SeriesRun], *, sign: int) -> list[HostMeasure]:
    """`sign`: of the effect of a host that does less."""
    canary = [cpu / detection.CANARY_STEP for cpu in np.log([point.canary[0] for point in points])]
    stolen = np.array([point.stolen for point in points])
    return [
        HostMeasure(CANARY, np.array(canary), sign, [point.canary[1] for point in points]),
        HostMeasure(STOLEN_TIME, stolen, sign),
    ]


def rate_of(trend: Trend, metric: Metric) -> float | None:
    """The fixed rate, 1/s, of which this metric counts the arrivals; None: it is judged by its value."""
    return trend.load_level.rate if metric.key == THROUGHPUT else None


def place_of(points: Sequence[SeriesRun], run: Run) -> int:
    """Index of a run, or the index it would have if it counted."""
    release = run.system.release
    own = (tuple(release.version_key), release.version, run.started_at, run.pk)
    return bisect_left([point.order for point in points], own)


def _points(rows: Sequence[Sequence[Any]]) -> list[SeriesRun]:
    if any(row[-1] in MEASURED for row in rows):
        rows = [row for row in rows if row[-1] in MEASURED]
    resets = detection.resets([_conditions(row) for row in rows])
    # Systems measured in turns have servers of their own, whose starts differ without being restarts.
    sessions = session_numbers(
        Occurrence(row[0], str(row[1]), row[5], _generator(row), row[18], row[19]) for row in rows
    )
    return [
        SeriesRun(
            *(run, system, release, version, tuple(key), at, value, resets.get(number, ""), build, slug),
            campaign=row[14] or "",
            machine=_machine(_generator(row), row[15] or ""),
            canary=_canary(row[17]),
            stolen=math.nan if row[16] is None else row[16],
            session=sessions[run],
            length=row[10] or 0.0,
        )
        for number, row in enumerate(rows)
        for run, system, release, version, key, at, value, build, slug in [row[:9]]
    ]


def _conditions(row: Sequence[Any]) -> Conditions:
    warmup, duration, data, tool, host = row[9:14]
    return Conditions(warmup, duration, data or None, tool, _facts(host), zone=row[15] or "")


def _generator(row: Sequence[Any]) -> str:
    return str(_facts(row[13]).get("name") or "")


def _machine(generator: str, zone: str) -> str:
    return f"{generator}, writer in {zone}" if generator and zone else generator


@lru_cache(maxsize=1024)
def _facts(host: str) -> Mapping[str, Any]:
    """A cursor returns JSON as text; most runs of a series have the same."""
    return lasting_facts(json.loads(host))


def _canary(told: str | None) -> tuple[float, str]:
    found = json.loads(told) if told else None
    cpu = found.get("cpu_ms") if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping) or not isinstance(cpu, int | float) or isinstance(cpu, bool) or cpu <= 0:
        return math.nan, ""
    return float(cpu), str(found.get("work", ""))
