"""Warehouse data of the sides of one or many comparisons, read in a constant number of queries."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import F

from apps.catalog.models import Metric, Node
from apps.comparison.comparability.variables import NodeVariables
from apps.comparison.selection import earlier_runs
from apps.comparison.selection.runs import Pair, is_counted, run_rows
from apps.comparison.selection.sessions import Occurrence, numbered
from apps.comparison.selection.sides import Chosen
from apps.comparison.values import Earlier, PastValue, RunTally
from apps.runs.models import Configuration, Distribution, Measurement, Run, RunNode


@dataclass(frozen=True)
class ComparisonData:
    """Data of the sides of one comparison; `rows` are their runs in order of time, `tallies` counts of all runs.

    The mappings may include other comparisons read with it: `values` run -> metric key -> headline value, of the runs
    that count and of `earlier` ones; `sessions` of these: run -> number; `nodes` of each system; `variables` of each
    pair of system and workload, as its runs recorded them on each node; `metrics` by key; `grids` of each workload and
    metric: ids of its histograms' grids.
    """

    chosen: Chosen
    rows: tuple[dict[str, Any], ...]
    tallies: tuple[RunTally, ...]
    earlier: tuple[Earlier, ...]
    sessions: Mapping[int, int]
    values: Mapping[int, Mapping[str, float]]
    nodes: Mapping[int, Sequence[Mapping[str, Any]]]
    variables: Mapping[Pair, tuple[NodeVariables, ...]]
    metrics: Mapping[str, Metric]
    grids: Mapping[tuple[int, str], Collection[str]]

    @property
    def counted(self) -> tuple[dict[str, Any], ...]:
        return tuple(row for row in self.rows if is_counted(row))

    def history(self, metrics: Iterable[str]) -> dict[tuple[str, int, str], tuple[PastValue, ...]]:
        """(side, level, metric) -> the earlier runs, the newest first."""
        return past_values(self.earlier, metrics, self.values)


def past_values(
    earlier: Iterable[Earlier], metrics: Iterable[str], values: Mapping[int, Mapping[str, float]]
) -> dict[tuple[str, int, str], tuple[PastValue, ...]]:
    """(side, level, metric) -> the earlier runs that have it, the newest first."""
    wanted = list(metrics)
    return {
        (each.side, each.level, metric): tuple(
            PastValue(values[run][metric], session)
            for run, session in zip(each.runs, each.sessions, strict=True)
            if metric in values.get(run, {})
        )
        for each in earlier
        for metric in wanted
    }


def load_data(each: Sequence[Chosen], *, campaign: int | None, runs: Sequence[int] | None) -> list[ComparisonData]:
    """The data of each comparison. No two of `each` may share a system under the same workload."""
    if not each:
        return []
    rows, tallies = run_rows([side for chosen in each for side in chosen.sides], campaign, runs)
    counted = [row for row in rows if is_counted(row)]
    earlier = earlier_runs.earlier(counted, newest_read=campaign is None and runs is None)
    values = values_of([*(row["id"] for row in counted), *(one.run.run for own in earlier.values() for one in own)])
    nodes = _nodes({row["system_id"] for row in counted} | {side.system.pk for one in each for side in one.sides})
    variables = variables_of([row["id"] for row in counted])
    grids = grids_of([row["id"] for row in counted])
    metrics = Metric.objects.in_bulk({key for own in values.values() for key in own}, field_name="key")
    found = []
    for chosen in each:
        keys = {(side.system.pk, side.workload.pk): side.key for side in chosen.sides}
        own_rows = tuple(row for row in rows if (row["system_id"], row["workload_id"]) in keys)
        by_side: dict[tuple[str, int], list[Occurrence]] = defaultdict(list)
        for pair, side in keys.items():
            for one in earlier.get(pair, ()):
                by_side[side, one.level].append(replace(one.run, side=side))
        past = (run for own in by_side.values() for run in own)
        counting = map(_occurrence, filter(is_counted, own_rows))
        sessions = numbered([*counting, *past], baseline=chosen.sides[0].key)
        found.append(
            ComparisonData(
                chosen=chosen,
                rows=own_rows,
                tallies=tuple(tally for pair in keys for tally in tallies.get(pair, ())),
                earlier=tuple(
                    Earlier(side, level, tuple(run.run for run in own), tuple(sessions[run.run] for run in own))
                    for (side, level), own in by_side.items()
                ),
                sessions=sessions,
                values=values,
                nodes=nodes,
                variables=variables,
                metrics=metrics,
                grids=grids,
            )
        )
    return found


def _occurrence(row: Mapping[str, Any]) -> Occurrence:
    host = str(row["host"].get("name") or "")
    return Occurrence(row["id"], row["side"], row["started_at"], host, row["server_started_at"], row["session"])


def sessions_of(runs: Iterable[int], *, baseline: str | None = None) -> dict[int, int]:
    """Run -> number of its session, of all workloads together. `baseline`: slug of a system. One query."""
    known = Run.objects.filter(pk__in=set(runs)).order_by()
    rows = known.values("id", "started_at", "host", "server_started_at", "session", side=F("system__slug"))
    return numbered(map(_occurrence, rows), baseline=baseline)


def values_of(runs: Iterable[int]) -> dict[int, dict[str, float]]:
    """Run -> metric key -> headline value."""
    found: dict[int, dict[str, float]] = defaultdict(dict)
    measured = Measurement.objects.filter(run_id__in=list(runs)).order_by()
    # Aggregated: one row per run would dominate the cost.
    arrays = {"runs": ArrayAgg("run_id"), "values": ArrayAgg("value")}
    for key, ids, values in measured.values_list("metric__key").annotate(**arrays):
        for run, value in zip(ids, values, strict=True):
            found[run][key] = value
    return found


def grids_of(runs: Iterable[int]) -> dict[tuple[int, str], list[str]]:
    """(workload, metric key) -> ids of its histograms' grids."""
    found: dict[tuple[int, str], list[str]] = defaultdict(list)
    stored = Distribution.objects.filter(run_id__in=list(runs)).order_by()
    for workload, metric, grid in stored.values_list("run__workload_id", "metric__key", "grid").distinct():
        found[workload, metric].append(grid)
    return found


def _nodes(systems: Collection[int]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    nodes = Node.objects.filter(system__in=systems)
    for node in nodes.values("system_id", "role", "zone", hardware=F("hardware_class__name")):
        found[node["system_id"]].append({**node})
    return found


def variables_of(runs: Sequence[int]) -> dict[Pair, tuple[NodeVariables, ...]]:
    asked = list(
        RunNode.objects.filter(run_id__in=runs, configuration__isnull=False)
        .order_by()
        .values_list("run__system_id", "run__workload_id", "name", "role", "configuration_id", "defaults_id")
        .distinct()
    )
    # Each configuration is read once: it has hundreds of variables, and most systems run all workloads under the same.
    known = Configuration.objects.in_bulk({pk for row in asked for pk in row[4:] if pk is not None})
    found: dict[Pair, list[NodeVariables]] = defaultdict(list)
    for system, workload, node, role, own, standard in sorted(asked, key=lambda row: (*row[:5], row[5] or 0)):
        configuration, defaults = known[own], known.get(standard)
        hashes = configuration.content_hash, defaults.content_hash if defaults else ""
        values = defaults.variables if defaults else {}
        found[system, workload].append(NodeVariables(node, role, hashes, configuration.variables, values))
    return {pair: tuple(each) for pair, each in found.items()}
