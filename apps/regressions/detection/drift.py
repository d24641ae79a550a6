"""What a series does besides changes of level: a drift, a week's pattern, differences of machines and of sessions,
bursts. Pure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from apps.regressions.detection import noise as noises
from apps.regressions.detection.autocorrelation import Explained
from apps.regressions.detection.change_points import winsorise
from apps.regressions.detection.covariates import OF_MEDIAN, WEEK, Effect, Season, effect_of
from apps.regressions.detection.noise import Floats
from apps.regressions.detection.series import ALIKE, LONGEST, ResultSeries, Window, bursts
from apps.regressions.detection.sessions import SessionSpread

# Fewest runs that show a drift, and twice its gain in log-likelihood: p about 5e-5 by Wilks.
FEWEST, GAIN = 30, 16.5
# Days over which a drift is given by the week.
FORTNIGHT = 14
# Runs on each side of a burst with which it is compared.
SIDE = 15


@dataclass(frozen=True)
class Drift:
    """A steady slope since the last reset, besides changes of level: `change` in `runs` runs, or in a week where the
    days are known, as a share of the value, with its 95 % interval. `total`: over all these runs."""

    change: Effect
    runs: float
    by_week: bool
    total: float


@dataclass(frozen=True)
class Burst:
    """Runs `start` to `end` of a series, off the level before and after by `size`."""

    start: int
    end: int
    size: Effect


@dataclass(frozen=True)
class Patterns:
    """`machines`: each one's name and effect; `host`: those of each measure of the host, for a step."""

    drift: Drift | None = None
    season: Season | None = None
    machines: tuple[tuple[str, Effect], ...] = ()
    bursts: tuple[Burst, ...] = ()
    host: tuple[tuple[str, Effect], ...] = ()
    sessions: SessionSpread | None = None


def patterns(series: ResultSeries, places: Sequence[int]) -> Patterns:
    """Of the last 500 runs since the last reset, with changes at `places`."""
    start, end = (series.stretches() or [(0, 0)])[-1]
    first = max(start, end - LONGEST)
    if end - first < FEWEST:
        return Patterns()
    found = series.adjusted(first, end)
    inner = [place - first for place in sorted(places) if first < place < end]
    drift, bursts_found = _drift(series, first, end, found.y, inner), _bursts(series, first, end, inner)
    sessions = _sessions(series.window(first, end), inner)
    return Patterns(drift, found.season, found.machines, bursts_found, found.host, sessions)


def _sessions(window: Window, places: Sequence[int]) -> SessionSpread | None:
    if window.sessions is None:
        return None
    bounds = [0, *places, len(window.y)]
    sides = [winsorise(window.y[start:end], window.noise) for start, end in pairwise(bounds)]
    residuals = np.concatenate([side - side.mean() for side in sides])
    return window.sessions.difference(residuals, levels=len(sides))


def _bursts(series: ResultSeries, first: int, end: int, places: Sequence[int]) -> tuple[Burst, ...]:
    """Stretches of odd runs beside no change, after which the level returned."""
    window, found = series.window(first, end), list[Burst]()
    y, noise = window.y, window.noise
    for start, stop in bursts(y, noise):
        if stop == len(y) or any(start - ALIKE <= place <= stop + ALIKE for place in places):
            continue
        beside = np.concatenate([y[max(start - SIDE, 0) : start], y[stop : stop + SIDE]])
        error = noise.scale * math.sqrt(noise.inflation * (1 / (stop - start) + OF_MEDIAN**2 / len(beside)))
        shift = float(y[start:stop].mean()) - noises.median(beside)
        size = effect_of(shift, error, len(beside) + stop - start - 2)
        if abs(size.value) >= series.limits.smallest:
            found.append(Burst(first + start, first + stop, size))
    return tuple(found)


def _drift(series: ResultSeries, first: int, end: int, y: Floats, places: Sequence[int]) -> Drift | None:
    noise, runs = series.window(first, end).noise, len(y)
    at = np.arange(runs) / runs
    sides = [slice(start, stop) for start, stop in pairwise([0, *places, runs])]
    # Clipped around the slope of each level, so that a drift is no outlier.
    slopes = [np.polyval(np.polyfit(at[side], y[side], 1), at[side]) if len(y[side]) > WEEK else 0.0 for side in sides]
    clipped = np.concatenate(
        [winsorise(y[side] - line, noise) + line for side, line in zip(sides, slopes, strict=True)]
    )
    if _gain_beside_white_noise(clipped, at, places) < GAIN:
        return None
    slope = Explained(clipped, places, series.window(first, end).sessions).slope()
    total = math.expm1(slope.value * (runs - 1))
    if slope.gain < GAIN or abs(total) < series.limits.smallest:
        return None
    span = series.days[end - 1] - series.days[first] if series.days else 0
    by_week = span >= FORTNIGHT
    many = WEEK * (runs - 1) / span if by_week else 100.0
    change = effect_of(slope.value * many, slope.error * many, runs - len(places) - 2)
    return Drift(change, many, by_week, total)


def _gain_beside_white_noise(y: Floats, at: Floats, places: Sequence[int]) -> float:
    """A tenth of the time, and more than beside noise that wanders."""
    steps = np.arange(len(y))[:, None] >= np.array(places, dtype=np.float64)
    base = np.column_stack([np.ones(len(y)), steps])
    losses = [
        len(y) * math.log(max(float(((y - x @ np.linalg.lstsq(x, y, rcond=None)[0]) ** 2).mean()), 1e-12))
        for x in (base, np.column_stack([base, at]))
    ]
    return losses[0] - losses[1]
