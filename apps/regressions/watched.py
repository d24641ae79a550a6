"""Reads the runs of a watched series in their order: release by release, then in time."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from apps.comparison.traits import lasting_facts
from apps.regressions import conditions
from apps.regressions.conditions import Conditions
from apps.regressions.models import History
from apps.runs.models import Run
from apps.runs.queries import places

# Runs that somebody measured; made-up ones are watched only where there are no others.
MEASURED = (Run.Provenance.AGENT, Run.Provenance.SUBMITTED)

# Excluded runs never count, and a ratio asks for values above 0.
SERIES = f"""
SELECT runs_run.id, s.id, release.id, release.version, release.version_key, started_at, m.value,
    warmup, duration, data_bytes, tool_version, host, provenance
FROM catalog_system s
JOIN catalog_release release ON release.id = s.release_id
JOIN runs_run ON runs_run.system_id = s.id
JOIN runs_measurement m ON m.run_id = runs_run.id AND m.metric_id = %(metric)s
WHERE release.platform_id = %(platform)s AND s.hardware_class_id = %(hardware)s AND s.settings_hash = %(settings)s
  AND runs_run.workload_id = %(workload)s AND runs_run.load_level_id = %(level)s AND {places.COUNTED}
  AND m.value > 0 AND m.value < 'infinity'
ORDER BY release.version_key, release.version, started_at, runs_run.id
"""  # noqa: S608  our own names


@dataclass(frozen=True)
class Point:
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


def points(history: History) -> list[Point]:
    """Of all runs that count, in their order. One query."""
    with connection.cursor() as cursor:
        cursor.execute(SERIES, _asked(history))
        rows = cursor.fetchall()
    if any(row[-1] in MEASURED for row in rows):
        rows = [row for row in rows if row[-1] in MEASURED]
    resets = conditions.resets([_conditions(row) for row in rows])
    return [
        Point(run, system, release, version, tuple(key), at, value, resets.get(number, ""))
        for number, (run, system, release, version, key, at, value, *_) in enumerate(rows)
    ]


def resets(points: Sequence[Point]) -> list[int]:
    """Places in the series."""
    return [number for number, point in enumerate(points) if point.reset]


def _asked(history: History) -> dict[str, Any]:
    return {
        "platform": history.platform_id,
        "hardware": history.hardware_class_id,
        "settings": history.settings_hash,
        "workload": history.workload_id,
        "level": history.load_level_id,
        "metric": history.metric_id,
    }


def _conditions(row: Sequence[Any]) -> Conditions:
    warmup, duration, data, tool, host = row[7:12]
    # A cursor hands JSON over as text.
    facts = lasting_facts(json.loads(host) if isinstance(host, str) else host)
    return Conditions(warmup, duration, data or None, tool, facts)
