"""Latency is judged beside the primary metric, with its direction, and corrected with it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from apps.regressions.look import compare
from apps.regressions.models import Change, Finding, Threshold
from apps.regressions.releases import check
from apps.regressions.releases.stored_checks import fingerprint
from apps.regressions.releases.values import ReleaseCheck, Result, RowVerdict, answer
from apps.runs.models import Measurement
from tests.regressions.releases.released import (
    NEW,
    OLD,
    STEADY,
    a_release,
    a_row,
    a_system_of,
    measure,
    the_hardware,
)
from tests.support.builders import a_user

pytestmark = pytest.mark.django_db

P95, P99 = "client.latency.p95", "client.latency.p99"
SAME, DOUBLED = (10.0, 10.01, 9.99), (20.0, 20.02, 19.98)


def releases(p99: Sequence[float], *, p95: Sequence[float] = SAME) -> ReleaseCheck:
    """The older one has 10 ms in both; the same throughput in both."""
    for version, latencies in ((OLD, (SAME, SAME)), (NEW, (p95, p99))):
        system = a_system_of(version)
        for day, (throughput, low, high) in enumerate(zip(STEADY, *latencies, strict=True)):
            measure(system, [throughput], day=day, metrics={P95: low, P99: high})
    return check.check(a_release(NEW), the_hardware())


def verdicts(found: ReleaseCheck) -> dict[str, str]:
    return {row.metric: row.verdict.value for row in found.rows}


def test_a_release_that_keeps_its_throughput_and_doubles_its_p99_is_a_regression() -> None:
    found = releases(DOUBLED)
    # sysbench reads percentiles from a grid with steps of 2 %: too coarse to call p95 unchanged.
    assert verdicts(found) == {"client.throughput": "unchanged", P95: "inconclusive", P99: "worse"}
    assert (found.result, found.tests) == (Result.REGRESSION, 3)
    row = next(row for row in found.rows if row.metric == P99)
    assert (row.direction, row.primary) == ("lower", False)
    assert row.ratio == pytest.approx(2.0, rel=0.01)


def test_less_latency_is_better() -> None:
    assert verdicts(releases((5.0, 5.01, 4.99)))[P99] == "better"


def test_latency_that_only_the_older_release_recorded_is_no_missing_result() -> None:
    old, new = a_system_of(OLD), a_system_of(NEW)
    measure(old, metrics={P95: 10.0})
    measure(new, STEADY[::-1])
    found = check.check(a_release(NEW), the_hardware())
    assert (verdicts(found), found.result) == ({"client.throughput": "unchanged"}, Result.FINE)


def test_a_percentile_that_some_runs_lack_is_judged_by_the_others_or_not_at_all() -> None:
    for version in (OLD, NEW):
        system = a_system_of(version)
        for number in range(5):
            recorded = {P95: 10.0 + number / 100}
            if version == NEW or number < 3:
                recorded[P99] = 20.0 + number / 100
            # Days that differ alike on both sides would be no noise.
            measure(system, [1000.0 + number], day=number if version == NEW else 4 - number, metrics=recorded)
    found = check.check(a_release(NEW), the_hardware())
    assert (set(verdicts(found)), found.result) == ({"client.throughput", P95, P99}, Result.FINE)
    Measurement.objects.filter(metric__key=P99, value=20.0, run__system__release__version=OLD).delete()
    found = check.check(a_release(NEW), the_hardware())
    assert (set(verdicts(found)), found.result) == ({"client.throughput", P95}, Result.FINE)


def test_a_worse_latency_is_a_change_of_the_releases_one_finding() -> None:
    releases(DOUBLED, p95=DOUBLED)
    compare(a_release(NEW), the_hardware())
    assert sorted(Change.objects.values_list("metric__key", "verdict")) == [(P95, "worse"), (P99, "worse")]
    assert Finding.objects.count() == 1


def at_a_rate(rate: float | None, *, recorded: bool = True) -> ReleaseCheck:
    """Throughput of 100/s in both; p95 and p99 of the newer one 13 % higher, by its interval up to 36 %. `recorded`: by
    both."""
    for version, latencies in ((OLD, (10.0, 10.6, 9.5)), (NEW, (11.3, 12.4, 10.3))):
        system = a_system_of(version)
        for day, value in enumerate(latencies):
            known = {P95: value, P99: value * 2} if recorded or version == OLD else None
            measure(system, [100 + day / 100], day=day, rate=rate, metrics=known)
    return check.check(a_release(NEW), the_hardware())


def test_at_a_fixed_rate_that_is_held_a_p95_that_may_be_a_third_worse_is_not_fine() -> None:
    found = at_a_rate(100.0)
    rows = {row.metric: row for row in found.rows}
    assert (rows["client.throughput"].verdict, rows[P95].verdict) == (RowVerdict.RATE_HELD, RowVerdict.INCONCLUSIVE)
    assert 0.3 < (rows[P95].worst or 0.0) < 0.5
    assert (rows[P95].primary, rows[P99].primary, found.result) == (True, False, Result.CANNOT_TELL)
    assert found.why == ("1 row is inconclusive, and may be worse by more than 10\u00a0%.",)


def test_without_a_rate_the_same_latency_is_judged_beside_throughput() -> None:
    found = at_a_rate(None)
    assert (found.result, [row.metric for row in found.rows if row.primary]) == (Result.FINE, ["client.throughput"])


def test_at_a_fixed_rate_a_margin_for_all_metrics_is_that_of_latency() -> None:
    every = {"workload": None, "metric": None, "smallest": 0.005, "significant": 1e-5, "by": a_user()}
    Threshold.objects.create(**every, margin=0.45)
    found = at_a_rate(100.0)
    assert (found.result, {row.metric: row.margin for row in found.rows}[P95]) == (Result.FINE, 0.45)


def test_at_a_fixed_rate_latency_that_only_the_older_release_recorded_is_missing() -> None:
    found = at_a_rate(100.0, recorded=False)
    assert verdicts(found) == {"client.throughput": "rate held", P95: "missing"}
    assert found.result is Result.CANNOT_TELL


@pytest.mark.parametrize(
    ("worst", "primary", "result"),
    [(0.3, True, Result.CANNOT_TELL), (0.3, False, Result.FINE), (0.6, False, Result.CANNOT_TELL)],
)
def test_an_inconclusive_latency_may_be_further_off_than_the_primary_metric(
    worst: float, primary: bool, result: Result
) -> None:
    row = a_row(RowVerdict.INCONCLUSIVE, worst=worst, primary=primary)
    assert answer([row], baseline=OLD, tolerance=0.1)[0] is result


def test_the_fingerprint_changes_with_the_verdict_of_a_latency() -> None:
    found = releases(SAME)
    changed = [replace(row, verdict=RowVerdict.WORSE) if row.metric == P99 else row for row in found.rows]
    assert fingerprint(replace(found, rows=tuple(changed))) != fingerprint(found)
    swapped = [replace(row, metric=P95 if row.metric == P99 else row.metric) for row in found.rows]
    assert fingerprint(replace(found, rows=tuple(swapped))) != fingerprint(found)
