"""The matrix of the Overview: what was measured of each workload on each platform. One query."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Aggregate, Count, F, FloatField, Max, Min

from apps.catalog.models import LoadLevel
from apps.runs.models import Measurement
from apps.web.addresses import runs_address


class Median(Aggregate):
    """percentile_cont(0.5): the middle value, or the mean of the two in the middle."""

    function = "percentile_cont"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


@dataclass(frozen=True)
class Cell:
    """Throughput of all complete runs of a workload on a platform at the row's load: median and range."""

    median: float
    lowest: float
    highest: float
    runs: int
    systems: int
    address: str


@dataclass(frozen=True)
class Row:
    workload: str
    load_level: str
    unit: str
    address: str
    # None where nothing was measured at this load.
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Heading:
    slug: str
    name: str
    color: int | None


@dataclass(frozen=True)
class Matrix:
    platforms: tuple[Heading, ...]
    rows: tuple[Row, ...]


def load_matrix() -> Matrix:
    """Each workload at the load level that most platforms have (then most runs, then most threads)."""
    groups = list(_groups())
    platforms = {group["slug"]: Heading(group["slug"], group["platform"], group["color"]) for group in groups}
    headings = tuple(sorted(platforms.values(), key=lambda heading: heading.name.lower()))
    workloads: dict[int, dict[tuple[int, float | None], list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for group in groups:
        workloads[group["workload"]][group["threads"], group["rate"]].append(group)
    rows = []
    for workload, levels in workloads.items():
        level = max(levels, key=lambda key: (len(levels[key]), sum(g["runs"] for g in levels[key]), key[0]))
        chosen = {group["slug"]: group for group in levels[level]}
        any_group = levels[level][0]
        rows.append(
            Row(
                workload=f"{any_group['tool']} {any_group['name']}",
                load_level=str(LoadLevel(threads=level[0], rate=level[1])),
                unit=any_group["unit"],
                address=runs_address(workload=workload),
                cells=tuple(_cell(workload, chosen.get(heading.slug)) for heading in headings),
            )
        )
    return Matrix(headings, tuple(sorted(rows, key=lambda row: row.workload)))


def _groups() -> Any:
    platform = "run__system__release__platform"
    return (
        Measurement.objects.filter(metric__key="client.throughput", run__state="sealed", run__outcome="succeeded")
        .values(
            unit=F("metric__unit"),
            slug=F(f"{platform}__slug"),
            platform=F(f"{platform}__name"),
            color=F(f"{platform}__color"),
            workload=F("run__workload"),
            tool=F("run__workload__tool"),
            name=F("run__workload__name"),
            threads=F("run__load_level__threads"),
            rate=F("run__load_level__rate"),
        )
        .annotate(
            median=Median("value"),
            lowest=Min("value"),
            highest=Max("value"),
            runs=Count("run"),
            systems=Count("run__system", distinct=True),
        )
        .order_by("platform", "workload")
    )


def _cell(workload: int, group: dict[str, Any] | None) -> Cell | None:
    if group is None:
        return None
    return Cell(
        median=group["median"],
        lowest=group["lowest"],
        highest=group["highest"],
        runs=group["runs"],
        systems=group["systems"],
        address=runs_address(workload=workload, platform=group["slug"]),
    )
