"""Schema changes under load: effect of each on the load of its run, by platform, statement and algorithm."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet

from apps.catalog.models import LoadLevel, Workload
from apps.comparison.schema_changes import disturbance
from apps.comparison.schema_changes.disturbance import Disturbance, LoadSeconds
from apps.comparison.schema_changes.statements import (
    AS_CHOSEN,
    TOOL,
    Manner,
    operation_of,
    option_of,
    setting_of,
    setting_text,
)
from apps.comparison.schema_changes.values import (
    QUANTITIES,
    ChangeStatement,
    ChangeTrial,
    LeftOut,
    Quantity,
    QuantityRange,
    SchemaChange,
    SchemaChanges,
)
from apps.comparison.selection.runs import left_out_word
from apps.comparison.values import ComparedCampaign
from apps.runs.api import queries
from apps.runs.models import Event, Run
from apps.runs.pure import CLIENT, Phase

DDL = "ddl"
THROUGHPUT, ERRORS = "client.throughput", "client.errors"
# Of the whole run: key of the quantity -> metric.
OF_RUN = {
    "gap_before": "ddl.gap_before",
    "other_gap_before": "ddl.other_tables.gap_before",
    "slowest": "client.latency.max",
}
# Percentiles per second; the one that most runs have is used: they are never mixed.
LATENCIES = ("client.latency.p95", "client.latency.p99", "client.latency.p50")
# Runs read, the newest.
MOST_RUNS = 200
STALL_SHARE = 50.0


@dataclass(frozen=True)
class ChangeFilter:
    """Empty: everything. `systems` by slug, `operation` and `algorithm` as in SchemaChange."""

    systems: tuple[str, ...] = ()
    operation: str = ""
    algorithm: str = ""
    campaign: int | None = None


_COLUMNS = {
    "system_slug": F("system__slug"),
    "system_name": F("system__short_name"),
    "platform": F("system__release__platform__slug"),
    "platform_name": F("system__release__platform__name"),
    "platform_color": F("system__release__platform__color"),
    "release": F("system__release__version"),
    "hardware": F("system__hardware_class__name"),
    "tool": F("workload__tool"),
    "workload_name": F("workload__name"),
    "parameters": F("workload__parameters"),
    "threads": F("load_level__threads"),
    "rate": F("load_level__rate"),
    "campaign": F("job_run__job__campaign_id"),
    "campaign_name": F("job_run__job__campaign__name"),
}
_OWN = (
    *("id", "started_at", "workload_id", "load_level_id", "repetition", "state", "outcome", "reason", "provenance"),
    *("failed_checks", "is_excluded", "measured_from", "measured_to"),
)


def schema_changes(chosen: ChangeFilter | None = None) -> SchemaChanges:
    """Of the newest finished runs; a constant number of queries."""
    chosen = chosen or ChangeFilter()
    rows, has_more = _rows(chosen)
    events: dict[int, list[Event]] = defaultdict(list)
    for event in Event.objects.filter(run_id__in=[row["id"] for row in rows], kind=DDL, ends_at__isnull=False):
        events[event.run_id].append(event)
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        own = sorted(events[row["id"]], key=lambda event: event.starts_at)
        row |= {"events": own, "operation": _operation(row, own), "manner": _manner(row, own)}
        row["level"] = str(LoadLevel(threads=row["threads"], rate=row["rate"]))
        if _is_chosen(row, chosen):
            setting = (row["tool"], row["workload_name"], *setting_of(row["tool"], row["parameters"]), row["level"])
            groups[row["operation"], setting, row["manner"], row["system_slug"]].append(row)
    shown = [row["id"] for group in groups.values() for row in group if row["events"]]
    lines = _lines(shown)
    whole = {(each.run_id, each.metric): each.value for each in queries.measurements(shown, list(OF_RUN.values()))}
    for group in groups.values():
        for row in group:
            row["of_run"] = {key: whole.get((row["id"], metric)) for key, metric in OF_RUN.items()}
    found = [_change(group, lines) for group in groups.values()]
    return SchemaChanges(
        changes=tuple(sorted(found, key=_order(found))),
        systems=tuple(sorted({(row["system_slug"], row["system_name"]) for row in rows}, key=lambda each: each[1])),
        operations=tuple(sorted({row["operation"] for row in rows})),
        algorithms=tuple(sorted({row["manner"].algorithm for row in rows})),
        campaigns=_campaigns(rows),
        has_more=has_more,
    )


def _rows(chosen: ChangeFilter) -> tuple[list[dict[str, Any]], bool]:
    """The newest runs with a schema change, overall and of the chosen systems and campaign; whether older ones of the
    latter are left out."""
    sealed = Run.objects.filter(state=Run.State.SEALED)
    own = sealed
    if chosen.systems:
        own = own.filter(system__slug__in=chosen.systems)
    if chosen.campaign is not None:
        own = own.filter(job_run__job__campaign=chosen.campaign)
    workloads = list(Workload.objects.filter(tool=TOOL).values_list("pk", flat=True))
    wanted = _newest(own, workloads)
    ids = {*wanted[:MOST_RUNS], *(wanted if own is sealed else _newest(sealed, workloads))[:MOST_RUNS]}
    rows = Run.objects.filter(pk__in=ids).order_by("-started_at", "-id")
    return [{**row} for row in rows.values(*_OWN, **_COLUMNS)], len(wanted) > MOST_RUNS


def _newest(runs: QuerySet[Run], workloads: Sequence[int]) -> list[int]:
    """MOST_RUNS + 1 ids, the newest first. Two queries, each with its own index: as one, all runs are read."""
    altered = Event.objects.filter(kind=DDL, ends_at__isnull=False).order_by().values("run")
    found = {
        row
        for kept in (runs.filter(workload__in=workloads), runs.filter(pk__in=altered))
        for row in kept.order_by("-started_at", "-id").values_list("started_at", "pk")[: MOST_RUNS + 1]
    }
    return [pk for _, pk in sorted(found, reverse=True)[: MOST_RUNS + 1]]


def _operation(row: Mapping[str, Any], events: Sequence[Event]) -> str:
    if row["tool"] == TOOL:
        return str(row["parameters"].get("operation", "")).replace("_", " ")
    return operation_of(_sql(events[0]))


def _manner(row: Mapping[str, Any], events: Sequence[Event]) -> Manner:
    if row["tool"] == TOOL:
        asked = row["parameters"]
        algorithm, lock = asked.get("algorithm", AS_CHOSEN), asked.get("lock", AS_CHOSEN)
        return Manner(algorithm, lock, float(asked.get("hold", 0)), int(asked.get("count", 1)))
    sql = _sql(events[0])
    return Manner(option_of(sql, "ALGORITHM"), option_of(sql, "LOCK"), 0.0, len(events))


def _sql(event: Event) -> str:
    return str(event.detail.get("statement") or event.label)


def _is_chosen(row: Mapping[str, Any], chosen: ChangeFilter) -> bool:
    return (
        (not chosen.systems or row["system_slug"] in chosen.systems)
        and chosen.operation in ("", row["operation"])
        and chosen.algorithm in ("", row["manner"].algorithm)
        and chosen.campaign in (None, row["campaign"])
    )


def _lines(runs: Sequence[int]) -> dict[int, dict[str, LoadSeconds]]:
    """Throughput, errors and latencies of the runs, per second."""
    found: dict[int, dict[str, LoadSeconds]] = defaultdict(dict)
    for series in (
        queries.load_series(run_ids=runs, metrics=[THROUGHPUT, ERRORS, *LATENCIES], nodes=[CLIENT]) if runs else ()
    ):
        if len(series.at):
            found[series.run_id][series.metric] = LoadSeconds(series.at, series.values.astype(float))
    return found


def _change(rows: Sequence[dict[str, Any]], lines: Mapping[int, Mapping[str, LoadSeconds]]) -> SchemaChange:
    counted = [row for row in rows if not _why_left_out(row)]
    having = Counter(key for row in counted for key in lines.get(row["id"], {}) if key in LATENCIES)
    latency = max(LATENCIES, key=lambda key: having[key]) if having else ""
    trials = tuple(_trial(row, lines.get(row["id"], {}), latency) for row in counted)
    first = rows[0]
    return SchemaChange(
        operation=first["operation"],
        setting=setting_text(first["tool"], first["workload_name"], first["parameters"], first["level"]),
        manner=first["manner"],
        system=first["system_slug"],
        system_name=first["system_name"],
        platform=first["platform"],
        platform_name=first["platform_name"],
        platform_color=first["platform_color"],
        release=first["release"],
        hardware=first["hardware"],
        workload=first["workload_id"],
        load_level=first["load_level_id"],
        latency=latency,
        ranges=tuple(_range(quantity, trials) for quantity in QUANTITIES),
        trials=trials,
        left_out=tuple(LeftOut(row["id"], why) for row in rows if (why := _why_left_out(row))),
    )


def _why_left_out(row: Mapping[str, Any]) -> str:
    word = left_out_word(row["state"], row["outcome"], is_excluded=row["is_excluded"])
    if word:
        return f"{word}: {row['reason']}" if row["reason"] else word
    return "" if row["events"] else "its output has no statement"


def _trial(row: Mapping[str, Any], lines: Mapping[str, LoadSeconds], latency: str) -> ChangeTrial:
    events: list[Event] = row["events"]
    end = max(event.ends_at or event.starts_at for event in events)
    phase = Phase(row["measured_from"] or 0.0, end if row["measured_to"] is None else row["measured_to"])
    share = float(row["parameters"].get("stall_share", STALL_SHARE)) if row["tool"] == TOOL else STALL_SHARE
    done, silent = [], 0
    for place, event in enumerate(events):
        following = events[place + 1].starts_at if place + 1 < len(events) else None
        statement = Phase(event.starts_at, event.ends_at or event.starts_at)
        did, until = None, disturbance.ends_at(statement, following)
        if THROUGHPUT in lines:
            did = disturbance.disturbance(
                lines[THROUGHPUT], lines.get(latency), phase=phase, first=events[0].starts_at, statement=statement,
                until=until, share=share,
            )  # fmt: skip
            silent += did.silent
        values = _values(event, did, row["of_run"])
        if ERRORS in lines:
            values["failed"] = float(disturbance.count_during(lines[ERRORS], statement.start, until))
        done.append(ChangeStatement(place + 1, _sql(event), statement.start, statement.end, values))
    keys = {key for statement in done for key in statement.values}
    return ChangeTrial(
        run=row["id"],
        repetition=row["repetition"],
        started_at=row["started_at"],
        provenance=row["provenance"],
        failed_checks=tuple(row["failed_checks"]),
        statements=tuple(done),
        values={key: max(each.values[key] for each in done if key in each.values) for key in keys},
        silent=silent,
        throughput=lines.get(THROUGHPUT),
        latency=lines.get(latency),
    )


def _values(event: Event, did: Disturbance | None, of_run: Mapping[str, float | None]) -> dict[str, float]:
    """Values of one statement; unknown ones are left out."""
    detail = event.detail
    found: dict[str, Any] = {
        "duration": detail.get("seconds", (event.ends_at or event.starts_at) - event.starts_at),
        "gap": detail.get("gap"),
        **of_run,
        "lock_wait": detail.get("metadata_lock_wait"),
        "lock_queue": detail.get("metadata_lock_queue"),
        "other_gap": detail.get("other_tables_gap"),
        "other_failed": detail.get("other_tables_failed"),
        "holders_lost": detail.get("holders_lost"),
    }
    if did is not None:
        found |= {
            "stall": did.longest.length if did.longest else None,
            "depth": did.depth,
            "depth_before": did.depth_before,
            "throughput_deviation": did.throughput_during.deviation,
            "throughput_deviation_before": did.throughput_before.deviation,
            "latency_deviation": did.latency_during.deviation,
            "latency_deviation_before": did.latency_before.deviation,
        }
    return {key: float(value) for key, value in found.items() if value is not None}


def _range(quantity: Quantity, trials: Iterable[ChangeTrial]) -> QuantityRange:
    values = [trial.values[quantity.key] for trial in trials if quantity.key in trial.values]
    if not values:
        return QuantityRange(quantity, 0, None, None, None, quantity.missing if trials else "no run counted")
    return QuantityRange(quantity, len(values), statistics.median(values), min(values), max(values))


def _order(changes: Sequence[SchemaChange]) -> Any:
    """The most measured first; then manners by disturbance, descending, and systems by name."""
    operations = Counter(change.operation for change in changes)
    settings = Counter((change.operation, change.setting) for change in changes)
    worst: dict[tuple[str, str, Manner], float] = defaultdict(float)
    for change in changes:
        key = (change.operation, change.setting, change.manner)
        worst[key] = max(worst[key], change.value("stall").median or 0.0, change.value("gap").median or 0.0)

    def place(change: SchemaChange) -> tuple[Any, ...]:
        setting = (change.operation, change.setting)
        return (
            *(-operations[change.operation], change.operation, -settings[setting], change.setting),
            *(-worst[*setting, change.manner], change.manner.text, change.system_name),
        )

    return place


def _campaigns(rows: Iterable[Mapping[str, Any]]) -> tuple[ComparedCampaign, ...]:
    found = {row["campaign"]: row["campaign_name"] for row in rows if row["campaign"] is not None}
    return tuple(ComparedCampaign(pk, name) for pk, name in found.items())
