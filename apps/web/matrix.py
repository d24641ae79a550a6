"""The matrix of the Overview: what was measured of each workload on each platform. One query.

Shipped examples only fill the place of runs that are not there yet: they never stand among others.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Aggregate, Count, F, FloatField, Max, Min, Q

from apps.catalog.models import LoadLevel
from apps.runs.models import Measurement, Run
from apps.web.addresses import runs_address


class Median(Aggregate):
    """percentile_cont(0.5): the middle value, or the mean of the two in the middle."""

    function = "percentile_cont"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


@dataclass(frozen=True)
class Cell:
    """Throughput of all complete runs of a workload on a platform at the row's load: median and range.

    `origin` is where all of them come from; None: agents measured some, and `submitted` of them were submitted.
    """

    median: float
    lowest: float
    highest: float
    runs: int
    systems: int
    submitted: int
    origin: str | None
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
    complete = Measurement.objects.filter(
        metric__key="client.throughput", run__state=Run.State.SEALED, run__outcome=Run.Outcome.SUCCEEDED
    ).order_by()
    is_example = Q(run__provenance=Run.Provenance.EXAMPLE)
    measured = complete.exclude(is_example).values("run__workload")
    return (
        complete.exclude(is_example, run__workload__in=measured)
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
            submitted=Count("run", filter=Q(run__provenance=Run.Provenance.SUBMITTED)),
            examples=Count("run", filter=is_example),
        )
        .order_by("platform", "workload")
    )


def _cell(workload: int, group: dict[str, Any] | None) -> Cell | None:
    if group is None:
        return None
    origins = _origins(group)
    return Cell(
        median=group["median"],
        lowest=group["lowest"],
        highest=group["highest"],
        runs=group["runs"],
        systems=group["systems"],
        submitted=group["submitted"],
        origin=origins[0] if len(origins) == 1 else None,
        address=runs_address(workload=workload, platform=group["slug"], provenance=origins),
    )


def _origins(group: dict[str, Any]) -> list[str]:
    counts = {
        Run.Provenance.AGENT: group["runs"] - group["submitted"] - group["examples"],
        Run.Provenance.SUBMITTED: group["submitted"],
        Run.Provenance.EXAMPLE: group["examples"],
    }
    return [str(provenance) for provenance, runs in counts.items() if runs]
