"""Sides compared with a baseline under every workload and load level that they share: one metric per row."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from apps.catalog.api import queries
from apps.catalog.models import Metric, System, Workload
from apps.comparison import compare
from apps.comparison.comparability.facts import hardware_detail
from apps.comparison.selection.sides import Chosen, ChosenSide, UnknownSide, no_system
from apps.comparison.tables import verdict_table
from apps.comparison.values import (
    Cell,
    ComparedCampaign,
    ComparedMetric,
    ComparedWorkload,
    Comparison,
    Draft,
    Level,
    tones,
)
from apps.core.answers import Hidden, component
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.runs.api import places
from apps.runs.models import COUNTED, Run
from workers.protocol.workloads.kinds import KINDS, kind_of

# Placeholders for a metric's key: each workload's headline metric, or the percentile that most of its runs have.
PRIMARY, LATENCY = "primary", "latency"
FEWEST_SIDES, MOST_SIDES = 2, 8
# Limit for one matrix.
MOST_WORKLOADS = 40


@dataclass(frozen=True)
class MatrixSide:
    """A system of the matrix."""

    slug: str
    name: Annotated[str, "short name"]
    title: Annotated[str, "whole name"]
    position: Annotated[int, "0 is the baseline"]
    platform: str
    platform_slug: Hidden[str]
    platform_color: Hidden[int | None]
    tone: Hidden[int]
    release: str
    hardware: str
    hardware_detail: Hidden[str]
    runs: Annotated[int, "number of its runs that count, over all rows"]
    origins: tuple[str, ...]


@dataclass(frozen=True)
class MatrixRow:
    """A workload at a load level in one metric. `cells` in the order of the sides, the baseline's first (without ratio
    and words); a side without runs has a cell without summary and the words "no runs",
    one whose runs lack the metric "not measured"."""

    workload: ComparedWorkload
    level: Level
    metric: ComparedMetric
    cells: Annotated[tuple[Cell, ...], "in the order of the sides"]


@component(text="Adjusted p and verdicts are corrected over this whole table; all else is as in a comparison.")
@dataclass(frozen=True)
class Matrix:
    """Ratios, intervals and p of each cell are those of Compare; adjusted p and verdict are corrected over this table.

    `comparisons`: for each workload, in the order of the rows, its comparison (runs, differences, blocking differences,
    notes) with this table's cells. `tests`: number of tests corrected together. `tools`: of the shared workloads,
    before filtering. `notes`: sentences about rows and workloads left out.
    """

    sides: tuple[MatrixSide, ...]
    campaign: ComparedCampaign | None
    rows: tuple[MatrixRow, ...]
    comparisons: Hidden[tuple[Comparison, ...]]
    tests: Annotated[int, "number of tests for which the verdicts are corrected"]
    tools: tuple[str, ...]
    notes: tuple[str, ...]


def compare_systems(
    *,
    sides: Sequence[str],
    metrics: Sequence[str] | None = None,
    workloads: Sequence[int] | None = None,
    tool: str = "",
    campaign: int | None = None,
) -> Matrix:
    """`sides`: slugs of two to eight systems, the first is the baseline. `metrics`: keys, PRIMARY or LATENCY; None: all
    that Compare judges (primary, throughput, a percentile, errors). `workloads`: ids; None: all shared by the baseline
    and any other side. Queries: constant in the numbers of runs, workloads, load levels and sides.

    Raises Invalid naming the field (`side`, `metric`), and UnknownSide if there is no such system.
    """
    systems = _systems(sides)
    keys = _keys(metrics or ())
    shared = _shared(systems, workloads, campaign)
    chosen = [workload for workload in shared if tool in ("", workload.tool)]
    drafts = compare.judge(
        [_chosen(workload, systems) for workload in chosen[:MOST_WORKLOADS]],
        campaign=campaign,
        besides=keys,
    )
    comparisons = _corrected([_of_metrics(draft, metrics) for draft in drafts])
    rows = [row for comparison in comparisons for row in _rows(comparison)]
    answering = [row for row in rows if _has_values(row)]
    shown = {row.workload.id for row in answering}
    notes = []
    if not chosen:
        named = ", ".join(str(pk) for pk in workloads or ())
        asked = [
            f"{name} {value}" for name, value in (("tool", tool), ("campaign", campaign), ("workload", named)) if value
        ]
        narrowed = f" with {' and '.join(asked)}" if asked else ""
        notes.append(f"No other side shares a workload with the baseline{narrowed}.")
    if len(chosen) > MOST_WORKLOADS:
        notes.append(
            f"The first {MOST_WORKLOADS} of {len(chosen)} shared workloads are shown: choose a tool or campaign."
        )
    if others := len(rows) - len(answering):
        notes.append(f"Left out: {counted(others, 'row')} missing for the baseline or for all other sides.")
    return Matrix(
        sides=_sides(systems, comparisons),
        campaign=next((comparison.campaign for comparison in comparisons if comparison.campaign), None),
        rows=tuple(answering),
        comparisons=tuple(comparison for comparison in comparisons if comparison.workload.id in shown),
        tests=sum(cell.ratio is not None and cell.ratio.p is not None for row in answering for cell in row.cells),
        tools=tuple(sorted({workload.tool for workload in shared})),
        notes=tuple(notes),
    )


def _systems(slugs: Sequence[str]) -> list[System]:
    """In the order of `slugs`."""
    problem = ""
    if not FEWEST_SIDES <= len(slugs) <= MOST_SIDES:
        problem = f"a matrix has {FEWEST_SIDES} to {MOST_SIDES} sides, this one has {len(slugs)}"
    elif len(set(slugs)) < len(slugs):
        problem = "each side may be chosen once"
    if problem:
        raise Invalid([FieldProblem("side", problem, "choose other sides")])
    known = System.objects.select_related("release__platform", "hardware_class").filter(slug__in=slugs)
    found = {system.slug: system for system in known}
    missing = [_no_system(slug) for slug in slugs if slug not in found]
    if missing:
        raise UnknownSide(missing)
    return [found[slug] for slug in slugs]


def _no_system(slug: str) -> FieldProblem:
    system, colon, _ = slug.partition(":")
    if colon and System.objects.filter(slug=system).exists():
        problem = f"{slug[:100]!r} names a workload, and a matrix has all that its systems share"
        return FieldProblem("side", problem, f"use {system!r}")
    return no_system(slug)


def _keys(metrics: Sequence[str]) -> list[str]:
    keys = [metric for metric in metrics if metric not in (PRIMARY, LATENCY)]
    known = set(Metric.objects.filter(key__in=keys).values_list("key", flat=True)) if keys else set()
    if unknown := [key for key in keys if key not in known]:
        raise Invalid([_no_metric(key, remedy) for key, remedy in queries.choose_metrics(unknown).items()])
    return keys


def _no_metric(key: str, remedy: str) -> FieldProblem:
    return FieldProblem("metric", f"there is no metric {key[:80]!r}", remedy)


def _shared(systems: Sequence[System], wanted: Sequence[int] | None, campaign: int | None) -> list[Workload]:
    """Workloads with runs that count, of the baseline and of any other side; by kind of load, tool and name."""
    ids = [system.pk for system in systems]
    if campaign is None:
        ran = {(place.system, place.workload) for place in places.counted(systems=ids, by_level=False, most=0)}
    else:
        counted = Run.objects.filter(COUNTED, system__in=ids, job_run__job__campaign_id=campaign)
        ran = set(counted.order_by().values_list("system_id", "workload_id").distinct())
    by_workload: dict[int, set[int]] = defaultdict(set)
    for system, workload in ran:
        by_workload[workload].add(system)
    shared = {pk for pk, own in by_workload.items() if ids[0] in own and len(own) > 1}
    if wanted is not None:
        shared &= set(wanted)
    found = Workload.objects.select_related("primary_metric").filter(pk__in=shared).order_by("tool", "name", "pk")
    return sorted(found, key=lambda workload: list(KINDS).index(kind_of(workload.tool, workload.parameters)))


def _chosen(workload: Workload, systems: Sequence[System]) -> Chosen:
    return Chosen(workload, tuple(ChosenSide(system.slug, system, workload) for system in systems))


def _of_metrics(draft: Draft, wanted: Sequence[str] | None) -> Draft:
    """With only these metrics and their cells."""
    if wanted is None:
        return draft
    metrics: dict[str, ComparedMetric] = {}
    for key in wanted:
        fitting = (metric for metric in draft.metrics if _is(metric, key))
        metrics |= {metric.key: metric for metric in list(fitting)[:1]}
    cells = tuple(cell for cell in draft.cells if cell.metric.key in metrics)
    return replace(draft, metrics=tuple(metrics.values()), cells=cells)


def _is(metric: ComparedMetric, key: str) -> bool:
    if key == PRIMARY:
        return metric.primary
    return metric.kind == "latency" if key == LATENCY else metric.key == key


def _corrected(drafts: Sequence[Draft]) -> list[Comparison]:
    """Corrected over all comparisons, since they are read together."""
    corrected = iter(verdict_table.corrected([cell for draft in drafts for cell in draft.cells]))
    return [draft.corrected([next(corrected) for _ in draft.cells]) for draft in drafts]


def _rows(comparison: Comparison) -> Iterator[MatrixRow]:
    """By load level, then metric."""
    cells: dict[tuple[int, str], list[Cell]] = defaultdict(list)
    for cell in comparison.cells:
        cells[cell.level, cell.metric].append(cell)
    for level in comparison.levels:
        for metric in comparison.metrics:
            yield MatrixRow(comparison.workload, level, metric, tuple(cells[level.id, metric.key]))


def _has_values(row: MatrixRow) -> bool:
    """Whether the baseline and another side have values."""
    baseline, *others = row.cells
    return bool(baseline.replicates) and any(cell.replicates for cell in others)


def _sides(systems: Sequence[System], comparisons: Sequence[Comparison]) -> tuple[MatrixSide, ...]:
    places = tones([system.release.platform.color for system in systems])
    return tuple(
        _side(system, position, tone, comparisons)
        for position, (system, tone) in enumerate(zip(systems, places, strict=True))
    )


def _side(system: System, position: int, tone: int, comparisons: Sequence[Comparison]) -> MatrixSide:
    own = [comparison.sides[position] for comparison in comparisons]
    platform = system.release.platform
    return MatrixSide(
        slug=system.slug,
        name=system.short_name,
        title=system.name,
        position=position,
        platform=platform.name,
        platform_slug=platform.slug,
        platform_color=platform.color,
        tone=tone,
        release=system.release.version,
        hardware=system.hardware_class.name,
        hardware_detail=hardware_detail(system.hardware_class),
        runs=sum(side.runs for side in own),
        origins=tuple(sorted({origin for side in own for origin in side.origins})),
    )
