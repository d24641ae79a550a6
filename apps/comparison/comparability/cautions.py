"""What the verdicts of a comparison hold for: one session of each side, or repetitions that change with their order.
Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from apps.comparison.stats.order_trend import OrderTrend, order_trend
from apps.comparison.stats.replicates import Replicates
from apps.comparison.stats.session_power import SessionNoise
from apps.comparison.values import Caution, ComparedMetric, ComparedRun, DraftCell
from apps.comparison.wording import sessions_settle
from apps.core.units import NBSP

TOGETHER = "the sides together"
KNOWN = {Replicates.RUNS, Replicates.SESSIONS, Replicates.PAIRED_SESSIONS}
ONE_SESSION = "one-session"
EARLY = Caution(
    "early-stop",
    "Repeated until decided",
    "a campaign ended load levels as soon as they were decided: the intervals here do not allow for its looks before, "
    "those beside its jobs do.",
)


def one_session(noise: SessionNoise | None = None, *, repetitions: int = 1) -> Caution:
    """`noise` of sessions of these systems; None: not known."""
    text = "differences between days, hosts and starts of a server are not known: the verdicts hold for these runs"
    return Caution(ONE_SESSION, "One session each", f"{text}. {sessions_settle(noise, repetitions=repetitions)}.")


def cautions(
    cells: Sequence[DraftCell],
    runs: Iterable[ComparedRun],
    metrics: Sequence[ComparedMetric],
    names: Mapping[str, str],
) -> tuple[Caution, ...]:
    """`runs`: those that count; `names` of the sides."""
    counted = list(runs)
    early = [EARLY] if any(run.campaign is not None and run.campaign.until for run in counted) else []
    return (*_cautions(cells, counted, metrics, names), *early)


def _cautions(
    cells: Sequence[DraftCell],
    runs: Iterable[ComparedRun],
    metrics: Sequence[ComparedMetric],
    names: Mapping[str, str],
) -> Iterator[Caution]:
    kinds = {cell.ratio.alone.replicates for cell in cells if cell.ratio is not None and cell.ratio.basis is not None}
    if kinds and not kinds & KNOWN:
        yield one_session()
    metric = next((each for each in metrics if each.primary), None)
    if metric is None or metric.single_events:
        return
    groups: dict[str, dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if metric.key in run.values:
            groups[run.side][run.level, run.session].append(run.values[metric.key])
    found = order_trend([group for own in groups.values() for group in own.values()])
    if found is not None:
        each = {names[side]: order_trend(list(own.values())) for side, own in groups.items()}
        alike = {name: own for name, own in each.items() if own and (own.change > 0) == (found.change > 0)}
        verb = "Rises" if found.change > 0 else "Falls"
        yield Caution("order", f"{verb} with each repetition", _text(metric, alike or {TOGETHER: found}, kinds))


def _text(metric: ComparedMetric, found: Mapping[str, OrderTrend], kinds: set[Replicates]) -> str:
    size = f"{metric.name} {' and '.join(f'of {name} {_size(own)}' for name, own in found.items())}"
    if kinds == {Replicates.BLOCKS}:
        return f"{size}. Sides are compared block by block, which removes it; the systems had not settled."
    return f"{size}: the runs are no independent repetitions, since the systems had not settled."


def _size(found: OrderTrend) -> str:
    ends = sorted(abs(end) * 100 for end in (found.low, found.high))
    return f"by {abs(found.change) * 100:.1f}{NBSP}% (95{NBSP}% interval {ends[0]:.1f} to {ends[1]:.1f})"
