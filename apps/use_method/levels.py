"""Levels of a series: limits that must be exceeded for a while, and their wording. Pure.

A level is reached if the series exceeds its limit for SHARE of all observed time, and in LEAST samples. If it does so
for less, but for HOLD seconds in a row, an error is an error, and saturation becomes "watch". A single outlying sample
is shown in the peak and raises no level.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.core.units import NBSP, format_duration, with_unit
from apps.use_method.values import Floats, MetricSamples, RuleResult, Span, UseLevel

HOLD = 3.0  # s
SHARE = 0.2
LEAST = 2
# Samplers jitter by some hundredths of a second: three intervals may be a little less than three seconds.
SLACK = 0.05  # s
INSTANT = 1e-9  # s: times closer than this are equal
# Samples further apart than this many usual steps have a gap between them, which counts as not observed.
LONGEST_STEP = 3.0


@dataclass(frozen=True)
class LevelLimits:
    """Thresholds from which on a level is reached, in the series' unit; None: never. `level`: the one reached at
    `saturated`, ERROR for indicators of errors. `hold` and `share`: durations, see above."""

    watch: float | None
    saturated: float | None
    hold: float = HOLD
    share: float = SHARE
    least: int = LEAST
    level: UseLevel = UseLevel.SATURATED

    def words(self, unit: str) -> str:
        """Text for the table: “watch from 70 % on, saturated from 90 % on, for 20 % of the time”."""
        parts = [
            f"{level.word} from {limit_text(limit, unit)} on"
            for level, limit in ((UseLevel.WATCH, self.watch), (self.level, self.saturated))
            if limit is not None
        ]
        return ", ".join([*parts, self.held()]) if parts else ""

    def held(self) -> str:
        """Text of the duration, for the table."""
        share, hold = f"{self.share * 100:.0f} % of the time", f"{format_duration(self.hold)} in a row"
        if self.saturated is None or self.level is not UseLevel.SATURATED:
            return f"for {share} or {hold}"
        return f"for {share}; watch for {hold}"


def limit_text(limit: float, unit: str) -> str:
    """A limit as configured, not rounded to three digits."""
    return with_unit(limit, unit) if unit.startswith("bytes") else f"{limit:,g}{NBSP}{unit}".rstrip()


def steps(samples: MetricSamples) -> Floats:
    """Duration of each value for levels, s: since the previous observed value; for the first and after a gap, the usual
    step. Unobserved values have the usual step."""
    seen = ~np.isnan(samples.values)
    at = samples.at[seen]
    between = np.diff(at) if samples.since is None else at - samples.since[seen]
    if not len(between):
        return np.full(len(samples.at), samples.alone)
    # The median without np.median's overhead on short arrays: it is computed for each rule.
    usual = float(np.partition(between, len(between) // 2)[len(between) // 2])
    lengths: Floats = np.full(len(samples.at), usual)
    lengths[np.flatnonzero(seen)[-len(between) :]] = np.where(between > LONGEST_STEP * usual, usual, between)
    return lengths


def intervals(samples: MetricSamples) -> Floats:
    """Time that each value covers, s: all of its interval, gaps in sampling included."""
    return steps(samples) if samples.since is None else samples.at - samples.since


def mean(samples: MetricSamples) -> float | None:
    """Time-weighted mean; None: nothing was observed."""
    seen = ~np.isnan(samples.values)
    weights = intervals(samples)[seen]
    if not seen.any() or not weights.sum():
        return None
    return float(np.average(samples.values[seen], weights=weights))


def total(samples: MetricSamples) -> float | None:
    """Increase of a counter: its rates times their intervals; None: nothing was observed."""
    seen = ~np.isnan(samples.values)
    return float((samples.values * intervals(samples))[seen].sum()) if seen.any() else None


def peak(samples: MetricSamples) -> float | None:
    return None if np.isnan(samples.values).all() else float(np.nanmax(samples.values))


def stretches(
    samples: MetricSamples, beyond: "np.typing.NDArray[np.bool_]", lengths: Floats | None = None
) -> list[Span]:
    """Uninterrupted spans with `beyond` true. `lengths`: durations of the values; None: those for levels."""
    lengths = steps(samples) if lengths is None else lengths
    found: list[Span] = []
    for place in np.flatnonzero(beyond):
        end = float(samples.at[place])
        start = end - float(lengths[place])
        if found and start <= found[-1][1] + INSTANT:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


@dataclass(frozen=True)
class Beyond:
    """The relevant stretches at or above a limit; `lasting`: they make up the required share of the time."""

    spans: tuple[Span, ...]
    lasting: bool


def beyond(samples: MetricSamples, limit: float, limits: LevelLimits) -> Beyond:
    """Without spans: the limit was never exceeded for long enough."""
    seen = ~np.isnan(samples.values)
    over = np.zeros(len(seen), np.bool_)
    over[seen] = samples.values[seen] >= limit
    found = stretches(samples, over)
    long_enough = [span for span in found if span[1] - span[0] >= limits.hold - SLACK]
    lengths = steps(samples)
    observed = float(lengths[seen].sum())
    enough = bool(long_enough) or int(over.sum()) >= limits.least
    lasting = enough and observed > 0 and float(lengths[over].sum()) >= limits.share * observed
    return Beyond(tuple(found if lasting else long_enough), lasting)


def judge(
    samples: MetricSamples, limits: LevelLimits, *, unit: str, metric: str = "", value: float | None = None
) -> RuleResult | None:
    """Level of a series for which higher is worse; None: nothing was observed. `value`: shown in the cell instead of
    the mean."""
    average = mean(samples)
    if average is None:
        return None
    shown = average if value is None else value
    highest = peak(samples)
    for level, limit in ((limits.level, limits.saturated), (UseLevel.WATCH, limits.watch)):
        if limit is None or not (over := beyond(samples, limit, limits)).spans:
            continue
        brief = level is UseLevel.SATURATED and not over.lasting
        words = over_words(over.spans, limit, unit, highest, samples)
        return RuleResult(UseLevel.WATCH if brief else level, shown, words, metric, highest, over.spans)
    return RuleResult(UseLevel.OK, shown, f"highest {with_unit(highest, unit)}", metric, highest)


def over_words(spans: Sequence[Span], limit: float, unit: str, highest: float | None, samples: MetricSamples) -> str:
    """“at least 90 % for 12 s of 60 s, from 46 s on, highest 99.4 %”."""
    length = sum(end - start for start, end in spans)
    observed = float(steps(samples)[~np.isnan(samples.values)].sum())
    whole = length >= observed - 1.5
    when = "all the time" if whole else f"for {format_duration(round(length, 1))} of {format_duration(round(observed))}"
    since = "" if whole else f", from {format_duration(round(max(0.0, spans[0][0]), 1))} on"
    return f"at least {limit_text(limit, unit)} {when}{since}, highest {with_unit(highest, unit)}"


def counted(
    samples: MetricSamples, *, unit: str, metric: str, level: UseLevel = UseLevel.ERROR, least: float = 0.5
) -> RuleResult | None:
    """Number of events that should not happen, from a counter; `level` from one event on. None: not observed."""
    number = total(samples)
    if number is None:
        return None
    happened = samples.values > 0
    if number < least or not happened.any():
        return RuleResult(UseLevel.OK, 0.0, "none", metric, 0.0)
    spans = tuple(stretches(samples, happened, intervals(samples)))
    words = f"{with_unit(round(number), unit)}, first at {format_duration(round(max(0.0, spans[0][0]), 1))}"
    return RuleResult(level, float(round(number)), words, metric, peak(samples), spans)


def for_and_from(spans: Sequence[Span]) -> str:
    """“for 12 s, from 46 s on”."""
    length = sum(end - start for start, end in spans)
    return f"for {format_duration(round(length, 1))}, from {format_duration(round(max(0.0, spans[0][0]), 1))} on"
