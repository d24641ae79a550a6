"""A second generator of series with known changes: one kind of noise each, as pools and nightly jobs have it.

Its parameters were fixed before any detector saw a series, and none was adjusted afterwards. Runs are a day apart.
The standard deviation of a run's logarithm, "sd" below, is log-uniform from .3 % to 3 %. A series with changes has 0 to
5 of 1.5 to 25 % (log-uniform, up or down), 15 or more runs apart and from the ends.

| kind | noise, besides independent Gaussian of 1 sd where nothing else is said |
|---|---|
| bursts | from 1 in 40 runs on, 2 to 6 runs are off by 3 to 8 sd, always to one side |
| sticky modes | two modes 2 to 5 sd apart, each with a mean dwell of 2.5 to 7 runs (geometric), not labelled |
| growing noise | sd times the level's ratio to the first one to the power of 1 to 4; 1 to 4 times as large at the end |
| autocorrelation | AR(1), φ from .3 to .8, 1 sd in all |
| weekdays | weekends, or one day of the week, off by 1 to 3 sd |
| drift | linear, 3 sd over the series |
| grid | rounded to 1 to 5 % of the first value |
| heavy tails | Student's t with 2 or 3 degrees of freedom, 1 sd between its quantiles of 16 and 84 % |
| skew | exponential, 1 sd, the tail on either side |
| outliers | 5 to 15 % of the runs off by 2 sd and an exponential of mean 5 sd, to one side or both |
| two machines | in turns of 5 to 15 runs, 1 to 3 sd apart, labelled |
| sessions | of 3 to 8 runs, each with its own offset of .5 to 2 sd, labelled |
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bench.histories import RUNS, Floats, KnownSeries, Places

CHANGES, SIZES, SIGMAS = 5, (0.015, 0.25), (0.003, 0.03)
# Fewest runs between changes, and from the ends.
APART = 15
DAYS_OF_WEEK = 7

Rng = np.random.Generator


class Noise(NamedTuple):
    """`values` (runs,), in sd; machines and sessions (runs,), if labelled."""

    values: Floats
    machines: tuple[int, ...] = ()
    sessions: tuple[int, ...] = ()


def noisy(seed: int, kind: str, *, series: int, changed: bool, runs: int = RUNS) -> list[KnownSeries]:
    """Series with one kind of noise; `changed`: with 0 to 5 changes, else with none."""
    own = np.random.SeedSequence([seed, list(KINDS).index(kind), int(changed)])
    return [_series(np.random.default_rng(each), kind, runs, changed=changed) for each in own.spawn(series)]


def _series(rng: Rng, kind: str, runs: int, *, changed: bool) -> KnownSeries:
    sigma, first = _log_uniform(rng, *SIGMAS), _log_uniform(rng, 50, 50_000)
    places = _places(rng, runs) if changed else ()
    level = np.zeros(runs)
    for place in places:
        level[place:] += np.log1p(_log_uniform(rng, *SIZES)) * rng.choice([-1, 1])
    noise = KINDS[kind](rng, runs, level)
    values = first * np.exp(level + sigma * noise.values)
    if kind == "grid":
        step = first * rng.uniform(0.01, 0.05)
        values = np.maximum(np.round(values / step), 1) * step
    return KnownSeries(values, places, days=tuple(range(runs)), machines=noise.machines, sessions=noise.sessions)


def _log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _places(rng: Rng, runs: int) -> Places:
    """All sets of places that are far enough apart are equally likely."""
    wanted = int(rng.integers(0, CHANGES + 1))
    room = runs - 2 * APART - (wanted - 1) * (APART - 1)
    chosen = np.sort(rng.choice(room, wanted, replace=False)) if wanted else np.array([], np.intp)
    return tuple(int(place) + APART + number * (APART - 1) for number, place in enumerate(chosen))


def _alone(made: Callable[[Rng, int], Floats]) -> Callable[[Rng, int, Floats], Noise]:
    return lambda rng, runs, _: Noise(made(rng, runs))


def _spells(runs: int, lengths: Callable[[int], int]) -> list[int]:
    """Number of the spell of each run; `lengths` by number of the spell."""
    found: list[int] = []
    while len(found) < runs:
        number = found[-1] + 1 if found else 0
        found += [number] * lengths(number)
    return found[:runs]


def _bursts(rng: Rng, runs: int) -> Floats:
    noise, side = rng.normal(size=runs), rng.choice([-1, 1])
    for start in np.flatnonzero(rng.random(runs) < 1 / 40):
        noise[start : start + int(rng.integers(2, 7))] += side * rng.uniform(3, 8)
    return noise


def _sticky(rng: Rng, runs: int) -> Floats:
    dwells, first = rng.uniform(2.5, 7, 2), int(rng.integers(2))
    spells = _spells(runs, lambda number: int(rng.geometric(1 / dwells[(number + first) % 2])))
    noise: Floats = rng.normal(size=runs) + rng.uniform(2, 5) * ((np.array(spells) + first) % 2)
    return noise


def _growing(rng: Rng, runs: int, level: Floats) -> Noise:
    grown = np.exp(rng.uniform(1, 4) * level) * np.linspace(1, rng.uniform(1, 4), runs)
    return Noise(rng.normal(size=runs) * grown)


def _autocorrelated(rng: Rng, runs: int) -> Floats:
    phi, noise = rng.uniform(0.3, 0.8), rng.normal(size=runs)
    for run in range(1, runs):
        noise[run] = phi * noise[run - 1] + np.sqrt(1 - phi**2) * noise[run]
    return noise


def _weekdays(rng: Rng, runs: int) -> Floats:
    day = (np.arange(runs) + rng.integers(DAYS_OF_WEEK)) % DAYS_OF_WEEK
    off = day >= DAYS_OF_WEEK - int(rng.choice([1, 2]))
    noise: Floats = rng.normal(size=runs) + rng.choice([-1, 1]) * rng.uniform(1, 3) * off
    return noise


def _drift(rng: Rng, runs: int) -> Floats:
    noise: Floats = rng.normal(size=runs) + np.linspace(0, 3 * rng.choice([-1, 1]), runs)
    return noise


def _gaussian(rng: Rng, runs: int) -> Floats:
    return rng.normal(size=runs)


def _tails(rng: Rng, runs: int) -> Floats:
    freedom, spread = ((2, 1.312), (3, 1.189))[int(rng.integers(2))]  # quantiles of 84 %
    noise: Floats = rng.standard_t(freedom, runs) / spread
    return noise


def _skewed(rng: Rng, runs: int) -> Floats:
    noise: Floats = (rng.exponential(size=runs) - 1) * rng.choice([-1, 1])
    return noise


def _outliers(rng: Rng, runs: int) -> Floats:
    is_odd, both = rng.random(runs) < rng.uniform(0.05, 0.15), rng.random() < 1 / 2
    side = rng.choice([-1, 1], runs) if both else rng.choice([-1, 1])
    noise: Floats = rng.normal(size=runs) + is_odd * side * (2 + rng.exponential(5, runs))
    return noise


def _machines(rng: Rng, runs: int, _: Floats) -> Noise:
    machines = [spell % 2 for spell in _spells(runs, lambda _: int(rng.integers(5, 16)))]
    return Noise(rng.normal(size=runs) + rng.uniform(1, 3) * np.array(machines), machines=tuple(machines))


def _sessions(rng: Rng, runs: int, _: Floats) -> Noise:
    length, between = int(rng.integers(3, 9)), rng.uniform(0.5, 2)
    offsets = rng.normal(0, between, runs // length + 1)
    sessions = np.arange(runs) // length
    return Noise(rng.normal(size=runs) + offsets[sessions], sessions=tuple(sessions.tolist()))


KINDS: dict[str, Callable[[Rng, int, Floats], Noise]] = {
    "bursts": _alone(_bursts),
    "sticky modes": _alone(_sticky),
    "growing noise": _growing,
    "autocorrelation": _alone(_autocorrelated),
    "weekdays": _alone(_weekdays),
    "drift": _alone(_drift),
    "grid": _alone(_gaussian),
    "heavy tails": _alone(_tails),
    "skew": _alone(_skewed),
    "outliers": _alone(_outliers),
    "two machines": _machines,
    "sessions": _sessions,
}


def changed(seed: int, *, series: int) -> dict[str, list[KnownSeries]]:
    """`series` of each kind, with 0 to 5 changes."""
    return {kind: noisy(seed, kind, series=series, changed=True) for kind in KINDS}


def still(seed: int, *, series: int) -> dict[str, list[KnownSeries]]:
    """`series` of each kind, without changes."""
    return {kind: noisy(seed, kind, series=series, changed=False) for kind in KINDS}
