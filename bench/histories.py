"""Series of runs with known changes: synthetic, with the noise of real benchmarks, or labelled by hand.

Shared by the bench and the tests. Synthetic ones are calibrated so that a test at the true places finds four of five
changes, as in the runs from which the methods of docs/why/change-points.md were chosen.
"""

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Interval = tuple[float, float]
Places = tuple[int, ...]

RUNS = 200
LABELLED = Path(__file__).parent / "data" / "latency_traces.json.gz"
# Fewest runs between changes, and from the ends; fewest between two close ones.
APART, CLOSEST = 12, 4
# A detection within this many runs of a true change counts as found.
NEAR = 7
RESAMPLED = 2000
ASIDE = 0.025  # on either side of a 95 % interval
WILSON = 1.96
LEAST_F1 = 1e-3  # of a peer, in a ratio


@dataclass(frozen=True)
class KnownSeries:
    """Values (runs,) and the first runs of new levels. `days`, `machines`, `sessions`: of each run; empty: not known.
    `unsure`: runs at which a level may have changed; an alarm there is neither right nor wrong. `canary`: CPU time of a
    fixed piece of work, ms; `stolen`: CPU time, %; `falls`: whether the values fall where the host does less.
    `releases`: first runs of releases, as far as known."""

    values: Floats
    changes: tuple[int, ...]
    days: tuple[int, ...] = ()
    machines: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()
    canary: tuple[float, ...] = ()
    stolen: tuple[float, ...] = ()
    falls: bool = True
    releases: tuple[int, ...] = ()
    sessions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Alarm:
    """A detected change: its run, and the number of runs when it was first reported."""

    index: int
    reported_at: int


@dataclass(frozen=True)
class Score:
    """Score of one series, or the sum over many. `delays`: runs from a change to its alarm."""

    found: int = 0
    false: int = 0
    missed: int = 0
    runs: int = 0
    delays: tuple[int, ...] = ()

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.found + other.found,
            self.false + other.false,
            self.missed + other.missed,
            self.runs + other.runs,
            self.delays + other.delays,
        )

    @property
    def precision(self) -> float:
        return self.found / max(self.found + self.false, 1)

    @property
    def recall(self) -> float:
        return self.found / max(self.found + self.missed, 1)

    @property
    def f1(self) -> float:
        return 2 * self.found / max(2 * self.found + self.false + self.missed, 1)

    @property
    def false_per_1000(self) -> float:
        return 1000 * self.false / max(self.runs, 1)

    @property
    def delay(self) -> float:
        """Median, runs; nan if none was found."""
        return float(np.median(self.delays)) if self.delays else float("nan")


class ScorePairs:
    """Scores of the same series, ours and a peer's (None: it is missing). Intervals: series drawn with replacement
    (bootstrap, Efron 1979), of false alarms at least Wilson's over the runs."""

    def __init__(self, mine: Sequence[Score], theirs: Sequence[Score] | None) -> None:
        self.mine, self.theirs = list(mine), None if theirs is None else list(theirs)

    def total(self) -> Score:
        return sum(self.mine, Score())

    def peer(self) -> Score | None:
        return None if self.theirs is None else sum(self.theirs, Score())

    def false(self) -> Interval:
        """Of our false alarms per 1,000 runs."""
        counts = self._drawn(self.mine)
        total = self.total()
        share, runs = total.false / total.runs, total.runs
        middle = (share + WILSON**2 / (2 * runs)) / (1 + WILSON**2 / runs)
        half = WILSON * np.sqrt(share * (1 - share) / runs + (WILSON / (2 * runs)) ** 2) / (1 + WILSON**2 / runs)
        low, high = _interval(1000 * counts[:, 1] / counts[:, 3])
        return max(min(low, 1000 * float(middle - half)), 0.0), max(high, 1000 * float(middle + half))

    def f1(self) -> Interval:
        return _interval(_f1(self._drawn(self.mine)))

    def ahead(self) -> Interval | None:
        """Of our F1 less the peer's, over the same series."""
        return None if self.theirs is None else _interval(_f1(self._drawn(self.mine)) - _f1(self._drawn(self.theirs)))

    def ratio(self) -> Interval | None:
        """Of our F1 to the peer's, over the same series."""
        if self.theirs is None:
            return None
        theirs = np.maximum(_f1(self._drawn(self.theirs)), LEAST_F1)
        return _interval(_f1(self._drawn(self.mine)) / theirs)

    @staticmethod
    def _drawn(scores: Sequence[Score]) -> Floats:
        """Sums of found, false, missed and runs (times, 4). The same series are drawn for any scores of as many."""
        counts = np.array([(s.found, s.false, s.missed, s.runs) for s in scores], dtype=np.float64)
        rng = np.random.default_rng(0)
        sums: Floats = counts[rng.integers(len(counts), size=(RESAMPLED, len(counts)))].sum(axis=1)
        return sums


def _f1(counts: Floats) -> Floats:
    found: Floats = 2 * counts[:, 0] / np.maximum(2 * counts[:, 0] + counts[:, 1] + counts[:, 2], 1)
    return found


def _interval(values: Floats) -> Interval:
    low, high = np.quantile(values, [ASIDE, 1 - ASIDE])
    return float(low), float(high)


def synthetic(seed: int, *, series: int, runs: int = RUNS) -> list[KnownSeries]:
    return [_synthetic(rng, runs, _places) for rng in np.random.default_rng(seed).spawn(series)]


def close(seed: int, *, series: int, runs: int = RUNS) -> list[KnownSeries]:
    """Each with two changes, CLOSEST to APART - 1 runs apart, as releases with so many repetitions have."""
    return [_synthetic(rng, runs, _pair) for rng in np.random.default_rng(seed).spawn(series)]


def labelled() -> list[KnownSeries]:
    """93 windows of 400 network latencies, ms (bench/data/README.md)."""
    windows = msgspec.json.decode(gzip.decompress(LABELLED.read_bytes()))
    return [KnownSeries(np.array(window["values"]), tuple(window["changes"])) for window in windows]


def scored(history: KnownSeries, alarms: Sequence[Alarm]) -> Score:
    """Each change is found by at most one alarm, the earliest reported; the others are false."""
    left, delays, ignored = list(history.changes), [], 0
    for alarm in sorted(alarms, key=lambda alarm: alarm.reported_at):
        near = [change for change in left if abs(change - alarm.index) <= NEAR]
        if near:
            change = min(near, key=lambda change: abs(change - alarm.index))
            left.remove(change)
            delays.append(alarm.reported_at - change)
        else:
            ignored += any(abs(place - alarm.index) <= NEAR for place in history.unsure)
    false = len(alarms) - len(delays) - ignored
    return Score(len(delays), false, len(left), len(history.values), tuple(delays))


def alarms_of(indices: Sequence[Sequence[int]], *, first: int) -> list[Alarm]:
    """Alarms of a series analysed again after every run from `first` on. `indices[k]`: changes found in the first
    `first + k` runs. A change is reported once: those near an alarm are the same."""
    alarms: list[Alarm] = []
    for count, seen in enumerate(indices, first):
        for index in seen:
            if all(abs(index - alarm.index) > NEAR for alarm in alarms):
                alarms.append(Alarm(index, count))
    return alarms


def _synthetic(
    rng: np.random.Generator, runs: int, places: Callable[[np.random.Generator, int], Places]
) -> KnownSeries:
    noise = float(np.clip(np.exp(rng.normal(np.log(0.012), 0.7)), 0.002, 0.06))
    changes = places(rng, runs)
    sizes = np.exp(rng.uniform(np.log(0.01), np.log(0.25), len(changes))) * rng.choice([-1, 1], len(changes))
    level = np.zeros(runs)
    for change, size in zip(changes, sizes, strict=True):
        level[change:] += size
    y = (
        np.log(rng.uniform(50, 50_000))
        + level
        + noise * (_wobble(rng, runs) + _drift(rng, runs))
        + _odd(rng, runs, noise)
    )
    return KnownSeries(np.exp(y), changes)


def _places(rng: np.random.Generator, runs: int) -> Places:
    wanted = int(rng.choice(7, p=[0.1, 0.1, 0.15, 0.2, 0.2, 0.15, 0.1]))
    places: list[int] = []
    while len(places) < wanted:
        place = int(rng.integers(APART, runs - APART))
        if all(abs(place - other) >= APART for other in places):
            places.append(place)
    return tuple(sorted(places))


def _pair(rng: np.random.Generator, runs: int) -> Places:
    first = int(rng.integers(APART, runs - 2 * APART))
    return first, first + int(rng.integers(CLOSEST, APART))


def _wobble(rng: np.random.Generator, runs: int) -> Floats:
    """Noise of variance 1: autocorrelated in every other series, skewed in every third."""
    steps = rng.normal(size=runs)
    if rng.random() < 1 / 3:
        skewed = np.exp(rng.normal(size=runs) * 0.6)
        steps = (skewed - np.exp(0.18)) / np.sqrt((np.exp(0.36) - 1) * np.exp(0.36)) * rng.choice([-1, 1])
    phi = rng.uniform(0.1, 0.6) if rng.random() < 1 / 2 else 0.0
    for run in range(1, runs):
        steps[run] = phi * steps[run - 1] + np.sqrt(1 - phi**2) * steps[run]
    return steps


def _drift(rng: np.random.Generator, runs: int) -> Floats:
    """A linear drift in every fifth series, in standard deviations over the whole series."""
    total = rng.normal() if rng.random() < 1 / 5 else 0.0
    return np.linspace(0, total, runs)


def _odd(rng: np.random.Generator, runs: int, noise: float) -> Floats:
    """Outliers, mostly to one side: up to 3 % of the runs of a series."""
    is_odd = rng.random(runs) < rng.uniform(0, 0.03)
    side = rng.choice([-1, 1]) * np.where(rng.random(runs) < 0.8, 1, -1)
    return np.where(is_odd, side * rng.exponential(5 * noise, runs), 0.0)
