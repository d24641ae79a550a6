"""The power of planned sessions is that of simulated verdicts."""

import math

import numpy as np
import pytest

from apps.comparison.stats import moderation, multiple_testing, session_power, welch
from apps.comparison.stats.session_power import SessionNoise
from apps.comparison.stats.welch import Verdict
from tests.comparison.stats.test_sessions import FOUND, a_side

TABLES = 250


@pytest.fixture(autouse=True)
def without_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(welch, "repetitions_needed", lambda *_, **__: 1)


def simulated(
    noise: SessionNoise, *, effect: float, sessions: int, repetitions: int, levels: int, tables: int = TABLES
) -> float:
    """Share of tables whose first level differs by `effect`, as Compare judges them."""
    random = np.random.default_rng(sessions * 100 + repetitions * 10 + levels)
    hits = 0
    for _ in range(tables):
        drafts = []
        for cell, scale in enumerate(np.exp(random.normal(0, session_power.UNLIKE, levels))):
            own = {"within": noise.within * scale, "between": noise.between * scale}
            a = a_side(random, (repetitions,) * sessions, first=0, **own)
            b = a_side(random, (repetitions,) * sessions, first=100, shift=effect if cell == 0 else 0.0, **own)
            drafts.append(welch.draft(a, b))
        table = multiple_testing.correct_for_many(moderation.moderated(drafts))
        hits += table[0].verdict is Verdict.HIGHER
        assert table[0].verdict in (*FOUND, Verdict.INCONCLUSIVE, Verdict.EQUIVALENT)
    return hits / tables


@pytest.mark.parametrize(
    ("sessions", "repetitions", "levels", "difference"),
    [(3, 3, 1, 0.1), (3, 3, 3, 0.06), (4, 1, 4, 0.06)],
)
def test_the_power_is_within_three_points_of_simulated_verdicts(
    sessions: int, repetitions: int, levels: int, difference: float
) -> None:
    noise, effect = SessionNoise(0.015, 0.015), math.log1p(difference)
    counts = {"sessions": sessions, "repetitions": repetitions, "levels": levels}
    computed = session_power.chance(effect=effect, noise=noise.of_mean(repetitions), comparisons=levels, **counts)
    # Three points, and what chance adds to this few tables once in a thousand. Of 2,000 tables each, none of nine plans
    # was off by more than three.
    by_chance = 3.3 * math.sqrt(computed * (1 - computed) / TABLES)
    assert computed == pytest.approx(simulated(noise, effect=effect, **counts), abs=0.03 + by_chance)


def test_the_least_effect_is_found_with_the_power_asked_for() -> None:
    for power in (0.8, 0.9):
        least = session_power.least_effect(sessions=4, levels=3, comparisons=3, power=power)
        found = session_power.chance(effect=least, noise=1.0, sessions=4, repetitions=1, levels=3, comparisons=3)
        assert found == pytest.approx(power, abs=0.001)


def test_too_few_runs_find_nothing() -> None:
    for sessions, repetitions in ((1, 10), (2, 1)):
        counts = {"sessions": sessions, "repetitions": repetitions, "levels": 1, "comparisons": 1}
        assert session_power.chance(effect=1.0, noise=0.01, **counts) == 0
