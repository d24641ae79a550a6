"""What is known of each run besides its value: the day of the week, and the machine of a pool. Pure.

Their effects are estimated beside the changes of level, and taken out before these are looked for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import special

from apps.regressions.detection import noise as noises
from apps.regressions.detection.noise import Floats

WEEK = 7
# Days that are needed to see a week's pattern, the fewest of each weekday, and p of its test.
FEWEST_DAYS, FEWEST_EACH, SURE = 28, 3, 1e-5
# Runs on each side of a change of machine that are compared, and the fewest such changes that show the difference.
BESIDE, FEWEST_SWITCHES = 3, 3
ROUNDS = 2
CONFIDENCE = 0.95
# Standard error of a median beside that of a mean, of Gaussian values.
OF_MEDIAN = math.sqrt(math.pi / 2)


@dataclass(frozen=True)
class Effect:
    """As a share of the value, with its 95 % interval."""

    value: float
    low: float
    high: float


def effect_of(log: float, error: float, freedom: float) -> Effect:
    reach = float(special.stdtrit(max(freedom, 1), (1 + CONFIDENCE) / 2)) * error
    return Effect(*(math.expm1(each) for each in (log, log - reach, log + reach)))


@dataclass(frozen=True)
class Season:
    """`effects`: of the weekdays from Monday on, around 0; None: too few runs."""

    effects: tuple[Effect | None, ...]
    p: float

    @property
    def values(self) -> list[float]:
        """Of the weekdays with runs enough."""
        return [effect.value for effect in self.effects if effect]

    @property
    def range(self) -> float:
        return max(self.values) - min(self.values)


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Logarithms (runs,) without the effects found. `machines`: each one's name and effect, around 0. `host`: of each
    measure of the host its name and the effect of a step."""

    y: Floats
    season: Season | None = None
    machines: tuple[tuple[str, Effect], ...] = ()
    host: tuple[tuple[str, Effect], ...] = ()


def adjusted(y: Floats, *, days: Sequence[int], machines: Sequence[str]) -> Adjusted:
    """`days`: proleptic ordinals; `machines`: names. Empty: not known."""
    effects: dict[str, Effect] = {}
    if machines and len(set(machines)) > 1:
        effects = _machines(y, machines)
        y = y - np.array([math.log1p(effects[name].value) if effects else 0.0 for name in machines])
    season = _season(y, np.array(days, np.int64)) if days else None
    if season is not None:
        logs = np.array([math.log1p(effect.value) if effect else 0.0 for effect in season.effects])
        y = y - logs[(np.array(days, np.int64) - 1) % WEEK]
    return Adjusted(y, season, tuple(sorted(effects.items())))


def is_separable(machines: Sequence[str], left: slice, right: slice) -> bool:
    """Whether a change between these runs is not just one of machine: some machine has runs on both sides."""
    return not machines or not set(machines[left]).isdisjoint(machines[right])


def _season(y: Floats, days: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Season | None:
    """Means by weekday of the residuals from the median of the seven runs around, by day (analysis of variance)."""
    if len(y) < FEWEST_DAYS:
        return None
    padded = np.pad(y, WEEK // 2, mode="edge")
    residuals = y - np.sort(np.lib.stride_tricks.sliding_window_view(padded, WEEK), axis=1)[:, WEEK // 2]
    distinct, places = np.unique(days, return_inverse=True)
    if len(distinct) < FEWEST_DAYS:
        return None
    residuals = np.bincount(places, residuals) / np.bincount(places)
    reach = noises.ODD * noises.deviation(residuals)
    weekdays = (distinct - 1) % WEEK
    counts = np.bincount(weekdays, minlength=WEEK)
    used = counts >= FEWEST_EACH
    if used.sum() < 2 or reach == 0:
        return None
    # Clipped around each weekday's median: an effect of one day is no outlier.
    middles = np.array([noises.median(residuals[weekdays == day]) if used[day] else 0.0 for day in range(WEEK)])
    clipped = middles[weekdays] + np.clip(residuals - middles[weekdays], -reach, reach)
    means = np.bincount(weekdays, clipped, minlength=WEEK) / np.maximum(counts, 1)
    counted = used[weekdays]
    overall = clipped[counted].mean()
    within = float(((clipped - means[weekdays])[counted] ** 2).sum())
    between = float((counts * (means - overall) ** 2)[used].sum())
    first, second = int(used.sum()) - 1, int(counted.sum() - used.sum())
    p = float(special.fdtrc(first, second, (between / first) / max(within / second, noises.FLOOR**2)))
    if p >= SURE:
        return None
    errors = np.sqrt(within / second * np.maximum(1 / np.maximum(counts, 1) - 1 / counted.sum(), 0))
    return Season(
        tuple(
            effect_of(float(means[day] - overall), float(errors[day]), second) if used[day] else None
            for day in range(WEEK)
        ),
        p,
    )


def _machines(y: Floats, machines: Sequence[str]) -> dict[str, Effect]:
    """Of each machine, around 0: first from the runs beside changes of machine, then beside the levels. Empty: they
    change too rarely."""
    names = sorted(set(machines))
    number = np.array([names.index(machine) for machine in machines])
    switches = np.flatnonzero(np.diff(number)) + 1
    if len(switches) < FEWEST_SWITCHES or len(switches) < 2 * len(names) - 1:
        return {}
    ends = [0, *switches, len(y)]
    rows, steps = np.zeros((len(switches), len(names))), np.empty(len(switches))
    for row, at in enumerate(switches):
        start, end = max(ends[row], at - BESIDE), min(ends[row + 2], at + BESIDE)
        steps[row] = noises.median(y[at:end]) - noises.median(y[start:at])
        rows[row, number[at]], rows[row, number[at - 1]] = 1, -1
    weights = np.ones(len(switches))
    for _ in range(5):  # towards the least absolute deviations: a change of level at a switch is an outlier
        effects = np.linalg.lstsq(rows * weights[:, None], steps * weights, rcond=None)[0]
        weights = 1 / np.sqrt(np.maximum(np.abs(steps - rows @ effects), noises.FLOOR))
    for _ in range(ROUNDS):
        rest = y - effects[number]
        noise = noises.estimate(rest)
        bounds = noise.bounds
        level = np.concatenate([np.full(end - start, np.median(rest[start:end])) for start, end in pairwise(bounds)])
        own = [(y - level)[number == each] for each in range(len(names))]
        effects = np.array([noises.median(each) for each in own])
        effects -= effects.mean()
    variances = np.array([(OF_MEDIAN * noises.deviation(each)) ** 2 / len(each) for each in own])
    # Of a difference from the mean of all.
    others = len(names)
    errors = np.sqrt(noise.inflation * (variances * (1 - 2 / others) + variances.sum() / others**2))
    return {
        name: effect_of(float(effects[each]), float(errors[each]), len(y) - len(names) - len(bounds))
        for each, name in enumerate(names)
    }
