"""The list of runs, filtered and ordered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Annotated, Any

from django.db.models import F, Q, QuerySet

from apps.catalog.models import LoadLevel, System
from apps.core.answers import Hidden, Name, OneOf, Shown, component
from apps.core.query import whole_number
from apps.runs.models import COUNTED, Run
from apps.runs.queries.headlines import P95, THROUGHPUT, MeasuredValue, measurements
from apps.runs.queries.run_order import NEWEST, ordered
from apps.runs.queries.search import word_conditions

# Filters by quality.
FAILED_CHECK, EXCLUDED = "failed-check", "excluded"
QUALITIES = {FAILED_CHECK: ~Q(failed_checks=[]), EXCLUDED: Q(is_excluded=True)}


@dataclass(frozen=True)
class RunFilter:
    """Empty fields do not restrict the list. `since` <= start of the run < `until`.

    Platforms, hardware classes and systems by slug, releases and workloads by id. A run must have all `tags`, and one
    value of each other field. `quality`: FAILED_CHECK, EXCLUDED or both (either matches). Each word of `text` must
    occur in a name, a version, a tag or be the run's id.
    """

    platforms: tuple[str, ...] = ()
    releases: tuple[int, ...] = ()
    hardware: tuple[str, ...] = ()
    workloads: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    provenances: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    quality: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""


@dataclass(frozen=True)
class RunWorkload:
    id: int
    tool: str
    name: str


@dataclass(frozen=True)
class RunLoadLevel:
    text: str
    threads: int
    rate: Annotated[float | None, "1/s; null: as fast as it goes"]


@component("Run")
@dataclass(frozen=True)
class RunRow:
    """A row of the list. `throughput` and `p95` are None until measured; their units are separate fields.
    `primary`: of a workload that is about something else, as a failover is. `failed_checks`: keys of failed quality
    checks; `is_excluded`: excluded from all comparisons by a user."""

    id: int
    started_at: Annotated[datetime, "second 0 of its clock"]
    platform_slug: Annotated[str, Name("platform")]
    platform_name: str
    platform_color: Hidden[int | None]
    release: str
    release_id: int
    hardware: Annotated[str, Name("hardware_name")]
    hardware_slug: Annotated[str, Name("hardware")]
    system_slug: Annotated[str, Name("system")]
    system_name: Annotated[str, "short name"]
    system_title: Annotated[str, "whole name"]
    workload_id: Hidden[int]
    workload_name: Hidden[str]
    workload_tool: Hidden[str]
    load_level: Hidden[str]
    threads: Hidden[int]
    rate: Hidden[float | None]
    repetition: int
    state: Annotated[str, OneOf(Run.State.values), "sealed: its numbers are there"]
    outcome: Annotated[str, "succeeded, failed, cancelled; empty: it still runs"]
    reason: Annotated[str, "why it failed"]
    provenance: Annotated[str, OneOf(Run.Provenance.values)]
    tags: tuple[str, ...]
    failed_checks: Annotated[tuple[str, ...], "keys of the quality checks it failed"]
    is_excluded: Annotated[bool, "a person left it out of all comparisons"]
    campaign_id: int | None
    campaign_name: str | None
    throughput: Annotated[float | None, "null: not measured"]
    throughput_unit: str
    p95: Annotated[float | None, "null: not measured"]
    p95_unit: str
    primary: Hidden[MeasuredValue | None] = None

    @property
    def workload(self) -> Shown[RunWorkload]:
        return RunWorkload(self.workload_id, self.workload_tool, self.workload_name)

    @property
    def level(self) -> Annotated[Shown[RunLoadLevel], Name("load_level")]:
        return RunLoadLevel(self.load_level, self.threads, self.rate)


# Field of RunRow -> path from Run; the campaign by path, since runs must not import dispatch.
COLUMNS = {
    "platform_slug": F("system__release__platform__slug"),
    "platform_name": F("system__release__platform__name"),
    "platform_color": F("system__release__platform__color"),
    "release": F("system__release__version"),
    "release_id": F("system__release_id"),
    "hardware": F("system__hardware_class__name"),
    "hardware_slug": F("system__hardware_class__slug"),
    "system_slug": F("system__slug"),
    "system_name": F("system__short_name"),
    "system_title": F("system__name"),
    "workload_name": F("workload__name"),
    "workload_tool": F("workload__tool"),
    "primary": F("workload__primary_metric__key"),
    "threads": F("load_level__threads"),
    "rate": F("load_level__rate"),
    "campaign_id": F("job_run__job__campaign_id"),
    "campaign_name": F("job_run__job__campaign__name"),
}
OWN = (
    *("id", "started_at", "workload_id", "repetition", "state", "outcome", "reason", "provenance", "tags"),
    *("failed_checks", "is_excluded"),
)
# The order of the index run_newest. Not by id: imported runs are stored long after they were measured.
NEWEST_FIRST = ("-started_at", "-id")


def list_runs(
    run_filter: RunFilter, *, limit: int = 50, before: int | None = None, order: str = NEWEST
) -> list[RunRow]:
    """The first `limit` runs by `order`, one of ORDERS; `before`: only runs after this one in the list, for the next
    page.

    Two queries, three more with words, one more each with systems, threads and `before`. Empty when the run `before`
    does not exist. Only the usual order is read by an index: any other reads all runs that match.
    """
    chosen = _filtered(run_filter)
    if order != NEWEST:
        return rows_of(ordered(chosen, order, after=before)[:limit])
    if before is not None:
        started_at = Run.objects.filter(pk=before).values_list("started_at", flat=True).first()
        if started_at is None:
            return []
        # The first condition is redundant, but only it can be used by the index.
        chosen = chosen.filter(Q(started_at__lte=started_at), Q(started_at__lt=started_at) | Q(pk__lt=before))
    return rows_of(chosen.order_by(*NEWEST_FIRST)[:limit])


def rows_of(runs: QuerySet[Run]) -> list[RunRow]:
    """Rows in the order of `runs`."""
    found: list[dict[str, Any]] = [{**row} for row in runs.values(*OWN, **COLUMNS)]
    primaries = {row["primary"] for row in found}
    values = _headlines([row["id"] for row in found], [THROUGHPUT, P95, *primaries - {THROUGHPUT, P95}])
    return [_row(row, values) for row in found]


def _headlines(run_ids: Sequence[int], metrics: Sequence[str]) -> dict[tuple[int, str], MeasuredValue]:
    return {(value.run_id, value.metric): value for value in measurements(run_ids, metrics)}


def _row(row: dict[str, Any], values: dict[tuple[int, str], MeasuredValue]) -> RunRow:
    primary = values.get((row["id"], row["primary"])) if row["primary"] not in (THROUGHPUT, P95) else None
    throughput, p95 = values.get((row["id"], THROUGHPUT)), values.get((row["id"], P95))
    return RunRow(
        **{**row, "tags": tuple(row["tags"]), "failed_checks": tuple(row["failed_checks"]), "primary": primary},
        load_level=str(LoadLevel(threads=row["threads"], rate=row["rate"])),
        throughput=throughput.value if throughput else None,
        throughput_unit=throughput.unit if throughput else "",
        p95=p95.value if p95 else None,
        p95_unit=p95.unit if p95 else "",
    )


def _filtered(run_filter: RunFilter) -> QuerySet[Run]:
    wanted: dict[str, Any] = {
        "system_id__in": _systems(run_filter),
        "workload_id__in": run_filter.workloads or None,
        "load_level_id__in": _load_levels(run_filter),
        "tags__contains": run_filter.tags or None,
        "state__in": run_filter.states or None,
        "outcome__in": run_filter.outcomes or None,
        "provenance__in": run_filter.provenances or None,
        "started_at__gte": run_filter.since,
        "started_at__lt": run_filter.until,
    }
    given = {path: value for path, value in wanted.items() if value is not None}
    chosen = Run.objects.filter(**{path: list(v) if isinstance(v, tuple) else v for path, v in given.items()})
    words = run_filter.text.split()
    for word, conditions in zip(words, word_conditions(words), strict=True):
        occurs = conditions | Q(tags__contains=[word])
        if whole_number(word) is not None:
            occurs |= Q(pk=int(word))
        chosen = chosen.filter(occurs)
    if run_filter.quality:
        chosen = chosen.filter(reduce(or_, (QUALITIES[name] for name in run_filter.quality)))
    if run_filter.quality == (EXCLUDED,):
        chosen = chosen.exclude(COUNTED)
    if run_filter.outcomes and Run.Outcome.SUCCEEDED not in run_filter.outcomes:
        # Redundant, but enables the index of the runs that do not count.
        chosen = chosen.exclude(COUNTED)
    return chosen


def _systems(run_filter: RunFilter) -> list[int] | None:
    """Ids of the selected systems, looked up first so that the runs' indexes apply; None: all."""
    wanted = {
        "release__platform__slug__in": run_filter.platforms,
        "release_id__in": run_filter.releases,
        "hardware_class__slug__in": run_filter.hardware,
        "slug__in": run_filter.systems,
    }
    given = {path: list(values) for path, values in wanted.items() if values}
    return list(System.objects.filter(**given).order_by().values_list("pk", flat=True)) if given else None


def _load_levels(run_filter: RunFilter) -> list[int] | None:
    """Ids of all levels with these threads, at any rate; None: all."""
    levels = LoadLevel.objects.filter(threads__in=run_filter.threads).order_by()
    return list(levels.values_list("pk", flat=True)) if run_filter.threads else None
