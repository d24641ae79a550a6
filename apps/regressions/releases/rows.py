"""Rows of a release comparison: its systems compared under every workload, in one table of verdicts.

Judged are the primary metric, percentiles of latency, errors and time in dips where a run has any, work per
transaction, and write downtime: a release that keeps its throughput and doubles its p99, fails transactions, stalls, or
needs three times the fsyncs, is worse.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.catalog.models import LoadLevel, Metric, System, Workload
from apps.comparison.api import Chosen, ChosenSide, compare, dips_and_work, noisiest, session_noise
from apps.comparison.pure import (
    CONFIDENCE,
    FEWEST_RUNS,
    WITHIN_ONE,
    Cell,
    ClaimLimit,
    ComparedSides,
    Direction,
    Draft,
    DraftCell,
    Meaning,
    Ratio,
    Replicates,
    SessionNoise,
    Verdict,
    limits_between,
    verdict_table,
)
from apps.regressions.releases import verdicts
from apps.regressions.releases.pairs import Pair, Where
from apps.regressions.releases.values import CheckRow, RowVerdict
from apps.regressions.thresholds import Thresholds
from apps.runs.api import places

# Judged where it was recorded, beside the percentile that Compare shows.
ALSO = ("client.latency.p99", "failover.outage", "failover.rejoin_outage")
PERCENTILE = "client.latency.p"
# Kinds whose runs may have none: shares with a bound, not with a margin.
COUNTED = ("errors", "dips")
# Of work per transaction less is no finding, unless a threshold of the metric says otherwise: group commits and
# background work follow the throughput.
SMALLEST_WORK = 0.1
IS_BETTER = {RowVerdict.BETTER: True, RowVerdict.WORSE: False}


def ran(systems: Iterable[System]) -> dict[int, set[Where]]:
    found: dict[int, set[Where]] = defaultdict(set)
    wanted = {system.pk for system in systems}
    for place in places.counted(systems=wanted, most=0) if wanted else ():
        found[place.system].add((place.workload, place.level))
    return found


@dataclass(frozen=True)
class ReleaseWorkload:
    """A workload on a pair of systems: `cells` of its judged metrics, corrected over all of the release. `metrics`:
    their ids by key. `noise` of the systems' sessions in its primary metric; None: not known, or not needed."""

    pair: Pair
    workload: Workload
    comparison: ComparedSides
    cells: tuple[Cell, ...]
    metrics: Mapping[str, int]
    noise: SessionNoise | None


def judge(pairs: Sequence[Pair], where: Mapping[int, set[Where]]) -> list[ReleaseWorkload]:
    """Compare under all workloads of the baseline's systems, or those of the pair."""
    wanted = {workload for pair in pairs for workload, _ in where[pair.baseline.pk]}
    workloads = Workload.objects.select_related("primary_metric").in_bulk(wanted)
    found = [(pair, draft) for batch in _batches(pairs) for pair, draft in _compared(batch, workloads, where)]
    beside = dips_and_work.cells_of([draft for _, draft in found])
    cells = [_of_pair(pair, draft, [*_judged(draft), *more]) for (pair, draft), more in zip(found, beside, strict=True)]
    keys = {cell.metric.key for own in cells for cell in own}
    metrics = dict(Metric.objects.filter(key__in=keys).values_list("key", "pk")) if keys else {}
    # A catalog that was not seeded since lacks the newest ones.
    cells = [[cell for cell in own if cell.metric.key in metrics] for own in cells]
    corrected = iter(verdict_table.corrected([cell for own in cells for cell in own]))
    judged = [
        ReleaseWorkload(pair, workloads[draft.workload.id], draft, tuple(next(corrected) for _ in own), metrics, None)
        for (pair, draft), own in zip(found, cells, strict=True)
    ]
    return _with_noise(judged) if any(map(_lacks_sessions, judged)) else judged


def _lacks_sessions(judged: ReleaseWorkload) -> bool:
    return any(cell.ratio is not None and cell.ratio.replicates in WITHIN_ONE for cell in judged.cells)


def _with_noise(judged: Sequence[ReleaseWorkload]) -> list[ReleaseWorkload]:
    """With what is known of the systems' sessions under each workload, else under others with its primary metric."""
    systems = {system.pk for each in judged for system in (each.pair.baseline, each.pair.system)}
    known = session_noise(systems, {each.workload.pk for each in judged})
    metric_of = {each.workload.pk: each.workload.primary_metric_id for each in judged}
    found = []
    for each in judged:
        alike = {place: own for place, own in known.items() if metric_of[place[1]] == metric_of[each.workload.pk]}
        pair = {each.pair.baseline.pk, each.pair.system.pk}
        found.append(replace(each, noise=noisiest(alike, pair, each.workload.pk)))
    return found


def _batches(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Batches that contain each system once: results of one read are distinguished by system."""
    batches: list[list[Pair]] = []
    for pair in pairs:
        own = {pair.baseline.pk, pair.system.pk}
        fitting = (each for each in batches if all(own.isdisjoint((o.baseline.pk, o.system.pk)) for o in each))
        batch = next(fitting, None)
        if batch is None:
            batches.append(batch := [])
        batch.append(pair)
    return batches


def _compared(
    batch: Sequence[Pair], workloads: Mapping[int, Workload], where: Mapping[int, set[Where]]
) -> Iterator[tuple[Pair, Draft]]:
    places = [(pair, pair.compared(where[pair.baseline.pk])) for pair in batch]
    asked = [(pair, workloads[pk]) for pair, own in places for pk in sorted({pk for pk, _ in own})]
    drafts = compare.judge([_chosen(pair, workload) for pair, workload in asked], besides=ALSO)
    return zip((pair for pair, _ in asked), drafts, strict=True)


def _chosen(pair: Pair, workload: Workload) -> Chosen:
    sides = (ChosenSide(each.slug, each, workload) for each in (pair.baseline, pair.system))
    return Chosen(workload, tuple(sides))


def _judged(draft: Draft) -> list[DraftCell]:
    return [
        cell
        for cell in draft.cells
        if (
            cell.metric.primary
            or cell.metric.key in ALSO
            or cell.metric.key.startswith(PERCENTILE)
            or cell.metric.kind == "errors"
        )
        and cell.metric.direction is not Direction.NEUTRAL
        and not cell.metric.unjudged
    ]


def _of_pair(pair: Pair, draft: Draft, cells: Sequence[DraftCell]) -> list[DraftCell]:
    """Those of the load levels at which the pair is compared."""
    return [cell for cell in cells if pair.only is None or (draft.workload.id, cell.level) in pair.only]


def tests(judged: Sequence[ReleaseWorkload]) -> int:
    """Number of tests for which the verdicts are corrected."""
    return sum(cell.ratio is not None and cell.ratio.p is not None for each in judged for cell in each.cells)


def rows(judged: Sequence[ReleaseWorkload], *, limits: Thresholds) -> Iterator[CheckRow]:
    """Rows for the load levels at which the baseline has the metric; of latency and errors where both have it in enough
    runs."""
    for each in judged:
        yield from _rows(each, limits)


def _rows(judged: ReleaseWorkload, limits: Thresholds) -> Iterator[CheckRow]:
    pair, comparison = judged.pair, judged.comparison
    metrics = {metric.key: metric for metric in (*comparison.metrics, *dips_and_work.METRICS)}
    levels = {level.id: level for level in comparison.levels}
    origins = tuple(sorted({origin for side in comparison.sides for origin in side.origins}))
    by_row: dict[tuple[int, str], list[Cell]] = defaultdict(list)
    for cell in judged.cells:
        by_row[cell.level, cell.metric].append(cell)
    asked = _latency_at_rates(comparison)
    failed = {run.id: run.failed_checks for run in comparison.runs}
    primary = {level: _fewest(cells) for (level, key), cells in by_row.items() if metrics[key].primary}
    for before, after in by_row.values():
        metric, level, workload = metrics[before.metric], levels[before.level], comparison.workload
        is_primary = metric.primary or (metric.key == asked and level.rate is not None)
        if not before.replicates or after.ratio is None:
            continue
        # Not every run's output has each percentile: that is no lack of repetitions.
        if not is_primary and _fewest((before, after)) < min(FEWEST_RUNS, primary.get(level.id, 0) or 1):
            continue
        # Without errors, dips or downtime, or without transactions to count them by, there is nothing to judge.
        if not metric.primary and not metric.key.startswith(PERCENTILE) and after.ratio.verdict is Verdict.NO_RATIO:
            continue
        place = judged.workload.pk, judged.metrics[metric.key]
        least = smallest(limits, *place, kind=metric.kind)
        if not after.replicates:
            verdict, reason = (
                RowVerdict.MISSING,
                f"no run of {pair.system.short_name} with {metric.name} counts",
            )
        elif after.side in comparison.withheld_sides and after.ratio.verdict in verdict_table.JUDGED:
            verdict, reason = RowVerdict.WITHHELD, _withheld(comparison)
        elif all(each.value == 0 for each in (*before.replicates, *after.replicates)):
            verdict, reason = RowVerdict.UNCHANGED, "zero on both sides"
        elif metric.kind == "work" and _is_exactly_alike(before, after, least):
            verdict, reason = RowVerdict.UNCHANGED, "the runs of each side are identical"
        else:
            # Work that is no more in these runs needs no other day to be tolerable.
            is_more = after.ratio.verdict is Verdict.HIGHER and (after.ratio.value or 0.0) - 1 >= least
            seen = (
                replace(after.ratio, replicates=Replicates.RUNS)
                if metric.kind == "work" and not is_more
                else after.ratio
            )
            noise = judged.noise if metric.primary else None
            verdict, reason = verdicts.verdict(seen, metric.direction, least, noise=noise)
        limited = _limited(before, after, failed, IS_BETTER.get(verdict)) if metric.kind != "errors" else ()
        if limited and limited[0].meaning is Meaning.VOID and verdict is not RowVerdict.WITHHELD:
            verdict, reason, limited = RowVerdict.VOID, "", limited[:1]
        ratio = after.ratio
        if floor := _floor(before, after):
            ratio = replace(ratio, value=None, low=None, high=None)
            reason = f"a run needs less than {floor:g} {metric.unit}, which background work explains: no ratio"
        yield CheckRow(
            verdict=verdict,
            workload_id=workload.id,
            tool=workload.tool,
            workload=workload.name,
            level_id=level.id,
            level=level.text,
            threads=level.threads,
            rate=level.rate,
            metric_id=judged.metrics[metric.key],
            metric=metric.key,
            metric_name=metric.name,
            unit=metric.unit,
            direction=metric.direction.value,
            baseline_system_id=pair.baseline.pk,
            baseline_system=pair.baseline.slug,
            system_id=pair.system.pk,
            system=pair.system.slug,
            before=before.summary.value if before.summary else None,
            after=after.summary.value if after.summary else None,
            runs_before=tuple(each.run for each in before.replicates),
            runs_after=tuple(each.run for each in after.replicates),
            ratio=ratio.value,
            low=ratio.low,
            high=ratio.high,
            p=ratio.adjusted_p,
            smallest=least,
            margin=None if metric.kind in COUNTED else limits.margin(*place, primary=is_primary),
            visible=verdicts.visible(ratio),
            worst=verdicts.worst(ratio, metric.direction),
            failing=ratio.upper_share,
            needed=ratio.needed,
            sessions=ratio.counts if verdict_table.by_session(ratio) else None,
            reason=reason,
            origins=origins,
            primary=is_primary,
            suspect=verdict is RowVerdict.INCONCLUSIVE and is_more_alone(ratio),
            claim_limits=limited,
        )


def _limited(
    before: Cell, after: Cell, failed: Mapping[int, Sequence[str]], is_better: bool | None
) -> tuple[ClaimLimit, ...]:
    """What failed checks make of the row, the worst first. `failed`: those of each run."""
    sides = [[failed.get(each.run, ()) for each in cell.replicates] for cell in (before, after)]
    return tuple(limits_between(*sides, is_better=is_better))


def _latency_at_rates(comparison: ComparedSides) -> str:
    """Key of the percentile that is primary at a fixed rate, where throughput is what was asked for: the one that
    Compare shows. Empty: single events are judged, whose latency leaves out what failed."""
    if any(metric.primary and metric.single_events for metric in comparison.metrics):
        return ""
    return next((metric.key for metric in comparison.metrics if metric.kind == "latency"), "")


def smallest(limits: Thresholds, workload: int, metric: int, *, kind: str) -> float:
    """Smallest difference of a row that counts, as a share. `kind`: as of ComparedMetric."""
    least, source = limits.of(workload, metric).smallest, limits.source(workload, metric)
    return max(least, SMALLEST_WORK) if kind == "work" and (source is None or source[1] is None) else least


def _is_exactly_alike(before: Cell, after: Cell, least: float) -> bool:
    """Counters may show the same work in every run: that is no lack of repetitions."""
    is_exact = all(len({each.value for each in cell.replicates}) == 1 for cell in (before, after))
    value = after.ratio.value if after.ratio else None
    return is_exact and value is not None and abs(value - 1) < least and _fewest((before, after)) >= FEWEST_RUNS


def _floor(before: Cell, after: Cell) -> float | None:
    """Of work: what a run of either side stays below; None: none does."""
    floor = dips_and_work.FLOORS.get(before.metric)
    seen = [each.value for each in (*before.replicates, *after.replicates)]
    return floor if floor is not None and min(seen) < floor else None


def is_more_alone(ratio: Ratio) -> bool:
    """Of what is counted: more by its own interval, which the correction for all rows does not bear out."""
    return ratio.smoothed is not None and ratio.smoothed[0] > 1 and (ratio.p or 0.0) <= 1 - CONFIDENCE


def _fewest(cells: Iterable[Cell]) -> int:
    """Runs of the side that has fewer."""
    return min(len(cell.replicates) for cell in cells)


def _withheld(comparison: ComparedSides) -> str:
    titles = dict.fromkeys(each.title for each in comparison.obstacles if each.accepted is None)
    return f"the sides differ in {' and '.join(titles)}: accept this on the Compare page, with a reason"


def lost(systems: Sequence[System], where: Mapping[int, set[Where]]) -> Iterator[CheckRow]:
    """Rows of the baseline's systems without a matching system."""
    wanted = {each for system in systems for each in where[system.pk]}
    workloads = Workload.objects.select_related("primary_metric").in_bulk({workload for workload, _ in wanted})
    levels = LoadLevel.objects.in_bulk({level for _, level in wanted})
    for system in systems:
        for workload, level in sorted(where[system.pk]):
            own, at = workloads[workload], levels[level]
            metric = own.primary_metric
            yield CheckRow(
                verdict=RowVerdict.MISSING,
                workload_id=workload,
                tool=own.tool,
                workload=own.name,
                level_id=level,
                level=str(at),
                threads=at.threads,
                rate=at.rate,
                metric_id=metric.pk,
                metric=metric.key,
                metric_name=metric.name,
                unit=metric.unit,
                direction=metric.direction,
                baseline_system_id=system.pk,
                baseline_system=system.slug,
                reason=f"no system of this release has the settings of {system.short_name}",
            )
