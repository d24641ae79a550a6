"""When a series reaches a level, and the words that tell of it."""

import numpy as np

from apps.use_method.levels import LevelLimits, counted, judge, total
from apps.use_method.values import MetricSamples, UseLevel
from tests.use_method.builders import samples, steady

LIMITS = LevelLimits(watch=70.0, saturated=95.0)


def level(values: list[float]) -> UseLevel:
    found = judge(samples(values), LIMITS, unit="%")
    assert found
    return found.level


def test_two_seconds_beyond_the_limit_are_no_level_and_three_are_worth_a_look() -> None:
    assert level([10.0] * 30 + [99.0] * 2 + [10.0] * 30) is UseLevel.OK
    assert level([10.0] * 30 + [99.0] * 3 + [10.0] * 30) is UseLevel.WATCH


def test_three_seconds_of_a_sampler_that_was_a_little_early_are_three() -> None:
    early = samples([10.0] * 30 + [99.0] * 3 + [10.0] * 30, step=0.999)
    found = judge(early, LIMITS, unit="%")
    assert found is not None
    assert found.level is UseLevel.WATCH


def test_a_fifth_of_the_time_beyond_the_limit_saturates_in_a_row_or_not() -> None:
    assert level([10.0] * 40 + [99.0] * 12) is UseLevel.SATURATED
    assert level([99.0, 10.0, 10.0, 10.0] * 10) is UseLevel.SATURATED
    assert level([99.0] + [10.0] * 5 + [99.0] + [10.0] * 5) is UseLevel.OK


def test_a_single_sample_of_a_short_phase_is_no_level() -> None:
    assert level([99.0, 10.0, 10.0, 10.0]) is UseLevel.OK
    assert level([99.0, 99.0, 10.0, 10.0]) is UseLevel.SATURATED


def test_the_only_value_of_a_long_period_stands_for_its_period() -> None:
    alone = MetricSamples(np.array([60.0]), np.array([99.5]), alone=60.0)
    found = judge(alone, LIMITS, unit="%")
    assert found is not None
    assert (found.level, found.spans) == (UseLevel.SATURATED, ((0.0, 60.0),))
    assert total(alone) == 99.5 * 60
    assert level([99.5]) is UseLevel.OK


def test_an_error_that_holds_is_one_however_long_the_phase() -> None:
    found = judge(samples([0.0] * 300 + [1.0] * 3), LevelLimits(None, 1.0, level=UseLevel.ERROR), unit="s")
    assert found is not None
    assert found.level is UseLevel.ERROR


def test_the_words_tell_how_long_and_from_when() -> None:
    found = judge(samples([10.0] * 30 + [98.0] * 12 + [10.0] * 18), LIMITS, unit="%")
    assert found is not None
    assert found.words.replace("\u00a0", " ") == "at least 95 % for 12 s of 1 min, from 30 s on, highest 98.0 %"
    assert found.spans == ((30.0, 42.0),)


def test_a_gap_is_no_time_at_the_limit() -> None:
    at = np.array([1.0, 2.0, 60.0, 61.0])
    found = judge(MetricSamples(at, np.array([99.0, 99.0, 99.0, 99.0])), LevelLimits(None, 95.0, share=2), unit="%")
    assert found is not None
    assert found.level is UseLevel.OK


def a_rate(values: list[float], since: list[float], at: list[float]) -> MetricSamples:
    return MetricSamples(np.array(at), np.array(values), since=np.array(since))


def test_events_in_a_gap_are_counted_by_all_of_its_time() -> None:
    """The samplers missed 30 s: the next rate is that of 31 s."""
    nan = float("nan")
    at, since = [float(t) for t in range(1, 61)], [float(t) for t in range(60)]
    values = [0.0] * 10 + [nan] * 30 + [100 / 31] + [0.0] * 19
    since[40] = 10.0
    for samples_of in (
        a_rate(values, since, at),
        a_rate(values[:10] + values[40:], since[:10] + since[40:], at[:10] + at[40:]),
    ):
        found = counted(samples_of, unit="connections", metric="mysql.status.Aborted_clients")
        assert found is not None
        assert (found.value, found.spans) == (100.0, ((10.0, 41.0),))


def test_a_rate_over_a_gap_is_no_long_time_at_the_limit() -> None:
    at, since = [1.0, 2.0, 3.0, 4.0, 35.0, 36.0], [0.0, 1.0, 2.0, 3.0, 4.0, 35.0]
    found = judge(a_rate([10.0] * 4 + [99.0, 10.0], since, at), LIMITS, unit="%")
    assert found is not None
    assert found.level is UseLevel.OK


def test_a_series_sampled_less_often_than_others_of_its_node_covers_all_of_the_time() -> None:
    """Of two exporters one is scraped every 5 s, the other every 15 s."""
    at = np.arange(5.0, 61.0, 5.0)
    values = np.where(at % 15 == 0, 99.0, np.nan)
    for since in (None, np.where(at % 15 == 0, at - 15, at - 5)):
        found = judge(MetricSamples(at, values, since=since), LIMITS, unit="%")
        assert found is not None
        assert found.words.replace("\u00a0", " ") == "at least 95 % all the time, highest 99.0 %"
        assert found.spans == ((0.0, 60.0),)


def test_what_was_never_observed_has_no_level() -> None:
    assert judge(steady(float("nan")), LIMITS, unit="%") is None


def test_events_are_counted_by_the_time_between_samples() -> None:
    slow = samples([0.0, 1.5, 0.0], step=2.0)
    assert total(slow) == 3.0
    found = counted(slow, unit="deadlocks", metric="mysql.status.Innodb_deadlocks")
    assert found is not None
    assert (found.level, found.value) == (UseLevel.ERROR, 3.0)
