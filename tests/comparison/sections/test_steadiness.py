"""How steady the sides are: verdicts over runs, and what is no part of them."""

from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import HardwareClass, System
from apps.comparison import compare
from apps.comparison.sections import verdicts
from apps.comparison.sections.serialisation import from_json, to_json
from apps.comparison.sections.steadiness import (
    DIPS,
    LONGEST,
    SECTION,
    VARIATION,
    WORST,
    ComparedSteadiness,
    steadiness_of,
)
from apps.comparison.values import Cell, Comparison
from tests.comparison.sampled import a_sampled_run, seconds_of
from tests.support.builders import START, a_load_level, a_system, a_workload

pytestmark = pytest.mark.django_db
TPS = "client.throughput"


def noisy(spread: float, seed: int, *, low: int = 0) -> list[float]:
    """A minute of about 1,000 transactions/s; `low` of its seconds nearly stand still, in a row."""
    values = 1000 + spread * np.random.default_rng(seed).standard_normal(60)
    values[20 : 20 + low] = 100.0
    return [float(value) for value in values]


def runs_of(system: System, minutes: list[list[float]], *, threads: int = 4, hours: int = 0) -> None:
    for number, values in enumerate(minutes):
        a_sampled_run(
            [seconds_of(values)],
            {TPS: float(np.mean(values))},
            system=system,
            load_level=a_load_level(threads),
            repetition=number + 1,
            started_at=START + timedelta(hours=hours, minutes=number),
        )


def compared(*slugs: str) -> Comparison:
    return compare.compare(sides=slugs or ("a", "b"), workload_id=a_workload().pk)


def cells(found: ComparedSteadiness | None, metric: str) -> list[Cell]:
    assert found is not None
    return [cell for cell in found.cells if cell.metric == metric]


def test_the_side_whose_seconds_vary_more_is_worse() -> None:
    runs_of(a_system("a"), [noisy(20, seed) for seed in range(4)])
    runs_of(a_system("b"), [noisy(100, seed) for seed in range(10, 14)])
    found = steadiness_of(compared())
    baseline, side = cells(found, VARIATION.key)
    assert baseline.summary is not None
    assert baseline.summary.value == pytest.approx(2.0, rel=0.15)
    assert side.ratio is not None
    assert side.ratio.value == pytest.approx(5.0, rel=0.2)
    assert side.words == "worse"
    assert cells(found, WORST.key)[1].words == "worse"
    assert cells(found, DIPS.key)[1].words == "none on either side"


def test_hiccups_that_one_side_never_had_are_judged_by_the_order_of_the_runs() -> None:
    runs_of(a_system("a"), [noisy(20, seed) for seed in range(4)])
    runs_of(a_system("b"), [noisy(20, seed, low=seed - 8) for seed in range(10, 14)])
    found = steadiness_of(compared())
    side = cells(found, LONGEST.key)[1]
    assert [each.value for each in side.replicates] == [2.0, 3.0, 4.0, 5.0]
    assert side.ratio is not None
    assert (side.words, side.ratio.value, side.ratio.delta) == ("worse", None, 1.0)
    assert cells(found, DIPS.key)[1].replicates[0].value == pytest.approx(100 * 2 / 60)


def test_three_runs_of_each_side_without_hiccups_on_one_are_too_few() -> None:
    runs_of(a_system("a"), [noisy(20, seed) for seed in range(3)])
    runs_of(a_system("b"), [noisy(20, seed, low=3) for seed in range(10, 13)])
    side = cells(steadiness_of(compared()), LONGEST.key)[1]
    assert side.words == "too few repetitions"


def test_sides_that_change_places_turn_every_verdict() -> None:
    runs_of(a_system("a"), [noisy(20, seed) for seed in range(4)])
    runs_of(a_system("b"), [noisy(100, seed, low=4) for seed in range(10, 14)])
    there, back = steadiness_of(compared("a", "b")), steadiness_of(compared("b", "a"))
    turned = {"better": "worse", "worse": "better"}
    for metric in (VARIATION, DIPS, LONGEST, WORST):
        one, other = cells(there, metric.key)[1], cells(back, metric.key)[1]
        assert one.words == turned[other.words], metric.key


def test_no_verdict_is_given_on_other_hardware_until_a_person_accepts_it() -> None:
    runs_of(a_system("a"), [noisy(20, seed) for seed in range(4)])
    large = HardwareClass.objects.create(slug="large", name="Large", vcpu=16)
    runs_of(a_system("b", hardware_class=large), [noisy(100, seed, low=4) for seed in range(10, 14)])
    found = steadiness_of(compared())
    for metric in (VARIATION, DIPS):
        assert cells(found, metric.key)[1].words == "verdict withheld"
    variation = cells(found, VARIATION.key)[1].ratio
    assert variation is not None
    assert variation.value is not None


def test_runs_of_longer_intervals_are_left_out_and_that_is_said() -> None:
    runs_of(a_system("a"), [noisy(20, seed) for seed in range(4)])
    b = a_system("b")
    runs_of(b, [noisy(20, seed) for seed in range(10, 14)])
    tens = seconds_of(noisy(20, 20)[:6])
    a_sampled_run(
        [type(tens)("client", "client", tens.clock * 10, tens.changing)],
        {TPS: 1000.0},
        system=b,
        load_level=a_load_level(4),
    )
    found = steadiness_of(compared())
    assert found is not None
    assert found.step == 1.0
    assert len(cells(found, VARIATION.key)[1].replicates) == 4
    assert found.notes == (
        "1 run sampled every 10 s instead of every 1 s: left out of the steadiness, since longer intervals vary less.",
    )


def test_runs_without_seconds_are_said_and_without_any_there_is_nothing_to_show() -> None:
    a, b = a_system("a"), a_system("b")
    for system in (a, b):
        a_sampled_run([], {TPS: 1000.0}, system=system, load_level=a_load_level(4))
    assert steadiness_of(compared()) is None
    runs_of(a, [noisy(20, 1)])
    found = steadiness_of(compared())
    assert found is not None
    assert found.notes == ("2 runs without client.throughput by the second: left out of the steadiness.",)


def test_it_asks_as_often_for_many_runs_as_for_few() -> None:
    a, b = a_system("a"), a_system("b")
    runs_of(a, [noisy(20, seed) for seed in range(3)])
    runs_of(b, [noisy(20, seed) for seed in range(3)])
    asked = []
    for threads in (8, 16):
        comparison = compared()
        with CaptureQueriesContext(connection) as found:
            steadiness_of(comparison)
        asked.append(len(found))
        runs_of(a, [noisy(20, seed) for seed in range(6)], threads=threads)
    assert asked[0] == asked[1] <= 7


def test_it_is_kept_with_a_saved_comparison_as_it_was() -> None:
    runs_of(a_system("a"), [noisy(20, seed) for seed in range(4)])
    runs_of(a_system("b"), [noisy(100, seed, low=4) for seed in range(4)])
    found = steadiness_of(compared())
    assert from_json(to_json(found), SECTION.kind) == found


def test_earlier_runs_tell_how_much_the_spread_varies() -> None:
    a, b = a_system("a"), a_system("b")
    runs_of(a, [noisy(20, seed) for seed in range(4)])
    runs_of(b, [noisy(20, seed) for seed in range(30, 34)])
    later = [run.pk for system in (a, b) for run in system.runs.order_by("-started_at")[:1]]
    comparison = compare.compare(sides=["a", "b"], workload_id=a_workload().pk, runs=later)
    assert len(verdicts.run_ids(comparison)) == 2 + 6
    side = cells(steadiness_of(comparison), VARIATION.key)[1]
    assert (side.history, len(side.replicates)) == (3, 1)
    assert side.ratio is not None
    assert side.ratio.low is not None
