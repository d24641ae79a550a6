"""Panels as displayed: disk response times relative to the lowest load of the same system and workload."""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.db import connection

from apps.use_method.engine import VERSION
from apps.use_method.panels import response_times
from apps.use_method.panels.response_times import Baseline
from apps.use_method.values import Panel, Reading

# Limit of runs at the lowest load, the newest.
NEWEST = 20
# A run `o` that counts, with a current panel `k`, of the system and workload `w`.
ALIKE = """
  o.system_id = w.system_id AND o.workload_id = w.workload_id AND o.provenance = w.provenance
  AND o.state = 'sealed' AND o.outcome = 'succeeded' AND NOT o.is_excluded
  AND k.version = %(version)s AND k.sealed_at = o.sealed_at
"""
# Open loops are compared with the lowest rate, closed ones with the fewest threads.
QUERY = """
SELECT w.ids, low.threads, low.rate, b.id, b.readings
FROM (
  SELECT r.system_id, r.workload_id, r.provenance, l.rate IS NULL AS is_closed, array_agg(r.id) AS ids
  FROM runs_run r JOIN catalog_loadlevel l ON l.id = r.load_level_id
  WHERE r.id = ANY(%(runs)s) GROUP BY 1, 2, 3, 4
) w
CROSS JOIN LATERAL (
  SELECT l.id, l.threads, l.rate FROM catalog_loadlevel l
  WHERE (l.rate IS NULL) = w.is_closed AND EXISTS (
    SELECT FROM runs_run o JOIN use_method_usepanel k ON k.run_id = o.id WHERE o.load_level_id = l.id AND {alike}
  )
  ORDER BY l.rate, l.threads LIMIT 1
) low
CROSS JOIN LATERAL (
  SELECT o.id, jsonb_path_query_array(k.content, %(needed)s) AS readings
  FROM runs_run o JOIN use_method_usepanel k ON k.run_id = o.id
  WHERE o.load_level_id = low.id AND {alike}
  ORDER BY o.started_at DESC, o.id DESC LIMIT %(newest)s
) b
"""
NEEDED = "$.readings[*] ? ({})".format(" || ".join(f'@.indicator == "{key}"' for key in sorted(response_times.NEEDED)))


def compared(panels: Mapping[int, Panel]) -> dict[int, Panel]:
    """`panels` by run. One query; none without panels."""
    found = baselines(list(panels)) if panels else {}
    return {run: response_times.against(panel, run, found.get(run)) for run, panel in panels.items()}


def baselines(run_ids: list[int]) -> dict[int, Baseline]:
    """Baselines by run; none while no panel of its system and workload is stored. One query."""
    with connection.cursor() as cursor:
        found: dict[str, Any] = {"runs": run_ids, "version": VERSION, "needed": NEEDED, "newest": NEWEST}
        cursor.execute(QUERY.format(alike=ALIKE), found)
        rows = cursor.fetchall()
    readings: dict[tuple[tuple[int, ...], int, float | None], dict[int, list[Reading]]] = {}
    for ids, threads, rate, run, content in rows:
        readings.setdefault((tuple(ids), threads, rate), {})[run] = msgspec.json.decode(content, type=list[Reading])
    return {
        run: made
        for (ids, threads, rate), of_runs in readings.items()
        for made in [response_times.of_runs(threads, rate, of_runs)]
        for run in ids
    }
