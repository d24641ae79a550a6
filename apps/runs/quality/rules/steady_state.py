"""Steady state: the second from which throughput no longer changes. Pure."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.runs.quality.values import (
    Floats,
    QualityFacts,
    RuleFinding,
    ThroughputSeconds,
    cannot_tell,
    failed,
    limit,
    passed,
    percent,
    plain,
)

# With fewer intervals, the level is uncertain.
FEWEST = 50
# Allowed difference from the final level: this share of it, plus 3 standard errors for chance.
ALIKE, CHANCE = 0.01, 3.0
# Allowed effect of the warm-up on the mean of the measured phase.
MOST_MOVED = 0.01
LIMITS = (
    f"steady over at least the last {FEWEST} intervals, each stretch between change points within {limit(ALIKE)} of "
    f"the last one, of a periodic load each period; a measured phase that begins before that has a mean within "
    f"{limit(MOST_MOVED)} of the steady one"
)
PENALTY, SHORTEST = 6.0, 5  # of KernelCPD; intervals of a segment
MOST_POINTS = 600  # more are averaged: the search takes quadratic time
MOST_AUTOCORRELATION = 0.7
# A period: autocorrelation at its lag at least this, after less than half of it; so often in the last two thirds.
PERIODIC, FEWEST_PERIODS = 0.4, 3
NOISE_FLOOR = 2e-4  # of the greatest: of a load that stands still most of the time, the median is zero
CLIPPED = 2.5  # standard deviations of the noise, beyond which a value is an outlier
DRIFTS = 2.5  # standard errors of the slope in each half
TO_SIGMA = 1.4826  # from a median absolute deviation


def check(facts: QualityFacts) -> RuleFinding:
    seconds, measured = facts.seconds, facts.measured
    if facts.unsteady:
        return cannot_tell(f"Throughput is not meant to be steady: {facts.unsteady}.")
    if seconds is None or measured is None:
        return cannot_tell("The tool printed totals only, no intervals.")
    if len(seconds.values) < FEWEST:
        count = len(seconds.values)
        return cannot_tell(f"The load had {count} intervals with its warm-up; {FEWEST} are needed.", intervals=count)
    start, cycle = steady_from(seconds.values), 0
    if start > 0 and (repeats := period(seconds.values)):
        by_period = periodic_from(seconds.values, repeats)
        start, cycle = (by_period, repeats) if by_period < start else (start, 0)
    return _verdict(seconds, measured, start, cycle)


def _verdict(seconds: ThroughputSeconds, measured: tuple[float, float], start: int, cycle: int) -> RuleFinding:
    """`start`: index of the first steady interval; `cycle`: intervals of a period, by which it was found; 0: none."""
    if np.median(seconds.values[start:]) == 0:
        standing = int((seconds.values[start:] == 0).sum())
        text = f"No steady state: nothing was done in {standing} of the last {len(seconds.values) - start} intervals."
        return failed(text, intervals=len(seconds.values) - start)
    began = float(seconds.at[start]) - _length(seconds)
    left = len(seconds.values) - start
    if left < FEWEST:
        if drifts := _drifts(seconds, measured, steady_from=began, intervals=left):
            return drifts
        when = f"at {plain(began, 's')} of the run's clock, {left} intervals before the end"
        text = f"No steady state: {seconds.name} still changes {when}."
        return failed(text, steady_from=began, intervals=left)
    if began <= measured[0] + _length(seconds):
        how = f", over whole periods of {plain(cycle * _length(seconds), 's')}" * bool(cycle)
        return passed(
            f"Steady from {plain(max(began, 0.0), 's')} on{how}; the measured phase begins at "
            f"{plain(measured[0], 's')}.",
            steady_from=began,
        )
    return _late(seconds, measured, began)


def _late(seconds: ThroughputSeconds, measured: tuple[float, float], began: float) -> RuleFinding:
    """Verdict on a run that becomes steady at `began`, within the measured phase."""
    mean = _mean(seconds, measured[0], measured[1])
    moved = mean / _mean(seconds, began, np.inf) - 1
    text = (
        f"{seconds.name} is steady only from {plain(began, 's')} on, the measured phase begins at "
        f"{plain(measured[0], 's')}: that moves its mean by {percent(abs(moved))} {'up' if moved > 0 else 'down'}"
    )
    detail = {"steady_from": began, "moved": moved}
    if abs(moved) > MOST_MOVED:
        if drifts := _drifts(seconds, measured, **detail):
            return drifts
        return failed(f"The measured phase holds a warm-up: {text}.", **detail)
    return passed(f"{text[:1].upper()}{text[1:]}.", **detail)


def drift(values: Floats) -> float:
    """Change from the first to the last, as a share of the mean, where both halves rise, or both fall, by more than
    chance: neither a step nor a warm-up does. 0: no drift."""
    if len(values) < FEWEST or not (mean := float(values.mean())):
        return 0.0
    (first, first_error), (second, second_error) = map(_slope, np.array_split(values, 2))
    is_monotone = first * second > 0 and abs(first) > DRIFTS * first_error and abs(second) > DRIFTS * second_error
    change = _slope(values)[0] * (len(values) - 1) / mean
    return change if is_monotone and abs(change) > ALIKE else 0.0


def _slope(y: Floats) -> tuple[float, float]:
    """By least squares, per interval, and its standard error, which autocorrelation widens; single stalls are
    clipped."""
    x = np.arange(len(y)) - (len(y) - 1) / 2
    squares = float(x @ x)
    reach = CLIPPED * max(_mad(np.diff(y)) / math.sqrt(2), NOISE_FLOOR * float(np.abs(y).max()))
    line = float(np.median(y)) + float(x @ y) / squares * x
    clipped = np.clip(y, line - reach, line + reach)
    slope = float(x @ clipped) / squares
    residuals = clipped - clipped.mean() - slope * x
    total = float(residuals @ residuals)
    return slope, math.sqrt(total / (len(y) - 2) / squares * _widened(residuals, total))


def _drifts(seconds: ThroughputSeconds, measured: tuple[float, float], **detail: float) -> RuleFinding | None:
    """Of a run that is not steady: None: its measured phase does not drift."""
    change = drift(seconds.values[seconds.at > measured[0]])
    way = f"by {percent(abs(change))} {'up' if change > 0 else 'down'} over the measured phase"
    return failed(f"No steady state: {seconds.name} drifts, {way}.", **detail, drift=change) if change else None


def steady_from(values: Floats) -> int:
    """Index of the first interval from which every segment is at the level of the last one.

    Change points by ruptures' KernelCPD("rbf") on (y − median)/(MAD(diff)/√2) with the penalty 6·√f, f = (1+φ)/(1−φ)
    and φ the lag-1 autocorrelation of clipped residuals (Truong et al. 2020). Same level: means within ALIKE plus
    CHANCE standard errors, which f widens.
    """
    step = -(-len(values) // MOST_POINTS)
    y = values[: len(values) // step * step].reshape(-1, step).mean(axis=1)
    noise = max(_mad(np.diff(y)) / np.sqrt(2), NOISE_FLOOR * float(np.abs(y).max()), np.finfo(float).tiny)
    scaled = (y - np.median(y)) / noise
    bounds = _changes(scaled, PENALTY)
    factor = _inflation(y, bounds, noise)
    bounds = _changes(scaled, PENALTY * np.sqrt(factor)) if factor > 1 else bounds
    segments = [y[start:end] for start, end in pairwise(bounds)]
    errors = [float(each.std(ddof=1)) * np.sqrt(factor / len(each)) for each in segments]
    level, first = float(segments[-1].mean()), len(segments) - 1
    while first and abs(float(segments[first - 1].mean()) - level) <= (
        ALIKE * abs(level) + CHANCE * np.hypot(errors[first - 1], errors[-1])
    ):
        first -= 1
    return bounds[first] * step


def period(values: Floats) -> int:
    """Intervals after which the load repeats itself, by its autocorrelation over the last two thirds; 0: it does
    not."""
    y = values[len(values) // 3 :] - np.mean(values[len(values) // 3 :])
    total, longest = float(y @ y), len(y) // FEWEST_PERIODS
    if total == 0 or longest < 2:
        return 0
    lags = np.array([float(y[lag:] @ y[:-lag]) / total * len(y) / (len(y) - lag) for lag in range(1, longest + 1)])
    away = np.flatnonzero(lags < PERIODIC / 2)
    if not len(away):
        return 0
    beyond = lags[away[0] :]
    # The first of the peaks, which its multiples may exceed by chance; then its top.
    first = int(np.argmax(beyond >= 0.9 * beyond.max()))
    peak = int(away[0]) + first + int(beyond[first : first + 1 + first // 4].argmax())
    return peak + 1 if lags[peak] >= PERIODIC and peak + 1 < longest else 0


def periodic_from(values: Floats, cycle: int) -> int:
    """Index of the first whole period, counted from the end, from which the mean of each is that of those after it: it
    differs by less than ALIKE plus CHANCE standard errors."""
    many = len(values) // cycle
    means = values[len(values) - many * cycle :].reshape(many, cycle).mean(axis=1)[::-1]
    noise = _mad(np.diff(means)) / np.sqrt(2)
    same = 1
    while same < many:
        later = float(means[:same].mean())
        if abs(float(means[same]) - later) > ALIKE * abs(later) + CHANCE * noise * np.sqrt(1 + 1 / same):
            break
        same += 1
    return len(values) - same * cycle


def _changes(scaled: Floats, penalty: float) -> list[int]:
    """Bounds of the segments, from 0 to the number of values."""
    # Imported here because the import takes as long as a hundred seals.
    from ruptures.detection import KernelCPD  # noqa: PLC0415

    found: list[Any] = KernelCPD("rbf", min_size=SHORTEST).fit(scaled.reshape(-1, 1)).predict(pen=penalty)
    return [0, *map(int, found)]


def _inflation(y: Floats, bounds: list[int], noise: float) -> float:
    parts = [y[start:end] - np.median(y[start:end]) for start, end in pairwise(bounds)]
    residuals: NDArray[np.float64] = np.clip(np.concatenate(parts), -CLIPPED * noise, CLIPPED * noise)
    return _widened(residuals, float((residuals**2).sum()))


def _widened(residuals: Floats, total: float) -> float:
    """Factor of the variance of a mean: (1 + φ) / (1 − φ). `total`: sum of the squares."""
    lag = float((residuals[1:] * residuals[:-1]).sum()) / total if total else 0.0
    phi = min(max(lag, 0.0), MOST_AUTOCORRELATION)
    return (1 + phi) / (1 - phi)


def _mad(values: Floats) -> float:
    return TO_SIGMA * float(np.median(np.abs(values - np.median(values))))


def _length(seconds: ThroughputSeconds) -> float:
    return float(np.median(np.diff(seconds.at)))


def _mean(seconds: ThroughputSeconds, start: float, end: float) -> float:
    """Mean of the intervals whose middle is in [start, end)."""
    middles = seconds.at - _length(seconds) / 2
    return float(seconds.values[(middles >= start) & (middles < end)].mean())
