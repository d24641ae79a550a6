"""A series of results, the windows of it that are analysed, and the changes found in it. Pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from apps.regressions.detection import covariates, host_measures
from apps.regressions.detection import noise as noises
from apps.regressions.detection.covariates import Adjusted
from apps.regressions.detection.host_measures import HostMeasure
from apps.regressions.detection.noise import Floats, SeriesNoise
from apps.regressions.detection.sessions import Sessions

# Runs: the most that are analysed, and the fewest.
LONGEST, SHORTEST = 500, 10
# Runs needed on each side of a change before it is tested, and the most that are used.
FEWEST_ASIDE, MOST_ASIDE = 4, 40
# Runs of a new level that begins near no release, and of one between two changes: more than a burst has.
FEWEST_HELD = 7
# Of a series with BURSTS bursts, or more, of ODD_RUNS odd runs, or more.
BURSTY_HELD, BURSTS, ODD_RUNS = 12, 1, 3
LEAST_SIGNIFICANT = 1e-4
# Changes at most this many runs apart are one, unless each passes the test beside the other (see analyses).
ALIKE = 7


# Stored trends contain a hash of its repr: after renaming or adding a field, all of them are analysed again.
@dataclass(frozen=True)
class ChangeLimits:
    """What counts as a change. `smallest`: shift, as a share of the value; `significant`: p of the test, at most 1e-4,
    the limit used where runs are skipped and where a known change is kept. Raises ValueError."""

    smallest: float = 0.005
    significant: float = 1e-5

    def __post_init__(self) -> None:
        if not 0 < self.smallest < 1:
            raise ValueError(f"the smallest shift is a share above 0 and below 1, not {self.smallest}")
        if not 0 < self.significant <= LEAST_SIGNIFICANT:
            raise ValueError(f"the p of a change is above 0 and at most {LEAST_SIGNIFICANT}, not {self.significant}")


DEFAULT_LIMITS = ChangeLimits()


@dataclass(frozen=True, order=True)
class ChangePoint:
    """From run `index` on (from 0) values are `ratio` times those before. `low` and `high` bound the ratio's 95 %
    interval, which is approximate because the index was chosen by the same values. `p`: of the test. `runs_after`: runs
    of the new level, up to the next change or the end. `before`: level that `ratio` refers to, in the values' unit;
    nan: not computed."""

    index: int
    ratio: float
    low: float
    high: float
    p: float
    runs_after: int
    before: float = field(default=math.nan, compare=False)


def shifted(changes: Iterable[ChangePoint], by: int) -> list[ChangePoint]:
    """The same changes, with `by` added to their indices."""
    return [replace(change, index=change.index + by) for change in changes]


class Split(NamedTuple):
    """Runs from `start` to `end`, split at `at`."""

    start: int
    at: int
    end: int

    @property
    def sides(self) -> tuple[slice, slice]:
        """The runs on each side that are compared, at most 40."""
        return slice(max(self.start, self.at - MOST_ASIDE), self.at), slice(
            self.at, min(self.end, self.at + MOST_ASIDE)
        )


def split_at(at: int, places: Iterable[int], end: int) -> Split:
    """Split between the nearest neighbours among `places`, the first run and `end`."""
    among = [0, *places, end]
    return Split(max((each for each in among if each < at), default=0), at, min(each for each in among if each > at))


@dataclass(frozen=True, eq=False)
class Window:
    """Consecutive runs between two resets that are analysed together: logarithms `y` (runs,), their `noise`, and the
    `boundaries` of releases, all relative to the window's first run. `machines`: names; empty: not known. `sessions`:
    of the runs; None: not known."""

    y: Floats
    noise: SeriesNoise
    limits: ChangeLimits
    boundaries: Sequence[int] = ()
    machines: Sequence[str] = ()
    sessions: Sessions | None = None

    def split(self, at: int, places: Iterable[int]) -> Split:
        return split_at(at, places, len(self.y))

    def is_near_release(self, at: int) -> bool:
        return any(abs(boundary - at) <= ALIKE for boundary in self.boundaries)

    @cached_property
    def held(self) -> int:
        """Runs for which a new level must hold that begins near no release: more where odd runs came in bursts."""
        return BURSTY_HELD if len(bursts(self.y, self.noise)) >= BURSTS else FEWEST_HELD


def bursts(y: Floats, noise: SeriesNoise) -> list[tuple[int, int]]:
    """Start and end of each stretch of three odd runs or more, to one side, and of each level that soon returned."""
    found, start = list[tuple[int, int]](), 0
    levels = [float(np.median(y[start:end])) for start, end in pairwise(noise.bounds)]
    middle = np.repeat(levels, np.diff(noise.bounds))
    odd = np.where(np.abs(y - middle) > noises.ODD * noise.scale, np.sign(y - middle), 0)
    for end in [*(np.flatnonzero(np.diff(odd)) + 1), len(y)]:
        if odd[start] and end - start >= ODD_RUNS:
            found.append((start, int(end)))
        start = end
    for number in range(1, len(levels) - 1):
        before, own, after = levels[number - 1 : number + 2]
        start, end = noise.bounds[number : number + 2]
        if end - start < BURSTY_HELD and abs(after - before) < min(abs(own - before), abs(own - after)) / 2:
            found.append((start, end))
    return sorted(found)


@dataclass(frozen=True, eq=False)
class ResultSeries:
    """Positive `values` of one metric (runs,), in order, without excluded runs. `resets`: indices from which on
    hardware or configuration differ; changes there are not reported, and runs before are not compared with runs after.
    `boundaries`: first runs of releases, to which a new change nearby is attributed. `days` (ordinals) and `machines`
    (names) of each run, whose effects are taken out; empty: not known. `host`: what was measured of the host, as well.
    `sessions`: number of each run's; empty: not known.

    Raises ValueError for a value without a logarithm, naming its run, and for a reset outside the series."""

    values: Floats
    resets: Sequence[int] = ()
    boundaries: Sequence[int] = ()
    limits: ChangeLimits = DEFAULT_LIMITS
    days: Sequence[int] = ()
    machines: Sequence[str] = ()
    host: Sequence[HostMeasure] = ()
    sessions: Sequence[int] = ()

    def __post_init__(self) -> None:
        if self.values.ndim != 1:
            raise ValueError(f"a series has one dimension, not {self.values.ndim}")
        if any(not 0 <= reset <= len(self.values) for reset in self.resets):
            raise ValueError(f"resets {list(self.resets)} are not all within the series of {len(self.values)} runs")
        measured = [(measure.name, measure.values) for measure in self.host]
        for name, known in (("days", self.days), ("machines", self.machines), ("sessions", self.sessions), *measured):
            if len(known) not in (0, len(self.values)):
                raise ValueError(f"{name} are those of {len(known)} runs, the series has {len(self.values)}")
        fine = np.isfinite(self.values) & (self.values > 0)
        if not fine.all():
            run = int(np.argmin(fine))
            raise ValueError(
                f"run {run} is {self.values[run]}: leave out runs without a positive value, a ratio has no other"
            )

    @cached_property
    def logarithms(self) -> Floats:
        """Without the effects of weekdays, machines and the host's speed."""
        logs: Floats = np.log(self.values)
        for start, end in self.stretches() if self.days or self.machines or self.host else ():
            first = max(start, end - LONGEST)
            logs[first:end] = self.adjusted(first, end).y
        return logs

    def adjusted(self, first: int, end: int) -> Adjusted:
        y, host = host_measures.effects(
            np.log(self.values[first:end]), [measure.part(first, end) for measure in self.host]
        )
        found = covariates.adjusted(y, days=self.days[first:end], machines=self.machines[first:end])
        return replace(found, host=host)

    def stretches(self, places: Iterable[int] = ()) -> list[tuple[int, int]]:
        """Start and end of each stretch between resets and changes at `places`."""
        return list(pairwise(sorted({0, *self.resets, *places, len(self.values)})))

    def split(self, at: int, places: Iterable[int]) -> Split:
        """Split of a change, between its neighbouring changes at `places` and resets."""
        return split_at(at, [*places, *self.resets], len(self.values))

    def is_testable(self, place: int) -> bool:
        """Whether the index lies within a stretch that is long enough to be analysed."""
        return any(start < place < end and end - start >= SHORTEST for start, end in self.stretches())

    @property
    def is_too_short(self) -> bool:
        return all(end - start < SHORTEST for start, end in self.stretches())

    @cached_property
    def _windows(self) -> dict[tuple[int, int], Window]:
        return {}

    def window(self, first: int, end: int) -> Window:
        """Cached, so that its noise is estimated once."""
        if (first, end) not in self._windows:
            y = self.logarithms[first:end]
            boundaries = [boundary - first for boundary in self.boundaries]
            sessions = Sessions.of(self.sessions[first:end]) if self.sessions else None
            noise = sessions.noise(y) if sessions else noises.estimate(y)
            machines = self.machines[first:end]
            self._windows[first, end] = Window(y, noise, self.limits, boundaries, machines, sessions)
        return self._windows[first, end]
