"""What comparisons must show, computed anew from what load tools printed: by SciPy, without the product's own code."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.e2e.readings import Reading

# sysbench's percentiles lie on 1,024 steps from 0.001 to 100,000 ms; it prints them with two decimals.
GRID = math.log(1e8) / 1023
DECIMALS = 0.01  # ms
THROUGHPUT, ERRORS = "client.throughput", "client.errors"
# Far out two ways to compute a p agree in its size only.
TINY = 1e-12
# (side, threads) -> its runs in the order of their repetitions
Readings = Mapping[tuple[str, int], Sequence[Reading]]


@dataclass(frozen=True)
class Expected:
    """`would_find`: such runs would have found a difference of 2 %, so that "equivalent" says something."""

    ratio: float
    low: float
    high: float
    p: float
    cautious_p: float
    would_find: bool


def values_of(readings: Sequence[Reading], metric: str) -> list[float]:
    return [each.values[metric] for each in readings]


def geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def expected(baseline: Sequence[float], side: Sequence[float], *, metric: str, tool: str) -> Expected | None:
    """Welch on logarithms, as docs/why/statistics.md tells it; None where no run differs
    from another and no grid is known."""
    steps = [_step(values, metric, tool) for values in (baseline, side)]
    spreads = [float(np.std(np.log(values), ddof=1)) if len(set(values)) > 1 else 0.0 for values in (baseline, side)]
    variances = [max(spread**2, step**2 / 12) for spread, step in zip(spreads, steps, strict=True)]
    off = sum(max(0.0, 1 - s / g) * g / 2 for s, g in zip(spreads, steps, strict=True) if g)
    squares = [variance / len(values) for variance, values in zip(variances, (baseline, side), strict=True)]
    error = math.sqrt(sum(squares))
    if error == 0:
        return None
    least = min(len(baseline), len(side)) - 1
    freedom = sum(squares) ** 2 / sum(
        square**2 / (len(values) - 1) for square, values in zip(squares, (baseline, side), strict=True)
    )
    difference = float(np.mean(np.log(side)) - np.mean(np.log(baseline)))
    half = float(stats.t.ppf(0.975, freedom)) * error + off
    away = max(0.0, abs(difference) - off) / error
    return Expected(
        ratio=math.exp(difference),
        low=math.exp(difference - half),
        high=math.exp(difference + half),
        p=2 * float(stats.t.sf(away, freedom)),
        cautious_p=2 * float(stats.t.sf(away, math.sqrt(freedom * least))),
        would_find=_would_find(math.log(1.02) - off, error, freedom),
    )


def _would_find(effect: float, error: float, freedom: float) -> bool:
    """With 80 % power, if the noise were as large as its upper 90 % bound."""
    if effect <= 0:
        return False
    worst = error * math.sqrt(freedom / float(stats.chi2.ppf(0.1, freedom)))
    found = float(stats.t.ppf(0.975, freedom))
    # Far out SciPy's noncentral t gives nan, and is 1.
    missed = 0.0 if effect / worst > 8 * found else float(stats.nct.cdf(found, freedom, effect / worst))
    return 1 - missed >= 0.8


def _step(values: Sequence[float], metric: str, tool: str) -> float:
    """On the scale of logarithms."""
    if ".latency.p" not in metric:
        return 0.0
    printed = DECIMALS / geometric_mean(values) if tool == "sysbench" else 0.0
    return math.log1p(max(math.expm1(GRID), printed))


def check_cells(
    cells: Iterable[Mapping[str, Any]], *, readings: Readings, levels: Mapping[int, int], tool: str, baseline: str
) -> list[tuple[Mapping[str, Any], Expected]]:
    """That every cell of the API's answer (of metrics that `readings` have) is what its runs say; those with a ratio,
    with what was expected. `levels`: id -> threads."""
    found = []
    for cell in cells:
        metric, threads = cell["metric"], levels[cell["level"]]
        own = values_of(readings[cell["side"], threads], metric)
        where = f"{metric} of {cell['side']} at {threads} threads"
        assert [each["value"] for each in cell["replicates"]] == pytest.approx(own), where
        summary = cell["summary"]
        typical = geometric_mean(own) if min(own) > 0 else float(np.median(own))
        assert summary["value"] == pytest.approx(typical), where
        assert (summary["minimum"], summary["maximum"]) == pytest.approx((min(own), max(own))), where
        variation = np.std(own, ddof=1) / np.mean(own) if np.mean(own) > 0 else None
        assert summary["variation"] == pytest.approx(variation, abs=1e-9), where
        if cell["side"] == baseline:
            assert cell["ratio"] is None
            continue
        ratio, base = cell["ratio"], values_of(readings[baseline, threads], metric)
        pairs = [np.sign(mine - theirs) for mine in own for theirs in base]
        assert ratio["delta"] == pytest.approx(np.mean(pairs)), where
        if metric == ERRORS:
            # Counted, not compared as rates (tests/comparison/stats/test_rare_events.py): one test more in the table.
            if ratio["p"] is not None:
                found.append((cell, Expected(1.0, 0.0, math.inf, ratio["p"], ratio["cautious_p"], would_find=False)))
            continue
        if min(*own, *base) <= 0:
            assert ratio["value"] is None, where
            continue
        wanted = expected(base, own, metric=metric, tool=tool)
        if wanted is None:
            assert cell["words"] == "too few repetitions", where
            continue
        reported = tuple(ratio[name] for name in ("value", "low", "high", "p", "cautious_p"))
        computed = (wanted.ratio, wanted.low, wanted.high, wanted.p, wanted.cautious_p)
        assert reported == pytest.approx(computed, rel=1e-6, abs=TINY), where
        found.append((cell, wanted))
    return found


def check_verdicts(judged: Sequence[tuple[Mapping[str, Any], Expected]], directions: Mapping[str, str]) -> None:
    """`judged`: all comparisons of one table, which Benjamini and Hochberg correct together."""
    adjusted = stats.false_discovery_control([wanted.cautious_p for _, wanted in judged])
    for (cell, wanted), p in zip(judged, adjusted, strict=True):
        assert cell["ratio"]["adjusted_p"] == pytest.approx(float(p), rel=1e-6, abs=TINY)
        if cell["metric"] == ERRORS:
            continue
        is_higher, is_lower = wanted.low > 1, wanted.high < 1
        if (is_higher or is_lower) and p <= 0.05:
            good = directions[cell["metric"]] == ("higher" if is_higher else "lower")
            assert cell["words"] == ("better" if good else "worse")
        elif not (is_higher or is_lower) and wanted.low >= 1 / 1.02 and wanted.high <= 1.02 and wanted.would_find:
            assert cell["words"] == "equivalent"
        else:
            assert cell["words"] == "inconclusive"


def merged_percentile(readings: Sequence[Reading], percentile: float) -> float:
    """The first step that reaches the share (rounded to whole transactions, as sysbench takes it), of the histograms of
    all runs added up; ms."""
    together: Counter[float] = Counter()
    for each in readings:
        together.update(each.latencies)
    values = sorted(together)
    reached = np.cumsum([together[value] for value in values])
    return values[int(np.searchsorted(reached, math.floor(percentile / 100 * reached[-1] + 0.5)))]


def shows(text: str, value: float) -> bool:
    """Whether `text` is `value`, rounded to the decimals that it has, or to three digits where it has none."""
    plain = text.replace(",", "")
    decimals = len(plain.partition(".")[2])
    unit = 10.0**-decimals if decimals else 10.0 ** max(0, len(plain) - 3)
    return bool(abs(float(plain) - value) <= 0.51 * unit)
