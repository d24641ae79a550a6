"""How often verdicts err, and what they find: tables and gates drawn from known noise, judged by the product's rules.

Runs lie in sessions. A table has CELLS load levels whose standard deviations, within sessions and between them, are
WITHIN and a share of their own each, log-normally different from cell to cell. Seeds are new for every bench and stored
with the figures.
"""

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from unittest import mock

import numpy as np
import scipy.stats

from apps.comparison.pure import DISCOVERY_RATE, Direction, Ratio, Sample, Verdict, correct_for_many, moderated, welch
from apps.regressions.api import RowVerdict, row_verdict
from apps.regressions.detection import DEFAULT_LIMITS
from bench import histories, results
from bench.context import Bench
from bench.results import Figure

PART = "verdicts"
CELLS, TABLES = 12, 600
WITHIN, BETWEEN = 0.01, 0.01
# Of the logarithm of a cell's standard deviations: usual, and where cells differ much.
ALIKE, UNLIKE = 0.2, 0.4
# Runs of each session, by their number.
LAYOUTS = {3: ((2, 1), (1, 1, 1)), 5: ((3, 2), (1,) * 5), 10: ((5, 5), (2,) * 5)}
DIFFERING = (0.005, 0.01, 0.02)
THREE = (3, 3, 3)
# Of three runs each, for the coverage.
SESSIONS = (2, 3, 4, 5)
# Of the cells that differ, and by how much: in one cell, and in several.
EFFECT, CHANGED = math.log(0.95), 4
FALSE, POWER, FROM_ORACLE, COVERED = 0.06, 0.85, 0.05, 0.02
AIM = 0.95
DIFFERENT = (Verdict.HIGHER, Verdict.LOWER)

Floats = histories.Floats
Rng = np.random.Generator
Draw = Callable[[Rng, int], Floats]


@dataclass(frozen=True)
class Noise:
    """`spread`: of the cells' standard deviations; `between`: sessions, beside WITHIN; `draw`: of mean 0 and variance
    1; `other`: how many times as noisy the second side is."""

    spread: float = ALIKE
    between: float = BETWEEN
    draw: Draw = lambda rng, count: rng.normal(size=count)
    other: float = 1.0


@dataclass(frozen=True)
class JudgedTable:
    """`oracle`: whether an analysis that knows the variances finds the first cell different."""

    ratios: Sequence[Ratio]
    oracle: bool


KINDS = {
    "lognormal": Noise(),
    "t with 3 degrees of freedom": Noise(draw=lambda rng, count: rng.standard_t(3, count) / math.sqrt(3)),
    "skewed (gamma 2)": Noise(draw=lambda rng, count: (2 - rng.gamma(2, size=count)) / math.sqrt(2)),
    "lognormal, one side three times as noisy": Noise(other=3.0),
}


def measure(bench: Bench) -> None:
    seed = secrets.randbits(32)
    bench.data["verdicts_seed"] = seed
    rng = np.random.default_rng(seed)
    # How many repetitions are needed is not asked here, and most of the time.
    with mock.patch.object(welch, "repetitions_needed", return_value=1):
        for runs, layouts in LAYOUTS.items():
            for between in DIFFERING:
                noise = Noise(between=between)
                tables = [judged(rng, layout, noise) for layout in layouts for _ in range(TABLES)]
                what = f"{runs} runs in 2 to {max(map(len, layouts))} sessions that differ by {between * 100:g} %"
                _report_equal(bench, f"{runs}_{between:g}", what, tables)
        tables = [judged(rng, THREE, Noise(UNLIKE)) for _ in range(2 * TABLES)]
        _report_equal(bench, "unlike", "3 × 3 runs, cells that differ much (e^0.4)", tables)
        _report_found(bench, rng)
        _report_covered(bench, rng)


def _report_equal(bench: Bench, key: str, what: str, tables: Sequence[JudgedTable]) -> None:
    shown = Share.of(sum(any(ratio.verdict in DIFFERENT for ratio in table.ratios) for table in tables), len(tables))
    gates = Share.of(sum(is_regression(table.ratios) for table in tables), len(tables))
    _report(bench, f"tables_{key}", f"tables of equal sides that show a difference; {what}", shown, bar=FALSE)
    _report(bench, f"gates_{key}", f"unchanged releases called a regression; {what}", gates, bar=FALSE)


def _report_found(bench: Bench, rng: Rng) -> None:
    tables = [judged(rng, THREE, Noise(), changed=CHANGED) for _ in range(2 * TABLES)]
    said = [place for table in tables for place, ratio in enumerate(table.ratios) if ratio.verdict in DIFFERENT]
    title = f"false ones of the differences shown; {CHANGED} of {CELLS} cells 5 % lower, 3 × 3 runs"
    _report(bench, "discoveries", title, Share.of(sum(place >= CHANGED for place in said), len(said)), bar=FALSE)
    for key, spread in (("alike", ALIKE), ("unlike", UNLIKE)):
        tables = [judged(rng, THREE, Noise(spread), changed=1) for _ in range(2 * TABLES)]
        is_found = np.array([table.ratios[0].verdict is Verdict.LOWER for table in tables])
        by_oracle = np.array([table.oracle for table in tables])
        found = Share.of(int(is_found.sum()), len(tables), oracle=int(by_oracle.sum()))
        # Over the same tables, in pairs.
        behind = by_oracle.astype(np.float64) - is_found
        mean, half = float(behind.mean()), histories.WILSON * float(behind.std(ddof=1)) / math.sqrt(len(tables))
        title = f"found: one of {CELLS} cells 5 % lower, 3 × 3 runs, cells that differ by e^{spread:g}"
        _report(bench, f"power_{key}", title, found, bar=POWER, better="higher")
        less = f"{title}: less than by known variances"
        _report(bench, f"behind_{key}", less, Share(mean, mean - half, mean + half), bar=FROM_ORACLE)


def _report_covered(bench: Bench, rng: Rng) -> None:
    """Of each kind of noise over all numbers of sessions, and of each number by the kind with which it is worst."""
    covers: dict[str, dict[int, list[bool]]] = {}
    for number, (kind, noise) in enumerate(KINDS.items()):
        covers[kind] = {}
        for sessions in SESSIONS:
            tables = [judged(rng, THREE[:1] * sessions, noise) for _ in range(TABLES // 2)]
            ratios = [ratio for table in tables for ratio in table.ratios]
            covers[kind][sessions] = [each.low <= 1 <= each.high for each in ratios if each.low and each.high]
        drawn = [each for own in covers[kind].values() for each in own]
        _report_coverage(bench, str(number), f"{kind}, {SESSIONS[0]} to {SESSIONS[-1]} sessions of 3 runs", drawn)
    for sessions in SESSIONS:
        kind = max(KINDS, key=lambda each: abs(float(np.mean(covers[each][sessions])) - AIM))
        what = f"{sessions} sessions of 3 runs, the worst of {len(KINDS)} kinds of noise ({kind})"
        _report_coverage(bench, f"{sessions}_sessions", what, covers[kind][sessions])


def _report_coverage(bench: Bench, key: str, what: str, covers: Sequence[bool]) -> None:
    share = Share.of(sum(covers), len(covers))
    title = f"distance of the intervals' coverage ({share.value * 100:.1f} %) from 95 %; {what}"
    ends = sorted(abs(each - AIM) for each in (share.low, share.high))
    least = 0.0 if share.low <= AIM <= share.high else ends[0]
    _report(bench, f"coverage_{key}", title, Share(abs(share.value - AIM), least, ends[1]), bar=COVERED)


def judged(rng: Rng, layout: Sequence[int], noise: Noise, *, changed: int = 0) -> JudgedTable:
    """Of two sides with `layout` runs of each session; the second is 5 % lower in the first `changed` cells."""
    drafts, oracle = [], []
    for cell, scale in enumerate(np.exp(rng.normal(0, noise.spread, CELLS))):
        effect = EFFECT if cell < changed else 0.0
        one, other = (
            _side(rng, layout, noise, scale=float(times * scale), first=first, effect=own)
            for times, first, own in ((1.0, 0, 0.0), (noise.other, len(layout), effect))
        )
        drafts.append(welch.draft(one, other))
        means = [_mean_of_sessions(side, layout) for side in (one, other)]
        variance = scale**2 * sum(_variance(layout, noise, times) for times in (1.0, noise.other))
        oracle.append(2 * float(scipy.stats.norm.sf(abs(means[1] - means[0]) / math.sqrt(variance))))
    found = scipy.stats.false_discovery_control(oracle)[0] <= DISCOVERY_RATE
    return JudgedTable(correct_for_many(moderated(drafts)), bool(found))


def _side(rng: Rng, layout: Sequence[int], noise: Noise, *, scale: float, first: int, effect: float) -> Sample:
    """Sessions are numbered from `first` on."""
    levels = noise.draw(rng, len(layout)) * noise.between * scale + effect
    own = noise.draw(rng, sum(layout)) * WITHIN * scale
    return Sample(
        tuple(np.exp(np.repeat(levels, layout) + own).tolist()),
        sessions=tuple(np.repeat(np.arange(len(layout)) + first, layout).tolist()),
    )


def _mean_of_sessions(side: Sample, layout: Sequence[int]) -> float:
    parts = np.split(np.log(side.values), np.cumsum(layout)[:-1])
    return float(np.mean([part.mean() for part in parts]))


def _variance(layout: Sequence[int], noise: Noise, times: float) -> float:
    """Of the mean of session means of a cell of scale 1."""
    return times**2 * sum(noise.between**2 + WITHIN**2 / runs for runs in layout) / len(layout) ** 2


def is_regression(ratios: Sequence[Ratio]) -> bool:
    """Whether the release gate says so, with these as the rows of throughput."""
    rows = (row_verdict(ratio, Direction.HIGHER, DEFAULT_LIMITS.smallest)[0] for ratio in ratios)
    return any(row is RowVerdict.WORSE for row in rows)


def _wilson(count: int, of: int) -> histories.Interval:
    found = scipy.stats.binomtest(count, of).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


@dataclass(frozen=True)
class Share:
    """With its 95 % interval; `oracle`: of an analysis that knows the variances."""

    value: float
    low: float
    high: float
    oracle: float | None = None

    @classmethod
    def of(cls, count: int, total: int, *, oracle: int | None = None) -> "Share":
        low, high = _wilson(count, total)
        return cls(count / total, low, high, None if oracle is None else oracle / total)


def _report(
    bench: Bench,
    key: str,
    title: str,
    share: Share,
    *,
    bar: float | None,
    better: Literal["lower", "higher"] = "lower",
) -> None:
    figure = Figure(
        key=f"{PART}.{key}", part=PART, title=title, unit="of 1", better=better, measured_on=bench.today,
        peer="" if share.oracle is None else "known variances",
        ours=share.value, ours_low=share.low, ours_high=share.high, theirs=share.oracle,
        ratio=share.value / share.oracle if share.oracle else None, rounds=1, limit_ours=bar,
        passed=None if bar is None else results.holds(share.value, bar, better),
    )  # fmt: skip
    bench.figures.append(figure)
    bench.say(results.sentence(figure))
