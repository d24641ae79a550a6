"""The Universal Scalability Law: against scipy's own fit, against simulated ladders, and on what an article printed."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from apps.comparison.stats import usl
from apps.comparison.stats.usl import Fit, NoFit, fit

LEVELS = (1, 2, 4, 8, 16, 32)
TRUTH = (1000.0, 0.05, 0.001)
# Percona, "Looking at Disk Utilization and Saturation", 2017: reads/s of an NVMe drive (shared/published).
DISK = {1: [7113.16], 4: [26248.44], 16: [76845.96], 64: [127840.59], 256: [131558.79]}


def law(threads: NDArray[np.float64], one: float, wait: float, agree: float) -> NDArray[np.float64]:
    return one * threads / (1 + wait * (threads - 1) + agree * threads * (threads - 1))


def simulated(
    random: np.random.Generator, *, runs: int, noise: Sequence[float], off: float = 0.0, levels: Sequence[int] = LEVELS
) -> dict[int, list[float]]:
    """Runs of a system that follows TRUTH: their noise at each level, and how far the levels themselves are off."""
    at = np.asarray(levels, dtype=np.float64)
    true = law(at, *TRUTH) * np.exp(random.normal(0, off, len(at)))
    found = true[:, None] * np.exp(random.normal(0, 1, (len(at), runs)) * np.asarray(noise)[:, None])
    return dict(zip(levels, found.tolist(), strict=True))


def fitted(runs: dict[int, list[float]]) -> Fit:
    found = fit(runs)
    assert isinstance(found, Fit), found
    return found


def test_it_finds_what_scipys_curve_fit_finds() -> None:
    runs = simulated(np.random.default_rng(3), runs=5, noise=[0.02] * 6)
    at = np.repeat(np.asarray(LEVELS, dtype=np.float64), 5)
    values = np.concatenate([runs[level] for level in LEVELS])
    peer, _ = optimize.curve_fit(lambda n, *p: np.log(law(n, *p)), at, np.log(values), p0=(900, 0.1, 0.002))
    own = fitted(runs)
    assert (own.one_thread.value, own.contention.value, own.coherency.value) == pytest.approx(peer, rel=5e-3)
    assert own.peak.value == pytest.approx(math.sqrt((1 - peer[1]) / peer[2]), rel=5e-3)


def test_without_noise_it_gives_back_the_law() -> None:
    runs = simulated(np.random.default_rng(0), runs=2, noise=[1e-7] * 6)
    own = fitted(runs)
    assert (own.one_thread.value, own.contention.value, own.coherency.value) == pytest.approx(TRUTH, rel=1e-4)
    peak = math.sqrt((1 - TRUTH[1]) / TRUTH[2])
    assert own.peak.value == pytest.approx(peak, rel=1e-4)
    assert own.peak_throughput is not None
    assert own.peak_throughput.value == pytest.approx(float(law(np.array([peak]), *TRUTH)[0]), rel=1e-4)
    # At the knee throughput grows half as fast as threads do.
    step = np.array([own.knee.value, own.knee.value * 1.0001])
    grown = np.diff(np.log(law(step, *TRUTH)))[0] / np.diff(np.log(step))[0]
    assert grown == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize(
    ("noise", "off"),
    [([0.02] * 6, 0.0), (list(np.geomspace(0.005, 0.05, 6)), 0.0), ([0.02] * 6, 0.03)],
    ids=["same noise", "noise that grows tenfold", "levels off the law"],
)
def test_the_intervals_hold_the_truth(runs: int, noise: list[float], off: float) -> None:
    """Never less than .93 of the time; wider than they have to be rather than narrower."""
    random = np.random.default_rng(runs)
    _, wait, agree = TRUTH
    peak = math.sqrt((1 - wait) / agree)
    knee = max(np.roots([3 * agree, wait - agree, wait - 1]))
    true = np.array([[-wait, 1, 0], [-agree, 0, 1], [-1, 1, peak**2], [-1, knee + 1, 3 * knee**2 - knee]])
    tables = [simulated(random, runs=runs, noise=noise, off=off) for _ in range(1500)]
    covered = 1 - np.mean([usl.errors_of(table).is_refuted(true) for table in tables], axis=0)
    assert covered.min() > 0.93
    assert covered.mean() < 0.995


def test_an_interval_ends_where_the_truth_would_be_refuted() -> None:
    random = np.random.default_rng(8)
    for _ in range(10):
        runs = simulated(random, runs=3, noise=[0.02] * 6)
        own, errors = fitted(runs), usl.errors_of(runs)
        for end, outwards in ((own.peak.low, 0.999), (own.peak.high, 1.001)):
            inside, outside = (np.array([[-1, 1, place**2]]) for place in (end / outwards, end * outwards))
            assert not errors.is_refuted(inside)[0]
            assert errors.is_refuted(outside)[0]
        assert own.contention.low < own.contention.value < own.contention.high


def test_no_more_than_all_of_the_work_waits_however_noisy_the_runs() -> None:
    noisy = {
        1: [416.0, 571.0, 993.0],
        2: [250.0, 899.0, 1080.0],
        4: [544.0, 1180.0, 1480.0],
        8: [684.0, 1040.0, 1510.0],
    }
    own = fitted(noisy | {16: [672.0, 960.0, 1420.0]})
    assert 0 <= own.contention.low < own.contention.value < own.contention.high == 1
    assert own.peak.high == math.inf


def test_more_repetitions_narrow_the_intervals() -> None:
    few, many = (fitted(simulated(np.random.default_rng(5), runs=runs, noise=[0.02] * 6)) for runs in (3, 30))
    assert many.peak.high - many.peak.low < 0.6 * (few.peak.high - few.peak.low)


def test_a_ladder_that_still_climbs_has_no_upper_end_to_its_peak() -> None:
    at = np.asarray(LEVELS, dtype=np.float64)
    true = law(at, 1000.0, 0.05, 0.0)
    noise = np.random.default_rng(4).normal(0, 0.02, (6, 3))
    own = fitted(dict(zip(LEVELS, (true[:, None] * np.exp(noise)).tolist(), strict=True)))
    assert own.peak.high == math.inf
    assert own.coherency.low == 0
    assert own.peak.low > 16


def test_the_knee_of_a_disk_lies_where_the_article_says_its_best_concurrency_does() -> None:
    """Between 16 and 64 threads, from its response times."""
    own = fitted(DISK)
    assert 16 <= own.knee.low <= own.knee.value <= own.knee.high <= 64
    assert own.deviation < 0.05
    assert own.misfit_p is None
    assert own.few_runs


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ({1: [10.0], 2: [19.0], 4: [30.0], 8: [40.0]}, "add 1 load level "),
        ({}, "add 5 load levels "),
        ({level: [0.0, 1.0] for level in LEVELS}, "no positive throughput"),
        ({level: [1000.0 * level**1.3, 1010.0 * level**1.3] for level in LEVELS}, "superlinear"),
        ({1: [1.0], 2: [2.0], 4: [1.0], 8: [9.0], 16: [2.0]}, "it deviates by"),
        ({level: [100.0, 100.0] for level in (1, 2, 3, 4, 5)}, "runs are identical"),
    ],
)
def test_it_refuses_with_a_reason(runs: dict[int, list[float]], reason: str) -> None:
    found = fit(runs)
    assert isinstance(found, NoFit)
    assert reason in found.reason


def test_the_order_and_the_unit_of_the_runs_change_nothing_else() -> None:
    runs = simulated(np.random.default_rng(6), runs=4, noise=[0.02] * 6)
    scaled = {level: [value * 60 for value in reversed(runs[level])] for level in reversed(LEVELS)}
    one, other = fitted(runs), fitted(scaled)
    assert other.one_thread.low == pytest.approx(60 * one.one_thread.low)
    assert (other.peak.low, other.knee.high, other.coherency.high) == pytest.approx(
        (one.peak.low, one.knee.high, one.coherency.high)
    )


@pytest.mark.parametrize("wait", [0.0, 0.02])
def test_a_cap_at_8_threads_is_no_law_of_scalability_and_is_named(wait: float) -> None:
    random = np.random.default_rng(3)
    for _ in range(60):
        top = float(law(np.array([8.0]), 1000, wait, 0)[0])
        true = [min(float(law(np.array([float(n)]), 1000, wait, 0)[0]), top) for n in (1, 2, 4, 8, 16, 32, 64)]
        noisy = [[value * math.exp(random.normal(0, 0.01)) for _ in range(3)] for value in true]
        found = fit(dict(zip((1, 2, 4, 8, 16, 32, 64), noisy, strict=True)))
        assert isinstance(found, NoFit), found
        assert found.cap is not None
        assert found.cap.last == 64
        assert found.cap.threads == pytest.approx(8, rel=0.1)
        assert f"it is capped: {found.cap}" in found.reason
        assert str(found.cap).startswith("grows up to about 8 threads, then stays at ")


@pytest.mark.parametrize("runs", [2, 3, 5])
def test_the_interval_of_a_cap_holds_it_in_95_of_100_cases(runs: int) -> None:
    """Of 400, 95 % less than 6 standard deviations of chance."""
    random = np.random.default_rng(5)
    levels = (1, 2, 4, 8, 16, 32, 64)
    held = []
    for _ in range(400):
        found = fit({n: [min(n, 8) * 100 * math.exp(random.normal(0, 0.02)) for _ in range(runs)] for n in levels})
        assert isinstance(found, NoFit)
        assert found.cap is not None
        held.append(found.cap.throughput.low <= 800 <= found.cap.throughput.high)
    assert np.mean(held) >= 0.95 - 6 * math.sqrt(0.95 * 0.05 / len(held))


def test_the_law_itself_is_seldom_refuted_by_its_own_noise() -> None:
    """0 of 200 expected at p < 0.001 together with a deviation of 10 %."""
    random = np.random.default_rng(4)
    for _ in range(200):
        fitted(simulated(random, runs=3, noise=(0.03,) * len(LEVELS)))


def test_a_fall_or_a_law_that_never_reaches_its_top_is_no_cap() -> None:
    at = (1, 2, 4, 8, 16, 32)
    for true in ((100, 200, 400, 800, 400, 200), (100, 150, 180, 190, 300, 300)):
        found = fit(
            {level: [value * each for each in (0.999, 1.0, 1.001)] for level, value in zip(at, true, strict=True)}
        )
        assert isinstance(found, NoFit)
        assert "capped" not in found.reason
