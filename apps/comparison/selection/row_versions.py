"""Versions of the rows that verdicts rest on: equal as long as none of them was written, added or removed.

A version of a row is the transaction that wrote it (xmin) and its place (ctid): PostgreSQL gives no two of them the
same, in bulk updates and plain SQL too. What belongs to a run (measurements, distributions, nodes) is only ever written
together with the run's own row.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count

from apps.catalog.models import HardwareClass, LoadLevel, Metric, Node, Platform, Release, System, Workload
from apps.comparison.models import Acknowledgement
from apps.comparison.selection.earlier_runs import NEWEST_BEFORE
from apps.comparison.selection.runs import MOST_RUNS, Pair
from apps.runs.api import places
from apps.runs.models import Run

Versions = tuple[object, ...]
CATALOG = (Platform, Release, HardwareClass, System, Node, Workload, LoadLevel, Metric)
_HASH = "md5(string_agg(concat_ws(' ', id, {written}), ',' ORDER BY id))"
# A server that was restored from a backup may count its transactions from an earlier one on.
_TABLES = [f"(SELECT {_HASH.format(written='xmin, ctid')} FROM {model._meta.db_table})" for model in CATALOG]  # noqa: S608  ours
_CATALOG = f"SELECT pg_postmaster_start_time(), {', '.join(_TABLES)}"
_RUNS = f"""
WITH newest AS MATERIALIZED (
    SELECT own.* FROM unnest(%(systems)s::bigint[], %(workloads)s::bigint[], %(levels)s::bigint[], %(origins)s::text[])
        AS p (system, workload, level, origins)
    CROSS JOIN LATERAL unnest(string_to_array(p.origins, ' ')) AS o (origin)
    CROSS JOIN LATERAL (
        SELECT id, system_id, workload_id, load_level_id, provenance, started_at, xmin AS written, ctid AS place
        FROM runs_run
        WHERE system_id = p.system AND workload_id = p.workload AND load_level_id = p.level
          AND provenance = o.origin AND {places.COUNTED}
        ORDER BY started_at DESC, id DESC LIMIT %(most)s
    ) own
), g AS (
    SELECT system_id AS system, workload_id AS workload, load_level_id AS level,
        string_agg(DISTINCT provenance, ' ') AS origins, min(started_at) AS before
    FROM newest GROUP BY 1, 2, 3
), versions AS (
    SELECT id, written, place FROM newest
    UNION ALL SELECT past.id, past.written, past.place FROM g CROSS JOIN LATERAL ({NEWEST_BEFORE}) past
)
SELECT array_agg(id), array_agg(system_id), array_agg(workload_id),
    (SELECT {_HASH.format(written="written, place")} FROM versions)
FROM newest
"""  # noqa: S608  our own names


@dataclass(frozen=True)
class NewestRuns:
    """`sides`: run -> its system and workload. `versions`: of these runs, of earlier ones under the conditions of which
    their noise is estimated, and of their campaigns."""

    sides: dict[int, Pair]
    versions: Versions


def catalog() -> Versions:
    """Of the catalog, with the differences that people accepted. Two queries."""
    with connection.cursor() as cursor:
        cursor.execute(_CATALOG)
        written = cursor.fetchone()
    accepted = Acknowledgement.objects.filter(withdrawn_at=None).order_by("pk")
    fields = ("pk", "fingerprint", "acknowledged_by__username", "acknowledged_at", "reason")
    return *written, *accepted.values_list(*fields)


def newest_runs(at: Collection[tuple[int, int, int, tuple[str, ...]]]) -> NewestRuns:
    """The newest runs that count of each system, workload and load level in `at`, of its origins. Two queries."""
    asked: dict[str, Any] = {
        "systems": [system for system, _, _, _ in at],
        "workloads": [workload for _, workload, _, _ in at],
        "levels": [level for _, _, level, _ in at],
        "origins": [" ".join(origins) for _, _, _, origins in at],
        "most": MOST_RUNS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_RUNS, asked)
        ids, of_system, of_workload, written = cursor.fetchone()
    pairs = zip(of_system or (), of_workload or (), strict=True)
    sides = dict(zip(ids or (), pairs, strict=True))
    return NewestRuns(sides, (written, *_campaigns(sides)))


def _campaigns(runs: Iterable[int]) -> Iterable[tuple[object, ...]]:
    campaign = "job_run__job__campaign"
    rows = Run.objects.filter(pk__in=list(runs)).order_by(campaign)
    return rows.values_list(campaign, f"{campaign}__name", f"{campaign}__until").annotate(Count("pk"))
