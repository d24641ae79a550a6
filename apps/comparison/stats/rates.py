"""Throughput at a fixed rate: whether the rate was held, by the rule of the quality check of each run. Pure.

It is the number of arrivals, most of which are random: sides that hold the rate differ by chance alone.
"""

from collections.abc import Sequence

from apps.comparison.stats.welch import DraftRatio, Ratio, Verdict
from apps.core.units import NBSP
from apps.runs.pure import asked_rate

# Of each run: transactions/s, and the length of its measured phase in s.
Done = Sequence[tuple[float, float]]


def draft(rate: float, baseline: Done, side: Done) -> DraftRatio:
    """A side holds the rate if each of its runs does."""
    for name, done in (("the baseline", baseline), ("this side", side)):
        if not done:
            return DraftRatio(Ratio(Verdict.NO_RATIO, reason=f"{name} has no such value"))
    short = _short(rate, side)
    in_some = f" in {short} of {len(side)} runs" * (0 < short < len(side))
    failing = " not held:" * bool(_short(rate, baseline))
    reason = f"{_share(rate, side)} of {rate:g}/s{in_some} (baseline{failing} {_share(rate, baseline)})"
    return DraftRatio(Ratio(Verdict.RATE_NOT_HELD if short else Verdict.RATE_HELD, reason=reason))


def _short(rate: float, done: Done) -> int:
    """Number of runs that did not hold it."""
    return sum(not asked_rate.is_held(value, rate=rate, length=length) for value, length in done)


def _share(rate: float, done: Done) -> str:
    return f"{100 * sum(value for value, _ in done) / len(done) / rate:.3g}{NBSP}%"
