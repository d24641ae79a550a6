"""Runs of stored trends, release by release, then in order of time, as series for change detection."""

import json
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import numpy as np
from django.db import connection

from apps.comparison.api import lasting_facts
from apps.core.answers import Hidden, Rounded
from apps.regressions import detection
from apps.regressions.detection import ChangeLimits, Conditions, ResultSeries
from apps.regressions.models import Trend
from apps.regressions.thresholds import Thresholds
from apps.runs.api import places
from apps.runs.models import Run

# Origins of measured runs; synthetic runs are analysed only in trends without measured ones.
MEASURED = (Run.Provenance.AGENT, Run.Provenance.SUBMITTED)

# Excluded runs never count; a ratio needs positive values.
SERIES = f"""
SELECT h.id, runs_run.id, s.id, release.id, release.version, release.version_key, started_at, m.value,
    warmup, duration, data_bytes, tool_version, host, provenance
FROM regressions_history h
JOIN catalog_release release ON release.platform_id = h.platform_id
JOIN catalog_system s
  ON s.release_id = release.id AND s.hardware_class_id = h.hardware_class_id AND s.settings_hash = h.settings_hash
JOIN runs_run
  ON runs_run.system_id = s.id AND runs_run.workload_id = h.workload_id AND runs_run.load_level_id = h.load_level_id
JOIN runs_measurement m ON m.run_id = runs_run.id AND m.metric_id = h.metric_id
WHERE h.id = ANY(%s) AND {places.COUNTED} AND m.value > 0 AND m.value < 'infinity'
ORDER BY release.version_key, release.version, started_at, runs_run.id
"""  # noqa: S608  our own names


@dataclass(frozen=True)
class SeriesRun:
    """A run of a series. `reset`: compared with the runs before."""

    run: int
    system: Hidden[int]
    release: Hidden[int]
    version: str
    version_key: Hidden[tuple[int, ...]]
    started_at: datetime
    value: Annotated[Rounded, "in the metric's unit"]
    reset: Annotated[str, "differences of conditions from the runs before; empty: none known"] = ""

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
    rows: dict[int, list[Sequence[Any]]] = {trend.pk: [] for trend in trends}
    with connection.cursor() as cursor:
        cursor.execute(SERIES, [list(rows)])
        for trend_id, *row in cursor.fetchall():
            rows[trend_id].append(row)
    return [
        trend_series(trend, _points(rows[trend.pk]), chosen.of(trend.workload_id, trend.metric_id)) for trend in trends
    ]


def trend_series(trend: Trend, points: Sequence[SeriesRun], limits: ChangeLimits) -> TrendSeries:
    results = ResultSeries(
        values=np.array([point.value for point in points], dtype=np.float64),
        resets=[place for place, point in enumerate(points) if point.reset],
        boundaries=[place for place in range(1, len(points)) if points[place].release != points[place - 1].release],
        limits=limits,
    )
    return TrendSeries(trend, points, results)


def place_of(points: Sequence[SeriesRun], run: Run) -> int:
    """Index of a run, or the index it would have if it counted."""
    release = run.system.release
    own = (tuple(release.version_key), release.version, run.started_at, run.pk)
    return bisect_left([point.order for point in points], own)


def _points(rows: Sequence[Sequence[Any]]) -> list[SeriesRun]:
    if any(row[-1] in MEASURED for row in rows):
        rows = [row for row in rows if row[-1] in MEASURED]
    resets = detection.resets([_conditions(row) for row in rows])
    return [
        SeriesRun(run, system, release, version, tuple(key), at, value, resets.get(number, ""))
        for number, (run, system, release, version, key, at, value, *_) in enumerate(rows)
    ]


def _conditions(row: Sequence[Any]) -> Conditions:
    warmup, duration, data, tool, host = row[7:12]
    # A cursor returns JSON as text.
    facts = lasting_facts(json.loads(host) if isinstance(host, str) else host)
    return Conditions(warmup, duration, data or None, tool, facts)
