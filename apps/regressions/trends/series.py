"""Reads the runs of a watched series in their order: release by release, then in time."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from apps.comparison.api import lasting_facts
from apps.regressions.detection import conditions
from apps.regressions.detection.conditions import Conditions
from apps.runs.api import places
from apps.runs.models import Run

# Runs that somebody measured; made-up ones are watched only where there are no others.
MEASURED = (Run.Provenance.AGENT, Run.Provenance.SUBMITTED)

# Excluded runs never count, and a ratio asks for values above 0.
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
    """A run of a series. `value` in the metric's unit. `reset`: what was another in how it was made than in those
    before; empty: nothing known."""

    run: int
    system: int
    release: int
    version: str
    version_key: tuple[int, ...]
    started_at: datetime
    value: float
    reset: str = ""

    @property
    def order(self) -> tuple[tuple[int, ...], str, datetime, int]:
        return self.version_key, self.version, self.started_at, self.run


def points_of(histories: Collection[int]) -> dict[int, list[SeriesRun]]:
    """Of each history (by id) all runs that count, in their order. One query."""
    rows: dict[int, list[Sequence[Any]]] = {history: [] for history in histories}
    with connection.cursor() as cursor:
        cursor.execute(SERIES, [list(histories)])
        for history, *row in cursor.fetchall():
            rows[history].append(row)
    return {history: _points(own) for history, own in rows.items()}


def _points(rows: Sequence[Sequence[Any]]) -> list[SeriesRun]:
    if any(row[-1] in MEASURED for row in rows):
        rows = [row for row in rows if row[-1] in MEASURED]
    resets = conditions.resets([_conditions(row) for row in rows])
    return [
        SeriesRun(run, system, release, version, tuple(key), at, value, resets.get(number, ""))
        for number, (run, system, release, version, key, at, value, *_) in enumerate(rows)
    ]


def resets(points: Sequence[SeriesRun]) -> list[int]:
    """Places in the series."""
    return [number for number, point in enumerate(points) if point.reset]


def boundaries(points: Sequence[SeriesRun]) -> list[int]:
    """Places with which a release begins, but the first."""
    return [place for place in range(1, len(points)) if points[place].release != points[place - 1].release]


def _conditions(row: Sequence[Any]) -> Conditions:
    warmup, duration, data, tool, host = row[7:12]
    # A cursor hands JSON over as text.
    facts = lasting_facts(json.loads(host) if isinstance(host, str) else host)
    return Conditions(warmup, duration, data or None, tool, facts)
