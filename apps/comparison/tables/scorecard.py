"""The scorecard: the architectures side by side, one question a row, each at the load that most of them share.

Shipped examples and synthetic runs stand only in rows in which no other runs compare two architectures. A constant
number of queries.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from django.db.models import F

from apps.catalog.models import LoadLevel, System, Workload
from apps.catalog.pure import is_single_event
from apps.comparison import compare
from apps.comparison.comparability.claim_limits import ClaimLimit, claim_limits
from apps.comparison.selection import row_versions
from apps.comparison.selection.row_versions import Versions
from apps.comparison.selection.runs import Pair
from apps.comparison.selection.sessions import Occurrence, numbered
from apps.comparison.selection.sides import Chosen, ChosenSide
from apps.comparison.stats import welch
from apps.comparison.stats.welch import Direction
from apps.comparison.tables import verdict_table
from apps.comparison.values import Cell, ComparedMetric, ComparedWorkload, Comparison, Draft, Level, Side
from apps.runs.api import RunPlace, places
from apps.runs.models import COUNTED, Measurement, Run
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
OWN = tuple(each for each in Run.Provenance.values if each not in FILLERS)
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
    """Systems of several families on one class of hardware under one workload and load level. `levels`: all that they
    were measured at, which Compare judges together, as each says how much the others vary. `origins` of their runs: no
    fillers beside others."""

    workload: Workload
    level: LoadLevel
    systems: Mapping[str, System]  # by the family's key
    levels: frozenset[int]
    origins: tuple[str, ...]


@dataclass(frozen=True)
class _Question:
    """What stands in the rows, and in which versions of its data: equal `versions` have equal rows."""

    chosen: Mapping[str, _Place]
    runs: Mapping[int, Pair]
    versions: Versions


@dataclass
class LastAnswer:
    """The last rows and the versions that they hold for: one of a process, for all of its threads."""

    versions: Versions | None = None
    rows: tuple[ScorecardRow, ...] = ()
    judging: Lock = field(default_factory=Lock)


last = LastAnswer()


def load_scorecard() -> tuple[ScorecardRow, ...]:
    """One row for each of KINDS. Ratios are corrected together, since the rows are read together.

    Judged anew only when a row of the database that they rest on has changed.
    """
    asked = _question()
    with last.judging:
        if last.versions != asked.versions:
            rows = _judged(asked)
            # What changed meanwhile may be in them or not.
            if _question().versions != asked.versions:
                return rows
            last.rows, last.versions = rows, asked.versions
        return last.rows


def _question() -> _Question:
    # The catalog's versions come first: if it changes afterwards, they are those of before.
    catalog = row_versions.catalog()
    chosen = _chosen()
    at = [
        (system.pk, each.workload.pk, level, each.origins)
        for each in chosen.values()
        for system in each.systems.values()
        for level in sorted(each.levels)
    ]
    newest = row_versions.newest_runs(at)
    return _Question(chosen, newest.sides, (catalog, tuple(chosen), tuple(at), newest.versions))


def _judged(question: _Question) -> tuple[ScorecardRow, ...]:
    chosen, runs = question.chosen, question.runs
    ordered = dict(zip(chosen, _best_first(chosen, runs), strict=True))
    behind = {kind: replace(own, sides=own.sides[1:]) for kind, own in ordered.items() if len(own.sides) > 2}
    asked = [
        *((kind, own, False) for kind, own in ordered.items()),
        *((kind, own, True) for kind, own in behind.items()),
    ]
    judged = compare.judge([own for _, own, _ in asked], runs=list(runs), primary_alone=True)
    drafts = [_at_level(draft, chosen[kind].level.pk) for draft, (kind, _, _) in zip(judged, asked, strict=True)]
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
    """Kind of load -> the place to show: two families or more, then runs that are no fillers, then most families, then
    most runs of each, then without a fixed rate, then most threads. Of a family the system that was measured last."""
    families = {slug: family.key for family in FAMILIES for slug in family.platforms}
    related = System.objects.select_related("release__platform", "hardware_class")
    systems = {system.pk: system for system in related.filter(release__platform__slug__in=families)}
    pairs = [(each.system, each.workload) for each in places.counted(systems=systems, by_level=False, most=0)]
    workloads = Workload.objects.select_related("primary_metric").in_bulk({workload for _, workload in pairs})
    candidates = _Candidates(
        systems, {pk: families[system.release.platform.slug] for pk, system in systems.items()}, workloads
    )
    kinds = {pk: kind for pk, workload in workloads.items() if (kind := _kind(workload))}
    bounds = candidates.bounds(pairs)
    tops = {kind: max(bounds[pk] for pk, own in kinds.items() if own == kind) for kind in kinds.values()}
    found: dict[str, _Ranked] = {}
    left = set(kinds)
    # Most load levels need not be read: first those of the workloads that most families may share; then of the others
    # those that may still be better.
    for _ in range(2):
        read = {
            pk for pk in left if bounds[pk] >= (found[kinds[pk]].rank[:4] if kinds[pk] in found else tops[kinds[pk]])
        }
        left -= read
        for each in candidates.ranked([pair for pair in pairs if pair[1] in read]):
            kind = kinds[each.place.workload.pk]
            if kind not in found or each.rank > found[kind].rank:
                found[kind] = each
    return {kind: each.place for kind, each in found.items()}


@dataclass(frozen=True)
class _Ranked:
    """`rank`: the greatest of its kind is shown."""

    rank: tuple[bool, bool, int, bool, int, bool, int, bool, int]
    place: _Place


@dataclass(frozen=True)
class _Candidates:
    """The systems of the families, and the workloads that they have runs of. `families`: system -> key."""

    systems: Mapping[int, System]
    families: Mapping[int, str]
    workloads: Mapping[int, Workload]

    def bounds(self, pairs: Iterable[Pair]) -> dict[int, tuple[bool, bool, int, bool]]:
        """Workload -> what the first parts of its ranks are at most."""
        # By name, not by what they are not: for the index.
        has_own = Run.objects.filter(COUNTED, provenance__in=OWN).exists()
        shared: dict[int, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for system, workload in pairs:
            shared[workload][self.systems[system].hardware_class_id].add(self.families[system])
        most = {pk: max(map(len, each.values())) for pk, each in shared.items()}
        return {pk: (families > 1, has_own, families, self._is_of_row(pk)) for pk, families in most.items()}

    def ranked(self, pairs: Collection[Pair]) -> list[_Ranked]:
        """The places of systems and workloads. At a fixed rate all do the same work."""
        counted = places.counted(pairs=pairs, most=0, newest=ENOUGH_RUNS) if pairs else []
        started = Run.objects.select_related("load_level").only("started_at", "load_level")
        last_runs = started.in_bulk([each.newest[0] for each in counted])
        levels = {run.load_level_id: run.load_level for run in last_runs.values()}
        groups: dict[tuple[int, int, int, bool], list[RunPlace]] = defaultdict(list)
        at_levels: dict[tuple[int, int, bool], set[int]] = defaultdict(set)
        # In the order in which they were measured: the last of each family counts. A run may be gone meanwhile.
        known = [(last_runs[each.newest[0]], each) for each in counted if each.newest[0] in last_runs]
        for _, each in sorted(known, key=lambda one: (one[0].started_at, one[0].pk)):
            is_own = each.kind[0] in OWN
            at_levels[each.system, each.workload, is_own].add(each.level)
            groups[each.workload, each.level, self.systems[each.system].hardware_class_id, is_own].append(each)
        found = []
        for (pk, at, _, is_own), alike in groups.items():
            workload, level = self.workloads[pk], levels[at]
            runs = {self.families[each.system]: len(each.newest) for each in alike}
            is_usual = workload.parameters.get("algorithm") == USUAL_ALGORITHM
            most = len(runs) > 1, is_own, len(runs), self._is_of_row(pk)
            rank = *most, min(runs.values()), level.rate is None, level.threads, is_usual, pk
            newest = {self.families[each.system]: self.systems[each.system] for each in alike}
            measured_at = frozenset().union(*(at_levels[system.pk, pk, is_own] for system in newest.values()))
            found.append(_Ranked(rank, _Place(workload, level, newest, measured_at, OWN if is_own else FILLERS)))
        return found

    def _is_of_row(self, workload: int) -> bool:
        """Whether its kind has the row, rather than to stand in another's."""
        return kind_of(self.workloads[workload].tool, self.workloads[workload].parameters) in KINDS


def _kind(workload: Workload) -> str:
    """The row of a workload; empty: it has none."""
    kind = kind_of(workload.tool, workload.parameters)
    if kind == FAILOVER and workload.parameters.get("fault") not in CRASHES:
        return ""
    kind = INSTEAD.get(kind, kind)
    return kind if kind in KINDS else ""


def _best_first(chosen: Mapping[str, _Place], runs: Mapping[int, Pair]) -> list[Chosen]:
    """The sides of each place, that of the best figure first: ratios are to it."""
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    keys = {place.workload.primary_metric.key for place in chosen.values()}
    fields = ("run_id", "run__load_level", "metric__key", "value", "run__started_at", "run__server_started_at")
    measured = Measurement.objects.filter(run_id__in=runs, metric__key__in=keys).order_by()
    for row in measured.values(*fields, "run__session", host=F("run__host__name")):
        system, workload = runs[row["run_id"]]
        found[workload].append({**row, "system": system})
    return [_sides(place, found[place.workload.pk]) for place in chosen.values()]


def _sides(place: _Place, rows: Iterable[Mapping[str, Any]]) -> Chosen:
    """`rows`: values of the workload's runs at all levels."""
    metric = place.workload.primary_metric
    own = [row for row in rows if row["metric__key"] == metric.key]
    sessions = numbered(map(_occurrence, own))
    members: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for row in own:
        if row["run__load_level"] == place.level.pk:
            members[row["system"]].append((row["value"], sessions[row["run_id"]]))
    figures = {system: _figure(metric.key, each) for system, each in members.items()}
    worst = -math.inf if metric.direction == Direction.HIGHER else math.inf
    ordered = sorted(
        place.systems.values(),
        key=lambda system: figures.get(system.pk, worst),
        reverse=metric.direction == Direction.HIGHER,
    )
    return Chosen(place.workload, tuple(ChosenSide(system.slug, system, place.workload) for system in ordered))


def _occurrence(row: Mapping[str, Any]) -> Occurrence:
    started, server = row["run__started_at"], row["run__server_started_at"]
    return Occurrence(row["run_id"], str(row["system"]), started, str(row["host"] or ""), server, row["run__session"])


def _figure(metric: str, measured: Sequence[tuple[float, int]]) -> float:
    """Of values with their sessions, as the cell shows it."""
    values, sessions = zip(*measured, strict=True)
    return welch.summarise(values, sessions=() if is_single_event(metric) else sessions).value


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
