"""How a series becomes a level: limits that must hold for a while, and the words that tell of it. Pure.

A level is reached when the series is beyond its limit for SHARE of all observed time, and in LEAST samples. Where it is
so for less, but for HOLD seconds in a row, an error is an error, and saturation is worth a look: "watch". A single
sample that is off is seen in the peak, and is no trouble yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.core.units import NBSP, format_duration, with_unit
from apps.use_method.values import Floats, MetricSamples, RuleResult, Span, UseLevel

HOLD = 3.0  # s
SHARE = 0.2
LEAST = 2
# A sampler is early or late by some hundredths: three of its seconds may be a little less than three.
SLACK = 0.05  # s
# Samples that are further apart than so many usual steps have a gap between them, of which nothing is known.
LONGEST_STEP = 3.0


@dataclass(frozen=True)
class LevelLimits:
    """From `watch` on, and from `saturated` on (in the series' unit); None: that level is never reached. `level`: what
    is reached at `saturated`, ERROR for indicators of errors. `hold` and `share`: for how long, see above."""

    watch: float | None
    saturated: float | None
    hold: float = HOLD
    share: float = SHARE
    least: int = LEAST
    level: UseLevel = UseLevel.SATURATED

    def words(self, unit: str) -> str:
        """For the table: “watch from 70 % on, saturated from 90 % on, for 20 % of the time”."""
        parts = [
            f"{level.word} from {limit_text(limit, unit)} on"
            for level, limit in ((UseLevel.WATCH, self.watch), (self.level, self.saturated))
            if limit is not None
        ]
        return ", ".join([*parts, self.held()]) if parts else ""

    def held(self) -> str:
        """For how long, for the table."""
        share, hold = f"{self.share * 100:.0f} % of the time", f"{format_duration(self.hold)} in a row"
        if self.saturated is None or self.level is not UseLevel.SATURATED:
            return f"for {share} or {hold}"
        return f"for {share}; watch for {hold}"


def limit_text(limit: float, unit: str) -> str:
    """A limit as it was set, not to three digits."""
    return with_unit(limit, unit) if unit.startswith("bytes") else f"{limit:,g}{NBSP}{unit}".rstrip()


def steps(at: Floats) -> Floats:
    """How long each value counts, s: since the value before; after a gap, and the first, for a usual step."""
    if len(at) < 2:
        return np.ones(len(at))
    between = np.diff(at)
    # The median, without what np.median spends on a short array: it is asked for each rule.
    usual = float(np.partition(between, len(between) // 2)[len(between) // 2])
    lengths: Floats = np.concatenate(([usual], np.where(between > LONGEST_STEP * usual, usual, between)))
    return lengths


def mean(samples: MetricSamples) -> float | None:
    """By time; None: nothing was observed."""
    seen = ~np.isnan(samples.values)
    weights = steps(samples.at)[seen]
    if not seen.any() or not weights.sum():
        return None
    return float(np.average(samples.values[seen], weights=weights))


def total(samples: MetricSamples) -> float | None:
    """Of a counter, by how much it rose: its rates by their time; None: nothing was observed."""
    seen = ~np.isnan(samples.values)
    return float((samples.values * steps(samples.at))[seen].sum()) if seen.any() else None


def peak(samples: MetricSamples) -> float | None:
    return None if np.isnan(samples.values).all() else float(np.nanmax(samples.values))


def stretches(samples: MetricSamples, beyond: "np.typing.NDArray[np.bool_]") -> list[Span]:
    """Spans of the clock in which `beyond` held without a break; a value that was not observed ends one."""
    lengths = steps(samples.at)
    found: list[Span] = []
    start: float | None = None
    for place, held in enumerate(beyond):
        if held and start is None:
            start = float(samples.at[place] - lengths[place])
        elif held and samples.at[place] - samples.at[place - 1] > lengths[place] + 1e-9 and start is not None:
            found.append((start, float(samples.at[place - 1])))
            start = float(samples.at[place] - lengths[place])
        elif not held and start is not None:
            found.append((start, float(samples.at[place - 1])))
            start = None
    if start is not None:
        found.append((start, float(samples.at[-1])))
    return found


@dataclass(frozen=True)
class Beyond:
    """The stretches at or above a limit that tell; `lasting`: they make up the share of the time that is asked for."""

    spans: tuple[Span, ...]
    lasting: bool


def beyond(samples: MetricSamples, limit: float, limits: LevelLimits) -> Beyond:
    """Without spans: it never was for long."""
    seen = ~np.isnan(samples.values)
    over = np.zeros(len(seen), np.bool_)
    over[seen] = samples.values[seen] >= limit
    found = stretches(samples, over)
    held = [span for span in found if span[1] - span[0] >= limits.hold - SLACK]
    lengths = steps(samples.at)
    observed = float(lengths[seen].sum())
    enough = bool(held) or int(over.sum()) >= limits.least
    lasting = enough and observed > 0 and float(lengths[over].sum()) >= limits.share * observed
    return Beyond(tuple(found if lasting else held), lasting)


def judge(
    samples: MetricSamples, limits: LevelLimits, *, unit: str, metric: str = "", value: float | None = None
) -> RuleResult | None:
    """The level of a series that is the worse the higher it is; None: nothing was observed. `value`: what the cell
    shows, instead of the mean."""
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
    observed = float(steps(samples.at)[~np.isnan(samples.values)].sum())
    whole = length >= observed - 1.5
    when = "all the time" if whole else f"for {format_duration(round(length, 1))} of {format_duration(round(observed))}"
    since = "" if whole else f", from {format_duration(round(max(0.0, spans[0][0]), 1))} on"
    return f"at least {limit_text(limit, unit)} {when}{since}, highest {with_unit(highest, unit)}"


def counted(
    samples: MetricSamples, *, unit: str, metric: str, level: UseLevel = UseLevel.ERROR, least: float = 0.5
) -> RuleResult | None:
    """Of a counter of events that should not happen: how many there were; `level` from one on. None: not observed."""
    number = total(samples)
    if number is None:
        return None
    happened = samples.values > 0
    if number < least or not happened.any():
        return RuleResult(UseLevel.OK, 0.0, "none", metric, 0.0)
    spans = tuple(stretches(samples, happened))
    words = f"{with_unit(round(number), unit)}, first at {format_duration(round(max(0.0, spans[0][0]), 1))}"
    return RuleResult(level, float(round(number)), words, metric, peak(samples), spans)


def for_and_from(spans: Sequence[Span]) -> str:
    """“for 12 s, from 46 s on”."""
    length = sum(end - start for start, end in spans)
    return f"for {format_duration(round(length, 1))}, from {format_duration(round(max(0.0, spans[0][0]), 1))} on"
