"""Looks after every repetition: against published constants, and simulated."""

import math
from statistics import mean

import numpy as np
import pytest

from apps.comparison.stats import moderation, sequential, welch
from apps.comparison.stats.replicates import Sample
from apps.comparison.stats.welch import Ratio, Verdict
from tests.comparison.stats.test_sessions import a_side

MOST = 12


def test_the_levels_are_those_of_pococks_spending_function() -> None:
    """Two-sided 5 %, five equal looks: z of Lan and DeMets' tables (as by ldbounds): 2.4380, 2.4268, 2.4101, 2.3966,
    2.3859, each rounded from tables."""
    found = sequential.levels((0.2, 0.4, 0.6, 0.8, 1.0), alpha=0.05)
    expected = [math.erfc(z / math.sqrt(2)) for z in (2.4380, 2.4268, 2.4101, 2.3966, 2.3859)]
    assert found == pytest.approx(expected, rel=3e-3)


def test_one_look_has_the_whole_level() -> None:
    assert sequential.levels((1.0,), alpha=0.05) == pytest.approx((0.05,), rel=1e-6)


def test_an_interval_is_enough_at_a_verdict_or_a_width() -> None:
    assert sequential.is_enough((1.01, 1.2), "verdict")
    assert sequential.is_enough((0.99, 1.01), "verdict")
    assert not sequential.is_enough((0.97, 1.01), "verdict")
    assert sequential.is_enough((0.96, 1.01), "0.03")
    assert not sequential.is_enough((1.1, 1.3), "0.03")


def test_a_ratio_without_interval_is_never_enough() -> None:
    assert sequential.repeated_interval(Ratio(Verdict.TOO_FEW, value=1.2), 0.01) is None


def campaign(rng: np.random.Generator, true: float, noise: float = 0.02) -> tuple[int, bool]:
    """Repetitions made, and whether the sides were called different. The systems drift by 1 % a repetition."""
    sides: tuple[list[float], list[float]] = [], []
    interval: tuple[float, float] | None = None
    for repetition in range(1, MOST + 1):
        for side, factor in zip(sides, (1.0, true), strict=True):
            side.append(factor * math.exp(rng.normal(-0.01 * repetition, noise)))
        if repetition < 3:
            continue
        blocks = tuple(map(str, range(repetition)))
        samples = [Sample(tuple(side), sessions=(1,) * repetition, blocks=blocks) for side in sides]
        interval = sequential.repeated_interval(welch.compare(*samples), sequential.level_at(repetition, MOST, cells=1))
        assert interval is not None
        if sequential.is_enough(interval, sequential.VERDICT):
            break
    assert interval is not None
    return repetition, not interval[0] <= 1 <= interval[1]


def test_looking_after_every_repetition_costs_no_error() -> None:
    """5 % of 400 are 20; more than 40 have a probability below 10^-5."""
    rng = np.random.default_rng(5)
    assert sum(campaign(rng, 1.0)[1] for _ in range(400)) <= 40


def is_wrong_with_missing_runs(rng: np.random.Generator, noise: float = 0.02) -> bool:
    """Whether equal systems are called different where one run of six is missing: looks are by the side with fewer."""
    sides: tuple[list[float], list[float]] = [], []
    for _ in range(1, MOST):
        came = rng.random(2) > 1 / 6
        for side in (side for side, is_there in zip(sides, came, strict=True) if is_there):
            side.append(math.exp(rng.normal(0, noise)))
        seen = min(map(len, sides))
        if seen < 3 or not came.all():
            continue
        ratio = welch.compare(*(Sample(tuple(side), sessions=(1,) * len(side)) for side in sides))
        interval = sequential.repeated_interval(ratio, sequential.level_at(seen, MOST, cells=1))
        if interval and not interval[0] <= 1 <= interval[1]:
            return True
    return False


def test_looks_without_the_missing_runs_cost_no_error() -> None:
    """5 % of 400 are 20; more than 40 have a probability below 10^-5."""
    rng = np.random.default_rng(8)
    assert sum(is_wrong_with_missing_runs(rng) for _ in range(400)) <= 40


def test_a_difference_is_found_with_a_third_fewer_repetitions() -> None:
    """The fixed plan of the same power, .99 at 5 %, needs 9 repetitions (docs/howto/campaigns.md)."""
    rng = np.random.default_rng(6)
    found = [campaign(rng, 1.05) for _ in range(200)]
    assert mean(differs for _, differs in found) > 0.95
    assert mean(made for made, _ in found) < 0.7 * 9


def test_looking_after_every_session_costs_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """5 % of 60 plans of equal systems are 3; more than 13 have a probability below 1e-6. Looks at the usual level
    find 24."""
    monkeypatch.setattr(welch, "repetitions_needed", lambda *_, **__: 1)
    rng = np.random.default_rng(7)
    assert sum(a_plan_is_wrong(rng, sessions=10, levels=4) for _ in range(60)) <= 13


def a_plan_is_wrong(rng: np.random.Generator, *, sessions: int, levels: int) -> bool:
    """Whether any look before the last calls equal systems different at any load level; two repetitions a session."""
    pairs = [
        [a_side(rng, (2,) * sessions, within=spread, between=spread, first=first) for first in (0, 100)]
        for spread in 0.015 * np.exp(rng.normal(0, 0.2, levels))
    ]
    for looked in range(3, sessions):
        cut = [
            [Sample(side.values[: 2 * looked], sessions=side.sessions[: 2 * looked]) for side in own] for own in pairs
        ]
        level = sequential.level_at(looked, sessions, cells=levels, are_sessions=True)
        for draft in moderation.moderated([welch.draft(*own) for own in cut]):
            interval = sequential.repeated_interval(draft.alone, level)
            if interval and not interval[0] <= 1 <= interval[1]:
                return True
    return False
