"""Growth of throughput with threads: Gunther's Universal Scalability Law, with intervals. Pure.

X(N) = λ·N / (1 + s·(N - 1) + κ·N·(N - 1)): λ is the throughput of one thread, s the share of work that is serialised
(contention, Gunther's sigma), κ the cost of coherency between threads. Gunther, "Guerrilla Capacity Planning", 2007.
N/X is linear in 1/λ, s/λ and κ/λ, so the fit is least squares on relative deviations, and each question about it ("is
the peak at N?") is a linear hypothesis: its interval holds the values that are not refuted (Fieller 1954).

A level's deviation from the law is not noise of runs, and noise differs between levels. So an interval takes the wider
of two errors: that of the fit (its residuals, or the deviation of the levels if greater), and that of each level's
own runs.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from scipy import special

from apps.core.answers import Hidden, Unbounded
from apps.core.text import counted
from apps.core.units import format_number

CONFIDENCE = 0.95
PARAMETERS = 3
# With four levels one degree of freedom remains to test the law: simulated intervals then cover .89, not .95.
FEWEST_LEVELS = 5
# A law that misses a measured level by more than this is rejected for all levels.
MOST_DEVIATION = 0.25
# So is one that the runs' own noise refutes (p of the lack of fit), if a level is off by as much as this.
REFUTED, MOST_REFUTED = 1e-3, 0.1
# A cap is offered instead if no level is off by more than this.
MOST_OFF_CAP = 0.1
# Peaks and knees beyond this are infinite.
MOST_THREADS = 1e6
CURVE_POINTS = 60
# Squares of relative differences below this are rounding.
_ROUNDING = 1e-24
_STEPS, _HALVINGS = 400, 16

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % interval; `high` (and `value`) may be infinite."""

    value: Annotated[Unbounded, "null: infinite"]
    low: Annotated[float, "lower end of the 95 % interval"]
    high: Annotated[Unbounded, "null: infinite"]


@dataclass(frozen=True)
class CurvePoint:
    """Fitted throughput at `threads`, with its interval."""

    threads: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Fit:
    """`one_thread` is λ, in the unit of the throughput. `knee`: maximum of throughput over response time (Kleinrock
    1979). `peak_throughput`: None if there is no peak. `few_runs`: most levels have one run; if noise grows tenfold
    with the level, the intervals cover .73."""

    levels: int
    runs: int
    one_thread: Annotated[Estimate, "throughput of one thread"]
    contention: Annotated[Estimate, "share of the work that is serialised"]
    coherency: Annotated[Estimate, "cost of coherency between threads"]
    knee: Annotated[Estimate, "threads above which 1 % more give less than 0.5 % more throughput"]
    peak: Annotated[Estimate, "threads of the greatest throughput"]
    peak_throughput: Estimate | None
    curve: Hidden[tuple[CurvePoint, ...]]
    few_runs: Annotated[bool, "the intervals assume equal noise at all levels"]
    deviation: Annotated[float, "greatest relative distance of a level from the curve"] = 0.0
    deviates_at: Annotated[int, "threads of that level"] = 0
    misfit_p: Annotated[float | None, "p of the lack of fit, against the noise of runs; null: one run per level"] = None


@dataclass(frozen=True)
class ThroughputCap:
    """`throughput` that stays from `threads` on, up to `last`, the highest level."""

    threads: float
    last: float
    throughput: Estimate

    def __str__(self) -> str:
        value, low, high = (
            format_number(each) for each in (self.throughput.value, self.throughput.low, self.throughput.high)
        )
        return f"grows up to about {_threads(round(self.threads))}, then stays at {value} ({low} to {high})"


@dataclass(frozen=True)
class NoFit:
    """No fit, for `reason`; `cap`: what was seen instead, if that is one."""

    reason: str
    cap: ThroughputCap | None = None


@dataclass(frozen=True)
class Errors:
    """Errors of `estimate` (1/λ, s/λ, κ/λ): its covariance by the fit with its degrees of freedom, and each level's
    weight in it (a row per parameter), with the variance of that level's mean and its degrees of freedom."""

    estimate: Floats
    covariance: Floats
    freedom: float
    parts: Floats
    variances: Floats
    freedoms: Floats

    def margin(self, contrasts: Floats) -> Floats:
        """Half width of the 95 % interval of each contrast (a row of three weights each)."""
        spread = np.einsum("ci,ij,cj->c", contrasts, self.covariance, contrasts)
        by_fit = special.stdtrit(self.freedom, (1 + CONFIDENCE) / 2) * np.sqrt(np.maximum(spread, 0))
        each = (contrasts @ self.parts) ** 2 * self.variances
        total = each.sum(axis=1)
        if not self.variances.any():
            return np.asarray(by_fit)
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = np.maximum(total**2 / (each**2 / self.freedoms).sum(axis=1), 1)
        by_runs = special.stdtrit(np.nan_to_num(freedom, nan=1.0), (1 + CONFIDENCE) / 2) * np.sqrt(total)
        return np.asarray(np.maximum(by_fit, by_runs))

    def is_refuted(self, contrasts: Floats) -> NDArray[np.bool_]:
        """Whether each contrast differs from zero."""
        return np.asarray(np.abs(contrasts @ self.estimate) > self.margin(contrasts))


def fit(runs: Mapping[int, Sequence[float]]) -> Fit | NoFit:
    """`runs`: threads -> throughput of each run, all unthrottled."""
    reason = _unusable(runs)
    if reason:
        return NoFit(reason)
    at_levels = _load_levels(runs)
    errors, misfit = _errors(at_levels)
    # Imported here: half a second, which every process would otherwise pay at start.
    from scipy import optimize  # noqa: PLC0415

    bounded, _ = optimize.nnls(at_levels.design, np.sqrt(at_levels.counts))
    reason = _not_the_law(errors, bounded)
    if reason:
        return NoFit(reason)
    deviations = np.sqrt(at_levels.counts) / (at_levels.design @ bounded) - 1
    worst = int(np.abs(deviations).argmax())
    deviation, deviates_at = float(abs(deviations[worst])), int(at_levels.threads[worst])
    is_refuted = misfit is not None and misfit < REFUTED and deviation > MOST_REFUTED
    if deviation > MOST_DEVIATION or is_refuted:
        off = f"{deviation:.0%}".replace("%", "\u00a0%")
        refuted = ", more than the runs' noise explains" * (is_refuted and deviation <= MOST_DEVIATION)
        cap = _capped(at_levels)
        instead = f"; it is capped: {cap}" if cap else ""
        return NoFit(f"it deviates by {off} at {_threads(deviates_at)}{refuted}{instead}", cap)
    return replace(_fitted(errors, bounded, at_levels), deviation=deviation, deviates_at=deviates_at, misfit_p=misfit)


def _capped(at_levels: "_LoadLevels") -> ThroughputCap | None:
    """Throughput that grows by the law without coherency, X = λN / (1 + s(N - 1)), up to a cap; None: no such cap, or a
    level is off."""
    threads, logs = at_levels.threads, np.array([each.mean() for each in at_levels.logs])
    found: list[tuple[float, float, int]] = []
    for below in range(2, len(threads) - 1):
        climb = _design(threads[:below])[:, :2]
        top = float(np.average(logs[below:], weights=at_levels.counts[below:]))
        each_takes = threads[:below] / np.exp(logs[:below])
        one, wait = (
            float(each) for each in np.linalg.lstsq(climb / each_takes[:, None], np.ones(below), rcond=None)[0]
        )
        wait = max(wait, 0.0)
        law, room = climb @ np.array([one, wait]), 1 - wait * math.exp(top)
        # Where the law reaches the cap: between the levels that it separates.
        at = math.exp(top) * (one - wait) / room if room > 0 and law.min() > 0 else math.inf
        if at <= threads[below]:
            off = np.concatenate([np.log(threads[:below] / law) - logs[:below], top - logs[below:]])
            found.append((float(np.abs(off).max()), at, below))
    furthest, at, below = min(found, default=(math.inf, 0.0, 0))
    if furthest > MOST_OFF_CAP:
        return None
    return ThroughputCap(at, float(threads[-1]), _level(at_levels.logs[below:]))


def _level(logs: Sequence[Floats]) -> Estimate:
    """Geometric mean of the runs of several levels; as in `fit`, the wider error: that of the runs, or that of levels
    that differ by more."""
    runs = np.concatenate(logs)
    of_runs = float(runs.var(ddof=1))
    of_levels = sum(len(each) * (each.mean() - runs.mean()) ** 2 for each in logs) / (len(logs) - 1)
    freedom = len(logs) - 1 if of_levels > of_runs else len(runs) - 1
    half = special.stdtrit(freedom, (1 + CONFIDENCE) / 2) * math.sqrt(max(of_runs, of_levels) / len(runs))
    return Estimate(*(math.exp(float(runs.mean()) + each) for each in (0.0, -half, half)))


def errors_of(runs: Mapping[int, Sequence[float]]) -> Errors:
    """Errors behind the intervals of `fit`."""
    return _errors(_load_levels(runs))[0]


@dataclass(frozen=True)
class _LoadLevels:
    """For each level: threads, number of runs, logarithms of their throughput, and its row of the weighted design."""

    threads: Floats
    counts: Floats
    logs: Sequence[Floats]
    design: Floats


def _load_levels(runs: Mapping[int, Sequence[float]]) -> _LoadLevels:
    levels = sorted(level for level, values in runs.items() if values)
    threads = np.asarray(levels, dtype=np.float64)
    logs = [np.log(np.asarray(runs[level], dtype=np.float64)) for level in levels]
    counts = np.array([len(each) for each in logs], dtype=np.float64)
    each_takes = threads / np.exp([each.mean() for each in logs])
    return _LoadLevels(threads, counts, logs, _design(threads) * (np.sqrt(counts) / each_takes)[:, None])


def _unusable(runs: Mapping[int, Sequence[float]]) -> str:
    levels = sum(bool(values) for values in runs.values())
    if levels < FEWEST_LEVELS:
        more = counted(FEWEST_LEVELS - levels, "load level")
        return f"add {more} ({FEWEST_LEVELS} needed, {levels} measured)"
    if any(not (math.isfinite(value) and value > 0) for values in runs.values() for value in values):
        return "a run has no positive throughput"
    return ""


def _not_the_law(errors: Errors, bounded: Floats) -> str:
    if not errors.covariance.any() and not errors.variances.any():
        return "the runs are identical, so their noise is unknown"
    if _is_negative(errors, 1) or _is_negative(errors, 2):
        return "superlinear throughput: the scalability law does not apply"
    return "" if bounded[0] > 0 else "the fit gives no throughput of one thread"


def _threads(count: int) -> str:
    return counted(count, "thread")


def _design(threads: Floats) -> Floats:
    """N/X by the law: a row per level, for 1/λ, s/λ, κ/λ."""
    return np.stack([np.ones_like(threads), threads - 1, threads * (threads - 1)], axis=1)


def _errors(at_levels: _LoadLevels) -> tuple[Errors, float | None]:
    """Errors, and p of the misfit."""
    counts, design = at_levels.counts, at_levels.design
    levels, runs = len(counts), float(counts.sum())
    inverse = np.linalg.inv(design.T @ design)
    estimate = inverse @ design.T @ np.sqrt(counts)
    squares = np.array([((each - each.mean()) ** 2).sum() for each in at_levels.logs])
    squares[squares < _ROUNDING] = 0.0
    off = float(((np.sqrt(counts) - design @ estimate) ** 2).sum())
    if off < _ROUNDING * runs:
        off = 0.0
    of_levels, of_all = off / (levels - PARAMETERS), (off + squares.sum()) / (runs - PARAMETERS)
    repeats = runs - levels
    misfit = None
    if repeats > 0 and squares.any():
        misfit = float(special.fdtrc(levels - PARAMETERS, repeats, of_levels / (squares.sum() / repeats)))
    own = counts > 1
    # A level with one run takes the pooled variance of the others.
    common = squares.sum() / repeats if repeats > 0 else 0.0
    variances = np.where(own, squares / np.maximum(counts - 1, 1), common) / counts
    return (
        Errors(
            estimate=estimate,
            covariance=inverse * max(of_levels, of_all),
            freedom=levels - PARAMETERS if of_levels > of_all else runs - PARAMETERS,
            parts=(inverse @ design.T) * np.sqrt(counts),
            variances=variances,
            freedoms=np.where(own, np.maximum(counts - 1, 1), max(repeats, 1)),
        ),
        misfit,
    )


def _is_negative(errors: Errors, place: int) -> bool:
    """Whether a parameter is significantly below zero."""
    contrast = np.zeros((1, PARAMETERS))
    contrast[0, place] = 1
    return bool(errors.estimate[place] < 0 and errors.is_refuted(contrast)[0])


def _fitted(errors: Errors, bounded: Floats, at_levels: _LoadLevels) -> Fit:
    one, wait, agree = (float(value) for value in bounded)
    knee = _positive_root(3 * agree, wait - agree, wait - one)
    peak = math.sqrt(max(one - wait, 0) / agree) if agree > 0 else math.inf
    peak = min(max(peak, 1.0), MOST_THREADS) if peak < MOST_THREADS else math.inf
    half = float(errors.margin(np.array([[1.0, 0.0, 0.0]]))[0])
    return Fit(
        levels=len(at_levels.counts),
        runs=int(at_levels.counts.sum()),
        one_thread=Estimate(1 / one, 1 / (one + half), 1 / (one - half) if half < one else math.inf),
        contention=_at_most_all(_share(errors, wait / one, 1)),
        coherency=_share(errors, agree / one, 2),
        knee=_place(errors, knee, lambda n: np.stack([-np.ones_like(n), n + 1, 3 * n**2 - n], axis=1)),
        peak=_place(errors, peak, lambda n: np.stack([-np.ones_like(n), np.ones_like(n), n**2], axis=1)),
        # The curve is flat at its peak, so the error of its place is negligible.
        peak_throughput=_throughput(errors, bounded, peak) if math.isfinite(peak) else None,
        curve=tuple(_curve(errors, bounded, at_levels.threads)),
        few_runs=bool(at_levels.counts.sum() < 2 * len(at_levels.counts)),
    )


def _positive_root(square: float, linear: float, constant: float) -> float:
    """Of square·N² + linear·N + constant, at least 1; infinite if there is none."""
    if square <= 0:
        root = -constant / linear if linear > 0 else math.inf
    else:
        root = (-linear + math.sqrt(max(linear**2 - 4 * square * constant, 0))) / (2 * square)
    return max(root, 1.0) if root < MOST_THREADS else math.inf


def _throughput(errors: Errors, bounded: Floats, threads: float) -> Estimate:
    """Throughput of the fitted curve: 1/X is linear in the parameters."""
    contrast = _design(np.array([threads])) / threads
    value = float((contrast @ bounded)[0])
    half = float(errors.margin(contrast)[0])
    return Estimate(1 / value, 1 / (value + half), 1 / (value - half) if half < value else math.inf)


def _curve(errors: Errors, bounded: Floats, at: Floats) -> list[CurvePoint]:
    places = np.unique(np.concatenate([np.geomspace(at[0], at[-1], CURVE_POINTS), at]))
    contrasts = _design(places) / places[:, None]
    values, halves = contrasts @ bounded, errors.margin(contrasts)
    highs = np.where(halves < values, 1 / np.maximum(values - halves, 1e-300), np.inf)
    rows = zip(places, 1 / values, 1 / (values + halves), highs, strict=True)
    return [CurvePoint(*(float(number) for number in row)) for row in rows]


def _share(errors: Errors, value: float, place: int) -> Estimate:
    """Estimate of s or κ, which are not negative: the values x for which parameter - x/λ may be zero."""

    def contrasts(values: Floats) -> Floats:
        found = np.zeros((len(values), PARAMETERS))
        found[:, 0], found[:, place] = -values, 1
        return found

    unbounded = float(errors.estimate[place] / errors.estimate[0])
    step = float(errors.margin(contrasts(np.array([unbounded])))[0] / errors.estimate[0])
    if step == 0:
        return Estimate(value, value, value)
    away = step * np.geomspace(1e-2, 1e4, _STEPS)
    low = _edge(errors, contrasts, unbounded, unbounded - away)
    high = _edge(errors, contrasts, unbounded, unbounded + away)
    return Estimate(value, max(min(low, value), 0.0), max(high, value))


def _at_most_all(share: Estimate) -> Estimate:
    """Upper bound 1: no more than all work can be serialised; an estimate beyond that is left unchanged."""
    return replace(share, high=max(min(share.high, 1.0), share.value))


def _place(errors: Errors, value: float, contrasts: Callable[[Floats], Floats]) -> Estimate:
    """Threads at which the contrast may be zero, from 1 on."""
    start = min(value, MOST_THREADS)
    down = np.geomspace(start, 1.0, _STEPS)[1:] if start > 1 else np.array([1.0])
    up = np.geomspace(start, MOST_THREADS, _STEPS)[1:] if start < MOST_THREADS else np.array([MOST_THREADS])
    low = _edge(errors, contrasts, start, down)
    high = _edge(errors, contrasts, start, up)
    return Estimate(value, max(min(low, value), 1.0), max(high, value) if high < MOST_THREADS else math.inf)


def _edge(errors: Errors, contrasts: Callable[[Floats], Floats], start: float, outwards: Floats) -> float:
    """The farthest value from `start` outwards before the first refuted one; the last if none is refuted."""
    refuted = errors.is_refuted(contrasts(outwards))
    if not refuted.any():
        return float(outwards[-1]) if len(outwards) > 1 and outwards[-1] < outwards[0] else math.inf
    first = int(refuted.argmax())
    kept, gone = float(outwards[first - 1]) if first else start, float(outwards[first])
    for _ in range(_HALVINGS):
        middle = (kept + gone) / 2
        if errors.is_refuted(contrasts(np.array([middle])))[0]:
            gone = middle
        else:
            kept = middle
    return kept
