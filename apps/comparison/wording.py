"""Ratios, their intervals and metrics as text, the same on every page and in every export. Pure."""

import math
from dataclasses import replace

from apps.comparison.stats.power import MOST_REPETITIONS, sessions_needed
from apps.comparison.stats.session_power import SessionNoise
from apps.comparison.stats.welch import Ratio, Verdict
from apps.comparison.values import ComparedMetric
from apps.core.text import counted
from apps.core.units import NBSP

MOST_DECIMALS = 4
# Where nothing is known of a system's sessions. Restarts of a server alone have moved a benchmark by up to 3 %; 1 % is
# usual between days.
BETWEEN = 0.01
# The difference that sessions are to find, and the least by which they are taken to differ.
SETTLED, LEAST_BETWEEN = 0.05, 0.001


def label(metric: ComparedMetric) -> str:
    """The quantity's label on pages."""
    if metric.kind == "latency":
        return metric.key.rsplit(".", 1)[-1] if metric.key.count(".") == 2 else metric.name
    return "errors" if metric.kind == "errors" else "throughput" if metric.key == "client.throughput" else metric.name


def decimals(ratio: Ratio) -> int:
    """Three significant digits: fewer decimals for a wide interval, more for a narrow one or if an end would be rounded
    to 1."""
    value = ratio.value or 1.0
    fewest = max(0, 2 - math.floor(math.log10(value))) if value > 0 and math.isfinite(value) else 2
    most = max(MOST_DECIMALS, fewest)
    if ratio.low is None or ratio.high is None or not 0 < ratio.high - ratio.low < math.inf:
        return fewest
    width = math.floor(math.log10(ratio.high - ratio.low))
    wanted = max(0, min(fewest, 2 - width), -width)
    while wanted < most and 1 in (round(ratio.low, wanted), round(ratio.high, wanted)):
        wanted += 1
    return min(wanted, most)


def ratio_text(ratio: Ratio) -> str:
    """“2.63 ×”; without an interval's other end “at least 15.2 ×”."""
    if ratio.value is None:
        return ""
    if is_bound(ratio) and ratio.low:
        return f"at least {_end(ratio.low, decimals(ratio))}\u00a0×"
    if is_bound(ratio) and ratio.high:
        return f"at most {_end(ratio.high, decimals(ratio))}\u00a0×"
    return f"{ratio.value:,.{decimals(ratio)}f}\u00a0×"


def is_bound(ratio: Ratio) -> bool:
    """Whether the interval has one end only, which `ratio_text` states."""
    return has_one_end(ratio.low, ratio.high)


def has_one_end(low: float | None, high: float | None) -> bool:
    """Of a ratio's interval, as of a side of few clock steps."""
    return low is not None and high is not None and (low == 0) != math.isinf(high)


def interval_text(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None or is_bound(ratio):
        return ""
    return f"[{_end(ratio.low, decimals(ratio))},\u00a0{_end(ratio.high, decimals(ratio))}]"


def interval_words(ratio: Ratio) -> str:
    """“1.27 to 1.33”; empty: no interval."""
    if ratio.low is None or ratio.high is None or is_bound(ratio):
        return ""
    return f"{_end(ratio.low, decimals(ratio))} to {_end(ratio.high, decimals(ratio))}"


def inverse(ratio: Ratio) -> Ratio:
    """The baseline over the side, as far as its value and interval: “2.7 × slower”."""
    if not ratio.value:
        return replace(ratio, value=None, low=None, high=None)
    low, high = (None if end is None else 1 / end if end else math.inf for end in (ratio.high, ratio.low))
    return replace(ratio, value=1 / ratio.value, low=low, high=high)


def with_interval(ratio: Ratio) -> str:
    """“2.63 × [2.41, 2.87]”, or the reason for no interval; empty: no ratio."""
    if ratio.value is None:
        return ""
    if is_bound(ratio):
        return ratio_text(ratio)
    return f"{ratio_text(ratio)} {interval_text(ratio) or f'({Verdict.TOO_FEW})'}"


def sessions_settle(noise: SessionNoise | None, *, repetitions: int = 1) -> str:
    """How many sessions of each side would settle what one session leaves open. `noise` None: the usual one."""
    between = max(noise.of_mean(repetitions), LEAST_BETWEEN) if noise else BETWEEN
    many = sessions_needed(effect=math.log1p(SETTLED), between=between)
    sessions = f"{many} sessions" if many <= MOST_REPETITIONS else f"more than {MOST_REPETITIONS:,} sessions"
    source = f", as {counted(noise.sessions, 'earlier one')} did" if noise else ""
    return (
        f"{sessions} of each side would find a difference of {SETTLED * 100:g}{NBSP}%, if sessions differ by "
        f"{between * 100:.3g}{NBSP}%{source}"
    )


def _end(end: float, places: int) -> str:
    """No end of a ratio's interval is zero: one digit is kept where rounding would leave none."""
    if not math.isfinite(end):
        return "∞"
    if 0 < end < 10**-MOST_DECIMALS:
        return f"<\u00a0{10**-MOST_DECIMALS:.{MOST_DECIMALS}f}"
    if end > 0 and round(end, places) == 0:
        places = -math.floor(math.log10(end))
    return f"{end:,.{places}f}"
