"""What limits the sides of a comparison, read from the panels of its runs."""

import re

import pytest
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.catalog.models import System, Workload
from apps.comparison.sections.section import SectionSource
from apps.saved import services
from apps.use_method.bottlenecks.limits import JUDGED_AT_ONCE, SECTION, limits_of
from apps.use_method.models import UsePanel
from apps.use_method.values import UseLevel
from tests.comparison.compared import TPS, compare
from tests.support.builders import a_load_level, a_system, a_workload
from tests.use_method.made import keep, panel
from tests.use_method.panels.test_panels import a_busy_run

pytestmark = pytest.mark.django_db
OK, FULL = UseLevel.OK, UseLevel.SATURATED


def ramp(system: System, level_of: dict[int, UseLevel], *, runs: int = 3, resource: str = "cpu") -> None:
    """By threads how the resource stands; throughput stands from 4 threads on."""
    for threads, level in level_of.items():
        for repetition in range(1, runs + 1):
            run = a_busy_run(system=system, load_level=a_load_level(threads), repetition=repetition)
            keep(run, panel(60.0 + threads, **{resource: level}))


@pytest.fixture
def workload() -> Workload:
    workload = a_workload()
    ramp(a_system("a"), {1: OK, 4: FULL, 16: FULL})
    ramp(a_system("b"), {1: OK, 4: OK, 16: FULL}, resource="row_locks")
    return workload


def test_each_side_has_its_limit(workload: Workload) -> None:
    found = limits_of(compare(workload))
    assert [side.headline.replace("\u00a0", " ") for side in found.sides] == [
        "limited by CPU from 4 threads on",
        "limited by row locks from 16 threads on",
    ]
    assert found.pending == 0
    assert [[level.judged for level in side.levels] for side in found.sides] == [[3, 3, 3]] * 2


def test_a_level_at_a_fixed_rate_is_shown_and_is_no_part_of_the_ladder(workload: Workload) -> None:
    run = a_busy_run(system=System.objects.get(slug="b"), load_level=a_load_level(4, rate=100.0))
    keep(run, panel(disk=FULL))
    side = limits_of(compare(workload)).sides[1]
    assert side.headline == "limited by row locks from 16 threads on"
    assert [(step.resource, step.level) for step in side.levels[-1].steps] == [("disk", FULL)]


def test_a_side_under_a_fixed_rate_alone_has_no_load_levels_but_what_is_saturated() -> None:
    for slug in ("a", "b"):
        keep(a_busy_run(system=a_system(slug), load_level=a_load_level(8, rate=100.0)), panel(row_locks=FULL))
    side = limits_of(compare(a_workload())).sides[0]
    assert side.headline.startswith("fixed rate")
    assert [note.replace("\u00a0", " ") for note in side.notes] == ["At 8 threads, 100/s saturated: row locks"]


def test_a_side_without_a_run_is_not_said_to_be_waiting(workload: Workload) -> None:
    found = limits_of(compare(a_workload("oltp_insert")))
    assert {side.headline for side in found.sides} == {"no run counted"}
    assert found.pending == 0


def test_the_number_of_queries_does_not_grow_with_the_runs(
    workload: Workload, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    few = compare(workload)
    ramp(System.objects.get(slug="a"), {32: FULL, 64: FULL}, runs=4)
    many = compare(workload)
    for comparison in (few, many):
        with django_assert_num_queries(3):
            limits_of(comparison)


def test_runs_without_a_panel_are_judged_some_at_a_time(workload: Workload) -> None:
    for repetition in range(1, JUDGED_AT_ONCE + 3):
        a_busy_run(system=System.objects.get(slug="a"), load_level=a_load_level(32), repetition=repetition)
    comparison = compare(workload)
    found = limits_of(comparison)
    assert found.pending == 2
    # Nothing is said of the limit before all are judged.
    assert re.fullmatch(r"being judged: \d+ of \d+ runs so far", found.sides[0].headline)
    assert (found.sides[0].evidence, found.sides[0].notes) == ((), ())
    found = limits_of(comparison)
    assert (found.pending, found.sides[0].levels[-1].judged) == (0, JUDGED_AT_ONCE + 2)


def test_a_snapshot_keeps_what_was_seen(workload: Workload, django_user_model: type[User]) -> None:
    comparison = compare(workload)
    seen = limits_of(comparison)
    by = django_user_model.objects.create_user("ann")
    row = services.save(query={"side": ["a", "b"], "workload": [str(workload.pk)]}, title="limits", note="", by=by)
    UsePanel.objects.all().delete()
    assert SectionSource(comparison, services.load(row.slug).parts).read(SECTION) == seen


def test_throughput_is_that_of_the_answers_table(workload: Workload) -> None:
    assert TPS in {metric.key for metric in compare(workload).metrics}
    assert "transactions/s at 4" in limits_of(compare(workload)).sides[0].throughput.replace("\u00a0", " ")


def throughput_words(runs: int) -> str:
    """Of a system whose throughput stands from 4 threads on, by `runs` at each level that differ by little."""
    system = a_system("a")
    for threads, level in {1: OK, 4: FULL, 16: FULL}.items():
        for repetition in range(1, runs + 1):
            run = a_busy_run(system=system, load_level=a_load_level(threads), repetition=repetition)
            held = 100.0 * min(threads, 4) * (1 + repetition / 200)
            run.measurements.filter(metric__key=TPS).update(value=held)
            keep(run, panel(60.0, cpu=level))
    a_busy_run(system=a_system("b"))
    return limits_of(compare(a_workload())).sides[0].throughput.replace("\u00a0", " ")


def test_throughput_of_a_level_over_that_of_another_has_its_interval() -> None:
    assert re.fullmatch(
        r"throughput 404 transactions/s at 4 threads, 4\.00 × \[3\.\d+, 4\.\d+\] that at 1 thread, "
        r"1\.\d+ × \[0\.\d+, 1\.\d+\] at 16 threads",
        throughput_words(runs=3),
    )


def test_two_runs_of_a_level_are_too_few_for_a_known_ratio() -> None:
    text = throughput_words(runs=2)
    assert "4.00 × (too few repetitions) that at 1 thread, 1.00 × (too few repetitions) at 16 threads" in text
