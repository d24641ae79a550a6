"""What people do with findings: legal, notified, and never over somebody else's head."""

import dataclasses
import threading
from datetime import date, datetime
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.accounts.models import User
from apps.core.problems import Invalid
from apps.dispatch.models import Job
from apps.regressions.findings import queries, reconcile, repeat, review
from apps.regressions.models import Finding
from apps.regressions.releases import check as releases_check
from apps.regressions.releases import stored_checks
from tests.regressions.a_finding import a_detected_change, a_finding, a_pair, gone
from tests.support.builders import a_campaign, a_user
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.django_db
TODAY, LATER = date(2026, 3, 1), date(2026, 6, 30)


@pytest.fixture
def alice(db: None) -> User:
    return a_user(username="alice")


@pytest.fixture
def bob(db: None) -> User:
    return a_user(username="bob")


def _seen(finding: Finding) -> datetime:
    seen = parse_datetime(queries.load_rows([finding.pk])[finding.pk].seen)
    assert seen is not None
    return seen


def _history(finding: Finding) -> list[str]:
    detail = queries.load_finding(finding.pk, now=timezone.now())
    assert detail is not None
    return [note.sentence for note in detail.notes]


def _accept(finding: Finding, by: User, **fields: Any) -> Finding:
    given: dict[str, Any] = {"reason": "known trade-off", "until": LATER, "today": TODAY, **fields}
    return review.accept(finding_id=finding.pk, by=by, **given)


def test_the_whole_history_of_a_finding_says_who_did_what(alice: User, bob: User) -> None:
    finding = a_finding()
    review.assign(finding_id=finding.pk, by=alice, owner=alice)
    review.set_state(finding_id=finding.pk, by=alice, state="confirmed", reason="three machines agree")
    review.set_due(finding_id=finding.pk, by=bob, due_on=LATER, today=TODAY)
    review.set_labels(finding_id=finding.pk, by=bob, labels=["redo", " commit "])
    _accept(finding, bob)
    review.reopen(finding_id=finding.pk, by=alice, reason="worse than thought")
    assert _history(finding) == [
        "Splashboard found 1 change",
        "alice assigned it to alice",
        "alice set it from new to confirmed: three machines agree",
        "bob set its due date to 2026-06-30",
        "bob labelled it “commit”, “redo”",
        "bob set it from confirmed to accepted until 2026-06-30: known trade-off",
        "alice re-opened it; it was accepted: worse than thought",
    ]
    finding.refresh_from_db()
    assert (finding.state, finding.accepted_until, finding.owner, finding.labels) == (
        *("new", None, alice),
        ["commit", "redo"],
    )


def test_the_later_of_two_people_sees_what_happened_and_changes_nothing(alice: User, bob: User) -> None:
    finding = a_finding()
    seen = _seen(finding)
    review.set_state(finding_id=finding.pk, by=alice, state="not reproducible", reason="noise", seen=seen)
    with pytest.raises(review.FindingChanged, match="alice set it from new to not reproducible: noise"):
        review.set_state(finding_id=finding.pk, by=bob, state="confirmed", seen=seen)
    finding.refresh_from_db()
    assert finding.state == "not reproducible"


def test_a_comment_of_somebody_else_stands_in_nobodys_way(alice: User, bob: User) -> None:
    finding = a_finding()
    seen = _seen(finding)
    review.comment(finding_id=finding.pk, by=alice, text="I am looking")
    review.link(finding_id=finding.pk, by=alice, url="https://jira.mariadb.org/browse/MDEV-1")
    review.set_state(finding_id=finding.pk, by=bob, state="confirmed", seen=seen)
    finding.refresh_from_db()
    assert finding.state == "confirmed"


def test_new_results_meanwhile_are_shown_before_an_acceptance(alice: User) -> None:
    pair = a_pair()
    finding = a_finding(pair=pair)
    seen = _seen(finding)
    reconcile.settle([a_detected_change(*pair, test="oltp_insert", ratio=0.5)])
    with pytest.raises(review.FindingChanged, match="found 1 change"):
        _accept(finding, alice, seen=seen)


@pytest.mark.django_db(transaction=True)
def test_of_two_people_at_the_same_moment_one_wins_and_the_other_is_refused() -> None:
    finding = a_finding()
    people = [a_user(username="first"), a_user(username="second")]
    seen, together = _seen(finding), threading.Barrier(2)
    notified: list[str] = []

    def take(person: User) -> None:
        try:
            together.wait(timeout=LIMIT)
            review.assign(finding_id=finding.pk, by=person, owner=person, seen=seen)
        except review.FindingChanged as changed:
            notified.append(str(changed))
        finally:
            connection.close()

    threads = [threading.Thread(target=take, args=[person]) for person in people]
    for each in threads:
        each.start()
    for each in threads:
        each.join(timeout=LIMIT)
    finding.refresh_from_db()
    assert finding.owner in people
    assert len(notified) == 1
    assert f"assigned it to {finding.owner}" in notified[0]


@pytest.mark.parametrize(
    ("was", "state"),
    [("new", "accepted"), ("new", "verify"), ("fixed", "confirmed"), ("not reproducible", "new"), ("new", "solved")],
)
def test_a_state_that_does_not_follow_is_refused_with_what_does(alice: User, was: str, state: str) -> None:
    finding = a_finding(state=was)
    with pytest.raises(Invalid, match="does not follow") as refused:
        review.set_state(finding_id=finding.pk, by=alice, state=state)
    assert refused.value.errors[0].remedy
    finding.refresh_from_db()
    assert finding.state == was


def test_an_acceptance_has_a_reason_and_an_end_that_is_to_come(alice: User) -> None:
    finding = a_finding()
    with pytest.raises(Invalid) as refused:
        _accept(finding, alice, reason=" ", until=date(2026, 2, 28))
    assert [error.field for error in refused.value.errors] == ["reason", "until"]
    with pytest.raises(Invalid, match="not acceptable"):
        _accept(a_finding(state="verify"), alice)


def test_nobody_is_made_owner_who_may_not_act(alice: User) -> None:
    with pytest.raises(Invalid, match="may not work on findings"):
        review.assign(finding_id=a_finding().pk, by=alice, owner=a_user(role="reader"))


@pytest.mark.parametrize(
    ("due_on", "message"),
    [(date(2026, 2, 28), "due_on: 2026-02-28 has passed"), (date(2036, 3, 2), "is more than ten years away")],
)
def test_a_due_date_that_has_passed_or_is_many_years_away_is_refused(alice: User, due_on: date, message: str) -> None:
    finding = a_finding()
    with pytest.raises(Invalid, match=message):
        review.set_due(finding_id=finding.pk, by=alice, due_on=due_on, today=TODAY)
    assert Finding.objects.get().due_on is None
    review.set_due(finding_id=finding.pk, by=alice, due_on=date(2036, 2, 28), today=TODAY)


def test_a_due_date_that_has_passed_since_it_was_set_may_stay(alice: User) -> None:
    finding = a_finding(due_on=date(2026, 2, 1))
    assert review.set_due(finding_id=finding.pk, by=alice, due_on=finding.due_on, today=TODAY).due_on
    assert review.set_due(finding_id=finding.pk, by=alice, due_on=None, today=TODAY).due_on is None


def test_a_comment_knows_whom_it_mentions(alice: User, bob: User) -> None:
    a_user(username="left", is_active=False)
    text = "@bob, ask @alice. Not @left, @nobody, mail@bob or @@bob."
    note = review.comment(finding_id=a_finding().pk, by=alice, text=text)
    assert [user.username for user in note.mentions.order_by("username")] == ["alice", "bob"]
    assert review.unknown_mentions(note) == ["left", "nobody"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "", "ftp://a.example/1", "https://a.example/" + "x" * 500])
def test_only_web_pages_are_linked(alice: User, url: str) -> None:
    with pytest.raises(Invalid, match="not a web address"):
        review.link(finding_id=a_finding().pk, by=alice, url=url)


def test_a_link_is_kept_once_and_taken_away_with_a_note(alice: User) -> None:
    finding = a_finding()
    made = [review.link(finding_id=finding.pk, by=alice, url="https://a.example/1") for _ in range(2)]
    assert made[0] == made[1]
    review.unlink(finding_id=finding.pk, by=alice, link_id=made[0].pk)
    with pytest.raises(review.NoSuchFinding):
        review.unlink(finding_id=finding.pk, by=alice, link_id=made[0].pk)
    assert _history(finding)[1:] == ["alice linked https://a.example/1", "alice unlinked https://a.example/1"]


# ---------------------------------------------------------------- merging and splitting


def test_a_merged_finding_leaves_the_list_and_its_changes_go_on(alice: User) -> None:
    first, second = a_finding(), a_finding("oltp_insert", pair=a_pair(version="10.11.21"), ratio=0.5)
    review.merge(finding_id=second.pk, into_id=first.pk, by=alice)
    (row,) = queries.list_findings(queries.FindingFilter())
    assert (row.id, row.changes) == (first.pk, 2)
    assert row.largest == pytest.approx(0.5)
    detail = queries.load_finding(second.pk, now=timezone.now())
    assert detail is not None
    assert (detail.row.merged_into, detail.row.verdict, detail.changes) == (first.pk, "gone", ())
    with pytest.raises(Invalid, match=f"merged into finding {first.pk}"):
        review.set_state(finding_id=second.pk, by=alice, state="confirmed")


@pytest.mark.parametrize("state", ["accepted", "fixed", "verify"])
def test_what_is_merged_into_a_decided_finding_is_not_decided_with_it(alice: User, state: str) -> None:
    decided = a_finding(state=state, reason="known", accepted_until=LATER)
    other = a_finding(pair=a_pair(version="10.11.21"))
    assert review.merge(finding_id=other.pk, into_id=decided.pk, by=alice).state == "new"
    decided.refresh_from_db()
    assert (decided.state, decided.reason) == ("new", "")


def test_a_finding_is_not_merged_into_itself_nor_across_kinds(alice: User) -> None:
    finding = a_finding()
    missing = Finding.objects.create(kind="missing", title="x", verdict="missing", changed_at=timezone.now())
    for into in (finding.pk, missing.pk):
        with pytest.raises(Invalid):
            review.merge(finding_id=finding.pk, into_id=into, by=alice)
    finding.refresh_from_db()
    assert finding.merged_into is None


def test_a_split_finding_is_reviewed_by_itself_and_found_no_second_time(alice: User) -> None:
    pair = a_pair()
    finding = a_finding("oltp_write_only", "oltp_insert", pair=pair, owner=alice, state="confirmed")
    first, second = finding.changes.order_by("id")
    made = review.split(finding_id=finding.pk, change_ids=[second.pk], by=alice)
    assert (made.part, made.state, made.owner, made.verdict) == (1, "confirmed", alice, "worse")
    again = [a_detected_change(*pair, test=test) for test in ("oltp_write_only", "oltp_insert")]
    reconcile.settle(again, looked_at=[first, second])
    assert Finding.objects.count() == 2
    assert [each.finding_id for each in (first, second)] == [finding.pk, finding.pk]
    second.refresh_from_db()
    assert second.finding_id == made.pk
    review.set_state(finding_id=made.pk, by=alice, state="fixed")
    finding.refresh_from_db()
    assert finding.state == "confirmed"


def test_what_is_left_after_a_split_asks_for_a_look_when_it_has_gone(alice: User) -> None:
    pair = a_pair()
    finding = a_finding("oltp_write_only", "oltp_insert", pair=pair)
    first, second = finding.changes.order_by("id")
    reconcile.settle([], looked_at=[first])
    review.split(finding_id=finding.pk, change_ids=[second.pk], by=alice)
    finding.refresh_from_db()
    assert (finding.verdict, finding.state) == ("gone", "verify")


def test_a_split_takes_some_of_its_own_changes_and_leaves_some(alice: User) -> None:
    finding = a_finding("oltp_write_only", "oltp_insert")
    own = list(finding.changes.values_list("id", flat=True))
    for wrong in ([], own, [*own[:1], 0]):
        with pytest.raises(Invalid, match="changes"):
            review.split(finding_id=finding.pk, change_ids=wrong, by=alice)


# ---------------------------------------------------------------- measuring again


def test_both_sides_are_measured_again_as_they_were_in_turns(alice: User) -> None:
    pair = a_pair()
    finding = a_finding("oltp_write_only", "oltp_insert", pair=pair)
    campaign = review.repeat(finding_id=finding.pk, by=alice)
    assert campaign.repetitions == 3
    assert {(entry.warmup, entry.duration) for entry in campaign.entries.all()} == {(5.0, 30.0)}
    jobs = Job.objects.filter(campaign=campaign, workload__name="oltp_insert").order_by("position")
    before, after = pair
    assert [job.system for job in jobs] == [before, after, after, before, before, after]
    detail = queries.load_finding(finding.pk, now=timezone.now())
    assert detail is not None
    (repetition,) = detail.repetitions
    assert (repetition.campaign, repetition.words) == (campaign.pk, "waiting, 0 of 12 runs")
    assert _history(finding)[-1] == f"alice asked for 3 more repetitions (campaign {campaign.pk})"


def test_one_press_too_many_schedules_nothing_twice(alice: User) -> None:
    finding = a_finding()
    campaign = review.repeat(finding_id=finding.pk, by=alice, repetitions=4)
    with pytest.raises(Invalid, match=f"campaign {campaign.pk} is already measuring them again"):
        review.repeat(finding_id=finding.pk, by=alice)
    assert finding.repetitions.count() == 1
    assert review.plan_of(finding.pk).under_way == campaign.pk


def test_as_many_repetitions_are_proposed_as_the_last_comparison_says_are_missing(alice: User) -> None:
    pair = a_pair()
    finding = a_finding(pair=pair)
    gone(finding)
    check = releases_check.check(pair[1].release, pair[1].hardware_class)
    (row,) = check.rows
    stored_checks.keep(dataclasses.replace(check, rows=(dataclasses.replace(row, needed=9),)))
    plan = review.plan_of(finding.pk)
    assert (plan.repetitions, plan.why) == (7, "needed for a verdict")  # two on each side are there
    stored_checks.keep(dataclasses.replace(check, rows=(dataclasses.replace(row, needed=1001),)))
    plan = review.plan_of(finding.pk)
    assert (plan.repetitions, plan.why) == (repeat.MOST, "at most 10 at once; 999 would be needed for a verdict")
    other = dataclasses.replace(row, metric_id=row.metric_id + 1, needed=174)
    stored_checks.keep(dataclasses.replace(check, rows=(dataclasses.replace(row, needed=None), other)))
    assert review.plan_of(finding.pk).repetitions == repeat.FEWEST


def test_only_what_still_holds_is_measured_again(alice: User) -> None:
    finding = a_finding("oltp_write_only", "oltp_insert")
    reconcile.settle([], looked_at=[finding.changes.order_by("id")[0]])
    plan = review.plan_of(finding.pk)
    assert [entry.workload.name for entry in plan.entries if entry.workload] == ["oltp_insert"]
    gone(finding)
    assert len(review.plan_of(finding.pk).entries) == 2


def test_what_no_agent_can_measure_is_said(alice: User) -> None:
    finding = a_finding()
    finding.changes.update(runs_before=[], runs_after=[])
    with pytest.raises(Invalid, match="the measurement parameters of these changes are unknown"):
        review.repeat(finding_id=finding.pk, by=alice)
    a_campaign()
    assert not finding.repetitions.exists()
