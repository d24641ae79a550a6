"""The words around a ratio, apart from any page."""

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from apps.catalog.models import System, Workload
from apps.comparison import wording
from apps.comparison.compare import compare
from apps.comparison.stats.power import MOST_REPETITIONS
from apps.comparison.stats.welch import Ratio, Verdict
from apps.comparison.values import Cell, Level, More
from apps.runs.models import Measurement
from apps.web.compare import wording as compare_wording
from apps.web.compare.verdicts import verdicts
from tests.support.builders import START, a_load_level, a_measured_run
from tests.web.compare.compared import P95, TPS

NAMES = {"a": "A", "b": "B"}


def a_cell(*, more: int, needed: int) -> Cell:
    ratio = Ratio(Verdict.INCONCLUSIVE, value=1.02, low=0.9, high=1.2, needed=needed)
    lacking = (More("a", more), More("b", more))
    return Cell("b", 1, "client.throughput", (), None, 0, ratio, Verdict.INCONCLUSIVE.value, lacking)


def a_level(threads: int) -> Level:
    return Level(threads, str(threads), threads, None, f"{threads} thread{'s' * (threads > 1)}")


def test_what_would_tell_is_said_of_each_load_level_where_it_differs() -> None:
    pairs = [(a_level(4), a_cell(more=998, needed=MOST_REPETITIONS + 1)), (a_level(2), a_cell(more=2, needed=5))]
    assert compare_wording._remedies(pairs, NAMES) == (
        "about 2 more runs per side needed at 2 threads, even 1,000 runs per side are too few at 4 threads"
    )
    same = [(a_level(4), a_cell(more=2, needed=5)), (a_level(2), a_cell(more=2, needed=5))]
    assert compare_wording._remedies(same, NAMES) == "about 2 more runs per side needed"


def test_a_difference_that_its_company_demotes_says_so_and_what_would_tell() -> None:
    cell = a_cell(more=2, needed=5)
    reason = "higher alone, but not after correction for 16 comparisons"
    ratio = Ratio(Verdict.INCONCLUSIVE, value=1.05, low=1.01, high=1.09, needed=5, reason=reason)
    assert compare_wording.remedy(replace(cell, ratio=ratio), NAMES) == (f"{reason}; about 2 more runs per side needed")


def test_levels_with_and_without_a_ratio_under_one_verdict_are_all_named() -> None:
    """A run without dips has no ratio: its level has the verdict by ranks."""
    ratio = replace(a_cell(more=2, needed=5), words="worse", ratio=Ratio(Verdict.HIGHER, value=2.0, low=1.5, high=2.67))
    ranked = replace(ratio, ratio=Ratio(Verdict.HIGHER, reason="by the rank test: a run is zero, so no ratio exists"))
    alone = "at 1 and 8 threads: by the rank test: a run is zero, so no ratio exists"
    for pairs in ([(1, ranked), (4, ratio), (8, ranked)], [(4, ratio), (1, ranked), (8, ranked)]):
        found = compare_wording.parts([(a_level(threads), cell) for threads, cell in pairs], NAMES)
        texts = ["at 4 threads 2.00\u00a0× [1.50,\u00a02.67]", alone]
        assert [(part.words, part.text) for part in found] == [("worse", text) for text in texts]


def test_no_load_level_is_passed_over_where_few_things_would_tell() -> None:
    pairs = [(a_level(threads), a_cell(more=2 if threads < 8 else 3, needed=5)) for threads in (1, 2, 4, 8, 16)]
    assert compare_wording._remedies(pairs, NAMES) == (
        "about 2 more runs per side needed at 1, 2 and 4 threads, about 3 more runs per side needed at 8 and 16 threads"
    )
    many = [(a_level(threads), a_cell(more=threads, needed=5)) for threads in (1, 2, 4, 8)]
    assert compare_wording._remedies(many, NAMES) == ("about 1 to 8 more runs per side needed")


def test_more_runs_than_were_looked_at_are_not_given_as_a_number() -> None:
    assert (
        compare_wording._lacking(a_cell(more=998, needed=MOST_REPETITIONS + 1), NAMES)
        == "more than 1,000 runs per side"
    )
    assert compare_wording._lacking(a_cell(more=3, needed=6), NAMES) == "3 more runs per side"


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [
        ((0.84, 0.2013, 3.503), "0.84\u00a0× [0.20,\u00a03.50]"),
        ((1.3559, 1.2208, 1.506), "1.36\u00a0× [1.22,\u00a01.51]"),
        ((0.7084, 0.6416, 0.7823), "0.708\u00a0× [0.642,\u00a00.782]"),
        ((1.0021, 1.0004, 1.0038), "1.0021\u00a0× [1.0004,\u00a01.0038]"),
        ((12.3, 5.1, 29.7), "12.3\u00a0× [5.1,\u00a029.7]"),
        ((0.62, 0.0189, 20.04), "0.6\u00a0× [0.02,\u00a020.0]"),
        ((0.62, 0.0000189, 20304.0), "1\u00a0× [<\u00a00.0001,\u00a020,304]"),
    ],
)
def test_digits_follow_the_width_of_the_interval(ratio: tuple[float, float, float], shown: str) -> None:
    value, low, high = ratio
    found = Ratio(Verdict.HIGHER, value=value, low=low, high=high)
    assert f"{wording.ratio_text(found)} {wording.interval_text(found)}" == shown


@pytest.mark.parametrize(
    ("low", "value", "high", "shown"),
    [
        (1.242, 1.312, 1.388, "1.31 × [1.24, 1.39]"),
        (1.0042, 1.017, 1.031, "1.017 × [1.004, 1.031]"),
        (0.99951, 1.0001, 1.00049, "1.0001 × [0.9995, 1.0005]"),
        (0.0231, 0.0242, 0.0251, "0.0242 × [0.0231, 0.0251]"),
        (97.2, 123.4, 150.9, "123 × [97, 151]"),
        (0.5, 1.2, math.inf, "at least 0.50 × "),
        (0.0, 1.2, 3.4, "at most 3.40 × "),
        (None, 1.2, None, "1.20 × "),
    ],
)
def test_an_interval_has_the_digits_that_it_needs(low: float, value: float, high: float, shown: str) -> None:
    ratio = Ratio(Verdict.HIGHER, value=value, low=low, high=high)
    assert f"{wording.ratio_text(ratio)} {wording.interval_text(ratio)}".replace("\xa0", " ") == shown


@pytest.mark.django_db
def test_an_answer_is_said_of_each_side_in_each_metric(workload: Workload, sides: object) -> None:
    throughput, p95 = compare_wording.answers(compare(sides=["a", "b"], workload_id=workload.pk))
    assert (throughput.side.name, throughput.label, p95.label) == ("Beta", "throughput", "p95")
    said = [f"{part.words} {part.text}".replace("\xa0", " ") for part in (*throughput.parts, *p95.parts)]
    assert said == [
        "better at 4 threads 1.30 × [1.27, 1.33]",
        "too few repetitions at 8 threads: needs at least 2 more runs of Beta",
        "better at 4 threads 0.769 × [0.744, 0.794]",
        "too few repetitions at 8 threads: needs at least 2 more runs of Beta",
    ]


@pytest.mark.django_db
def test_a_median_is_called_a_median(workload: Workload, sides: tuple[System, System]) -> None:
    def said() -> tuple[str, str]:
        comparison = compare(sides=["a", "b"], workload_id=workload.pk)
        metrics = [metric for metric in comparison.metrics if metric.kind != "errors"]
        return compare_wording.value_note(comparison, metrics), compare_wording.value_words(comparison, metrics[0])

    means = "geometric mean of the runs: the ratio is the quotient of two values"
    assert said() == (means, "geometric mean")
    Measurement.objects.filter(run__system=sides[0], run__load_level__threads=8, metric__key=TPS).update(value=0)
    assert said() == (
        f"{means}; median, without a ratio, where a run is zero or negative (throughput)",
        "geometric mean, or median where a run is zero or negative",
    )
    Measurement.objects.update(value=0)
    assert said() == ("median over the runs; a run is zero or negative, so that no ratio exists", "median")


@pytest.mark.django_db
def test_a_single_run_says_whose_spread_it_takes(workload: Workload, sides: tuple[System, System]) -> None:
    newest = [
        a_measured_run(
            {TPS: value, P95: 20_000 / value},
            system=system,
            load_level=a_load_level(4),
            started_at=START + timedelta(hours=1),
        )
        for system, value in zip(sides, (1000.0, 1300.0), strict=True)
    ]

    def borrowed(**chosen: Any) -> str:
        comparison = compare(sides=["a", "b"], workload_id=workload.pk, **chosen)
        return verdicts(comparison, comparison.levels[0])[1].borrowed

    assert borrowed() == ""
    assert borrowed(runs=tuple(run.pk for run in newest)) == (
        "1 run of Alpha: the spread is that of 3 earlier runs; 1 run of Beta: the spread is that of 3 earlier runs"
    )


def test_a_difference_within_the_margin_says_so() -> None:
    small = replace(a_cell(more=0, needed=1), ratio=Ratio(Verdict.HIGHER, value=1.01, low=1.005, high=1.015))
    large = replace(small, ratio=Ratio(Verdict.HIGHER, value=1.02, low=1.005, high=1.035))
    assert compare_wording.said(replace(small, words="better")) == "better by less than 2\u00a0%"
    assert compare_wording.said(replace(large, words="better")) == "better"
    parts = compare_wording.parts([(a_level(4), replace(small, words="better"))], NAMES)
    assert [part.words for part in parts] == ["better by less than 2\u00a0%"]


@pytest.mark.django_db
def test_at_a_fixed_rate_the_answer_begins_with_latency(workload: Workload, sides: tuple[System, System]) -> None:
    for system, latency in zip(sides, (10.0, 20.0), strict=True):
        for step, value in enumerate((0.99, 1.0, 1.01)):
            a_measured_run(
                {TPS: 100.0 + step / 10, P95: latency * value},
                system=system,
                load_level=a_load_level(4, rate=100),
                started_at=START + timedelta(days=step),
            )
    comparison = compare(sides=["a", "b"], workload_id=workload.pk)
    level = next(each for each in comparison.levels if each.rate)
    first, second = verdicts(comparison, level)[1].metrics
    assert (first.metric.key, first.words, second.metric.key) == (P95, "worse", TPS)
    assert first.text.startswith("2.00\u00a0× the p95 (95\u00a0% interval")
