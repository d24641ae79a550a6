"""Series of runs are followed; a change along them is a finding, once, at the run where it was first reported."""

import threading
from collections.abc import Callable
from statistics import geometric_mean
from typing import Any

import pytest
from django.db import connection

from apps.regressions.models import Change, Finding, Trend
from apps.regressions.trends import board, follow, queries
from apps.runs.models import Measurement, Run
from tests.regressions.trends.made_series import a_release, followed, runs_of, values
from tests.support.builders import START, a_metric, a_run, a_workload
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.django_db
LOWER = values(runs=34, changes=[(24, 0.85)])


@pytest.fixture
def fell(db: None) -> list[Run]:
    """Twelve runs of one release, twelve of the next, ten of a third that is slower by 15 %; nobody looked yet."""
    return [
        *runs_of(a_release("10.11.18"), LOWER[:12]),
        *runs_of(a_release("10.11.19"), LOWER[12:24], day=1),
        *runs_of(a_release("10.11.20"), LOWER[24:], day=2),
    ]


def _whats(finding: Finding) -> list[str]:
    return list(finding.notes.values_list("what", flat=True))


def test_a_fall_along_history_is_a_finding_of_the_release_that_brought_it(fell: list[Run]) -> None:
    followed(fell)
    change = Change.objects.get()
    finding = change.finding
    assert (finding.state, finding.verdict) == ("new", "worse")
    assert (str(finding.release), str(finding.baseline)) == ("MariaDB 10.11.20", "MariaDB 10.11.19")
    assert change.first_run == fell[24]
    assert change.ratio == pytest.approx(0.85, abs=0.02)
    assert change.before == pytest.approx(1000, rel=0.01)
    assert change.after == pytest.approx(850, rel=0.01)
    assert change.low is not None
    assert change.high is not None
    assert change.low < 0.85 < change.high
    assert change.runs_after == [run.pk for run in fell[24:]]
    assert change.runs_before == [run.pk for run in fell[:24]]
    assert change.baseline_system == fell[0].system.__class__.objects.get(slug="mariadb-10.11.19")


@pytest.fixture
def fell_twice(db: None) -> list[Run]:
    """Five runs each of six releases: the fifth is slower by 5 %, the sixth by half."""
    numbers = values(runs=30, changes=[(20, 0.95), (25, 0.5)], seed=2)
    return [
        run
        for number in range(6)
        for run in runs_of(a_release(f"10.11.{number}"), numbers[5 * number : 5 * number + 5], day=number)
    ]


def test_a_release_that_falls_further_than_the_one_before_has_a_finding_of_its_own(fell_twice: list[Run]) -> None:
    followed(fell_twice)
    assert [finding.release.version for finding in Finding.objects.order_by("pk") if finding.release] == [
        *("10.11.4", "10.11.5"),
    ]
    first, second = Change.objects.order_by("pk")
    assert (first.first_run, second.first_run) == (fell_twice[20], fell_twice[25])
    assert [first.ratio, second.ratio] == pytest.approx([0.95, 0.5], abs=0.01)
    assert first.runs_after == [run.pk for run in fell_twice[20:25]]


def _as_before_the_rules_changed(runs: list[Run]) -> None:
    """The first of two changes had swallowed the second."""
    first, second = Change.objects.order_by("pk")
    finding = second.finding
    second.delete()
    finding.notes.all().delete()
    finding.delete()
    Change.objects.filter(pk=first.pk).update(ratio=0.69, low=0.4, high=0.9, runs_after=[run.pk for run in runs[20:]])
    Trend.objects.update(rules=0)


def test_histories_that_were_followed_by_other_rules_are_followed_anew_some_at_a_time(fell_twice: list[Run]) -> None:
    followed(fell_twice)
    _as_before_the_rules_changed(fell_twice)
    followed(runs_of(a_release("10.11.1"), values(runs=12), workload=a_workload("oltp_insert")))
    Trend.objects.update(rules=0)
    assert [follow.follow_rest(most=1) for _ in range(3)] == [1, 1, 0]
    first, second = Change.objects.order_by("pk")
    assert (first.first_run, second.first_run) == (fell_twice[20], fell_twice[25])
    assert [first.ratio, second.ratio] == pytest.approx([0.95, 0.5], abs=0.01)
    assert _whats(first.finding) == ["found"]


def test_a_preview_tells_the_sizes_that_findings_have_once_followed_by_the_rules_of_now(fell_twice: list[Run]) -> None:
    followed(fell_twice)
    _as_before_the_rules_changed(fell_twice)
    follow.follow_rest(most=10)
    tried = queries.preview(workload=None, metric=None, smallest=0.005, significant=1e-6)
    kept = {change.finding_id: change.ratio for change in Change.objects.all()}
    assert {change.finding: change.ratio for each in tried.series for change in each.changes} == pytest.approx(kept)


def test_a_finding_whose_release_is_left_out_takes_nothing_from_the_next(fell_twice: list[Run]) -> None:
    followed(fell_twice)
    Run.objects.filter(pk__in=[run.pk for run in fell_twice[20:25]]).update(is_excluded=True)
    followed(fell_twice[20:21])
    gone, holds = Finding.objects.order_by("pk")
    assert (gone.verdict, gone.state, holds.verdict) == ("gone", "verify", "worse")
    assert Change.objects.get(finding=holds).ratio == pytest.approx(0.475, abs=0.01)


def test_what_is_lower_is_better_of_a_time(db: None) -> None:
    workload = a_workload("times")
    workload.primary_metric = a_metric("client.latency.p95", direction="lower", unit="ms")
    workload.save()
    runs = runs_of(a_release("10.11.19"), LOWER, workload=workload)
    for run in runs:
        run.measurements.update(metric=workload.primary_metric)
    followed(runs[-1:])
    assert Finding.objects.get().verdict == "better"


def test_following_twice_changes_nothing(fell: list[Run], django_assert_max_num_queries: Any) -> None:
    followed(fell)
    finding, at = Finding.objects.get(), Trend.objects.get().analysed_at
    with django_assert_max_num_queries(8):
        assert followed(fell[-1:]) == []
    finding.refresh_from_db()
    assert _whats(finding) == ["found"]
    assert Trend.objects.get().analysed_at == at


def test_all_at_once_tells_the_same_finding_as_run_by_run(fell: list[Run]) -> None:
    followed(fell[-1:])
    assert Change.objects.get().first_run == fell[24]


def test_a_finding_stays_at_its_run_when_older_releases_are_measured_again(fell: list[Run]) -> None:
    followed(fell)
    again = runs_of(a_release("10.11.19"), values(runs=6, seed=3), day=9)
    followed(again)
    change = Change.objects.get()
    assert (change.first_run, change.gone_at) == (fell[24], None)
    assert {run.pk for run in again} <= set(change.runs_before)
    assert _whats(change.finding) == ["found"]


def sizes_of(change: Change) -> tuple[float, float]:
    """Geometric means of the runs that a change lists."""

    def typical(runs: list[int]) -> float:
        found = Run.objects.filter(pk__in=runs).values_list("measurements__value", flat=True)
        return geometric_mean(list(found))

    return typical(change.runs_before), typical(change.runs_after)


def test_a_size_is_of_the_runs_that_are_listed(fell: list[Run]) -> None:
    """Also when older runs, measured later, are of the new level already: the change stays where it was reported."""
    followed(fell)
    followed(runs_of(a_release("10.11.19"), values(runs=5, changes=[(0, 0.85)], seed=3), day=9))
    change = Change.objects.get()
    assert change.first_run == fell[24]
    before, after = sizes_of(change)
    assert before < 980
    assert change.before == pytest.approx(before, rel=0.003)
    assert change.after == pytest.approx(after, rel=0.003)
    assert change.ratio == pytest.approx(after / before, rel=0.003)
    assert (change.low or 0) < after / before < (change.high or 0)


def test_a_small_change_is_of_the_release_that_brought_it(db: None) -> None:
    """By its values alone it would be reported some runs off in two of these three series."""
    exact = []
    for seed in (1, 4, 6):
        workload = a_workload(f"oltp_{seed}")
        numbers = values(runs=30, changes=[(15, 0.96)], seed=seed, noise=0.015)
        runs = runs_of(a_release("10.11.19"), numbers[:15], workload=workload)
        runs += runs_of(a_release("10.11.20"), numbers[15:], workload=workload, day=2)
        followed(runs[14:])
        exact += [change.first_run == runs[15] for change in Change.objects.filter(workload=workload)]
    assert exact == [True, True, True]


def test_what_comes_back_near_where_it_was_reported_is_that_one_again(fell: list[Run]) -> None:
    followed(fell)
    Change.objects.update(first_run=fell[26], gone_at=START)
    Trend.objects.update(past_hash="", analysed_at=None)
    followed(fell[-1:])
    change = Change.objects.get()
    assert (change.first_run, change.gone_at) == (fell[26], None)
    assert change.runs_after == [run.pk for run in fell[26:]]
    before, after = sizes_of(change)
    assert change.ratio == pytest.approx(after / before, rel=0.003)


def test_excluded_runs_never_count_and_what_rests_on_them_asks_for_a_look(fell: list[Run]) -> None:
    followed(fell)
    for run in fell[24:]:
        Run.objects.filter(pk=run.pk).update(is_excluded=True)
        follow.follow_run(run.pk)
    finding = Finding.objects.get()
    assert (finding.state, finding.verdict) == ("verify", "gone")
    assert Trend.objects.get().runs == 24
    Run.objects.update(is_excluded=False)
    follow.follow_run(fell[24].pk)
    finding.refresh_from_db()
    assert (finding.state, finding.verdict) == ("new", "worse")
    assert Change.objects.get().first_run == fell[24]
    assert _whats(finding) == ["found", "gone", "state", "back", "reopened"]


def test_a_finding_stays_when_only_its_first_run_is_left_out(fell: list[Run]) -> None:
    followed(fell)
    Run.objects.filter(pk=fell[24].pk).update(is_excluded=True)
    followed(fell[24:])
    change = Change.objects.get()
    assert (change.first_run, change.gone_at) == (fell[24], None)
    assert fell[24].pk not in change.runs_after
    assert len(change.runs_after) == 9


@pytest.mark.parametrize(
    "other",
    [
        {"host": {"cpus": 4, "load": 0.2}},
        {"warmup": 30},
        {"duration": 120},
        {"data_bytes": 20 * 2**30},
        {"tool_version": "sysbench 1.1.0"},
    ],
)
def test_what_changes_with_the_conditions_is_no_finding(db: None, other: dict[str, Any]) -> None:
    first: dict[str, Any] = {
        "host": {"cpus": 8, "load": 0.1},
        "warmup": 10,
        "data_bytes": 10 * 2**30,
        "tool_version": "sysbench 1.0.20",
    }
    runs = [
        *runs_of(a_release("10.11.19"), LOWER[:24], **first),
        *runs_of(a_release("10.11.20"), LOWER[24:32], **{**first, **other}),
    ]
    followed(runs)
    assert not Finding.objects.exists()
    own = Trend.objects.get()
    assert own.resets == [runs[24].pk]
    assert own.reason == "too short: 8 of the 10 runs needed since hardware or configuration changed"


def test_a_host_that_is_only_busier_or_less_known_is_the_same(db: None) -> None:
    runs = runs_of(a_release("10.11.19"), LOWER[:24], host={"cpus": 8, "load": 0.1}, duration=60)
    runs += runs_of(a_release("10.11.20"), LOWER[24:], host={"load": 0.9}, duration=60.5)
    followed(runs[-1:])
    assert Trend.objects.get().resets == []
    assert Finding.objects.exists()


def test_load_generators_in_turns_are_one_series_and_one_that_stays_begins_another(db: None) -> None:
    turns = [runs_of(a_release("10.11.19"), LOWER[:8], day=day, host={"name": name}) for day, name in enumerate("abab")]
    last = runs_of(a_release("10.11.20"), LOWER[:12], day=5, host={"name": "c"})
    followed(turns[1][-1:])
    followed(last[-1:])
    assert Trend.objects.get().resets == [last[0].pk]


def test_two_load_generators_of_which_none_returned_are_two_series(db: None) -> None:
    runs_of(a_release("10.11.19"), LOWER[:12], host={"name": "a"})
    other = runs_of(a_release("10.11.19"), LOWER[:12], day=1, host={"name": "b"})
    followed(other[-1:])
    assert Trend.objects.get().resets == [other[0].pk]


@pytest.fixture
def drifting(db: None) -> Trend:
    """A run a day; each week lower by .7 %."""
    system, numbers = a_release("10.11.19"), values(runs=70, noise=0.005)
    for day, value in enumerate(numbers):
        last = runs_of(system, [value * 0.999**day], day=day)
    followed(last)
    return Trend.objects.get()


def test_a_slow_fall_is_a_drift_with_its_interval_and_no_finding(drifting: Trend) -> None:
    found = queries.detail(drifting.pk)
    assert found is not None
    drift = found.patterns.drift
    assert drift is not None
    assert drift.low < 0.999**7 - 1 < drift.high < 0
    assert (drift.per, drift.verdict) == ("week", "worse")
    assert drift.total == pytest.approx(0.999**69 - 1, rel=0.2)
    assert not Finding.objects.exists()


def test_a_series_that_is_too_short_or_too_noisy_says_so(db: None) -> None:
    followed(runs_of(a_release("10.11.19"), values(runs=6)))
    own = Trend.objects.get()
    assert (own.runs, own.effect, own.reason) == (6, None, "too short: 6 of the 10 runs needed")
    followed(runs_of(a_release("10.11.20"), values(runs=30, noise=0.3)))
    own.refresh_from_db()
    assert own.reason.startswith("too noisy: only changes of ")
    assert (own.effect or 0) > 0.25


def test_a_latency_is_followed_beside_the_throughput_and_its_rise_is_a_finding(db: None) -> None:
    latency = a_metric("client.latency.p95", direction="lower", unit="ms")
    release = a_release("10.11.19")
    runs = [run for day, value in enumerate(values(runs=24)) for run in runs_of(release, [value], day=day)]
    numbers = values(runs=24, changes=[(14, 1.2)], seed=3)
    Measurement.objects.bulk_create(
        Measurement(**{**own, "id": None, "metric_id": latency.pk, "value": value / 100})
        for run, value in zip(runs, numbers, strict=True)
        for own in run.measurements.values()
    )
    findings = followed(runs)
    throughput, other = Trend.objects.order_by("metric__direction")
    assert (throughput.metric, other.metric) == (runs[0].workload.primary_metric, latency)
    change = Change.objects.get()
    assert (change.history, change.verdict, change.first_run) == (other, "worse", runs[14])
    assert findings[0] == change.finding
    (group,) = board.load_board(board.BoardFilter()).groups
    assert [row.trend for row in group.rows] == [throughput]


def test_the_latency_of_made_up_runs_is_not_followed(db: None) -> None:
    (run,) = runs_of(a_release("10.11.19"), [1000.0], provenance="example")
    (own,) = run.measurements.values()
    Measurement.objects.create(**{**own, "id": None, "metric_id": a_metric("client.latency.p95", direction="lower").pk})
    followed([run])
    assert Trend.objects.get().metric == run.workload.primary_metric


def test_failed_runs_begin_no_history(db: None) -> None:
    run = a_run(outcome="failed", reason="no server")
    assert follow.follow_run(run.pk) == []
    assert follow.follow_run(run.pk + 1) == []
    assert not Trend.objects.exists()


def test_made_up_runs_are_not_mixed_with_measured_ones(db: None) -> None:
    runs_of(a_release("10.11.19"), LOWER[:24], provenance="rig")
    runs = runs_of(a_release("10.11.20"), LOWER[24:])
    followed(runs)
    assert Trend.objects.get().runs == len(runs)
    assert not Finding.objects.exists()


def test_runs_without_a_positive_value_are_passed_over(fell: list[Run]) -> None:
    fell[3].measurements.update(value=0)
    followed(fell[-1:])
    assert Trend.objects.get().analysed == len(fell) - 1


def test_a_run_costs_as_many_queries_however_long_its_series_is(
    fell: list[Run], django_assert_max_num_queries: Any
) -> None:
    followed(fell)
    (run,) = runs_of(a_release("10.11.20"), [850.0], day=3)
    with django_assert_max_num_queries(35):
        follow.follow_run(run.pk)


@pytest.mark.django_db(transaction=True)
def test_two_workers_on_one_series_make_no_twins(fell: list[Run]) -> None:
    problems: list[Any] = []
    together = threading.Barrier(2)

    def worker(follow: Callable[[int], Any], run: int) -> None:
        try:
            together.wait(timeout=LIMIT)
            follow(run)
        except Exception as error:
            problems.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=worker, args=[follow.follow_run, fell[place].pk]) for place in (-1, -2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(timeout=LIMIT)
    assert problems == []
    assert (Trend.objects.count(), Finding.objects.count(), Change.objects.count()) == (1, 1, 1)
    assert _whats(Finding.objects.get()) == ["found"]
