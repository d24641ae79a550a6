"""The comparison of two sides against scipy, against the table of what it can find, and against its own algebra."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from apps.comparison.stats import multiple_testing, power, welch
from apps.comparison.stats.replicates import Sample, geometric_mean
from apps.comparison.stats.welch import Direction, DraftRatio, Ratio, Verdict
from tests.examples import examples

A = (1000.0, 1011.0, 993.0, 1004.0)
B = (1302.0, 1318.0, 1287.0)


def test_without_history_the_interval_is_welchs_on_logs() -> None:
    ratio = welch.compare(Sample(A), Sample(B))
    peer = scipy.stats.ttest_ind(np.log(B), np.log(A), equal_var=False)
    interval = peer.confidence_interval(0.95)
    assert ratio.value == pytest.approx(math.exp(np.log(B).mean() - np.log(A).mean()), rel=1e-12)
    assert (ratio.low, ratio.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)), rel=1e-12)
    assert ratio.p == pytest.approx(peer.pvalue, rel=1e-9)
    assert ratio.few_runs
    assert ratio.verdict is Verdict.HIGHER


def test_history_pools_the_variance_and_lends_its_degrees_of_freedom() -> None:
    """Worked by hand from v = max(s2, (9 h2 + (n - 1) s2) / (n + 8)) and k = n + 8."""
    history = tuple(1000 * math.exp(0.02 * step) for step in (-1.5, 1.0, 0.2, -0.4, 1.3, -1.1, 0.6, -0.8, 0.3, 0.1))
    h2, s2 = np.log(history).var(ddof=1), np.log(B).var(ddof=1)
    found = welch.noise(Sample(B, history))
    assert found is not None
    assert found.variance == pytest.approx(max(s2, (9 * h2 + 2 * s2) / 11), rel=1e-12)
    assert (found.freedom, found.history) == (3 + 8, 10)
    assert not welch.compare(Sample(A, history), Sample(B, history)).few_runs


@pytest.mark.parametrize(("runs", "few"), [(9, True), (10, False), (58, False)])
def test_many_runs_without_history_are_not_called_few(runs: int, few: bool) -> None:
    many = tuple(1000.0 + 7 * (step % 5) for step in range(runs))
    assert welch.compare(Sample(many), Sample(many)).few_runs is few


def test_own_spread_counts_when_it_exceeds_that_of_the_past() -> None:
    calm = tuple(1000.0 + step for step in range(10))
    found = welch.noise(Sample((900.0, 1000.0, 1100.0), calm))
    assert found is not None
    assert found.variance == pytest.approx(np.log((900, 1000, 1100)).var(ddof=1))


def test_only_the_newest_ten_earlier_runs_count() -> None:
    newest = tuple(1000.0 + 3 * step for step in range(10))
    assert welch.noise(Sample(B, newest)) == welch.noise(Sample(B, (*newest, 1.0, 9e9)))


@pytest.mark.parametrize("runs", [1, 2])
def test_too_few_runs_without_history_have_no_interval(runs: int) -> None:
    ratio = welch.compare(Sample(A), Sample(B[:runs]))
    assert (ratio.verdict, ratio.low, ratio.high, ratio.p) == (Verdict.TOO_FEW, None, None, None)
    assert ratio.value == pytest.approx(geometric_mean(B[:runs]) / geometric_mean(A))
    assert ratio.needed == 3


def test_one_run_of_each_side_with_history_has_an_interval() -> None:
    past = tuple(1000.0 + 5 * step for step in range(10))
    ratio = welch.compare(Sample((1000.0,), past), Sample((1400.0,), past))
    assert ratio.verdict is Verdict.HIGHER
    assert ratio.low is not None
    assert 1 < ratio.low < 1.4


def test_two_earlier_runs_are_no_history() -> None:
    assert welch.noise(Sample((1000.0,), (1000.0, 1001.0))) is None


@pytest.mark.parametrize(
    ("value", "word"), [(0.0, "zero"), (-1.0, "negative"), (math.nan, "finite"), (math.inf, "finite")]
)
def test_a_run_that_is_not_positive_gives_no_ratio_but_a_reason(value: float, word: str) -> None:
    for ratio in (welch.compare(Sample(A), Sample((value, *B))), welch.compare(Sample((value, *A)), Sample(B))):
        assert (ratio.verdict, ratio.value, ratio.low) == (Verdict.NO_RATIO, None, None)
        assert word in ratio.reason


def test_a_side_without_values_gives_no_ratio() -> None:
    assert welch.compare(Sample(A), Sample(())).reason == "this side has no such value"


def test_equal_runs_on_both_sides_claim_no_interval() -> None:
    ratio = welch.compare(Sample((5.0, 5.0, 5.0)), Sample((5.1, 5.1, 5.1)))
    assert (ratio.verdict, ratio.low) == (Verdict.TOO_FEW, None)
    assert "the difference is exact" in ratio.reason


def test_runs_without_measure_give_an_endless_interval_not_an_error() -> None:
    ratio = welch.compare(Sample((1e-300, 1.0, 1e300)), Sample((1e300, 1.0, 1e-300)))
    assert ratio.high == math.inf
    assert ratio.verdict is Verdict.INCONCLUSIVE


def test_one_side_without_spread_leaves_the_others_freedom() -> None:
    ratio = welch.compare(Sample((1000.0, 1000.0, 1000.0)), Sample(B))
    half = scipy.stats.t.ppf(0.975, 2) * np.log(B).std(ddof=1) / math.sqrt(3)
    assert ratio.value is not None
    assert ratio.high is not None
    assert math.log(ratio.high / ratio.value) == pytest.approx(half)


@pytest.mark.parametrize(
    ("side", "verdict"),
    [
        (1.3, Verdict.HIGHER),
        (1 / 1.3, Verdict.LOWER),
        (1.0005, Verdict.EQUIVALENT),
    ],
)
def test_verdicts(side: float, verdict: Verdict) -> None:
    steps = (0.999, 1.0, 1.001)
    ratio = welch.compare(Sample(steps), Sample(tuple(side * step for step in steps)))
    assert ratio.verdict is verdict
    assert ratio.needed is None


def test_an_interval_that_leaves_the_margin_is_not_equivalence() -> None:
    ratio = welch.compare(Sample((0.98, 1.0, 1.02)), Sample((0.981, 1.001, 1.021)))
    assert ratio.verdict is Verdict.INCONCLUSIVE
    assert ratio.needed is not None
    assert ratio.needed > 3


@pytest.mark.parametrize(
    ("verdict", "direction", "word"),
    [
        (Verdict.HIGHER, Direction.HIGHER, "better"),
        (Verdict.HIGHER, Direction.LOWER, "worse"),
        (Verdict.LOWER, Direction.LOWER, "better"),
        (Verdict.LOWER, Direction.HIGHER, "worse"),
        (Verdict.LOWER, Direction.NEUTRAL, "lower"),
        (Verdict.EQUIVALENT, Direction.LOWER, "equivalent"),
        (Verdict.TOO_FEW, Direction.HIGHER, "too few repetitions"),
    ],
)
def test_the_metrics_direction_turns_higher_into_better_or_worse(
    verdict: Verdict, direction: Direction, word: str
) -> None:
    assert welch.words(verdict, direction) == word


@pytest.mark.parametrize(
    ("variation", "effects"),
    [
        (0.005, (1.5, 1.0, 0.7, 0.5)),
        (0.01, (3.1, 2.0, 1.3, 0.9)),
        (0.02, (6.3, 4.1, 2.7, 1.8)),
        (0.05, (16.6, 10.7, 6.8, 4.7)),
    ],
)
def test_smallest_effects_are_those_of_the_table(variation: float, effects: tuple[float, ...]) -> None:
    """Per cent, found with 80 % power by 3, 5, 10 and 20 repetitions."""
    found = [100 * power.smallest_effect(variation=variation, count=count) for count in (3, 5, 10, 20)]
    assert found == pytest.approx(effects, abs=0.06)


def test_power_agrees_with_simulation() -> None:
    random = np.random.default_rng(7)
    effect, count = 0.06, 4
    a, b = random.normal(0, 0.02, (2, 20_000, count))
    reject = scipy.stats.ttest_ind(b + effect, a, axis=1).pvalue < 0.05
    expected = power.power(effect=effect, error=0.02 * math.sqrt(2 / count), freedom=2 * (count - 1))
    assert reject.mean() == pytest.approx(expected, abs=0.01)


def test_history_makes_the_interval_of_three_runs_narrower() -> None:
    random = np.random.default_rng(1)
    widths: dict[int, list[float]] = {0: [], 10: []}
    for _ in range(400):
        a, b = np.exp(random.normal(0, 0.02, (2, 13)))
        for history, found in widths.items():
            ratio = welch.compare(
                Sample(tuple(a[:3]), tuple(a[3 : 3 + history])), Sample(tuple(b[:3]), tuple(b[3 : 3 + history]))
            )
            assert ratio.low is not None
            assert ratio.high is not None
            found.append(ratio.high - ratio.low)
    assert np.mean(widths[10]) < 0.9 * np.mean(widths[0])


runs = st.lists(st.floats(1e-3, 1e6), min_size=3, max_size=8).map(tuple)
pasts = st.one_of(st.just(()), st.lists(st.floats(1e-3, 1e6), min_size=3, max_size=12).map(tuple))


@examples(60)
@given(runs, runs, pasts, pasts)
def test_swapping_the_sides_gives_the_reciprocal(
    a: tuple[float, ...], b: tuple[float, ...], past_a: tuple[float, ...], past_b: tuple[float, ...]
) -> None:
    there = welch.compare(Sample(a, past_a), Sample(b, past_b))
    back = welch.compare(Sample(b, past_b), Sample(a, past_a))
    opposite = {Verdict.HIGHER: Verdict.LOWER, Verdict.LOWER: Verdict.HIGHER}
    assert back.verdict is opposite.get(there.verdict, there.verdict)
    assert back.needed == there.needed
    assert there.value is not None
    assert back.value == pytest.approx(1 / there.value)
    assert there.delta is not None
    assert back.delta == pytest.approx(-there.delta)
    if there.low is not None and there.high is not None:
        assert back.low == pytest.approx(1 / there.high)
        assert back.high == pytest.approx(1 / there.low)
        assert there.low <= there.value <= there.high


@examples(60)
@given(runs, runs, pasts, st.integers(-20, 20))
def test_the_unit_does_not_matter(
    a: tuple[float, ...], b: tuple[float, ...], past: tuple[float, ...], power: int
) -> None:
    def scaled(sample: Sample) -> Sample:
        return Sample(tuple(v * 2.0**power for v in sample.values), tuple(v * 2.0**power for v in sample.history))

    plain = welch.compare(Sample(a, past), Sample(b, past))
    other = welch.compare(scaled(Sample(a, past)), scaled(Sample(b, past)))
    assert other.value == pytest.approx(plain.value, rel=1e-9)
    if plain.low is not None and plain.high is not None and plain.high < 1e12 and plain.low > 1e-12:
        assert (other.low, other.high) == pytest.approx((plain.low, plain.high), rel=1e-6)


@examples(100)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_false_discovery_control_is_scipys(ps: list[float]) -> None:
    assert multiple_testing.false_discovery_control(ps) == pytest.approx(
        scipy.stats.false_discovery_control(ps), abs=1e-15
    )


def _corrected(found: list[Ratio]) -> list[Ratio]:
    return multiple_testing.correct_for_many([DraftRatio(ratio) for ratio in found])


def test_a_difference_that_is_no_discovery_among_many_is_inconclusive() -> None:
    found = [Ratio(Verdict.HIGHER, value=1.1, p=0.04), *[Ratio(Verdict.INCONCLUSIVE, value=1.0, p=0.5)] * 9]
    corrected = _corrected([*found, Ratio(Verdict.TOO_FEW, value=2.0)])
    assert corrected[0].verdict is Verdict.INCONCLUSIVE
    assert "10 comparisons" in corrected[0].reason
    assert corrected[0].adjusted_p == pytest.approx(0.4)
    assert corrected[-1].adjusted_p is None


def test_no_metric_is_exempt_from_the_correction() -> None:
    """Where a cautious p is known it counts: Welch's far tails are too thin."""
    corrected = _corrected([Ratio(Verdict.HIGHER, p=0.01, cautious_p=0.03), Ratio(Verdict.LOWER, p=0.9)])
    assert corrected[0].adjusted_p == pytest.approx(0.06)
    assert corrected[0].verdict is Verdict.INCONCLUSIVE


def test_a_clear_difference_survives_the_correction() -> None:
    corrected = _corrected([Ratio(Verdict.LOWER, p=0.001), Ratio(Verdict.INCONCLUSIVE, p=0.9)])
    assert corrected[0].verdict is Verdict.LOWER


def test_cliffs_delta_counts_pairs() -> None:
    assert welch.cliffs_delta((1, 2, 3), (4, 5)) == 1
    assert welch.cliffs_delta((1, 2), (1, 2)) == 0
    assert welch.cliffs_delta((1, 2, 3), (2,)) == 0
    # 1 is below 3 and 4; 4 is above 3 and ties with 4.
    assert welch.cliffs_delta((3, 4), (1, 4)) == (1 - 2) / 4


def test_cliffs_delta_of_many_runs_needs_no_table_of_pairs() -> None:
    baseline = tuple(float(number % 1000) for number in range(200_000))
    assert welch.cliffs_delta(baseline, tuple(reversed(baseline))) == 0
    assert welch.cliffs_delta(baseline, tuple(value + 1000 for value in baseline)) == 1


def test_the_quotient_of_the_sides_values_is_the_ratio() -> None:
    ratio = welch.compare(Sample(A), Sample(B))
    assert ratio.value == pytest.approx(welch.summarise(B).value / welch.summarise(A).value)


def test_a_summary_says_what_it_is() -> None:
    summary = welch.summarise((1.0, 2.0, 4.0))
    assert summary.kind == "geometric mean"
    assert summary.value == pytest.approx(2.0)
    assert (summary.count, summary.minimum, summary.maximum) == (3, 1.0, 4.0)
    assert summary.variation == pytest.approx(np.std([1, 2, 4], ddof=1) / np.mean([1, 2, 4]))
    with_zero = welch.summarise((0.0, 0.0, 5.0))
    assert (with_zero.kind, with_zero.value) == ("median", 0.0)
    assert welch.summarise((7.0,)).variation is None


def test_no_values_cannot_be_summarised() -> None:
    with pytest.raises(ValueError, match="at least one run"):
        welch.summarise(())


def test_a_geometric_mean_stays_within_its_values() -> None:
    values = (0.1, 0.10000000000000002)
    assert values[0] <= geometric_mean(values) <= values[1]
