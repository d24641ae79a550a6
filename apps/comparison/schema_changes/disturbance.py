"""Effect of one statement on a load, from the seconds before, during and after it. Pure: arrays in, numbers out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.comparison.stats.measures import dips
from apps.comparison.stats.measures.dips import DipSpan
from apps.runs.pure import Phase
from workers.protocol.workloads.schema_changes import SETTLE

Floats = NDArray[np.float64]
# With fewer intervals there is neither a usual throughput nor a spread.
FEWEST = 3
# Tools print a little early: an interval that begins this long before the measured phase belongs to it, s.
EARLY = 0.05


@dataclass(frozen=True)
class IntervalSpread:
    """Sample standard deviation (n - 1) over `count` intervals; None: fewer than FEWEST."""

    count: int
    deviation: float | None


@dataclass(frozen=True)
class LoadSeconds:
    """Values per interval, as load tools print them: `at` the intervals' ends, s, rising; NaN: not observed, such as
    the latency of a second in which no transaction ended."""

    at: Floats
    values: Floats


@dataclass(frozen=True)
class Disturbance:
    """`base`: median throughput of the intervals before, in its unit; None: fewer than FEWEST, or zero, and then depth
    and stall are unknown. `depth`: % of it lost in the worst interval from the statement's start on, `depth_before` the
    same of the undisturbed load. `stalled`: s in intervals below the given share of the base; `longest`: the longest
    run of such intervals (s from the statement's start). `silent`: number of intervals without a transaction.
    """

    base: float | None
    depth: float | None
    depth_before: float | None
    stalled: float | None
    longest: DipSpan | None
    silent: int
    throughput_before: IntervalSpread
    throughput_during: IntervalSpread
    latency_before: IntervalSpread
    latency_during: IntervalSpread


def disturbance(
    throughput: LoadSeconds,
    latency: LoadSeconds | None,
    *,
    phase: Phase,
    first: float,
    statement: Phase,
    until: float,
    share: float,
) -> Disturbance:
    """`phase`: measured phase; `first`: start of the run's first statement, up to which the load is undisturbed;
    `until`: end of the statement's effect (see `ends_at`); all s on one clock. `share`: % of the base below which an
    interval counts as stalled."""
    before = _contained(throughput, phase.start - EARLY, first)
    during, lengths = _overlapping(throughput, statement.start, until)
    base = float(np.median(before.values)) if len(before.values) >= FEWEST else 0.0
    known = base > 0 and len(during.values) > 0
    low = during.values < base * share / 100
    latencies = latency or LoadSeconds(np.zeros(0), np.zeros(0))
    return Disturbance(
        base=base or None,
        depth=_lost(during.values, base) if known else None,
        depth_before=_lost(before.values, base) if base > 0 else None,
        stalled=float(lengths[low].sum()) if known else None,
        longest=dips.longest_stretch(during.at - statement.start, lengths, low) if known else None,
        silent=int((during.values == 0).sum()),
        throughput_before=_spread(before.values),
        throughput_during=_spread(during.values),
        latency_before=_spread(_contained(latencies, phase.start - EARLY, first).values),
        latency_during=_spread(_overlapping(latencies, statement.start, until)[0].values),
    )


def count_during(rates: LoadSeconds, start: float, end: float) -> int:
    """Events in the intervals that overlap, from their numbers per second."""
    during, lengths = _overlapping(rates, start, end)
    return round(float((during.values * lengths).sum()))


def ends_at(statement: Phase, following: float | None, *, settle: float = SETTLE) -> float:
    """End of the statement's effect: `settle` s after its end, at most the start of the `following` one."""
    return statement.end + settle if following is None else min(statement.end + settle, following)


def _contained(seconds: LoadSeconds, start: float, end: float) -> LoadSeconds:
    """The observed intervals entirely within."""
    at, values, lengths = _observed(seconds)
    inside = (at - lengths >= start) & (at <= end)
    return LoadSeconds(at[inside], values[inside])


def _overlapping(seconds: LoadSeconds, start: float, end: float) -> tuple[LoadSeconds, Floats]:
    """The observed intervals that overlap, and their lengths."""
    at, values, lengths = _observed(seconds)
    touched = (at > start) & (at - lengths < end)
    return LoadSeconds(at[touched], values[touched]), lengths[touched]


def _observed(seconds: LoadSeconds) -> tuple[Floats, Floats, Floats]:
    """Ends, values and lengths; an interval's length is the time since the previous end, observed or not."""
    at, values = seconds.at, seconds.values
    usual = float(np.median(np.diff(at))) if len(at) > 1 else 1.0
    lengths = np.diff(at, prepend=at[0] - usual) if len(at) else np.zeros(0)
    seen = ~np.isnan(values)
    return at[seen], values[seen], lengths[seen]


def _lost(values: Floats, base: float) -> float:
    return max(0.0, 100 * (1 - float(values.min()) / base))


def _spread(values: Floats) -> IntervalSpread:
    count = len(values)
    return IntervalSpread(count, float(np.std(values, ddof=1)) if count >= FEWEST else None)
