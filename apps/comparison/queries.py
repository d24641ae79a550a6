"""Reads runs from the warehouse and compares their sides; a constant number of queries whatever is compared."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q, QuerySet

from apps.catalog.models import LoadLevel, Metric, Node, Workload
from apps.comparison import comparability, stats, table
from apps.comparison.comparability import Traits, Weight
from apps.comparison.rows import are_all, is_counted, left_out_word, newest_only, run_rows
from apps.comparison.sides import ChosenSide, chosen_sides, compared_workload
from apps.comparison.stats import Direction
from apps.comparison.traits import hardware_detail, lasting_facts, seconds, traits_of
from apps.comparison.values import (
    NO_VALUES,
    ComparedCampaign,
    ComparedMetric,
    ComparedRun,
    Comparison,
    Earlier,
    Level,
    Side,
)
from apps.core.canonical import canonical_json
from apps.runs.models import COUNTED, Measurement, Run, RunNode

THROUGHPUT, ERRORS = "client.throughput", "client.errors"
PERCENTILE = re.compile(r"^client\.latency\.p(\d+(?:\.\d+)?)$")
USUAL_PERCENTILE = "client.latency.p95"
# Of each side at each level: among so many earlier runs those alike are sought that tell how much runs vary.
MOST_EARLIER = 50


def compare(
    *,
    sides: Sequence[str],
    workload_id: int,
    campaign: int | None = None,
    runs: Sequence[int] | None = None,
    acknowledged: Collection[str] = (),
) -> Comparison:
    """`sides`: two to four keys, the first is the baseline: a system's slug, or slug:id of a workload other than
    `workload_id`. `campaign` and `runs` restrict which runs count, without `runs` the newest of each side and level do;
    earlier ones then tell how much such runs vary. `acknowledged`: differences (fields) that a person accepted.

    Raises Invalid naming the field (`side`, `workload`), and Unknown when there is no such system or workload.
    """
    chosen = chosen_sides(sides, workload_id)
    workload = chosen.workload
    rows, tallies = run_rows(chosen.sides, campaign, runs)
    values = _values(row["id"] for row in rows if is_counted(row))
    metrics, notes = _metrics(workload, rows, values)
    compared = [_compared_run(row, values.get(row["id"], {}), metrics) for row in rows]
    levels = _levels(rows)
    traits = _traits(chosen.sides, rows, levels)
    differences = comparability.differences(traits)
    withheld = tuple(
        each.field for each in differences if each.weight is Weight.WITHHOLDS and "hardware" not in acknowledged
    )
    earlier = _earlier([row for row in rows if is_counted(row)], newest_read=campaign is None and runs is None)
    cells = table.cells(
        sides=[side.key for side in chosen.sides],
        levels=levels,
        metrics=metrics,
        runs=[run for run in compared if not run.left_out],
        history=_history(earlier, metrics),
        withheld=[chosen.sides[place].key for place in comparability.withheld_places(differences)] if withheld else [],
    )
    names = {side.key: side.name for side in chosen.sides}
    if runs is None:
        notes = [*newest_only(tallies, names=names, levels=levels, campaign=campaign is not None), *notes]
    for side, known in zip(chosen.sides, traits, strict=True):
        if mixed := comparability.mixtures(known):
            notes.append(f"The runs of {side.name} differ among themselves: {', '.join(mixed)}.")
    return Comparison(
        workload=compared_workload(workload),
        campaign=next((run.campaign for run in compared), None) if campaign is not None else None,
        sides=tuple(_side(side, place, compared) for place, side in enumerate(chosen.sides)),
        levels=tuple(levels),
        metrics=tuple(metrics),
        cells=cells,
        differences=differences,
        withheld=withheld,
        runs=tuple(compared),
        tallies=tallies,
        notes=tuple(notes),
        earlier=earlier,
    )


def _values(runs: Iterable[int]) -> dict[int, dict[str, float]]:
    """Run -> metric key -> headline value."""
    found: dict[int, dict[str, float]] = defaultdict(dict)
    measured = Measurement.objects.filter(run_id__in=list(runs)).order_by()
    # A row per metric: thousands of rows would cost more than all else.
    arrays = {"runs": ArrayAgg("run_id"), "values": ArrayAgg("value")}
    for key, ids, values in measured.values_list("metric__key").annotate(**arrays):
        for run, value in zip(ids, values, strict=True):
            found[run][key] = value
    return found


def _metrics(
    workload: Workload, rows: Sequence[dict[str, Any]], values: dict[int, dict[str, float]]
) -> tuple[list[ComparedMetric], list[str]]:
    """What can be compared: the workload's primary metric, throughput, one latency percentile, errors."""
    counted = [row for row in rows if is_counted(row)]
    percentile, notes = _percentile([values.get(row["id"], {}) for row in counted])
    present = {key for measured in values.values() for key in measured}
    primary = workload.primary_metric.key
    wanted = [key for key in dict.fromkeys([primary, THROUGHPUT, percentile, ERRORS]) if key in present]
    known = Metric.objects.in_bulk(wanted, field_name="key")
    for key in (primary, THROUGHPUT):
        missing = sum(key not in values.get(row["id"], {}) for row in counted)
        if missing and key in (primary, *wanted):
            notes.append(f"{_runs(missing)} without {key}: not part of that figure.")
    return [_metric(known[key], primary) for key in wanted], list(dict.fromkeys(notes))


def _percentile(measured: Sequence[dict[str, float]]) -> tuple[str, list[str]]:
    """The one latency percentile to compare. Different percentiles are different quantities: never mixed."""
    counts = Counter(key for values in measured for key in values if PERCENTILE.match(key))
    if not counts:
        return USUAL_PERCENTILE, ["No run has a latency percentile."] if measured else []
    chosen = max(counts, key=lambda key: (counts[key], key == USUAL_PERCENTILE, key))
    lacking = len(measured) - counts[chosen]
    if not lacking:
        return chosen, []
    others = sorted(_short(key) for key in counts if key != chosen)
    instead = f" ({', '.join(others)} instead)" if others else ""
    return chosen, [f"{_runs(lacking)} without {_short(chosen)}{instead}: not part of the latency figures."]


def _short(key: str) -> str:
    return key.rsplit("latency.", 1)[-1]


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


def _metric(metric: Metric, primary: str) -> ComparedMetric:
    kind = "latency" if PERCENTILE.match(metric.key) else "errors" if metric.key == ERRORS else "throughput"
    return ComparedMetric(
        key=metric.key,
        name=metric.name,
        unit=metric.unit,
        direction=Direction(metric.direction),
        kind=kind,
        primary=metric.key == primary,
    )


def _compared_run(row: dict[str, Any], values: dict[str, float], metrics: Sequence[ComparedMetric]) -> ComparedRun:
    wanted = {metric.key for metric in metrics}
    return ComparedRun(
        id=row["id"],
        side=row["side"],
        level=row["load_level_id"],
        repetition=row["repetition"],
        started_at=row["started_at"],
        provenance=row["provenance"],
        warmup=row["warmup"],
        duration=row["duration"],
        campaign=ComparedCampaign(row["campaign_id"], row["campaign_name"]) if row["campaign_id"] else None,
        values={key: value for key, value in values.items() if key in wanted},
        left_out=_why_left_out(row, values),
    )


def _why_left_out(row: dict[str, Any], values: dict[str, float]) -> str:
    word = left_out_word(row["state"], row["outcome"])
    if word:
        return f"{word}: {row['reason']}" if row["reason"] else word
    return "" if values else NO_VALUES


def _levels(rows: Sequence[dict[str, Any]]) -> list[Level]:
    found = {row["load_level_id"]: (row["threads"], row["rate"]) for row in rows}
    ordered = sorted(found.items(), key=lambda item: (item[1][1] is not None, item[1][1] or 0, item[1][0]))
    return [
        Level(
            id=pk,
            key=f"{threads}" if rate is None else f"{threads}@{rate:g}",
            threads=threads,
            rate=rate,
            text=str(LoadLevel(threads=threads, rate=rate)),
        )
        for pk, (threads, rate) in ordered
    ]


def _side(side: ChosenSide, position: int, runs: Sequence[ComparedRun]) -> Side:
    own = [run for run in runs if run.side == side.key and not run.left_out]
    system, platform = side.system, side.system.release.platform
    return Side(
        slug=side.key,
        system=system.slug,
        workload=compared_workload(side.workload),
        name=side.name,
        position=position,
        platform=platform.name,
        platform_slug=platform.slug,
        platform_color=platform.color,
        release=system.release.version,
        hardware=system.hardware_class.name,
        hardware_detail=hardware_detail(system.hardware_class),
        runs=len(own),
        origins=tuple(sorted({run.provenance for run in own})),
    )


def _traits(sides: Sequence[ChosenSide], rows: Sequence[dict[str, Any]], levels: Sequence[Level]) -> list[Traits]:
    counted = [row for row in rows if is_counted(row)]
    nodes = list(Node.objects.filter(system__in=[side.system.pk for side in sides]).values("system_id", "role", "zone"))
    configurations = list(
        RunNode.objects.filter(run_id__in=[row["id"] for row in counted], configuration__isnull=False)
        .order_by()
        .values_list("run__system_id", "run__workload_id", "configuration_id", "configuration__variables")
        .distinct("run__system_id", "run__workload_id", "configuration_id")
    )
    return [
        traits_of(
            side.system,
            workload=side.workload,
            nodes=[node for node in nodes if node["system_id"] == side.system.pk],
            rows=[row for row in counted if row["side"] == side.key],
            variables=[row[-1] for row in configurations if row[:2] == (side.system.pk, side.workload.pk)],
            levels=levels,
        )
        for side in sides
    ]


def _history(
    earlier: Sequence[Earlier], metrics: Sequence[ComparedMetric]
) -> dict[tuple[str, int, str], tuple[float, ...]]:
    """(side, level, metric) -> values of the earlier runs, the newest first."""
    measured = Measurement.objects.filter(
        run_id__in=[run for each in earlier for run in each.runs], metric__key__in=[metric.key for metric in metrics]
    ).values_list("run_id", "metric__key", "value")
    values = {(run, key): value for run, key, value in measured}
    return {
        (each.side, each.level, metric.key): tuple(
            values[run, metric.key] for run in each.runs if (run, metric.key) in values
        )
        for each in earlier
        for metric in metrics
    }


def _earlier(rows: Sequence[dict[str, Any]], *, newest_read: bool) -> tuple[Earlier, ...]:
    """Of each side and level the newest earlier runs like those compared; no more than MOST_EARLIER are looked at.

    Like: same system, level, origin, server, load generator's host, warm-up and duration, before the first compared
    run. A side whose compared runs differ in these (origin apart) has no history: nothing says which of them the past
    is like.
    """
    groups: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["side"], row["load_level_id"]].append(row)
    alike = [
        members
        for members in groups.values()
        if not (newest_read and are_all(members))
        and len({canonical_json(_conditions(member)) for member in members}) == 1
    ]
    sides = {(row["system_id"], row["workload_id"]): row["side"] for row in rows}
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for run, system, workload, level in _before(alike):
        found[sides[system, workload], level].append(run)
    return tuple(Earlier(side, level, tuple(runs)) for (side, level), runs in found.items())


def _conditions(row: dict[str, Any]) -> dict[str, Any]:
    """Under which a run was made, as far as they say how much such runs vary."""
    lengths = {"warmup": seconds(row["warmup"]), "duration": seconds(row["duration"])}
    return {**lengths, "server": row["server_version"], "host": lasting_facts(row["host"])}


def _before(groups: Sequence[Sequence[dict[str, Any]]]) -> list[tuple[int, int, int, int]]:
    """(run, system, workload, load level) of the newest runs before each group (runs of one place, in time) and like
    it, the newest first."""
    each = [
        Run.objects.filter(_alike(members[0]), pk__in=_just_before(members))
        .order_by("-started_at", "-id")
        .values_list("id", "system_id", "workload_id", "load_level_id", "started_at")[: stats.HISTORY_RUNS]
        for members in groups
    ]
    if not each:
        return []
    found = each[0].union(*each[1:], all=True) if len(each) > 1 else each[0]
    return [row[:4] for row in sorted(found, key=lambda row: row[4], reverse=True)]


def _just_before(members: Sequence[dict[str, Any]]) -> "QuerySet[Run, Any]":
    """The newest MOST_EARLIER runs that count at their place and come from where they come from: as the index
    run_counted has them."""
    first = members[0]
    counted = Run.objects.filter(
        system_id=first["system_id"],
        workload_id=first["workload_id"],
        load_level_id=first["load_level_id"],
        provenance__in={member["provenance"] for member in members},
        started_at__lt=first["started_at"],
    ).filter(COUNTED)
    return counted.order_by("-started_at", "-id").values("pk")[:MOST_EARLIER]


def _alike(row: dict[str, Any]) -> Q:
    """Runs under the conditions of this one: its length to 2 %, its host apart from passing facts."""
    alike = Q(server_version=row["server_version"], host__contains=lasting_facts(row["host"]), warmup=row["warmup"])
    if row["duration"] is None:
        return alike & Q(duration__isnull=True)
    return alike & Q(duration__range=(0.98 * row["duration"], 1.02 * row["duration"]))
