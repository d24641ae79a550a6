"""What throughput and latency do not show: time in dips, and work per transaction. Verdicts for the release gate.

Dips are rare: seconds of all seconds are compared as errors of transactions are, so that a run may have none. Work is
compared by ratio; a quantity below its floor is background work alone, and counts as the floor.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress

from apps.catalog.pure import CURATED
from apps.catalog.pure import work as pure_work
from apps.comparison.sections import steadiness, verdicts, work
from apps.comparison.sections.steadiness import RunDips
from apps.comparison.stats import rare_events, welch
from apps.comparison.stats.measures import dips
from apps.comparison.stats.rare_events import Counted
from apps.comparison.stats.welch import Direction
from apps.comparison.values import ComparedMetric, Draft, DraftCell, Replicate
from workers.protocol.workloads.kinds import FAILOVER, SCHEMA_CHANGE, kind_of

DIPS = "steadiness.hiccups"
# What background work alone may reach, per transaction.
FLOORS = dict(zip(pure_work.JUDGED, (1.0, 0.05, 100.0), strict=True))
# Loads that stand still, or work, by design.
DISTURBED = (FAILOVER, SCHEMA_CHANGE)


def _metric(key: str, kind: str) -> ComparedMetric:
    spec = CURATED[key]
    return ComparedMetric(key, spec.name, spec.unit, Direction(spec.direction), kind, primary=False)


METRICS = (_metric(DIPS, "dips"), *(_metric(key, "work") for key in FLOORS))


@dataclass(frozen=True)
class RunCosts:
    """Of each run: its dips, and the quantities of FLOORS that are known."""

    dips: Mapping[int, RunDips]
    work: Mapping[int, Mapping[str, float]]

    def values(self) -> dict[int, dict[str, float]]:
        """Run -> key of a metric -> value, in the metric's unit."""
        found: dict[int, dict[str, float]] = defaultdict(dict)
        for run, own in self.work.items():
            found[run] |= own
        for run, one in self.dips.items():
            found[run][DIPS] = 100 * one.seconds / one.observed
        return found


def run_costs(runs: Sequence[int]) -> RunCosts:
    """Eleven queries."""
    spent = work.per_transaction(runs) if runs else {}
    known = {run: {key: each.whole[key] for key in FLOORS if key in each.whole} for run, each in spent.items()}
    return RunCosts(steadiness.dips_of(runs) if runs else {}, known)


def cells_of(drafts: Sequence[Draft]) -> list[list[DraftCell]]:
    """For each comparison the cells of METRICS, for verdict_table.corrected. As many queries as for one."""
    judged = [kind_of(draft.workload.tool, draft.workload.parameters) not in DISTURBED for draft in drafts]
    runs = (verdicts.run_ids(draft) for draft in compress(drafts, judged))
    costs = run_costs(sorted(set(chain.from_iterable(runs))))
    values = costs.values()
    pairs = zip(drafts, judged, strict=True)
    return [list(_cells(draft, costs, values)) if is_judged else [] for draft, is_judged in pairs]


def _cells(draft: Draft, costs: RunCosts, values: Mapping[int, Mapping[str, float]]) -> Iterator[DraftCell]:
    steps = [costs.dips[run.id].step for run in draft.counted if run.id in costs.dips]
    usual = dips.usual_step(steps)
    own = {
        run: {
            key: max(value, FLOORS.get(key, value))
            for key, value in known.items()
            # Longer intervals hide dips.
            if key != DIPS or (usual is not None and dips.is_same_step(usual, costs.dips[run].step))
        }
        for run, known in values.items()
    }
    rows: dict[tuple[int, str], list[DraftCell]] = defaultdict(list)
    for cell in verdicts.drafts(draft, METRICS, own):
        rows[cell.level, cell.metric.key].append(cell)
    for (_, key), row in rows.items():
        seen = [values[each.run][key] for cell in row for each in cell.replicates]
        if not seen or (key in FLOORS and max(seen) <= FLOORS[key]):
            continue
        yield from _counted_cells(draft, costs, row) if key == DIPS else (_as_measured(cell, values) for cell in row)


def _counted_cells(draft: Draft, costs: RunCosts, row: Sequence[DraftCell]) -> Iterator[DraftCell]:
    baseline, *others = row
    yield baseline
    sides = _seconds(draft, costs, baseline)
    for cell in others:
        yield replace(cell, ratio=rare_events.draft(sides, _seconds(draft, costs, cell)), unknown=())


def _seconds(draft: Draft, costs: RunCosts, cell: DraftCell) -> Counted:
    runs = {run.id: run for run in draft.counted}
    own = [runs[each.run] for each in cell.replicates]
    seen = [costs.dips[run.id] for run in own]
    sessions = [run.session for run in own if run.session is not None]
    blocks = [run.block for run in own if run.block]
    return Counted(
        events=tuple(round(one.seconds) for one in seen),
        transactions=tuple(one.observed for one in seen),
        sessions=tuple(sessions) if len(sessions) == len(own) else (),
        blocks=tuple(blocks) if len(blocks) == len(own) else (),
        what="s in dips",
        of="s",
        whole="time",
    )


def _as_measured(cell: DraftCell, values: Mapping[int, Mapping[str, float]]) -> DraftCell:
    """With the values as they are, not raised to the floor."""
    key = cell.metric.key
    replicates = tuple(Replicate(each.run, values[each.run][key]) for each in cell.replicates)
    if replicates == cell.replicates:
        return cell
    return replace(cell, replicates=replicates, summary=welch.summarise([each.value for each in replicates]))
