"""Where throughput is steady: against simulated loads whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from apps.runs.quality.rules import steady_state
from apps.runs.quality.values import CANNOT_TELL, FAILED, PASSED, QualityFacts, ThroughputSeconds

Floats = NDArray[np.float64]
LOADS = 60


def noise(rng: np.random.Generator, length: int, *, phi: float = 0.3, cv: float = 0.05) -> Floats:
    """Throughput around 1,000/s that remembers its last second by `phi`, with a hiccup now and then."""
    found = np.empty(length + 50)
    last = 0.0
    for place, step in enumerate(rng.normal(size=length + 50)):
        last = phi * last + np.sqrt(1 - phi**2) * step
        found[place] = last
    values = 1000 * (1 + cv * found[50:])
    values[rng.random(length) < 0.01] *= 0.3
    return values


def a_load(values: Floats, *, warmup: float = 10.0) -> QualityFacts:
    """Its first second ends at second 1 of the run's clock."""
    at = np.arange(1.0, len(values) + 1)
    seconds = ThroughputSeconds("throughput", "transactions/s", at, values)
    return QualityFacts(tool="sysbench", measured=(warmup, float(len(values))), seconds=seconds)


@pytest.mark.parametrize("length", [60, 120, 300])
@pytest.mark.parametrize(("phi", "most"), [(0.0, 0.02), (0.5, 0.02), (0.8, 0.1)])
def test_steady_loads_are_seldom_doubted(length: int, phi: float, most: float) -> None:
    rng = np.random.default_rng(7)
    doubted = sum(steady_state.check(a_load(noise(rng, length, phi=phi))).status == FAILED for _ in range(LOADS))
    assert doubted <= most * LOADS


def test_a_warm_up_within_the_measured_phase_is_found() -> None:
    rng = np.random.default_rng(8)
    ramp = np.concatenate([np.linspace(0.7, 1, 40), np.ones(110)])
    found = [steady_state.check(a_load(ramp * noise(rng, 150, cv=0.03))) for _ in range(LOADS)]
    assert sum(one.status == FAILED for one in found) >= 0.95 * LOADS
    starts = [one.detail["steady_from"] for one in found if one.status == FAILED]
    assert 15 <= np.median(starts) <= 45


def test_a_warm_up_that_was_left_out_is_none() -> None:
    rng = np.random.default_rng(9)
    ramp = np.concatenate([np.linspace(0.2, 1, 20), np.ones(130)])
    found = [steady_state.check(a_load(ramp * noise(rng, 150, cv=0.03), warmup=30.0)).status for _ in range(LOADS)]
    assert found.count(PASSED) >= 0.95 * LOADS


def test_a_load_that_drops_at_its_end_has_no_steady_state() -> None:
    rng = np.random.default_rng(10)
    drop = np.concatenate([np.ones(120), np.full(30, 0.6)])
    finding = steady_state.check(a_load(drop * noise(rng, 150)))
    assert finding.status == FAILED
    assert finding.evidence.startswith("No steady state: throughput still changes at 120")


@pytest.mark.parametrize("length", [150, 600])
@pytest.mark.parametrize("last", [0.75, 1.3])
def test_a_load_that_falls_or_rises_throughout_drifts(length: int, last: float) -> None:
    """It has neither a warm-up nor a second at which it changes."""
    rng = np.random.default_rng(15)
    line = np.linspace(1, last, length)
    found = [steady_state.check(a_load(line * noise(rng, length, cv=0.03))) for _ in range(LOADS)]
    named = [one for one in found if one.evidence.startswith("No steady state: throughput drifts, by ")]
    assert len(named) >= 0.95 * LOADS, {one.evidence for one in found}
    assert {one.status for one in named} == {FAILED}
    assert np.median([abs(one.detail["drift"]) for one in named]) == pytest.approx(0.27, abs=0.05)


@pytest.mark.parametrize(
    "shape",
    [
        np.concatenate([np.linspace(0.7, 1, 40), np.ones(110)]),
        np.concatenate([np.ones(75), np.full(75, 0.8)]),
        np.concatenate([np.ones(120), np.full(30, 0.6)]),
        np.concatenate([np.full(30, 0.6), np.ones(120)]),
        1 + 0.2 * np.sin(np.linspace(0, 5, 150)),
    ],
    ids=["warm-up", "step", "drop at the end", "step at the begin", "up and down"],
)
def test_what_changes_once_or_back_is_no_drift(shape: Floats) -> None:
    rng = np.random.default_rng(16)
    found = [steady_state.check(a_load(shape * noise(rng, 150))).evidence for _ in range(LOADS)]
    assert sum("drifts" in one for one in found) <= 0.05 * LOADS, found


def test_one_bad_second_is_no_change_of_level() -> None:
    values = noise(np.random.default_rng(11), 150)
    values[70] = 0.0
    assert steady_state.check(a_load(values)).status == PASSED


def test_a_perfectly_even_load_is_steady() -> None:
    assert steady_state.check(a_load(np.full(100, 500.0))).status == PASSED


def test_what_it_says_does_not_depend_on_the_unit() -> None:
    values = noise(np.random.default_rng(12), 120) * np.linspace(0.8, 1, 120)
    assert (
        steady_state.steady_from(values)
        == steady_state.steady_from(values * 1e-6)
        == steady_state.steady_from(values * 1e6)
    )


def test_hours_are_looked_at_in_few_points() -> None:
    rng = np.random.default_rng(13)
    values = noise(rng, 7200) * np.concatenate([np.full(1200, 0.8), np.ones(6000)])
    assert 1150 <= steady_state.steady_from(values) <= 1250


def test_it_is_unknown_for_short_runs_and_for_workloads_that_are_not_meant_to_be_steady() -> None:
    long = a_load(noise(np.random.default_rng(14), 120))
    assert steady_state.check(a_load(np.full(49, 500.0))).status == CANNOT_TELL
    assert steady_state.check(replace(long, seconds=None)).status == CANNOT_TELL
    grown = steady_state.check(replace(long, unsteady="its table grows"))
    assert (grown.status, "its table grows" in grown.evidence) == (CANNOT_TELL, True)


@pytest.mark.parametrize(("every", "length"), [(30, 6), (60, 12), (120, 20)])
def test_a_load_that_dips_at_every_checkpoint_is_steady_by_whole_periods(every: int, length: int) -> None:
    rng = np.random.default_rng(11)
    for _ in range(LOADS):
        values = 1000 * np.exp(rng.normal(0, 0.02, 600))
        values[(np.arange(600) + rng.integers(every)) % every < length] *= 0.7
        found = steady_state.check(a_load(values, warmup=120.0))
        assert found.status == PASSED, found


def test_a_load_that_dips_and_falls_is_not_steady() -> None:
    rng = np.random.default_rng(12)
    for _ in range(LOADS):
        values = 1000 * np.exp(rng.normal(0, 0.02, 600)) * np.linspace(1.3, 0.7, 600)
        values[(np.arange(600) + rng.integers(60)) % 60 < 12] *= 0.7
        found = steady_state.check(a_load(values))
        assert found.status == FAILED, found
