"""What is known of each run besides its value: the day of the week, and the machine of a pool. Pure.

Their effects are estimated beside the changes of level, and taken out before these are looked for.
"""

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


@dataclass(frozen=True)
class Season:
    """`effects`: of the weekdays from Monday on, as shares of the value, around 0; nan: no runs."""

    effects: tuple[float, ...]
    p: float

    @property
    def range(self) -> float:
        return float(np.nanmax(self.effects) - np.nanmin(self.effects))


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Logarithms (runs,) without the effects found. `machines`: each one's effect, as a share of the value."""

    y: Floats
    season: Season | None = None
    machines: tuple[tuple[str, float], ...] = ()


def adjusted(y: Floats, *, days: Sequence[int], machines: Sequence[str]) -> Adjusted:
    """`days`: proleptic ordinals; `machines`: names. Empty: not known."""
    effects: dict[str, float] = {}
    if machines and len(set(machines)) > 1:
        effects = _machines(y, machines)
        y = y - np.array([effects.get(machine, 0.0) for machine in machines])
    season = _season(y, np.array(days, np.int64)) if days else None
    if season is not None:
        logs = np.log1p(np.nan_to_num(season.effects))
        y = y - logs[(np.array(days, np.int64) - 1) % WEEK]
    return Adjusted(y, season, tuple((name, float(np.expm1(each))) for name, each in sorted(effects.items())))


def is_separable(machines: Sequence[str], left: slice, right: slice) -> bool:
    """Whether a change between these runs can be told from a change of machine: some machine has runs on both sides."""
    return not machines or not set(machines[left]).isdisjoint(machines[right])


def _season(y: Floats, days: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Season | None:
    """Means by weekday of the residuals from the median of the seven runs around, by day (analysis of variance)."""
    if len(y) < FEWEST_DAYS:
        return None
    padded = np.pad(y, WEEK // 2, mode="edge")
    residuals = y - np.median(np.lib.stride_tricks.sliding_window_view(padded, WEEK), axis=1)
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
    middles = np.array([np.median(residuals[weekdays == day]) if used[day] else 0.0 for day in range(WEEK)])
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
    shares = np.where(used, np.expm1(means - overall), np.nan)
    return Season(tuple(float(share) for share in shares), p)


def _machines(y: Floats, machines: Sequence[str]) -> dict[str, float]:
    """Of each machine, as logarithms around 0: first from the runs beside changes of machine, then beside the levels.
    Empty: they change too rarely."""
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
        bounds = noises.estimate(rest).bounds
        level = np.concatenate([np.full(end - start, np.median(rest[start:end])) for start, end in pairwise(bounds)])
        effects = np.array([noises.median((y - level)[number == each]) for each in range(len(names))])
        effects -= effects.mean()
    return dict(zip(names, (float(each) for each in effects), strict=True))
