"""Stalls and work per transaction are judged beside throughput, and corrected with it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import numpy as np
import pytest

from apps.catalog import services as catalog
from apps.catalog.models import System
from apps.comparison.tables.dips_and_work import DIPS, METRICS
from apps.regressions.api import evidence
from apps.regressions.findings.queries import load_finding
from apps.regressions.look import compare
from apps.regressions.models import Change, Finding
from apps.regressions.releases import check
from apps.regressions.releases.values import CheckRow, ReleaseCheck, Result, answer
from apps.regressions.releases.values import RowVerdict as Word
from tests.comparison.sampled import a_node, a_sampled_run, seconds_of
from tests.regressions.releases.released import NEW, OLD, STEADY, a_release, a_row, a_system_of, measure, the_hardware
from tests.support.builders import START, a_load_level, a_workload

pytestmark = pytest.mark.django_db
TPS, FSYNCS, ROWS = "client.throughput", "work.fsyncs", "work.rows.asked"


@pytest.fixture(autouse=True)
def seeded(db: None) -> None:
    catalog.metrics_for(sorted(metric.key for metric in METRICS))


def a_run(system: System, value: float, *, day: int, stalled: int = 0, work: Mapping[str, float] | None = None) -> None:
    """A minute; `stalled` of its seconds do nothing. `work` per transaction: counter -> amount."""
    clock = np.arange(61.0)
    seconds = [value] * 60
    seconds[20 : 20 + stalled] = [0.0] * stalled
    counters = {
        f"mysql.status.{key}": (clock * value * amount).astype(np.int64) for key, amount in (work or {}).items()
    }
    a_sampled_run(
        [seconds_of(seconds), *([a_node("db1", clock, counters)] if counters else [])],
        {TPS: value},
        system=system,
        workload=a_workload(),
        load_level=a_load_level(4),
        started_at=START + timedelta(days=day),
        ended_at=START + timedelta(days=day, minutes=1),
        duration=60,
        repetition=day + 1,
    )


def releases(
    *, stalled: tuple[Sequence[int], Sequence[int]] = ((0,) * 3, (0,) * 3), work: tuple[float, float] | None = None
) -> ReleaseCheck:
    """The same throughput in three sessions of both; work as fsyncs per transaction."""
    for version, values, stalls, own in (
        (OLD, STEADY, stalled[0], work and work[0]),
        (NEW, STEADY[::-1], stalled[1], work and work[1]),
    ):
        system = a_system_of(version)
        for day, (value, seconds) in enumerate(zip(values, stalls, strict=True)):
            spent = None if own is None else {"Innodb_data_fsyncs": own * (1 + day / 100), "Handler_read_key": 10.0}
            a_run(system, value, day=day, stalled=seconds, work=spent)
    return check.check(a_release(NEW), the_hardware())


def row(found: ReleaseCheck, metric: str) -> CheckRow:
    return next(each for each in found.rows if each.metric == metric)


def test_a_release_that_keeps_its_throughput_and_stalls_in_each_run_is_a_regression() -> None:
    found = releases(stalled=((0, 0, 0), (20, 22, 21)))
    dips = row(found, DIPS)
    assert (row(found, TPS).verdict, found.result) == (Word.UNCHANGED, Result.REGRESSION)
    assert (dips.verdict, dips.kind, dips.ratio, dips.before) == (Word.WORSE, "time in dips", None, 0.0)
    assert dips.after == pytest.approx(35.0, rel=0.01)  # geometric mean
    assert dips.reason.startswith(
        "63 s in dips of 180 s, in 3 of 3 runs; of the baseline 0 of 180, in 0 of 3; at most "
    )


def test_releases_that_never_stall_have_no_row_of_stalls() -> None:
    found = releases()
    assert ({each.metric for each in found.rows}, found.result) == ({TPS}, Result.FINE)


def test_stalls_of_a_single_run_pass() -> None:
    found = releases(stalled=((0, 0, 0), (0, 6, 0)))
    assert (row(found, DIPS).verdict, found.result) == (Word.INCONCLUSIVE, Result.FINE)


def test_stalls_that_are_more_by_themselves_are_named() -> None:
    rows = [a_row(Word.INCONCLUSIVE, metric=DIPS, primary=False, suspect=True), a_row(Word.UNCHANGED)]
    result, why = answer(rows, baseline=OLD, tolerance=0.1)
    assert (result, why[0]) == (Result.FINE, "1 row of time in dips is more by itself, though not among all rows.")


def test_three_times_the_fsyncs_per_transaction_are_a_regression_with_their_interval() -> None:
    found = releases(work=(1.0, 3.0))
    fsyncs = row(found, FSYNCS)
    assert (fsyncs.verdict, fsyncs.kind, found.result) == (Word.WORSE, "work per transaction", Result.REGRESSION)
    assert fsyncs.ratio == pytest.approx(3.0, rel=0.01)
    assert fsyncs.low is not None
    assert 2.5 < fsyncs.low < 3.0
    assert row(found, TPS).verdict is Word.UNCHANGED
    assert row(found, ROWS).verdict is Word.UNCHANGED


@pytest.mark.parametrize("after", [1.05, 1.0])
def test_a_few_per_cent_more_work_is_no_regression(after: float) -> None:
    assert releases(work=(1.0, after)).result is Result.FINE


def test_what_background_work_needs_is_no_row() -> None:
    found = releases(work=(0.01, 0.04))
    assert FSYNCS not in {each.metric for each in found.rows}


def test_work_that_background_alone_may_explain_on_one_side_has_no_ratio() -> None:
    found = releases(work=(0.01, 3.0))
    fsyncs = row(found, FSYNCS)
    assert (fsyncs.verdict, fsyncs.ratio, fsyncs.low) == (Word.WORSE, None, None)
    assert "a run needs less than 0.05 fsyncs, which background work explains" in fsyncs.reason
    assert fsyncs.before == pytest.approx(0.01, rel=0.02)


def test_twice_the_write_downtime_of_a_rejoin_is_a_regression() -> None:
    for version, outages in ((OLD, (2.0, 2.1, 1.9)), (NEW, (4.0, 4.1, 3.9))):
        system = a_system_of(version)
        for day, (value, outage) in enumerate(zip(STEADY, outages, strict=True)):
            measure(system, [value], day=day, metrics={"failover.rejoin_outage": outage})
    downtime = row(check.check(a_release(NEW), the_hardware()), "failover.rejoin_outage")
    assert (downtime.verdict, downtime.kind) == (Word.WORSE, "write downtime")


def test_a_finding_of_stalls_or_work_shows_the_values_of_its_runs() -> None:
    releases(stalled=((0, 0, 0), (20, 22, 21)), work=(1.0, 3.0))
    compare(a_release(NEW), the_hardware())
    assert set(Change.objects.values_list("metric__key", flat=True)) == {DIPS, FSYNCS}
    found = load_finding(Finding.objects.get().pk, now=START)
    assert found is not None
    for change in found.changes:
        shown = evidence.gather(change)
        assert all(run.value is not None for run in shown.runs), change.metric
