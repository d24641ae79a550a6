"""Changes that were found become findings, once."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from django.db import connection

from apps.regressions.findings import activity, reconcile, review
from apps.regressions.findings.reconcile import DetectedChange, FindingKey
from apps.regressions.models import Change, Finding, Note
from tests.support.builders import a_metric, a_run, a_user, a_workload
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.django_db


@pytest.fixture
def detected(db: None) -> tuple[FindingKey, DetectedChange]:
    run = a_run()
    system = run.system
    metric = a_metric()
    place = FindingKey(
        "change", "sysbench", system.release.platform, system.hardware_class, system.release, system.release
    )
    return place, DetectedChange(
        kind="release",
        verdict="worse",
        system=system.pk,
        baseline_system=system.pk,
        workload=run.workload_id,
        load_level=run.load_level_id,
        metric=metric.pk,
        before=100.0,
        after=88.0,
        ratio=0.88,
        low=0.86,
        high=0.9,
        p=0.001,
    )


def _known() -> list[Change]:
    return list(Change.objects.all())


def _whats(finding: Finding) -> list[str]:
    return list(finding.notes.values_list("what", flat=True))


def test_a_change_that_is_reported_twice_is_one_finding(detected: tuple[FindingKey, DetectedChange]) -> None:
    reconcile.settle([detected])
    assert reconcile.settle([detected], looked_at=_known()) == []
    finding = Finding.objects.get()
    assert (finding.state, finding.verdict) == ("new", "worse")
    assert finding.largest == pytest.approx(0.12)
    assert "client.throughput −12\u00a0%" in finding.title
    assert _whats(finding) == ["found"]


def test_a_change_that_has_gone_asks_for_a_look_and_comes_back_as_it_was(
    detected: tuple[FindingKey, DetectedChange],
) -> None:
    reconcile.settle([detected])
    Finding.objects.update(state="confirmed")
    reconcile.settle([], looked_at=_known())
    finding = Finding.objects.get()
    assert (finding.state, finding.verdict) == ("verify", "gone")
    assert Change.objects.get().gone_at is not None
    reconcile.settle([detected], looked_at=_known())
    finding.refresh_from_db()
    assert (finding.state, finding.verdict) == ("confirmed", "worse")
    assert _whats(finding) == ["found", "gone", "state", "back", "state"]


def test_what_is_only_better_comes_back_too(detected: tuple[FindingKey, DetectedChange]) -> None:
    place, change = detected
    better = (place, replace(change, verdict="better", ratio=1.2, low=1.1, high=1.3))
    reconcile.settle([better])
    reconcile.settle([], looked_at=_known())
    assert Finding.objects.get().state == "verify"
    reconcile.settle([better], looked_at=_known())
    assert Finding.objects.get().state == "new"


@pytest.mark.parametrize("state", ["new", "confirmed", "accepted"])
def test_improvements_of_which_one_holds_ask_for_no_look(
    detected: tuple[FindingKey, DetectedChange], state: str
) -> None:
    place, change = detected
    better = replace(change, verdict="better", ratio=1.2, low=1.1, high=1.3)
    other = replace(better, workload=a_workload("oltp_insert").pk)
    reconcile.settle([(place, better), (place, other)])
    Finding.objects.update(state=state, reason="known", accepted_until="2099-01-01")
    reconcile.settle([(place, other)], looked_at=_known())
    assert (Finding.objects.get().state, Finding.objects.get().verdict) == (state, "better")
    reconcile.settle([], looked_at=_known())
    assert (Finding.objects.get().state, Finding.objects.get().verdict) == ("verify", "gone")


def test_a_deterioration_that_has_gone_asks_for_a_look_beside_an_improvement_that_holds(
    detected: tuple[FindingKey, DetectedChange],
) -> None:
    place, change = detected
    better = replace(change, verdict="better", ratio=1.2, workload=a_workload("oltp_insert").pk)
    reconcile.settle([detected, (place, better)])
    reconcile.settle([(place, better)], looked_at=_known())
    assert (Finding.objects.get().state, Finding.objects.get().verdict) == ("verify", "better")


@pytest.mark.parametrize("state", ["fixed", "not reproducible", "accepted"])
def test_another_change_for_the_worse_opens_a_closed_finding_again(
    detected: tuple[FindingKey, DetectedChange], state: str
) -> None:
    place, change = detected
    reconcile.settle([detected])
    Finding.objects.update(state=state, reason="known", accepted_until="2099-01-01")
    reconcile.settle([detected, (place, replace(change, workload=a_workload("oltp_insert").pk))])
    finding = Finding.objects.get()
    assert finding.changes.count() == 2
    assert finding.state == "new"
    assert _whats(finding)[-1] == "reopened"


@pytest.mark.parametrize(("ratio", "state"), [(0.86, "accepted"), (0.6, "new"), (0.95, "accepted")])
def test_what_grows_beyond_what_was_accepted_is_new_again(
    detected: tuple[FindingKey, DetectedChange], ratio: float, state: str
) -> None:
    place, change = detected
    (finding,) = reconcile.settle([detected])
    today = date(2026, 1, 1)
    review.accept(finding_id=finding.pk, by=a_user(), reason="the price of safety", until=today, today=today)
    again = replace(change, ratio=ratio, low=ratio - 0.02, high=ratio + 0.02)
    reconcile.settle([(place, again)])
    finding.refresh_from_db()
    assert finding.state == state
    reconcile.settle([(place, again)])
    assert finding.notes.filter(what="reopened").count() == (state == "new")


GROWN = "1 change grew from −5.0\u00a0% to −48\u00a0% since the finding was "


@pytest.mark.parametrize(
    ("state", "then", "said"),
    [
        ("accepted", "new", "accepted"),
        ("fixed", "new", "fixed"),
        ("not reproducible", "new", "dismissed as not reproducible"),
        ("confirmed", "confirmed", "confirmed"),
    ],
)
def test_what_grows_beyond_what_people_decided_about_is_reported_once(
    detected: tuple[FindingKey, DetectedChange], state: str, then: str, said: str
) -> None:
    place, change = detected
    small = replace(change, ratio=0.95, low=0.94, high=0.96)
    (finding,) = reconcile.settle([(place, small)])
    decide(finding, state)
    for ratio in (0.945, 0.52, 0.51):
        reconcile.settle([(place, replace(change, ratio=ratio, low=ratio - 0.01, high=ratio + 0.01))])
    finding.refresh_from_db()
    assert finding.state == then
    assert [activity.sentence(what=note.what, by="", text="", detail=note.detail) for note in _grown(finding)] == [
        GROWN + said
    ]
    assert finding.notes.filter(what="reopened").count() == (then == "new")


def test_a_confirmed_finding_tells_each_time_that_it_grows(detected: tuple[FindingKey, DetectedChange]) -> None:
    place, change = detected
    (finding,) = reconcile.settle([detected])
    decide(finding, "confirmed")
    for ratio in (0.7, 0.5, 0.6):
        reconcile.settle([(place, replace(change, ratio=ratio, low=ratio - 0.02, high=ratio + 0.02))])
    assert [(note.detail["from"], note.detail["to"]) for note in _grown(finding)] == [
        ("−12\u00a0%", "−30\u00a0%"),
        ("−30\u00a0%", "−50\u00a0%"),
    ]


def test_what_came_to_a_confirmed_finding_is_sent_when_it_grows(detected: tuple[FindingKey, DetectedChange]) -> None:
    place, change = detected
    (finding,) = reconcile.settle([detected])
    decide(finding, "confirmed")
    other = replace(change, workload=a_workload("oltp_insert").pk)
    for ratio in (0.88, 0.5):
        reconcile.settle([detected, (place, replace(other, ratio=ratio, low=ratio - 0.02, high=ratio + 0.02))])
    assert [note.detail["to"] for note in _grown(finding)] == ["−50\u00a0%"]


@pytest.mark.parametrize("how", ["it ended", "it was re-opened", "it is under review"])
def test_a_decision_that_holds_no_more_is_not_grown_beyond(
    detected: tuple[FindingKey, DetectedChange], how: str
) -> None:
    place, change = detected
    (finding,) = reconcile.settle([detected])
    decide(finding, "accepted")
    if how == "it ended":
        reconcile.expire_acceptances(today="2026-01-02")
    elif how == "it was re-opened":
        review.reopen(finding_id=finding.pk, by=a_user())
    else:
        review.set_state(finding_id=finding.pk, by=a_user(), state="under review")
    reconcile.settle([(place, replace(change, ratio=0.5, low=0.48, high=0.52))])
    assert not _grown(finding)


def decide(finding: Finding, state: str) -> None:
    if state == "accepted":
        today = date(2026, 1, 1)
        review.accept(finding_id=finding.pk, by=a_user(), reason="known", until=today, today=today)
    else:
        review.set_state(finding_id=finding.pk, by=a_user(), state=state)


def _grown(finding: Finding) -> list[Note]:
    return list(finding.notes.filter(what="grown"))


def test_a_merged_finding_takes_what_comes_later_along(detected: tuple[FindingKey, DetectedChange]) -> None:
    place, change = detected
    reconcile.settle([detected])
    reconcile.settle([(replace(place, family="other"), replace(change, workload=a_workload("oltp_insert").pk))])
    first, second = Finding.objects.order_by("id")
    second.changes.update(finding=first)
    Finding.objects.filter(pk=second.pk).update(merged_into=first)
    reconcile.settle([(replace(place, family="other"), replace(change, workload=a_workload("oltp_delete").pk))])
    assert (first.changes.count(), second.changes.count()) == (3, 0)


def test_an_acceptance_that_has_ended_is_a_new_finding_again(detected: tuple[FindingKey, DetectedChange]) -> None:
    reconcile.settle([detected])
    Finding.objects.update(state="accepted", reason="known", accepted_until="2026-01-31", owner=a_user())
    assert reconcile.expire_acceptances(today="2026-01-31") == 0
    assert reconcile.expire_acceptances(today="2026-02-01") == 1
    finding = Finding.objects.get()
    assert finding.state == "new"
    assert _whats(finding) == ["found", "reopened"]


@pytest.mark.parametrize(
    ("ratio", "direction", "verdict"),
    [(0.9, "higher", "worse"), (1.1, "higher", "better"), (0.9, "lower", "better"), (1.1, "lower", "worse")],
)
def test_what_is_worse_is_said_by_the_metrics_direction(ratio: float, direction: str, verdict: str) -> None:
    assert reconcile.verdict_of(ratio, direction) == verdict


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_make_no_twins(detected: tuple[FindingKey, DetectedChange]) -> None:
    problems: list[Any] = []
    together = threading.Barrier(2)

    def worker(settle: Callable[..., Any]) -> None:
        try:
            together.wait(timeout=LIMIT)
            settle([detected])
        except Exception as error:
            problems.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=worker, args=[reconcile.settle]) for _ in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(timeout=LIMIT)
    assert problems == []
    assert (Finding.objects.count(), Change.objects.count()) == (1, 1)
    assert _whats(Finding.objects.get()) == ["found"]


def test_a_change_without_a_ratio_is_named_by_its_values(detected: tuple[FindingKey, DetectedChange]) -> None:
    place, change = detected
    errors = a_metric("client.errors", unit="errors/s")
    known = replace(change, metric=errors.pk, before=0.0, after=23.4, ratio=None, low=None, high=None)
    reconcile.settle([(place, known)])
    assert "client.errors 0 → 23.4 errors/s" in Finding.objects.get().title.replace("\u00a0", " ")
