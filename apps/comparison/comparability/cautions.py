"""What the verdicts of a comparison hold for: one session of each side, or repetitions that change with their order.
Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from apps.comparison.stats.order_trend import OrderTrend, order_trend
from apps.comparison.stats.replicates import Replicates
from apps.comparison.values import Caution, ComparedMetric, ComparedRun, DraftCell
from apps.core.units import NBSP

KNOWN = {Replicates.RUNS, Replicates.SESSIONS, Replicates.PAIRED_SESSIONS}
ONE_SESSION = Caution(
    "one-session",
    "One session each",
    "differences between days, hosts and starts of a server are not known: the verdicts hold for these runs, and runs "
    "of a second day would show more.",
)
EARLY = Caution(
    "early-stop",
    "Repeated until decided",
    "a campaign ended load levels as soon as they were decided: the intervals here do not allow for its looks before, "
    "those beside its jobs do.",
)


def cautions(
    cells: Sequence[DraftCell], runs: Iterable[ComparedRun], metrics: Sequence[ComparedMetric]
) -> tuple[Caution, ...]:
    """`runs`: those that count."""
    counted = list(runs)
    early = [EARLY] if any(run.campaign is not None and run.campaign.until for run in counted) else []
    return (*_cautions(cells, counted, metrics), *early)


def _cautions(
    cells: Sequence[DraftCell], runs: Iterable[ComparedRun], metrics: Sequence[ComparedMetric]
) -> Iterator[Caution]:
    kinds = {cell.ratio.alone.replicates for cell in cells if cell.ratio is not None and cell.ratio.basis is not None}
    if kinds and not kinds & KNOWN:
        yield ONE_SESSION
    metric = next((each for each in metrics if each.primary), None)
    if metric is None or metric.single_events:
        return
    groups: dict[Any, list[float]] = defaultdict(list)
    for run in runs:
        if metric.key in run.values:
            groups[run.side, run.level, run.session].append(run.values[metric.key])
    found = order_trend(list(groups.values()))
    if found is not None:
        verb = "Rises" if found.change > 0 else "Falls"
        yield Caution("order", f"{verb} with each repetition", _text(metric, found, kinds))


def _text(metric: ComparedMetric, found: OrderTrend, kinds: set[Replicates]) -> str:
    ends = sorted(abs(end) * 100 for end in (found.low, found.high))
    size = f"{metric.name} by {abs(found.change) * 100:.1f}{NBSP}% (95{NBSP}% interval {ends[0]:.1f} to {ends[1]:.1f})"
    if kinds == {Replicates.BLOCKS}:
        return f"{size}. Sides are compared block by block, which removes it; the systems had not settled."
    return f"{size}: the runs are no independent repetitions, since the systems had not settled."
