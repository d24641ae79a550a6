"""Tables of comparisons drawn from known noise, and what apps.comparison.stats.welch computes from them done a second
time, in arrays and by SciPy: a reference, and fast enough for thousands of tables."""

import math
from dataclasses import dataclass

import numpy as np
import scipy.stats
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Differences:
    """Of each comparison: difference of logarithms, half its interval's width, and p among many."""

    difference: Array
    half: Array
    p: Array
    cautious_p: Array

    def covers(self, truth: float | Array) -> float:
        return float(np.mean(np.abs(self.difference - truth) <= self.half))


def judge(a: Array, b: Array, past_a: Array, past_b: Array, *, step: float = 0.0) -> Differences:
    """`a`, `b`: logarithms, the runs of a side along the last axis; `step` of the grid on which they lie."""
    (va, ka, sa), (vb, kb, sb) = _noise(a, past_a, step), _noise(b, past_b, step)
    qa, qb = va / a.shape[-1], vb / b.shape[-1]
    error = np.sqrt(qa + qb)
    freedom = (qa + qb) ** 2 / (qa**2 / ka + qb**2 / kb)
    difference = b.mean(-1) - a.mean(-1)
    away = np.maximum(np.abs(difference) - sa - sb, 0) / error
    cautious = np.sqrt(freedom * min(ka, kb))
    return Differences(
        difference,
        scipy.stats.t.ppf(0.975, freedom) * error + sa + sb,
        2 * scipy.stats.t.sf(away, freedom),
        2 * scipy.stats.t.sf(away, cautious),
    )


def _noise(own: Array, past: Array, step: float) -> tuple[Array, float, Array]:
    n, h = own.shape[-1], past.shape[-1]
    variance, freedom = own.var(-1, ddof=1), n - 1.0
    if h:
        pooled = ((h - 1) * past.var(-1, ddof=1) + (n - 1) * variance) / (n + h - 2)
        variance, freedom = np.maximum(variance, pooled), n + h - 2.0
    systematic = np.clip(1 - np.sqrt(variance) / step, 0, None) * step / 2 if step else np.zeros_like(variance)
    return np.maximum(variance, step**2 / 12), freedom, systematic


def adjusted(p: Array) -> Array:
    """Benjamini and Hochberg over each table: all axes but the first."""
    flat = p.reshape(len(p), -1)
    return np.asarray(scipy.stats.false_discovery_control(flat, axis=1)).reshape(p.shape)


def skewed(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Of mean 0 and variance 1, with a long tail of slow runs."""
    return (2 - random.gamma(2, size=shape)) / math.sqrt(2)


def tables(
    random: np.random.Generator,
    *,
    count: int,
    runs: int,
    noise: tuple[float, ...],
    shape: str = "normal",
    levels: int = 6,
    metrics: int = 4,
) -> Array:
    """Logarithms, (table, level, side, metric, run): no side differs. `noise` of each side. Metrics of a run share most
    of their noise, every second with the other sign, as latency does."""
    draw = random.standard_normal if shape == "normal" else lambda size: skewed(random, size)
    sides = len(noise)
    shared, own = draw((count, levels, sides, 1, runs)), draw((count, levels, sides, metrics, runs))
    signs = np.where(np.arange(metrics) % 2 == 0, 1, -1)[:, None]
    scale = np.array(noise)[:, None, None] * np.array([1.0, 1.5, 2.0, 1.0])[:metrics, None]
    return np.asarray((math.sqrt(0.8) * signs * shared + math.sqrt(0.2) * own) * scale)


def judge_tables(drawn: Array, runs: int) -> Differences:
    """Every side against the first; runs beyond `runs` are history."""
    own, past = drawn[..., :runs], drawn[..., runs:]
    return judge(own[:, :, :1], own[:, :, 1:], past[:, :, :1], past[:, :, 1:])
