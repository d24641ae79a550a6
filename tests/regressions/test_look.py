"""Runs are looked at once they are complete: what they change becomes findings, once, whoever looks."""

import threading
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from apps.catalog.models import HardwareClass, Node
from apps.comparison import compare as comparison_compare
from apps.comparison.comparability.acknowledgements import acknowledge
from apps.regressions import look, thresholds
from apps.regressions.findings import review
from apps.regressions.models import Change, CheckedRelease, Finding, Looked, Pending, Trend
from apps.regressions.trends import follow
from apps.rig import services
from apps.runs.models import Run
from apps.runs.quality import exclusion
from tests.regressions.releases.released import (
    NEW,
    SLOWER,
    STEADY,
    a_release,
    a_system_of,
    measure,
    the_hardware,
    two_releases,
)
from tests.support.builders import START, a_metric, a_run, a_user, a_workload
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.django_db


def look_at_all() -> None:
    """As the beat does."""
    for run in look.due():
        look.look(run_id=run)
    look.check_pending()


def whats(finding: Finding) -> list[str]:
    return list(finding.notes.values_list("what", flat=True))


def test_a_slower_release_becomes_one_finding_however_often_it_is_looked_at() -> None:
    two_releases()
    look_at_all()
    finding = Finding.objects.get()
    assert finding.title.startswith("MariaDB 10.11.20: client.throughput −12\u00a0%, oltp_write_only")
    assert (finding.verdict, finding.baseline and finding.baseline.version) == ("worse", "10.11.19")
    assert Pending.objects.count() == 0
    for run in Run.objects.all():
        look.look(run_id=run.pk)
    look.check_pending()
    assert (Change.objects.count(), whats(Finding.objects.get())) == (1, ["found"])
    assert CheckedRelease.objects.get(release=a_release(NEW)).result == "regression"


def test_a_finding_updates_itself_with_the_repetitions_that_were_asked_for() -> None:
    two_releases()
    look_at_all()
    finding, was = Finding.objects.get(), Change.objects.get(kind="release")
    campaign = review.repeat(finding_id=finding.pk, by=a_user(), repetitions=3)
    values = {"system-10.11.19": 1000.5, "system-10.11.20": 905.0}
    sealed = [
        run
        for job in campaign.jobs.select_related("system", "workload").order_by("position")
        for run in measure(
            job.system,
            [values[job.system.slug] + job.repetition],
            workload=job.workload,
            job=job,
            day=2 + job.repetition,
        )
    ]
    look_at_all()
    change = Change.objects.get(kind="release")
    assert len(sealed) == 6
    assert {run.pk for run in sealed} < {*change.runs_before, *change.runs_after}
    assert (len(change.runs_before), len(change.runs_after)) == (6, 6)
    assert was.ratio == pytest.approx(0.88, abs=0.001)
    assert change.ratio == pytest.approx(0.8925, abs=0.001)
    assert (change.low, change.high) != (was.low, was.high)
    assert (change.low or 0) < (change.ratio or 0) < (change.high or 0)
    finding.refresh_from_db()
    assert "−11\u00a0%" in finding.title
    assert finding.largest == pytest.approx(0.1075, abs=0.001)
    assert whats(finding) == ["found", "repetitions"]


def test_a_release_without_a_difference_has_no_finding() -> None:
    two_releases(after=STEADY[::-1])
    look_at_all()
    assert not Finding.objects.exists()
    assert CheckedRelease.objects.get(release=a_release(NEW)).result == "fine"


def test_runs_that_are_left_out_never_count_so_that_the_finding_asks_for_a_look() -> None:
    _, new = two_releases()
    slow = list(Run.objects.filter(system=new))
    look_at_all()
    by = a_user()
    for run in slow:
        exclusion.exclude(run=run, reason="the disk was full", by=by)
    measure(new)
    look_at_all()
    finding = Finding.objects.get()
    assert (finding.state, finding.verdict) == ("verify", "gone")
    for run in slow:
        exclusion.count_again(run=run, by=by)
    Run.objects.filter(system=new).exclude(pk__in=[run.pk for run in slow]).update(is_excluded=True)
    look_at_all()
    finding.refresh_from_db()
    assert (finding.state, finding.verdict) == ("new", "worse")
    assert whats(finding) == ["found", "gone", "state", "back", "reopened"]


def test_runs_of_a_baseline_that_come_later_have_the_newer_release_compared_anew() -> None:
    measure(a_system_of(NEW), SLOWER)
    look_at_all()
    assert CheckedRelease.objects.get().result == "cannot tell"
    measure(a_system_of("10.11.19"))
    look_at_all()
    assert CheckedRelease.objects.get(release=a_release(NEW)).result == "regression"
    assert Finding.objects.count() == 1


def test_synthetic_runs_and_examples_become_findings_only_when_they_are_asked_for() -> None:
    two_releases()
    Run.objects.update(provenance="rig")
    look_at_all()
    assert not Finding.objects.exists()
    assert not look.look(run_id=Run.objects.earliest("pk").pk)
    look.compare(a_release(NEW), the_hardware(), synthetic=True)
    assert Finding.objects.count() == 1


def test_a_run_is_looked_at_again_once_it_was_sealed_again_and_not_before() -> None:
    run = a_run()
    unfinished = a_run(state="open", outcome="", ended_at=None, sealed_at=None)
    assert look.due() == [run.pk]
    assert not look.look(run_id=unfinished.pk)
    look.look(run_id=run.pk)
    assert look.due() == []
    Run.objects.filter(pk=run.pk).update(sealed_at=run.ended_at)
    assert look.due() == [run.pk]


def test_a_run_that_is_sealed_again_as_a_failure_no_longer_counts_in_trend_gate_and_finding() -> None:
    _, new = two_releases()
    latency = a_metric("client.latency.p95", direction="lower", unit="ms")
    failed = measure(new, SLOWER, metrics={latency.key: 5.0}, day=5)
    look_at_all()
    assert [trend.analysed for trend in Trend.objects.order_by("metric__direction")] == [9, 3]
    slow = list(Run.objects.filter(system=new).exclude(pk__in=[run.pk for run in failed]))
    for run in (*failed, *slow):
        run.measurements.all().delete()
        Run.objects.filter(pk=run.pk).update(outcome="failed", reason="no totals", sealed_at=run.ended_at)
    look_at_all()
    assert [trend.analysed for trend in Trend.objects.order_by("metric__direction")] == [3, 0]
    assert CheckedRelease.objects.get(release=a_release(NEW)).result == "cannot tell"
    finding = Finding.objects.get()
    assert (finding.state, finding.verdict) == ("verify", "gone")


def test_a_release_that_cannot_be_compared_stays_marked_and_holds_no_other_up(monkeypatch: pytest.MonkeyPatch) -> None:
    two_releases()
    measure(a_system_of("10.11.21"))
    for run in look.due():
        look.look(run_id=run)
    compare = look.compare

    def failing(release: Any, hardware_class: Any) -> Any:
        if release.version == NEW:
            raise RuntimeError("broken")
        return compare(release, hardware_class)

    monkeypatch.setattr(look, "compare", failing)
    look.check_pending()
    assert [mark.release.version for mark in Pending.objects.all()] == [NEW]
    assert CheckedRelease.objects.filter(release__version="10.11.21").exists()


def test_a_run_whose_trend_fails_does_not_have_its_release_compared_at_each_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two_releases()

    def failing(run_id: int) -> None:
        raise RuntimeError("broken")

    with monkeypatch.context() as patched:
        patched.setattr(follow, "follow_run", failing)
        for run in look.due():
            with pytest.raises(RuntimeError):
                look.look(run_id=run)
        assert (look.check_pending(), len(look.due())) == (0, 6)
    look_at_all()
    assert CheckedRelease.objects.get(release=a_release(NEW)).result == "regression"


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_look_at_the_same_runs_at_once_make_no_twins() -> None:
    _, new = two_releases()
    for threads in (8, 16):
        for system, values in zip(
            Run.objects.values_list("system", flat=True).distinct(), (STEADY, SLOWER), strict=False
        ):
            measure(type(new).objects.get(pk=system), values, threads=threads)
    problems: list[Any] = []
    together = threading.Barrier(2)

    def worker(work: Callable[[], None]) -> None:
        try:
            together.wait(timeout=LIMIT)
            work()
        except Exception as error:
            problems.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=worker, args=[look_at_all]) for _ in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(timeout=LIMIT)
    # What was marked while the other compared is compared once more.
    look.check_pending()
    assert problems == []
    assert Looked.objects.count() == Run.objects.count() == 18
    assert (Finding.objects.count(), Change.objects.count()) == (1, 3)
    assert Finding.objects.get().changes.filter(gone_at=None).count() == 3


def test_a_threshold_that_is_set_has_releases_compared_by_it() -> None:
    two_releases()
    look_at_all()
    thresholds.keep(workload=None, metric=None, smallest=0.2, significant=1e-5, by=a_user())
    look_at_all()
    assert Finding.objects.get().state == "verify"
    assert CheckedRelease.objects.get(release=a_release(NEW)).result == "fine"


def test_a_verdict_that_was_withheld_is_given_once_people_accept_in_what_the_sides_differ() -> None:
    old, new = two_releases()
    large = HardwareClass.objects.create(slug="large", name="large")
    Node.objects.create(system=new, name="db2", role="reader", hardware_class=large)
    Node.objects.create(system=old, name="db2", role="reader", hardware_class=old.hardware_class)
    look_at_all()
    kept = CheckedRelease.objects.get(release=a_release(NEW))
    assert (kept.result, kept.counts["verdict withheld"]) == ("cannot tell", 1)
    comparison = comparison_compare.compare(sides=[old.slug, new.slug], workload_id=a_workload().pk)
    acknowledge(differences=comparison.obstacles, by=a_user(), reason="readers are idle")
    look.check_pending()
    assert Finding.objects.get().verdict == "worse"


def test_what_was_found_of_synthetic_runs_goes_with_them_and_nothing_else_does() -> None:
    two_releases()
    look_at_all()
    for version, values in (("11.4.1", STEADY), ("11.4.2", SLOWER)):
        measure(a_system_of(version, f"rig-{version}", settings={"made": "up"}), values, provenance="rig")
    out = StringIO()
    call_command("find_regressions", "--synthetic", stdout=out)
    assert out.getvalue() == "0 runs analysed, 2 releases compared, 1 finding new\n"
    assert list(services.remove()) == [6]
    assert [finding.release and finding.release.version for finding in Finding.objects.all()] == [NEW]
    assert CheckedRelease.objects.filter(release__version__startswith="11.4").count() == 0
    assert CheckedRelease.objects.filter(release__version=NEW).exists()


def test_synthetic_findings_that_were_merged_one_into_the_other_go_too() -> None:
    findings = []
    for version, values in (("11.4.1", STEADY), ("11.4.2", SLOWER), ("11.4.3", (700.0, 701.0, 699.0))):
        measure(a_system_of(version, f"rig-{version}"), values, provenance="rig")
    for version in ("11.4.2", "11.4.3"):
        look.compare(a_release(version), the_hardware(), synthetic=True)
        findings.append(Finding.objects.latest("pk"))
    last = Finding.objects.create(kind="change", platform=findings[0].platform, verdict="gone", changed_at=START)
    for finding, into in zip(findings, [findings[1], last], strict=True):
        review.merge(finding_id=finding.pk, into_id=into.pk, by=a_user())
    assert list(services.remove()) == [9]
    assert not Finding.objects.exists()
