"""That as many repetitions as are said to be needed do tell, in the table that said so."""

import math
from datetime import UTC, datetime
from itertools import product

import numpy as np
import pytest

from apps.comparison.stats import multiple_testing, welch
from apps.comparison.stats.power import MARGIN, MOST_REPETITIONS, NoiseBasis, RunNoise, repetitions_needed
from apps.comparison.stats.replicates import Sample
from apps.comparison.stats.welch import Direction, Ratio, Verdict
from apps.comparison.tables import verdict_table
from apps.comparison.values import ComparedMetric, ComparedRun, Level
from tests.comparison.stats import simulated

TABLES = 1500
# Of so many simulated tables the share found may be lower than the chance by luck: three standard errors.
LUCK = 3 * math.sqrt(0.8 * 0.2 / TABLES)
EQUAL, DIFFERENT = (0.02, 0.02), (0.01, 0.03)
# Differences of logarithms of the 16 comparisons of a table, and of one in which hardly any is conclusive.
SOME = (0.3, 0.25, 0.2, -0.22, 0.05, -0.04, 0.035, 0.03, *[0.0] * 8)
ONE = (0.045, *[0.0] * 15)


def seen_table(differences: tuple[float, ...], noise: tuple[float, float], history: int) -> list[Ratio]:
    """Of three runs a side, which show exactly these differences and this noise."""
    past = np.resize([-1.0, 1.0], history) * (math.sqrt((history - 1) / history) if history else 0)
    samples = [
        [
            Sample(tuple(np.exp(at + spread * np.array([-1, 0, 1]))), tuple(np.exp(spread * past)))
            for at, spread in zip((0.0, difference), noise, strict=True)
        ]
        for difference in differences
    ]
    return multiple_testing.correct_for_many([welch.draft(a, b) for a, b in samples])


def drawn(
    random: np.random.Generator, differences: tuple[float, ...], noise: tuple[float, float], runs: int, history: int
) -> simulated.Differences:
    """TABLES of them, in every cell `runs` of each side."""
    a, b = (random.normal(0, each, (TABLES, len(differences), runs + history)) for each in noise)
    b[..., :runs] += np.array(differences)[:, None]
    return simulated.judge(a[..., :runs], b[..., :runs], a[..., runs:], b[..., runs:])


@pytest.mark.parametrize("history", [0, 10])
@pytest.mark.parametrize("noise", [EQUAL, DIFFERENT])
@pytest.mark.parametrize("differences", [SOME, ONE])
def test_the_repetitions_named_find_the_difference_seen_in_the_table(
    differences: tuple[float, ...], noise: tuple[float, float], history: int
) -> None:
    """Repeated as a whole, or this comparison alone while the others stay as they were seen."""
    random = np.random.default_rng(12)
    table = seen_table(differences, noise, history)
    asked = [place for place, each in enumerate(table) if each.needed and abs(differences[place]) > math.log(1.02)]
    assert asked
    for place in asked:
        needed = table[place].needed or 0
        p = drawn(random, differences, noise, needed, history).cautious_p
        assert (simulated.adjusted(p)[:, place] <= welch.DISCOVERY_RATE).mean() >= 0.8 - LUCK
        alone = np.tile([each.cautious_p or 1.0 for each in table], (TABLES, 1))
        alone[:, place] = p[:, place]
        assert (simulated.adjusted(alone)[:, place] <= welch.DISCOVERY_RATE).mean() >= 0.8 - LUCK


def test_a_difference_that_only_its_company_demotes_says_how_many_repetitions_would_tell() -> None:
    table = seen_table((0.06, *[0.0] * 15), (0.015, 0.015), 0)
    assert table[0].verdict is Verdict.INCONCLUSIVE
    assert "16 comparisons" in table[0].reason
    assert table[0].needed is not None
    assert 3 < table[0].needed <= 10


def test_more_comparisons_in_a_table_need_more_repetitions_and_other_discoveries_fewer() -> None:
    few, crowd = seen_table(ONE[:2], EQUAL, 0), seen_table(ONE, EQUAL, 0)
    among_discoveries = seen_table((0.045, *[0.3] * 15), EQUAL, 0)
    assert (few[0].needed or 0) < (crowd[0].needed or 0)
    assert (among_discoveries[0].needed or 0) < (crowd[0].needed or 0)


@pytest.mark.parametrize("variation", [0.005, 0.01, 0.02])
def test_sides_that_seem_equal_are_likely_called_equivalent_or_a_difference_of_the_margin_found(
    variation: float,
) -> None:
    random = np.random.default_rng(13)
    noise = RunNoise(variation**2, 4, 0)
    needed = repetitions_needed(NoiseBasis((noise, noise), (3, 3), 0.001), level=0.05)
    draws = np.exp(random.normal(0, variation, (400, 2, needed)))
    for shift, wanted in ((1.0, Verdict.EQUIVALENT), (1 + MARGIN, Verdict.HIGHER)):
        verdicts = [welch.compare(Sample(tuple(a)), Sample(tuple(b * shift))).verdict for a, b in draws]
        assert np.mean([verdict is wanted for verdict in verdicts]) >= 0.8


@pytest.mark.parametrize("level", [0.05, 0.003])
@pytest.mark.parametrize("count", [4, 8, 15])
def test_one_repetition_fewer_than_needed_would_likely_not_do(count: int, level: float) -> None:
    random = np.random.default_rng(14)
    noise = RunNoise(0.02**2, 4, 0)
    effect = next(
        effect
        for effect in np.linspace(0.2, 0.0199, 600)
        if repetitions_needed(NoiseBasis((noise, noise), (2, 2), effect), level=level) > count
    )
    a, b = random.normal(0, 0.02, (2, 20_000, count))
    past = np.empty((20_000, 0))
    assert (simulated.judge(a, b + effect, past, past).cautious_p <= level).mean() == pytest.approx(0.8, abs=0.04)


def test_a_hopeless_question_says_that_the_search_stopped() -> None:
    noise = RunNoise(variance=1.0, freedom=4, history=0)
    assert repetitions_needed(NoiseBasis((noise, noise), (3, 3), 1e-6), level=0.05) == MOST_REPETITIONS + 1


def test_a_verdict_that_like_cells_decide_asks_for_no_more_repetitions() -> None:
    """Two sessions of two runs of each side, 5 % apart; at the last load they differ so much that it alone would be
    inconclusive."""
    throughput = ComparedMetric("client.throughput", "throughput", "1/s", Direction.HIGHER, "throughput", primary=True)
    levels = [Level(threads, str(threads), threads, None, "") for threads in range(1, 9)]
    runs = [
        ComparedRun(
            id=number,
            side=side,
            level=level.id,
            repetition=number % 2,
            started_at=datetime(2026, 1, 1, tzinfo=UTC),
            provenance="agent",
            warmup=0,
            duration=60,
            campaign=None,
            values={throughput.key: (1000 if side == "a" else 950) * (1 + session * spread)},
            left_out="",
            session=session,
        )
        for level in levels
        for spread in [0.03 if level is levels[-1] else 0.001 + level.id / 10_000]
        for number, (side, session) in enumerate(product("ab", (0, 0, 1, 1)), start=10 * level.id)
    ]
    found = verdict_table.judged(
        sides=["a", "b"], levels=levels, metrics=[throughput], runs=runs, history={}, withheld=()
    )
    (alone,) = verdict_table.judged(
        sides=["a", "b"], levels=levels[-1:], metrics=[throughput], runs=runs, history={}, withheld=()
    )[1:]
    assert alone.ratio is not None
    assert alone.ratio.alone.verdict is Verdict.INCONCLUSIVE
    last = verdict_table.corrected(found)[-1]
    assert (last.words, last.more) == ("worse", ())
