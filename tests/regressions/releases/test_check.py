"""A release is compared with the one before it, row by row, and the gate says whether it passes."""

import math
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.core.problems import Invalid
from apps.regressions.models import Threshold
from apps.regressions.releases import check
from apps.regressions.releases.values import CheckRow, ReleaseCheck, Result, RowVerdict, answer
from apps.runs.models import Run
from tests.regressions.releases.released import (
    NEW,
    OLD,
    SLOWER,
    STEADY,
    a_release,
    a_row,
    a_system_of,
    measure,
    the_hardware,
    two_releases,
)
from tests.support.builders import START, a_load_level, a_measured_run, a_metric, a_user, a_workload

pytestmark = pytest.mark.django_db


def checked(version: str = NEW, **options: object) -> ReleaseCheck:
    return check.check(a_release(version), the_hardware(), **options)  # type: ignore[arg-type]


def verdicts(found: ReleaseCheck) -> dict[tuple[str, int], str]:
    return {(row.workload, row.threads): row.verdict.value for row in found.rows}


def test_three_runs_of_each_side_without_history_find_a_slower_release() -> None:
    two_releases()
    found = checked()
    (row,) = found.rows
    assert (found.result, found.baseline, row.verdict) == (Result.REGRESSION, OLD, RowVerdict.WORSE)
    assert row.change == pytest.approx(-0.12, abs=0.001)
    assert row.low < row.ratio < row.high < 1  # type: ignore[operator]
    assert (row.unit, row.direction, row.origins) == ("transactions/s", "higher", ("agent",))
    assert len(row.runs_before) == len(row.runs_after) == 3
    assert found.summary == "1 worse"
    assert found.why == ("1 row is worse.",)


def test_the_same_speed_is_fine() -> None:
    two_releases(after=STEADY[::-1])
    found = checked()
    assert (found.result, found.summary) == (Result.FINE, "1 unchanged")
    assert found.rows[0].visible == pytest.approx(0.003, abs=0.001)


def test_what_the_new_release_did_not_run_is_missing_and_the_gate_cannot_tell() -> None:
    old, _ = two_releases(after=STEADY[::-1])
    measure(old, threads=16)
    measure(old, workload=a_workload("oltp_read_only"))
    found = checked()
    assert found.result is Result.CANNOT_TELL
    assert verdicts(found) == {
        ("oltp_write_only", 4): "unchanged",
        ("oltp_write_only", 16): "missing",
        ("oltp_read_only", 4): "missing",
    }
    assert found.why == ("2 rows are missing: the baseline has them, this release has no runs that count.",)


def test_a_system_that_the_new_release_lacks_is_missing_and_one_without_match_is_reported() -> None:
    a, b = a_system_of(OLD, "old-a"), a_system_of(OLD, "old-b", settings={"x": "1"})
    for system in (a, b):
        measure(system)
    new, other = a_system_of(NEW, "new-a"), a_system_of(NEW, "new-c", settings={"y": "1"})
    for system in (new, other):
        measure(system, STEADY[::-1])
    found = checked()
    assert [(line.baseline_system, line.system) for line in found.lines] == [("old-a", "new-a")]
    assert [(row.baseline_system, row.verdict.value) for row in found.rows] == [
        ("old-b", "missing"),
        ("old-a", "unchanged"),
    ]
    assert found.notes == ("new-c has no matching system in MariaDB 10.11.19: none has its settings.",)


def test_systems_with_the_same_settings_are_compared_by_what_each_ran() -> None:
    reads, inserts = a_workload("oltp_read_only"), a_workload("oltp_insert")
    measure(a_system_of(OLD, "old-a"))
    b, new = a_system_of(OLD, "old-b"), a_system_of(NEW, "new-a")
    measure(b, workload=reads)
    measure(b, threads=16)
    measure(b, workload=inserts)
    measure(new, STEADY[::-1])
    measure(new, SLOWER, workload=reads)
    measure(new, STEADY[::-1], threads=16)
    found = checked()
    assert [(row.baseline_system, row.workload, row.threads, row.verdict.value) for row in found.rows] == [
        ("old-b", "oltp_read_only", 4, "worse"),
        ("old-b", "oltp_insert", 4, "missing"),
        ("old-a", "oltp_write_only", 4, "unchanged"),
        ("old-b", "oltp_write_only", 16, "unchanged"),
    ]
    assert [(line.baseline_system, line.system) for line in found.lines] == [("old-a", "new-a"), ("old-b", "new-a")]
    assert found.notes == ()


def test_each_of_two_systems_is_compared_with_its_own_and_beyond_that_with_the_others() -> None:
    reads = a_workload("oltp_read_only")
    a, b = a_system_of(OLD, "old-a"), a_system_of(OLD, "old-b")
    for system in (a, b, a_system_of(NEW, "new-a"), a_system_of(NEW, "new-b")):
        measure(system)
        if system.slug in ("old-b", "new-a"):
            measure(system, workload=reads)
    found = checked()
    assert sorted((row.workload, row.baseline_system, row.system, row.verdict.value) for row in found.rows) == [
        ("oltp_read_only", "old-b", "new-a", "unchanged"),
        ("oltp_read_only", "old-b", "new-b", "missing"),
        ("oltp_write_only", "old-a", "new-a", "unchanged"),
        ("oltp_write_only", "old-b", "new-b", "unchanged"),
    ]


def test_a_system_of_the_baseline_that_adds_nothing_is_named() -> None:
    for slug in ("old-a", "old-b"):
        measure(a_system_of(OLD, slug))
    measure(a_system_of(NEW, "new-a"))
    found = checked()
    assert [(row.baseline_system, row.verdict.value) for row in found.rows] == [("old-a", "unchanged")]
    assert found.notes == ("old-b is not compared: others of MariaDB 10.11.19 with its settings ran the same.",)


def test_the_only_system_there_is_is_taken_and_what_it_differs_in_is_said() -> None:
    measure(a_system_of(OLD, "old", settings={"pool": "1G"}))
    measure(a_system_of(NEW, "new", settings={"pool": "2G"}), SLOWER)
    found = checked()
    assert found.lines[0].differs == "pool 1G → 2G"
    assert "despite other settings: pool 1G → 2G" in found.notes[0]
    assert found.result is Result.REGRESSION


def test_it_is_held_against_the_newest_release_before_it_that_has_runs_that_count() -> None:
    measure(a_system_of("10.11.9"), SLOWER)
    measure(a_system_of(OLD))
    measure(a_system_of("10.11.19.1"), is_excluded=True)
    measure(a_system_of(NEW))
    assert checked().baseline == OLD
    assert checked(baseline=a_release("10.11.9")).baseline == "10.11.9"
    with pytest.raises(Invalid, match=r"^baseline: .* is the release itself"):
        checked(baseline=a_release(NEW))


def test_a_release_without_predecessor_has_nothing_to_compare_with() -> None:
    measure(a_system_of(NEW))
    found = checked()
    assert (found.result, found.summary) == (Result.CANNOT_TELL, "nothing to compare")
    assert found.why == ("There is no earlier release with runs to compare with.",)


def test_two_runs_are_too_few_to_tell() -> None:
    two_releases(after=SLOWER[:2])
    found = checked()
    assert (found.result, found.rows[0].verdict, found.rows[0].needed) == (Result.CANNOT_TELL, RowVerdict.TOO_FEW, 3)


def test_p_is_corrected_over_all_systems_of_the_release() -> None:
    for letter, settings in (("a", {}), ("b", {"x": "1"})):
        measure(a_system_of(OLD, f"old-{letter}", settings=settings))
        measure(a_system_of(NEW, f"new-{letter}", settings=settings), (1003.0, 1002.0, 1004.5))
    found = checked()
    assert found.tests == 2
    (one, other) = found.rows
    assert one.p == other.p
    assert checked_alone() <= one.p  # type: ignore[operator]


def checked_alone() -> float:
    measure(a_system_of("10.12.1", "older"))
    measure(a_system_of("10.12.2", "newer"), (1003.0, 1002.0, 1004.5))
    p = checked("10.12.2").rows[0].p
    assert p is not None
    return p


def test_a_difference_below_the_threshold_is_none_that_counts() -> None:
    two_releases()
    workload = a_workload()
    Threshold.objects.create(workload=workload, metric=a_metric(), smallest=0.2, significant=1e-5, by=a_user())
    row = checked().rows[0]
    assert (row.verdict, row.smallest) == (RowVerdict.UNCHANGED, 0.2)
    assert row.reason == "lower, but by less than the threshold of 20\u00a0%"


def test_lower_is_better_where_the_metric_says_so() -> None:
    old, new = a_system_of(OLD), a_system_of(NEW)
    latency = a_metric("client.latency.p95", name="Latency", unit="ms", direction="lower")
    workload = a_workload("slow")
    workload.primary_metric = latency
    workload.save()
    for system, values in ((old, STEADY), (new, SLOWER)):
        for day, value in enumerate(values):
            measure(system, (1.0,), day=day, workload=workload, metrics={"client.latency.p95": value})
    assert checked().rows[0].verdict is RowVerdict.BETTER


def test_queries_do_not_grow_with_the_rows() -> None:
    old, new = two_releases()
    checked()
    with CaptureQueriesContext(connection) as few:
        checked()
    for name in ("oltp_read_only", "oltp_insert", "oltp_delete"):
        for threads in (1, 16):
            for system in (old, new):
                measure(system, workload=a_workload(name), threads=threads)
    with CaptureQueriesContext(connection) as many:
        assert len(checked().rows) == 7
    assert len(many) == len(few)


@pytest.mark.parametrize(
    ("rows", "result"),
    [
        ([a_row(RowVerdict.WORSE)], "regression"),
        ([a_row(RowVerdict.WORSE, is_accepted=True)], "fine"),
        ([a_row(RowVerdict.WORSE, is_accepted=True), a_row(RowVerdict.MISSING)], "cannot tell"),
        ([a_row(RowVerdict.WORSE), a_row(RowVerdict.MISSING)], "regression"),
        ([a_row(RowVerdict.BETTER), a_row(RowVerdict.UNCHANGED)], "fine"),
        ([a_row(RowVerdict.INCONCLUSIVE, worst=0.04)], "fine"),
        ([a_row(RowVerdict.INCONCLUSIVE, worst=0.14)], "cannot tell"),
        ([a_row(RowVerdict.TOO_FEW)], "cannot tell"),
        ([a_row(RowVerdict.WITHHELD)], "cannot tell"),
        ([], "cannot tell"),
    ],
)
def test_the_gate_passes_only_what_is_known_to_be_no_worse_than_is_accepted(rows: list[CheckRow], result: str) -> None:
    verdict, why = answer(rows, baseline=OLD, tolerance=0.1)
    assert verdict == result
    assert why


def test_one_session_of_each_side_cannot_tell_and_says_how_many_would() -> None:
    old, new = a_system_of(OLD), a_system_of(NEW)
    for place, values in enumerate(zip(STEADY, SLOWER, strict=True)):
        for system, value in zip((old, new), values, strict=True):
            measure(system, [value], repetition=place + 1)
    found = checked()
    assert (found.rows[0].verdict, found.result) == (RowVerdict.ONE_SESSION, Result.CANNOT_TELL)
    assert found.rows[0].reason == (
        "3 sessions of each side would find a difference of 5\u00a0%, if sessions differ by 1\u00a0%"
    )
    assert found.why[0] == "1 row was measured in one session of each side: how much sessions differ is not known."
    assert (found.rows[0].ratio or 1) < 1


def test_how_many_sessions_would_is_counted_by_how_much_those_of_the_systems_differed() -> None:
    old, new = a_system_of(OLD), a_system_of(NEW)
    for place, values in enumerate(zip(STEADY, SLOWER, strict=True)):
        for system, value in zip((old, new), values, strict=True):
            measure(system, [value], repetition=place + 1)
    measure(old, (1000.0, 1080.0, 940.0, 1040.0), workload=a_workload("oltp_read_only"), day=10)
    row = next(row for row in checked().rows if row.verdict is RowVerdict.ONE_SESSION)
    assert int(row.reason.split()[0]) > 6
    assert row.reason.endswith(", as 4 earlier ones did")


def test_the_shift_of_a_session_is_no_regression_and_that_of_a_release_is() -> None:
    """Nights differ by 1.5 %, the runs of one by 0.1 %."""
    nights = (1000.0, 1015.0, 990.0)
    old, new = a_system_of(OLD), a_system_of(NEW)
    for day, level in enumerate(nights):
        for jitter in (0.999, 1.0, 1.001):
            measure(old, [level * jitter], day=day)
            measure(new, [level * 0.985 * jitter], day=day + 10)
    assert checked().result is not Result.REGRESSION
    Run.objects.filter(system=new).update(is_excluded=True)
    for day, level in enumerate(nights):
        for jitter in (0.999, 1.0, 1.001):
            measure(new, [level * 0.85 * jitter], day=day + 10)
    assert checked().result is Result.REGRESSION


def test_fine_says_by_how_much_the_rows_may_be_worse_at_most() -> None:
    two_releases(after=STEADY[::-1])
    found = checked()
    worst = max(row.worst or 0 for row in found.rows)
    assert found.result is Result.FINE
    assert 0 < worst < 0.02
    assert found.why == (
        f"None of 1 row is worse by more than its margin: at most {math.ceil(worst * 1000) / 10:g}\u00a0% "
        "(margin 10\u00a0%), "
        "as far as each row's 95\u00a0% interval reaches.",
    )
    rows = [a_row(RowVerdict.UNCHANGED, worst=0.0312), a_row(RowVerdict.INCONCLUSIVE, worst=0.11, primary=False)]
    result, why = answer(rows, baseline=OLD, tolerance=0.1)
    assert (result, why[-1]) == (
        Result.FINE,
        "None of 2 rows is worse by more than its margin: at most 3.2\u00a0% (margin 10\u00a0%), "
        "of latency 11\u00a0% (margin 50\u00a0%), "
        "as far as each row's 95\u00a0% interval reaches.",
    )


@pytest.mark.parametrize(("factor", "verdict"), [(0.5, RowVerdict.WORSE), (0.8, RowVerdict.ONE_SESSION)])
def test_what_no_session_explains_is_a_regression_after_one(factor: float, verdict: RowVerdict) -> None:
    old, new = a_system_of(OLD), a_system_of(NEW)
    for place, value in enumerate(STEADY):
        measure(old, [value], repetition=place + 1)
        measure(new, [value * factor], repetition=place + 1)
    assert checked().rows[0].verdict is verdict


def test_a_release_that_keeps_its_throughput_and_fails_transactions_is_a_regression() -> None:
    old, new = a_system_of(OLD), a_system_of(NEW)
    measure(old, metrics={"client.errors": 0.0}, duration=60)
    measure(new, STEADY[::-1], metrics={"client.errors": 23.0}, duration=60)
    found = checked()
    by_metric = {row.metric: row for row in found.rows}
    errors = by_metric["client.errors"]
    assert (found.result, by_metric["client.throughput"].verdict) == (Result.REGRESSION, RowVerdict.UNCHANGED)
    assert (errors.verdict, errors.ratio, errors.kind) == (RowVerdict.WORSE, None, "errors")
    assert errors.reason.startswith("4,140 errors of 180,000 transactions, in 3 of 3 runs")


def test_a_few_errors_on_either_side_leave_a_release_fine() -> None:
    old, new = a_system_of(OLD), a_system_of(NEW)
    measure(old, metrics={"client.errors": 0.0}, duration=60)
    measure(new, STEADY[::-1], metrics={"client.errors": 1 / 60}, duration=60)
    found = checked()
    assert found.result is Result.FINE, found.why
    assert {row.metric: row.verdict for row in found.rows}["client.errors"] is not RowVerdict.WORSE


def test_errors_that_are_not_more_for_certain_pass() -> None:
    rows = [a_row(RowVerdict.UNCHANGED), a_row(RowVerdict.INCONCLUSIVE, primary=False, failing=0.05)]
    assert answer(rows, baseline=OLD, tolerance=0.1)[0] is Result.FINE


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [(0.0, 23.0, RowVerdict.WORSE), (0.0, 0.2, RowVerdict.ONE_SESSION), (0.2, 0.0, RowVerdict.BETTER)],
)
def test_errors_that_no_session_explains_are_a_regression_after_one(
    before: float, after: float, verdict: RowVerdict
) -> None:
    old, new = a_system_of(OLD), a_system_of(NEW)
    for place, value in enumerate(STEADY):
        measure(old, [value], metrics={"client.errors": before}, duration=60, repetition=place + 1)
        measure(new, [value], metrics={"client.errors": after}, duration=60, repetition=place + 1)
    assert {row.metric: row.verdict for row in checked().rows}["client.errors"] is verdict


@pytest.mark.parametrize(
    ("after", "verdict", "result"),
    [
        ((98.9, 99.0, 99.1), RowVerdict.RATE_HELD, Result.FINE),
        ((60.0, 61.0, 62.0), RowVerdict.RATE_NOT_HELD, Result.CANNOT_TELL),
    ],
)
def test_at_a_fixed_rate_a_release_holds_it_or_not(
    after: tuple[float, ...], verdict: RowVerdict, result: Result
) -> None:
    for system, values in ((a_system_of(OLD), (101.0, 101.1, 101.2)), (a_system_of(NEW), after)):
        for number, value in enumerate(values):
            a_measured_run(
                {"client.throughput": value},
                system=system,
                load_level=a_load_level(4, 100.0),
                started_at=START + timedelta(days=number),
            )
    found = checked()
    (row,) = found.rows
    assert (row.verdict, row.ratio, row.needed, found.result) == (verdict, None, None, result)
    assert row.reason.endswith("of 100/s (baseline 101\u00a0%)")
