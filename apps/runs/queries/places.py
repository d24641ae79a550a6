"""Places with runs: systems x workloads x load levels, with the newest runs and the number of runs of each.

The index is read by skip scan: the time depends on the number of places, not of runs, and of each place at most the
requested number of runs is read or counted.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from django.db import connection
from django.db.models import QuerySet

from apps.catalog.models import System
from apps.runs.amounts import Amount
from apps.runs.models import Run

# Limit of counting per place; above it, the number is shown as “more than” this.
MOST_COUNTED = 1000
COUNTED = "state = 'sealed' AND outcome = 'succeeded' AND NOT is_excluded"
_AT = f"system_id = system AND workload_id = workload AND load_level_id = level AND provenance = kind AND {COUNTED}"


@dataclass(frozen=True)
class RunPlace:
    """Runs of one system and workload at one load level (0: at any) with the same `kind`: the provenance of runs that
    count, state and outcome of the others. `newest`: ids, newest first."""

    system: int
    workload: int
    level: int
    kind: tuple[str, ...]
    amount: Amount
    newest: tuple[int, ...]


def counted(
    *,
    systems: Collection[int] | None = None,
    pairs: Collection[tuple[int, int]] | None = None,
    by_level: bool = True,
    most: int = MOST_COUNTED,
    newest: int = 0,
) -> list[RunPlace]:
    """Places of the runs that count, of `pairs` of a system and a workload, else of all workloads of `systems` (None:
    all). `by_level` False: all load levels are one place, with level 0. `most`: limit of counting; 0: no counting.
    One query, two for all systems."""
    kind = ("load_level_id", "provenance") if by_level else ()
    return _places(which=COUNTED, parts=kind, systems=systems, pairs=pairs, most=most, newest=newest)


def left_out(*, pairs: Collection[tuple[int, int]], newest: int = 0) -> list[RunPlace]:
    """Places of the runs that do not count, of `pairs` of a system and a workload."""
    kind = ("load_level_id", "state", "outcome")
    which = f"NOT ({COUNTED})"
    return _places(which=which, parts=kind, pairs=pairs, most=MOST_COUNTED, newest=newest)


def look(at: Sequence[RunPlace], *, newest: int, most: int = MOST_COUNTED) -> list[RunPlace]:
    """The places `at` of runs that count, with their newest runs and their number of runs."""
    query = f"""
    SELECT (SELECT count(*) FROM (SELECT FROM runs_run WHERE {_AT} LIMIT %s + 1) alike),
        ARRAY(SELECT id FROM runs_run WHERE {_AT} ORDER BY started_at DESC, id DESC LIMIT %s)
    FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::text[]) WITH ORDINALITY
        AS p (system, workload, level, kind, place)
    ORDER BY place
    """  # noqa: S608  our own names
    columns = [[place.system for place in at], [place.workload for place in at], [place.level for place in at]]
    with connection.cursor() as cursor:
        cursor.execute(query, [most, newest, *columns, [place.kind[0] for place in at]])
        return [
            replace(place, amount=_amount(runs, most), newest=tuple(ids))
            for place, (runs, ids) in zip(at, cursor.fetchall(), strict=True)
        ]


def how_many(runs: "QuerySet[Run]", most: int = MOST_COUNTED) -> Amount:
    """Number of runs, counted from an index up to `most`."""
    return _amount(runs.order_by("pk").values("pk")[: most + 1].count(), most)


def _places(
    *,
    which: str,
    parts: tuple[str, ...],
    systems: Collection[int] | None = None,
    pairs: Collection[tuple[int, int]] | None = None,
    most: int,
    newest: int,
) -> list[RunPlace]:
    """`parts`: columns that distinguish places of one system and workload, in the order of the index."""
    if pairs is None and systems is None:
        systems = list(System.objects.values_list("pk", flat=True))
    sides: list[tuple[int, int | None]] = (
        [*pairs] if pairs is not None else [(system, None) for system in systems or ()]
    )
    columns = ("workload_id", *parts)
    names = ", ".join(columns)
    workload, next_workload, rising = "", "", columns
    if pairs is not None:
        workload, next_workload, rising = "AND workload_id = side.workload", "AND workload_id = p.workload_id", parts
    further = f"({', '.join(rising)}) > ({', '.join(f'p.{name}' for name in rising)})" if rising else "false"
    alike = " AND ".join(f"r.{name} = p.{name}" for name in ("system_id", *columns))
    # Each step finds the next place in the index run_counted or run_left_out, and skips the runs between.
    query = f"""
    WITH RECURSIVE place AS (
        SELECT first.* FROM unnest(%(systems)s::bigint[], %(workloads)s::bigint[]) AS side (system, workload)
        CROSS JOIN LATERAL (
            SELECT system_id, {names} FROM runs_run
            WHERE system_id = side.system {workload} AND {which}
            ORDER BY system_id, {names} LIMIT 1
        ) first
        UNION ALL
        SELECT next.* FROM place p CROSS JOIN LATERAL (
            SELECT system_id, {names} FROM runs_run
            WHERE system_id = p.system_id {next_workload} AND {which}
              AND {further}
            ORDER BY system_id, {names} LIMIT 1
        ) next
    )
    SELECT system_id, {names},
        (SELECT count(*) FROM (SELECT FROM runs_run r WHERE {alike} AND {which} LIMIT %(most)s) alike),
        ARRAY(SELECT id FROM runs_run r WHERE {alike} AND {which} ORDER BY started_at DESC, id DESC LIMIT %(newest)s)
    FROM place p
    """  # noqa: S608  our own names
    values: dict[str, int | list[int] | list[int | None]] = {
        "systems": [system for system, _ in sides],
        "workloads": [workload for _, workload in sides],
        "most": most and most + 1,
        "newest": newest,
    }
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return [
            RunPlace(system, work, own[0] if own else 0, tuple(own[1:]), _amount(runs, most), tuple(ids))
            for system, work, *own, runs, ids in cursor.fetchall()
        ]


def _amount(runs: int, most: int) -> Amount:
    return Amount(min(runs, most), more=runs > most)
