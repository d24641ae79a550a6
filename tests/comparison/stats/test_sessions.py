"""Runs within sessions, blocks and moderated variances: against simulation, SciPy and limma's published example."""

import math

import numpy as np
import pytest
import scipy.stats
from scipy import special

from apps.comparison.stats import moderation, multiple_testing, power, welch
from apps.comparison.stats.power import RunNoise
from apps.comparison.stats.replicates import Replicates, Sample
from apps.comparison.stats.welch import Ratio, Verdict

CELLS, TABLES = 12, 250
FOUND = (Verdict.HIGHER, Verdict.LOWER)


@pytest.fixture(autouse=True)
def without_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many repetitions are needed is not asked here, and most of the time."""
    monkeypatch.setattr(welch, "repetitions_needed", lambda *_, **__: 1)


def a_side(
    random: np.random.Generator, runs: tuple[int, ...], *, within: float, between: float, first: int, shift: float = 0.0
) -> Sample:
    """`runs` of each session; sessions are numbered from `first` on."""
    values, sessions = [], []
    for session, count in enumerate(runs):
        level = shift + random.normal(0, between)
        values += [math.exp(level + random.normal(0, within)) for _ in range(count)]
        sessions += [first + session] * count
    return Sample(tuple(values), sessions=tuple(sessions))


def a_table(
    random: np.random.Generator,
    runs: tuple[int, ...],
    *,
    shift: float = 0.0,
    unequal: float = 1.0,
    between: float = 0.01,
) -> list[Ratio]:
    """Of equal sides, but for `shift` in the first cell; the noise differs from cell to cell."""
    drafts = []
    for cell, scale in enumerate(np.exp(random.normal(0, 0.2, CELLS))):
        own = shift if cell == 0 else 0.0
        a = a_side(random, runs, within=0.01 * scale, between=between * scale, first=0)
        noise = scale * unequal
        b = a_side(random, runs, within=0.01 * noise, between=between * noise, first=100, shift=own)
        drafts.append(welch.draft(a, b))
    return multiple_testing.correct_for_many(moderation.moderated(drafts))


@pytest.mark.parametrize("between", [0.005, 0.02])
@pytest.mark.parametrize("runs", [(2, 1), (3, 2), (1, 1, 1), (5, 5), (3, 3, 3), (2, 2, 2, 2, 2)])
def test_of_equal_sides_in_sessions_that_differ_few_tables_show_a_difference(
    runs: tuple[int, ...], between: float
) -> None:
    """6 % at most; of this many tables chance alone shows more than 10.8 % once in ten thousand."""
    random = np.random.default_rng(40 + len(runs) + sum(runs))
    tables = [a_table(random, runs, between=between) for _ in range(TABLES)]
    assert np.mean([any(ratio.verdict in FOUND for ratio in table) for table in tables]) <= 0.108
    covered = [ratio.low <= 1 <= ratio.high for table in tables for ratio in table if ratio.low and ratio.high]
    assert np.mean(covered) >= 0.92


def test_sides_of_unequal_noise_are_moderated_apart() -> None:
    random = np.random.default_rng(5)
    tables = [a_table(random, (2, 2, 2, 2), unequal=3.0) for _ in range(TABLES)]
    covered = [ratio.low <= 1 <= ratio.high for table in tables for ratio in table if ratio.low and ratio.high]
    assert np.mean(covered) >= 0.93


def test_three_sessions_of_three_runs_find_5_percent_in_one_of_12_cells() -> None:
    """85 % of the tables at least; of this many, fewer than 78 % are seen once in a thousand."""
    random = np.random.default_rng(6)
    tables = [a_table(random, (3, 3, 3), shift=math.log(0.95)) for _ in range(TABLES)]
    assert np.mean([table[0].verdict is Verdict.LOWER for table in tables]) >= 0.8


def test_runs_of_one_session_taken_for_replicates_would_call_most_equal_tables_different() -> None:
    random = np.random.default_rng(7)
    wrong = 0
    for _ in range(60):
        sides = [[a_side(random, (10,), within=0.005, between=0.01, first=0) for _ in range(2)] for _ in range(CELLS)]
        ratios = multiple_testing.correct_for_many([welch.draft(Sample(a.values), Sample(b.values)) for a, b in sides])
        wrong += any(ratio.verdict in FOUND for ratio in ratios)
        kept = [welch.draft(a, b).alone for a, b in sides]
        assert {ratio.replicates for ratio in kept} == {Replicates.ONE_SESSION}
    assert wrong >= 50


def test_unequal_numbers_of_runs_weigh_by_session() -> None:
    a = Sample((100.0, 100.0, 100.0, 110.0), sessions=(0, 0, 0, 1))
    b = Sample((100.0, 110.0, 110.0, 110.0), sessions=(2, 3, 3, 3))
    ratio = welch.compare(a, b)
    assert (ratio.replicates, ratio.counts) == (Replicates.SESSIONS, (2, 2))
    assert ratio.value == pytest.approx(1.0)
    assert welch.summarise(a.values, sessions=a.sessions).value == pytest.approx(math.sqrt(100 * 110))


def test_sessions_that_measured_both_sides_are_compared_within() -> None:
    """Days differ by 5 %, the sides by 1 % each day."""
    days = np.exp(np.random.default_rng(8).normal(0, 0.05, 5)).repeat(2) * 1000
    a = Sample(tuple(days), sessions=(0, 0, 1, 1, 2, 2, 3, 3, 4, 4))
    jitter = (1.0, 1.001, 0.999, 1.0, 1.0005, 0.9995, 1.001, 1.0, 0.999, 1.0)
    b = Sample(tuple(day * 1.01 * one for day, one in zip(days, jitter, strict=True)), sessions=a.sessions)
    ratio = welch.compare(a, b)
    means = np.log(np.array(b.values) / np.array(a.values)).reshape(5, 2).mean(axis=1)
    expected = scipy.stats.ttest_1samp(means, 0.0)
    assert ratio.replicates is Replicates.PAIRED_SESSIONS
    assert ratio.p == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert (ratio.low, ratio.high) == pytest.approx((math.exp(low), math.exp(high)))
    assert ratio.verdict is Verdict.HIGHER


def test_blocks_of_an_interleaved_plan_remove_a_drift() -> None:
    """Throughput falls by 3.4 % a repetition, and 5 % lie between the sides."""
    random = np.random.default_rng(9)
    level = np.exp(-0.034 * np.arange(6)) * 1000
    blocks = tuple(f"7.{number}" for number in range(6))
    found = {"blocks": 0, "runs": 0}
    for _ in range(100):
        a, b = (
            Sample(tuple(level * share * np.exp(random.normal(0, 0.02, 6))), sessions=(0,) * 6, blocks=blocks)
            for share in (1.0, 0.95)
        )
        shuffled = Sample(b.values[::-1], sessions=b.sessions, blocks=blocks[::-1])
        ratio = welch.compare(a, shuffled)
        assert ratio.replicates is Replicates.BLOCKS
        assert ratio == welch.compare(a, b)
        found["blocks"] += ratio.verdict is Verdict.LOWER
        found["runs"] += welch.compare(Sample(a.values), Sample(b.values)).verdict is Verdict.LOWER
    assert found["blocks"] >= 80
    assert found["runs"] <= 20


def test_how_sessions_differ_is_learned_from_earlier_ones_and_not_divided_by_runs() -> None:
    past = (1000.0, 1030.0, 985.0, 1012.0, 970.0)
    now = (1001.0, 1002.0, 1000.0, 1001.0)
    one = Sample(now, past, sessions=(9,) * 4, history_sessions=(8, 7, 6, 5, 4))
    other = Sample(tuple(value * 1.01 for value in now), past, sessions=(10,) * 4, history_sessions=(8, 7, 6, 5, 4))
    ratio = welch.compare(one, other)
    assert (ratio.replicates, ratio.counts, ratio.verdict) == (Replicates.SESSIONS, (1, 1), Verdict.INCONCLUSIVE)
    assert ratio.high is not None
    assert ratio.low is not None
    spread = math.sqrt(2 * np.log(past).var(ddof=1))
    assert math.log(ratio.high / ratio.low) / 2 == pytest.approx(special.stdtrit(8, 0.975) * spread)


def test_earlier_runs_of_the_same_session_do_not_tell_how_sessions_differ() -> None:
    side = Sample((1000.0, 1001.0, 1002.0), (1000.0,) * 5, sessions=(3,) * 3, history_sessions=(3,) * 5)
    assert welch.compare(side, side).replicates is Replicates.ONE_SESSION


def test_a_side_of_one_session_takes_the_others_noise() -> None:
    many = Sample((1000.0, 1010.0, 990.0, 1005.0), sessions=(0, 1, 2, 3))
    once = Sample((1000.0, 1001.0, 1002.0), sessions=(9,) * 3)
    ratio = welch.compare(many, once)
    expected = scipy.stats.ttest_ind([math.log(1001.0)], np.log(many.values), equal_var=True)
    assert ratio.counts == (4, 1)
    assert ratio.freedom == pytest.approx(3)
    assert ratio.p == pytest.approx(expected.pvalue, rel=1e-3)
    mirrored = welch.compare(once, many)
    assert mirrored.p == pytest.approx(ratio.p)


def test_fewer_than_three_runs_of_a_side_remain_too_few() -> None:
    many = Sample((1000.0, 1010.0, 990.0), sessions=(0, 1, 2))
    assert welch.compare(many, Sample((900.0, 905.0), sessions=(5, 6))).verdict is Verdict.TOO_FEW


def test_the_prior_recovers_the_distribution_that_variances_are_drawn_from() -> None:
    random = np.random.default_rng(10)
    true = 0.02**2 * 8 / random.chisquare(8, 20_000)
    seen = true * random.chisquare(4, 20_000) / 4
    found = moderation.prior([RunNoise(float(variance), 4, 0) for variance in seen])
    assert found is not None
    assert found.variance == pytest.approx(0.02**2, rel=0.05)
    assert found.freedom == pytest.approx(8, rel=0.1)


def test_a_prior_is_worth_more_the_more_cells_there_are_and_the_more_alike_they_are() -> None:
    def of(count: int, *, apart: float) -> float:
        """Freedom of the prior of variances of which every second one is `apart` times as large."""
        found = moderation.prior([RunNoise(1e-4 * apart ** (cell % 2), 2, 0) for cell in range(count)])
        assert found is not None
        return found.freedom

    assert 2 < of(4, apart=1) < of(8, apart=1) < of(24, apart=1) < of(100, apart=1)
    assert of(24, apart=20) < of(24, apart=1)
    assert moderation.prior([RunNoise(1e-4, 2, 0)] * 3) is None


def test_a_side_never_has_more_freedom_than_all_cells_together_nor_less_than_its_own() -> None:
    found = moderation.prior([RunNoise(1e-4, 1, 0)] * 4)
    assert found is not None
    assert found.applied(RunNoise(1e-4, 1, 0)).freedom == pytest.approx(1 + found.freedom)
    assert found.applied(RunNoise(1e-4, 3.5, 0)).freedom == 4
    assert found.applied(RunNoise(1e-4, 9, 0)).freedom == 9


def test_sessions_needed_find_the_effect() -> None:
    many = power.sessions_needed(effect=math.log1p(0.05), between=0.01)
    random = np.random.default_rng(11)
    a, b = random.normal(0, 0.01, (2, 4000, many))
    p = scipy.stats.ttest_ind(a, b + math.log1p(0.05), axis=1).pvalue
    assert (p <= 0.05).mean() >= power.POWER
    fewer = scipy.stats.ttest_ind(a[:, :-1], b[:, :-1] + math.log1p(0.05), axis=1).pvalue
    assert (fewer <= 0.05).mean() < power.POWER
