"""The scorecard: the architectures side by side, one question a row, each at the load that most of them share.

Shipped examples and synthetic runs stand only in rows without any other runs. A constant number of queries.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.catalog.models import LoadLevel, System, Workload
from apps.comparison import compare
from apps.comparison.comparability.claim_limits import ClaimLimit, claim_limits
from apps.comparison.selection.runs import MOST_RUNS
from apps.comparison.selection.sides import Chosen, ChosenSide
from apps.comparison.stats.welch import Direction
from apps.comparison.tables import verdict_table
from apps.comparison.values import Cell, ComparedMetric, ComparedWorkload, Comparison, Draft, Level, Side
from apps.runs.api import RunPlace, places
from apps.runs.models import Measurement, Run
from workers.protocol.workloads.kinds import FAILOVER, INGEST, MIXED, READS, SCHEMA_CHANGE, TPCC, WRITES, kind_of


@dataclass(frozen=True)
class Family:
    """An architecture, with its platforms. `color`: its place in the palette."""

    key: str
    name: str
    platforms: tuple[str, ...]
    color: int


# In the order of the columns.
FAMILIES = (
    Family("aurora", "Aurora", ("aurora",), 0),
    Family("galera", "PXC/Galera", ("pxc", "galera"), 1),
    Family("mha", "MHA", ("mha",), 2),
    Family("single", "single server", ("mysql", "mariadb"), 3),
)
# Kinds of load in the order of the rows.
KINDS = (INGEST, MIXED, TPCC, FAILOVER, SCHEMA_CHANGE)
# Kinds that stand in another's row where nothing else is measured by more architectures.
INSTEAD = {READS: MIXED, WRITES: MIXED}
# Of the failover probe's faults those that the row is about.
CRASHES = ("kill_writer", "crash")
# Of ALTER TABLE, where several are measured alike.
USUAL_ALGORITHM = "inplace"
FILLERS = (Run.Provenance.EXAMPLE.value, Run.Provenance.RIG.value)
# With more runs of each side no load is preferred to another.
ENOUGH_RUNS = 5


@dataclass(frozen=True)
class ScorecardCell:
    """`side`, `cell`: the family's system and its figure; None: not measured at this row's load. The ratio of `cell` is
    to the best family of the row, which has none. `failed`: its runs that failed a quality check."""

    family: Family
    side: Side | None
    cell: Cell | None
    failed: int

    @property
    def is_best(self) -> bool:
        return self.side is not None and self.side.position == 0


@dataclass(frozen=True)
class ScorecardRow:
    """`kind`: key of workers.protocol.workloads.kinds. Without a `comparison` nothing is measured. `cells` in the order
    of FAMILIES. `behind`: of three families or more, all but the best, the second being the baseline."""

    kind: str
    level: Level | None
    metric: ComparedMetric | None
    comparison: Comparison | None
    cells: tuple[ScorecardCell, ...]
    behind: Comparison | None = None

    @property
    def workload(self) -> ComparedWorkload | None:
        return self.comparison.workload if self.comparison else None

    @property
    def limits(self) -> tuple[ClaimLimit, ...]:
        """What failed checks make of the row's verdicts, the worst first."""
        if self.comparison is None or self.level is None or self.metric is None:
            return ()
        return tuple(claim_limits(self.comparison, self.level, self.metric))

    @property
    def measured(self) -> tuple[ScorecardCell, ...]:
        return tuple(cell for cell in self.cells if cell.side)


@dataclass(frozen=True)
class _Place:
    """Systems of several families on one class of hardware under one workload and load level."""

    workload: Workload
    level: LoadLevel
    systems: Mapping[str, System]  # by the family's key


def load_scorecard() -> tuple[ScorecardRow, ...]:
    """One row for each of KINDS. Ratios are corrected together, since the rows are read together."""
    chosen = _chosen()
    runs = _runs(chosen.values())
    ordered = dict(zip(chosen, _best_first(chosen, runs), strict=True))
    behind = {kind: replace(own, sides=own.sides[1:]) for kind, own in ordered.items() if len(own.sides) > 2}
    asked = [
        *((kind, own, False) for kind, own in ordered.items()),
        *((kind, own, True) for kind, own in behind.items()),
    ]
    drafts = [
        _at_level(draft, chosen[kind].level.pk)
        for draft, (kind, _, _) in zip(compare.judge([own for _, own, _ in asked], runs=list(runs)), asked, strict=True)
    ]
    corrected = iter(verdict_table.corrected([cell for draft in drafts for cell in draft.cells]))
    found = {
        (kind, is_behind): draft.corrected([next(corrected) for _ in draft.cells])
        for (kind, _, is_behind), draft in zip(asked, drafts, strict=True)
    }
    return tuple(
        replace(_row(kind, chosen.get(kind), found.get((kind, False))), behind=found.get((kind, True)))
        for kind in KINDS
    )


def _chosen() -> dict[str, _Place]:
    """Kind of load -> the place to show: most families, then most runs of each, then without a fixed rate, then most
    threads. Of a family the system that was measured last."""
    families = {slug: family.key for family in FAMILIES for slug in family.platforms}
    counted = places.counted(most=ENOUGH_RUNS, newest=1)
    systems = {
        system.pk: system
        for system in System.objects.select_related("release__platform", "hardware_class").filter(
            pk__in={place.system for place in counted}, release__platform__slug__in=families
        )
    }
    family_of = {pk: families[system.release.platform.slug] for pk, system in systems.items()}
    workloads = Workload.objects.select_related("primary_metric").in_bulk(
        {place.workload for place in counted if place.system in systems}
    )
    kinds = {pk: kind for pk, workload in workloads.items() if (kind := _kind(workload))}
    by_kind: dict[str, list[RunPlace]] = defaultdict(list)
    for place in counted:
        if place.system in systems and place.workload in kinds:
            by_kind[kinds[place.workload]].append(place)
    levels = LoadLevel.objects.in_bulk({place.level for own in by_kind.values() for place in own})

    def rank(alike: Sequence[RunPlace]) -> tuple[int, bool, int, bool, int, bool, int]:
        """Of places in the order in which they were measured: the last of each family counts. At a fixed rate all do
        the same work."""
        workload, level = workloads[alike[0].workload], levels[alike[0].level]
        is_own = kind_of(workload.tool, workload.parameters) in KINDS
        runs = {family_of[place.system]: place.amount.runs for place in alike}
        is_usual = workload.parameters.get("algorithm") == USUAL_ALGORITHM
        return len(runs), is_own, min(runs.values()), level.rate is None, level.threads, is_usual, workload.pk

    found = {}
    for kind, own in by_kind.items():
        groups: dict[tuple[int, int, int], list[RunPlace]] = defaultdict(list)
        for place in sorted(_without_fillers(own), key=lambda each: each.newest):
            groups[place.workload, place.level, systems[place.system].hardware_class_id].append(place)
        alike = max(groups.values(), key=rank)
        newest = {family_of[place.system]: systems[place.system] for place in alike}
        found[kind] = _Place(workloads[alike[0].workload], levels[alike[0].level], newest)
    return found


def _kind(workload: Workload) -> str:
    """The row of a workload; empty: it has none."""
    kind = kind_of(workload.tool, workload.parameters)
    if kind == FAILOVER and workload.parameters.get("fault") not in CRASHES:
        return ""
    kind = INSTEAD.get(kind, kind)
    return kind if kind in KINDS else ""


def _without_fillers(alike: Sequence[RunPlace]) -> list[RunPlace]:
    measured = [place for place in alike if place.kind[0] not in FILLERS]
    return measured or list(alike)


def _runs(chosen: Iterable[_Place]) -> dict[int, tuple[int, int]]:
    """Run -> system and workload: those that Compare takes at this load."""
    at = {(system.pk, place.workload.pk): place.level.pk for place in chosen for system in place.systems.values()}
    return {
        run: (place.system, place.workload)
        for place in places.counted(pairs=list(at), most=0, newest=MOST_RUNS)
        if at[place.system, place.workload] == place.level
        for run in place.newest
    }


def _best_first(chosen: Mapping[str, _Place], runs: Mapping[int, tuple[int, int]]) -> list[Chosen]:
    """The sides of each place, the best mean first: ratios are to it."""
    values: dict[tuple[int, int, str], list[float]] = defaultdict(list)
    keys = {place.workload.primary_metric.key for place in chosen.values()}
    measured = Measurement.objects.filter(run_id__in=runs, metric__key__in=keys).order_by()
    for run, key, value in measured.values_list("run_id", "metric__key", "value"):
        values[*runs[run], key].append(value)
    return [_sides(place, values) for place in chosen.values()]


def _sides(place: _Place, values: Mapping[tuple[int, int, str], Sequence[float]]) -> Chosen:
    metric = place.workload.primary_metric
    means = {
        system.pk: statistics.fmean(own)
        for system in place.systems.values()
        if (own := values.get((system.pk, place.workload.pk, metric.key)))
    }
    worst = -math.inf if metric.direction == Direction.HIGHER else math.inf
    ordered = sorted(
        place.systems.values(),
        key=lambda system: means.get(system.pk, worst),
        reverse=metric.direction == Direction.HIGHER,
    )
    return Chosen(place.workload, tuple(ChosenSide(system.slug, system, place.workload) for system in ordered))


def _at_level(draft: Draft, level: int) -> Draft:
    """With the cells of the workload's primary metric at this level alone."""
    cells = tuple(cell for cell in draft.cells if cell.level == level and cell.metric.primary)
    return replace(draft, cells=cells)


def _row(kind: str, place: _Place | None, comparison: Comparison | None) -> ScorecardRow:
    if place is None or comparison is None or not comparison.cells:
        return ScorecardRow(kind, None, None, None, tuple(ScorecardCell(family, None, None, 0) for family in FAMILIES))
    sides = {side.slug: side for side in comparison.sides}
    cells = {cell.side: cell for cell in comparison.cells}
    doubted = Counter(run.side for run in comparison.counted if run.level == place.level.pk and run.failed_checks)
    own = {key: system.slug for key, system in place.systems.items() if cells[system.slug].replicates}
    return ScorecardRow(
        kind=kind,
        level=next(level for level in comparison.levels if level.id == place.level.pk),
        metric=next(metric for metric in comparison.metrics if metric.primary),
        comparison=comparison,
        cells=tuple(
            ScorecardCell(family, sides[slug], cells[slug], doubted[slug])
            if (slug := own.get(family.key, ""))
            else ScorecardCell(family, None, None, 0)
            for family in FAMILIES
        ),
    )
