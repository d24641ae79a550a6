"""The matrix of the Overview: measured throughput by workload and platform. A fixed number of queries.

Shipped examples and synthetic runs are shown only for workloads without other runs.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Aggregate, Count, F, FloatField, Max, Min, Q

from apps.catalog.models import LoadLevel, Platform, System, Workload
from apps.runs.api import RunPlace, places
from apps.runs.models import Measurement, Run
from apps.runs.pure import Amount
from apps.web.components.addresses import runs_address

THROUGHPUT = "client.throughput"
# Number of newest runs per system in the median and range.
NEWEST_RUNS = 10
FILLERS = (Run.Provenance.EXAMPLE.value, Run.Provenance.RIG.value)


class Median(Aggregate):
    """percentile_cont(0.5): the middle value, or the mean of the two in the middle."""

    function = "percentile_cont"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


@dataclass(frozen=True)
class PlatformCell:
    """Throughput of complete runs of a workload on a platform at the row's load level.

    Median and range over the newest NEWEST_RUNS of each system, of which `doubted` failed a quality check. `runs`:
    number of all runs. `origin`: shared by all of them; None: mixed, of which `submitted` were submitted.
    """

    median: float
    lowest: float
    highest: float
    runs: Amount
    systems: int
    submitted: Amount
    doubted: int
    origin: str | None
    address: str


@dataclass(frozen=True)
class WorkloadRow:
    workload: str
    load_level: str
    unit: str
    address: str
    # None where nothing was measured at this load.
    cells: tuple[PlatformCell | None, ...]


@dataclass(frozen=True)
class Heading:
    slug: str
    name: str
    color: int | None


@dataclass(frozen=True)
class PlatformMatrix:
    platforms: tuple[Heading, ...]
    rows: tuple[WorkloadRow, ...]


def load_matrix() -> PlatformMatrix:
    """One load level per workload: the one with most platforms (then most systems, then most threads)."""
    platforms = dict(System.objects.values_list("pk", "release__platform_id"))
    levels = LoadLevel.objects.in_bulk()
    chosen = _at_one_level(_without_fillers(places.counted(most=0)), platforms, levels)
    shown = places.look(chosen, newest=NEWEST_RUNS)
    cells: dict[tuple[int, int], list[RunPlace]] = defaultdict(list)
    for place in shown:
        cells[place.workload, platforms[place.system]].append(place)
    measured = _measured([run for place in shown for run in place.newest])
    known = Platform.objects.in_bulk({platform for _, platform in measured})
    columns = sorted(known.values(), key=lambda platform: platform.name.lower())
    rows = []
    for workload in Workload.objects.filter(pk__in={workload for workload, _ in measured}):
        level = next(levels[place.level] for place in shown if place.workload == workload.pk)
        found = [measured.get((workload.pk, platform.pk)) for platform in columns]
        rows.append(
            WorkloadRow(
                workload=str(workload),
                load_level=str(level),
                unit=next(values["unit"] for values in found if values),
                address=runs_address(workload=workload.pk),
                cells=tuple(
                    _cell(workload, platform, values, cells[workload.pk, platform.pk]) if values else None
                    for platform, values in zip(columns, found, strict=True)
                ),
            )
        )
    headings = tuple(Heading(platform.slug, platform.name, platform.color) for platform in columns)
    return PlatformMatrix(headings, tuple(sorted(rows, key=lambda row: row.workload)))


def _without_fillers(found: Sequence[RunPlace]) -> list[RunPlace]:
    measured = {place.workload for place in found if place.kind[0] not in FILLERS}
    return [place for place in found if place.kind[0] not in FILLERS or place.workload not in measured]


def _at_one_level(found: Sequence[RunPlace], platforms: dict[int, int], levels: dict[int, LoadLevel]) -> list[RunPlace]:
    """For each workload the places at the load level to show."""
    by_level: dict[int, dict[int, list[RunPlace]]] = defaultdict(lambda: defaultdict(list))
    for place in found:
        by_level[place.workload][place.level].append(place)

    def rank(level: int, alike: Sequence[RunPlace]) -> tuple[int, int, int]:
        systems = {place.system for place in alike}
        return len({platforms[system] for system in systems}), len(systems), levels[level].threads

    return [
        place
        for own in by_level.values()
        for place in own[max(own, key=lambda level, own=own: rank(level, own[level]))]  # type: ignore[misc]
    ]


def _measured(runs: Sequence[int]) -> dict[tuple[int, int], dict[str, Any]]:
    """(workload, platform) -> throughput statistics."""
    platform = F("run__system__release__platform")
    groups = (
        Measurement.objects.filter(run_id__in=runs, metric__key=THROUGHPUT)
        .order_by()
        .values(workload=F("run__workload"), platform=platform, unit=F("metric__unit"))
        .annotate(
            median=Median("value"),
            lowest=Min("value"),
            highest=Max("value"),
            systems=Count("run__system", distinct=True),
            doubted=Count("pk", filter=~Q(run__failed_checks=[])),
        )
    )
    return {(group["workload"], group["platform"]): {**group} for group in groups}


def _cell(workload: Workload, platform: Platform, values: dict[str, Any], alike: Sequence[RunPlace]) -> PlatformCell:
    origins = [str(one) for one in Run.Provenance.values if any(place.kind[0] == one for place in alike)]
    submitted = [place.amount for place in alike if place.kind[0] == Run.Provenance.SUBMITTED]
    return PlatformCell(
        median=values["median"],
        lowest=values["lowest"],
        highest=values["highest"],
        runs=sum((place.amount for place in alike), Amount()),
        systems=values["systems"],
        submitted=sum(submitted, Amount()),
        doubted=values["doubted"],
        origin=origins[0] if len(origins) == 1 else None,
        address=runs_address(workload=workload.pk, platform=platform.slug, provenance=origins),
    )
