"""Earlier runs under the conditions of those compared, for their noise. One query for all places."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from apps.comparison.comparability.facts import lasting_facts, seconds
from apps.comparison.selection.runs import Pair, are_all
from apps.comparison.selection.sessions import Occurrence
from apps.comparison.stats.replicates import MOST_EARLIER_RUNS
from apps.core.canonical import canonical_json
from apps.runs.api import places

# Earlier runs searched for similar ones, per side and level.
MOST_EARLIER = 50
# Durations within these factors count as equal.
LENGTHS = 0.98, 1.02

# The newest runs that count before `g.before` at a place `g`, of its origins: per origin in the order of the index
# run_counted, so that no more are read.
NEWEST_BEFORE = f"""
    SELECT own.* FROM unnest(string_to_array(g.origins, ' ')) AS o (origin)
    CROSS JOIN LATERAL (
        SELECT *, xmin AS written, ctid AS place FROM runs_run
        WHERE system_id = g.system AND workload_id = g.workload AND load_level_id = g.level
          AND provenance = o.origin AND started_at < g.before AND {places.COUNTED}
        ORDER BY started_at DESC, id DESC LIMIT {MOST_EARLIER}
    ) own
    ORDER BY own.started_at DESC, own.id DESC LIMIT {MOST_EARLIER}
"""  # noqa: S608  our own names
# Of these, of the compared runs' origins, the runs made under the same conditions.
ALIKE = f"""
SELECT g.number, alike.id, alike.started_at, coalesce(alike.host->>'name', ''), alike.server_started_at, alike.session
FROM unnest(
    %(systems)s::bigint[], %(workloads)s::bigint[], %(levels)s::bigint[], %(origins)s::text[],
    %(before)s::timestamptz[], %(servers)s::text[], %(hosts)s::text[], %(warmups)s::float8[], %(durations)s::float8[]
) WITH ORDINALITY AS g (system, workload, level, origins, before, server, host, warmup, duration, number)
CROSS JOIN LATERAL (
    SELECT id, started_at, host, server_started_at, session FROM ({NEWEST_BEFORE}) newest
    WHERE server_version = g.server AND host @> g.host::jsonb AND warmup IS NOT DISTINCT FROM g.warmup
      AND (duration BETWEEN %(least)s * g.duration AND %(longest)s * g.duration
        OR duration IS NULL AND g.duration IS NULL)
    ORDER BY started_at DESC, id DESC LIMIT %(history)s
) alike
ORDER BY g.number, alike.started_at DESC, alike.id DESC
"""  # noqa: S608  our own names


@dataclass(frozen=True)
class EarlierRun:
    """A run before those compared. `run`: with the key of its side empty."""

    level: int
    run: Occurrence


def earlier(rows: Sequence[dict[str, Any]], *, newest_read: bool) -> dict[Pair, list[EarlierRun]]:
    """(system, workload) -> the newest earlier runs like those compared, per level the newest first; at most
    MOST_EARLIER per level are searched. `rows` in order of time.

    Like: same system, level, origin, server, load generator's host, warm-up and duration, before the first compared
    run. A side whose compared runs differ in these (except origin) has no history: the conditions are ambiguous.
    """
    groups: dict[tuple[int, int, int], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["system_id"], row["workload_id"], row["load_level_id"]].append(row)
    alike = {
        place: members
        for place, members in groups.items()
        if not (newest_read and are_all(members))
        and len({canonical_json(_conditions(member)) for member in members}) == 1
    }
    if not alike:
        return {}
    at = list(alike)
    found: dict[Pair, list[EarlierRun]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(ALIKE, _parameters(alike))
        for number, run, started_at, host, server_started_at, session in cursor.fetchall():
            system, workload, level = at[number - 1]
            occurrence = Occurrence(run, "", started_at, host, server_started_at, session)
            found[system, workload].append(EarlierRun(level, occurrence))
    return found


def _parameters(alike: dict[tuple[int, int, int], list[dict[str, Any]]]) -> dict[str, Any]:
    firsts = [members[0] for members in alike.values()]
    return {
        "systems": [system for system, _, _ in alike],
        "workloads": [workload for _, workload, _ in alike],
        "levels": [level for _, _, level in alike],
        "origins": [" ".join({member["provenance"] for member in members}) for members in alike.values()],
        "before": [row["started_at"] for row in firsts],
        "servers": [row["server_version"] for row in firsts],
        "hosts": [canonical_json(lasting_facts(row["host"])) for row in firsts],
        "warmups": [row["warmup"] for row in firsts],
        "durations": [row["duration"] for row in firsts],
        "history": MOST_EARLIER_RUNS,
        "least": LENGTHS[0],
        "longest": LENGTHS[1],
    }


def _conditions(row: dict[str, Any]) -> dict[str, Any]:
    """Conditions of a run that affect the run-to-run noise."""
    lengths = {"warmup": seconds(row["warmup"]), "duration": seconds(row["duration"])}
    return {**lengths, "server": row["server_version"], "host": lasting_facts(row["host"])}
