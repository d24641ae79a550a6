"""Verdict of a row by its ratio, the smallest change detectable, and the worst one possible. Pure."""

import math

from scipy import special

from apps.comparison.pure import (
    CONFIDENCE,
    MARGIN,
    POWER,
    WITHIN_ONE,
    Direction,
    Ratio,
    SessionNoise,
    Verdict,
    sessions_settle,
    welch,
    within_margin,
)
from apps.core.units import NBSP
from apps.regressions.releases.values import RowVerdict

# A ratio of one session each that no session explains: even days that differ by 10 % reach it in 1 of 200 cases.
BEYOND = 1.5
# The same of errors, whose days may differ by a factor of e.
BEYOND_OF_ERRORS = 50.0


def verdict(
    ratio: Ratio, direction: Direction, smallest: float, *, noise: SessionNoise | None = None
) -> tuple[RowVerdict, str]:
    """The verdict with its reason, if it needs one. A difference below `smallest` (a share) does not count: such a row
    is unchanged if the whole interval lies within that or the margin of Compare, else it is inconclusive. `noise`: what
    is known of sessions of the systems.

    Raises ValueError for a neutral metric."""
    if direction is Direction.NEUTRAL:
        raise ValueError("neither higher nor lower is better: no verdict")
    if ratio.verdict in (Verdict.RATE_HELD, Verdict.RATE_NOT_HELD):
        return RowVerdict(ratio.verdict), ratio.reason
    if ratio.verdict is Verdict.TOO_FEW:
        return RowVerdict.TOO_FEW, ratio.reason
    if ratio.verdict is Verdict.NO_RATIO or (ratio.value is None and ratio.p is None):
        return RowVerdict.NO_RATIO, ratio.reason
    # Errors that are not more in these runs need no other day to be tolerable.
    is_quiet = ratio.smoothed is not None and ratio.verdict is not Verdict.HIGHER
    if ratio.replicates in WITHIN_ONE and not is_quiet and not _is_beyond_sessions(ratio):
        return RowVerdict.ONE_SESSION, sessions_settle(noise, repetitions=min(ratio.counts or (1,)))
    return _judged(ratio, ratio.value, direction, smallest)


def _judged(ratio: Ratio, value: float | None, direction: Direction, smallest: float) -> tuple[RowVerdict, str]:
    """`value` None: a run has no error."""
    if ratio.verdict in (Verdict.HIGHER, Verdict.LOWER):
        if value is None or abs(value - 1) >= smallest:
            return RowVerdict(welch.words(ratio.verdict, direction)), "" if value is not None else ratio.reason
        reason = f"{ratio.verdict.value}, but by less than the threshold of {smallest * 100:g}{NBSP}%"
        return (RowVerdict.UNCHANGED if _within(ratio, max(MARGIN, smallest)) else RowVerdict.INCONCLUSIVE), reason
    if ratio.verdict is Verdict.EQUIVALENT:
        return RowVerdict.UNCHANGED, ratio.reason
    return RowVerdict.INCONCLUSIVE, ratio.reason


def _is_beyond_sessions(ratio: Ratio) -> bool:
    """Whether the whole interval lies beyond what sessions are known to differ by."""
    low, high = ratio.smoothed or (ratio.low, ratio.high)
    most = BEYOND_OF_ERRORS if ratio.smoothed else BEYOND
    return low is not None and high is not None and (low > most or high < 1 / most)


def worst(ratio: Ratio, direction: Direction) -> float | None:
    """Greatest share by which the side may be worse, by its interval; 0: it is not worse. None: there is no
    interval."""
    if ratio.low is None or ratio.high is None:
        return None
    return max(0.0, 1 - ratio.low if direction is Direction.HIGHER else ratio.high - 1)


def visible(ratio: Ratio) -> float | None:
    """Smallest rise, as a share, that such runs find with 80 % power (for a fall: to 1 / (1 + rise)): from the
    interval's standard error and degrees of freedom. None: there is no interval."""
    if not ratio.low or not ratio.high or not math.isfinite(ratio.high) or ratio.freedom is None:
        return None
    half = (math.log(ratio.high) - math.log(ratio.low)) / 2 - ratio.systematic
    critical = float(special.stdtrit(ratio.freedom, (1 + CONFIDENCE) / 2))
    effect = (critical + float(special.stdtrit(ratio.freedom, POWER))) * half / critical + ratio.systematic
    return math.expm1(effect) if effect < 700 else math.inf


def _within(ratio: Ratio, margin: float) -> bool:
    return ratio.low is not None and ratio.high is not None and within_margin(ratio.low, ratio.high, margin)
