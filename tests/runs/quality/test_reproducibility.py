"""Reproducibility: a run against the others of its place, and anew when one comes or goes."""

from datetime import timedelta

import numpy as np
import pytest
from pytest_django import DjangoAssertNumQueries
from scipy import stats

from apps.runs.models import Run, RunCheck
from apps.runs.quality import check, exclusion
from apps.runs.quality.rules import reproducibility
from apps.runs.quality.values import CANNOT_TELL, FAILED, PASSED, Siblings
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_user, a_workload

ALIKE = (1000.0, 1010.0, 990.0, 1005.0, 995.0)


def judged(own: float, others: object) -> str:
    return reproducibility.judge(Siblings("throughput", "transactions/s", own, np.array(others, np.float64))).status


def test_about_one_of_a_hundred_runs_lies_outside_the_interval_whatever_the_number_of_its_siblings() -> None:
    rng = np.random.default_rng(3)
    for others in (3, 5, 10):
        logs = rng.normal(0, 0.2, size=(4000, others + 1))
        doubted = [judged(float(np.exp(row[0])), np.exp(row[1:])) == FAILED for row in logs]
        assert 0.005 <= np.mean(doubted) <= 0.015


def test_its_interval_is_students_for_one_more_value() -> None:
    found = reproducibility.judge(Siblings("throughput", "transactions/s", 1000.0, np.array(ALIKE)))
    logs = np.log(ALIKE)
    scale = logs.std(ddof=1) * np.sqrt(1 + 1 / len(logs))
    low, high = np.exp(stats.t.interval(0.99, len(logs) - 1, loc=logs.mean(), scale=scale))
    assert (found.detail["low"], found.detail["high"]) == pytest.approx((low, high))


def test_it_takes_three_siblings_to_tell_and_five_per_cent_to_doubt() -> None:
    assert judged(700, ALIKE[:2]) == CANNOT_TELL
    assert judged(700, ALIKE) == FAILED
    assert judged(1040, [1000.0, 1000.1, 1000.2]) == PASSED
    assert judged(0.0, ALIKE) == CANNOT_TELL


# ---------------------------------------------------------------- stored


@pytest.fixture
def runs(db: None) -> list[Run]:
    """Six repetitions, a minute apart; the last is the odd one."""
    place = {"system": a_system("a"), "workload": a_workload(), "load_level": a_load_level()}
    found = [
        a_measured_run({"client.throughput": value}, **place, started_at=START + timedelta(minutes=minute))
        for minute, value in enumerate((*ALIKE, 600.0))
    ]
    for run in found:
        check.check(run)
    return found


def failed_checks(run: Run) -> list[str]:
    run.refresh_from_db()
    return run.failed_checks


def test_the_odd_one_out_is_marked_and_the_others_are_not(runs: list[Run]) -> None:
    assert [failed_checks(run) for run in runs] == [[]] * 5 + [["reproducible"]]


def test_runs_are_judged_anew_when_a_sibling_comes(runs: list[Run]) -> None:
    first = RunCheck.objects.get(run=runs[0], check_key="reproducible")
    place = {"system": runs[0].system, "workload": runs[0].workload, "load_level": runs[0].load_level}
    later = a_measured_run({"client.throughput": 1002.0}, **place, started_at=START + timedelta(minutes=6))
    assert "5 other runs" in first.evidence
    check.check_siblings(run_id=later.pk)
    first.refresh_from_db()
    assert (first.status, "6 other runs" in first.evidence) == (PASSED, True)


def test_runs_are_judged_anew_when_a_sibling_is_left_out_and_when_it_counts_again(runs: list[Run]) -> None:
    ann = a_user()
    odd = runs[-1]
    check.check_siblings(run_id=odd.pk)
    with_it = RunCheck.objects.get(run=runs[0], check_key="reproducible").detail["low"]
    exclusion.exclude(run=odd, reason="a backup ran", by=ann)
    without = RunCheck.objects.get(run=runs[0], check_key="reproducible").detail
    assert (without["runs"], without["low"] > with_it) == (4, True)
    assert failed_checks(odd) == []
    exclusion.count_again(run=odd, by=ann)
    assert failed_checks(odd) == ["reproducible"]


def test_runs_under_other_conditions_are_no_siblings(runs: list[Run]) -> None:
    Run.objects.filter(pk=runs[-1].pk).update(server_version="11.4.2-MariaDB")
    check.check_siblings(run_id=runs[-1].pk)
    assert RunCheck.objects.get(run=runs[-1], check_key="reproducible").status == CANNOT_TELL
    assert "4 other runs" in RunCheck.objects.get(run=runs[0], check_key="reproducible").evidence


def test_a_run_of_another_level_or_system_is_no_sibling(runs: list[Run]) -> None:
    other = a_measured_run({"client.throughput": 10.0}, system=runs[0].system, workload=runs[0].workload)
    Run.objects.filter(pk=other.pk).update(load_level=a_load_level(8))
    check.check_siblings(run_id=other.pk)
    assert "0 other runs" in RunCheck.objects.get(run=other, check_key="reproducible").evidence


@pytest.mark.parametrize("more", [0, 30])
def test_however_many_runs_there_are_it_takes_the_same_queries(
    runs: list[Run], more: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for minute in range(more):
        a_measured_run(
            {"client.throughput": 1000.0},
            system=runs[0].system,
            workload=runs[0].workload,
            load_level=runs[0].load_level,
            started_at=START + timedelta(minutes=10 + minute),
        )
    check.check_siblings(run_id=runs[-1].pk)
    Run.objects.filter(pk=runs[0].pk).update(is_excluded=True)
    with django_assert_num_queries(11):
        check.check_siblings(run_id=runs[0].pk)
