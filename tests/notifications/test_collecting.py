"""What happens to findings becomes deliveries: to who asked, once, when it is due."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from apps.notifications import collect, services
from apps.notifications.models import Delivery, Notice, Subscription
from apps.regressions.findings import reconcile, review
from apps.regressions.models import Note
from tests.notifications.made import a_finding, a_note, a_subscription, a_team
from tests.regressions.a_finding import a_finding as with_changes
from tests.support.builders import a_user

pytestmark = pytest.mark.django_db


def delivered() -> list[Delivery]:
    collect.collect()
    collect.bundle(now=timezone.now())
    return list(Delivery.objects.order_by("pk"))


def events_of(subscription: Subscription) -> list[str]:
    return list(Notice.objects.filter(subscription=subscription).order_by("pk").values_list("event", flat=True))


def test_a_finding_is_sent_once_however_often_is_looked() -> None:
    subscription = a_subscription()
    finding = a_finding()
    a_note(finding)
    (delivery,) = delivered()
    assert delivery.subscription == subscription
    (about,) = delivery.content["body"]["findings"]
    assert (about["id"], about["largest"], about["state"]) == (finding.pk, 0.12, "new")
    assert [each["words"] for each in about["events"]] == ["Splashboard found 1 change"]
    assert delivered() == [delivery]


def test_what_happens_together_is_one_delivery_and_later_things_another() -> None:
    a_subscription()
    first, second = a_finding(), a_finding()
    a_note(first)
    a_note(second)
    a_note(first, "reopened", was="fixed", to="new")
    (delivery,) = delivered()
    about = delivery.content["body"]["findings"]
    assert [(each["id"], [event["event"] for event in each["events"]]) for each in about] == [
        (first.pk, ["found", "reopened"]),
        (second.pk, ["found"]),
    ]
    a_note(second, "state", by=a_user(), was="new", to="confirmed")
    assert len(delivered()) == 2


def test_only_what_is_asked_for_is_sent() -> None:
    small = a_subscription(asks={"smallest": 0.2})
    missing = a_subscription(asks={"kind": "missing"})
    verify = a_subscription(events=["verify"])
    comments = a_subscription(events=["comment"])
    finding = a_finding()
    a_note(finding)
    a_note(finding, "labels", by=a_user(), to=["x"])
    a_note(finding, "comment", by=a_user(), text="odd")
    a_note(finding, "state", was="new", to="verify")
    a_note(a_finding(kind="missing", verdict="missing", largest=None))
    delivered()
    assert events_of(small) == []
    assert events_of(missing) == ["found"]
    assert events_of(verify) == ["verify"]
    assert events_of(comments) == ["comment"]


def test_what_the_system_moves_back_is_reopened() -> None:
    subscription = a_subscription()
    a_note(a_finding(), "state", was="verify", to="confirmed")
    delivered()
    assert events_of(subscription) == ["reopened"]


def test_nothing_from_before_the_subscription_is_sent_nor_what_happened_while_it_was_off() -> None:
    a_note(a_finding())
    subscription = a_subscription()
    assert delivered() == []
    switch(subscription, is_enabled=False)
    a_note(a_finding())
    switch(subscription, is_enabled=True)
    assert delivered() == []
    a_note(a_finding())
    assert len(delivered()) == 1


def switch(subscription: Subscription, *, is_enabled: bool) -> None:
    services.keep_subscription(
        subscription_id=subscription.pk,
        by=subscription.created_by,
        team=subscription.team_id,
        kind=subscription.kind,
        address=subscription.address,
        events=subscription.events,
        asks=subscription.asks,
        digest=subscription.digest,
        hour=subscription.hour,
        zone=subscription.zone,
        is_enabled=is_enabled,
    )


def test_what_waits_is_given_up_when_a_subscription_is_switched_off() -> None:
    subscription = a_subscription()
    a_note(a_finding())
    delivered()
    switch(subscription, is_enabled=False)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.answer) == ("given up", "the subscription was disabled")


@pytest.mark.parametrize(
    ("digest", "now", "expected"),
    [
        ("daily", datetime(2026, 3, 4, 8, tzinfo=UTC), datetime(2026, 3, 4, 5, tzinfo=UTC)),
        ("daily", datetime(2026, 3, 4, 4, tzinfo=UTC), datetime(2026, 3, 3, 5, tzinfo=UTC)),
        # In summer time Helsinki's seven o'clock is an hour earlier.
        ("daily", datetime(2026, 7, 4, 8, tzinfo=UTC), datetime(2026, 7, 4, 4, tzinfo=UTC)),
        ("weekly", datetime(2026, 3, 4, 8, tzinfo=UTC), datetime(2026, 3, 2, 5, tzinfo=UTC)),
        ("weekly", datetime(2026, 3, 2, 4, tzinfo=UTC), datetime(2026, 2, 23, 5, tzinfo=UTC)),
    ],
)
def test_a_digest_is_due_at_its_hour_in_its_zone(digest: str, now: datetime, expected: datetime) -> None:
    subscription = a_subscription(digest=digest, hour=7, zone="Europe/Helsinki")
    assert collect.boundary(subscription, now=now) == expected


def test_a_zone_that_is_no_longer_known_keeps_nobody_waiting() -> None:
    lost, other = a_subscription(digest="daily", hour=7), a_subscription()
    Subscription.objects.filter(pk=lost.pk).update(zone="Mars/Olympus")
    a_note(a_finding())
    collect.collect()
    now = timezone.now()
    assert collect.bundle(now=now) >= 1
    assert Delivery.objects.filter(subscription=other).count() == 1
    collect.bundle(now=now + timedelta(days=1))
    assert Delivery.objects.filter(subscription=lost).count() == 1


def test_a_digest_gathers_a_day_and_is_not_sent_before() -> None:
    a_subscription(digest="daily")
    now = timezone.now()
    finding = a_finding()
    a_note(finding)
    collect.collect()
    a_note(finding, "reopened", was="fixed")
    collect.collect()
    Notice.objects.update(made_at=now)
    assert collect.bundle(now=now) == 0
    assert collect.bundle(now=now + timedelta(days=1)) == 1
    (about,) = Delivery.objects.get().content["body"]["findings"]
    assert len(about["events"]) == 2


def test_mail_of_a_team_goes_to_each_member_with_an_address() -> None:
    team = a_team("storage", a_user(email="ann@example.com"), a_user(email="bob@example.com"), a_user())
    a_subscription(team=team, kind="e-mail", address="")
    a_note(a_finding())
    first, second = delivered()
    assert (first.to, second.to) == ("ann@example.com", "bob@example.com")
    assert first.content == second.content
    assert first.content["subject"].startswith("[Splashboard] Found: 10.11.19: Throughput −12 %")


def test_a_team_without_any_address_is_said_and_nothing_is_lost_silently() -> None:
    a_subscription(kind="e-mail", address="")
    a_note(a_finding())
    (delivery,) = delivered()
    assert (delivery.state, delivery.answer) == ("given up", "no team member has an address")


def test_who_is_assigned_or_mentioned_is_notified_and_nobody_of_their_own_actions() -> None:
    ann, bob = a_user(username="ann", email="ann@example.com"), a_user(username="bob", email="bob@example.com")
    finding = a_finding()
    a_note(finding, "owner", by=bob, to="ann", was="")
    a_note(finding, "owner", by=bob, to="bob", was="ann")
    a_note(finding, "comment", by=ann, text="@bob @ann look").mentions.set([ann, bob])
    ann_mail, bob_mail = delivered()
    assert (ann_mail.to, bob_mail.to) == ("ann@example.com", "bob@example.com")
    assert "Assigned to you" in ann_mail.content["subject"]
    assert "You were mentioned" in bob_mail.content["subject"]
    assert "ann said: @bob @ann look" in bob_mail.content["text"]


def test_what_people_do_with_findings_is_sent_as_they_do_it() -> None:
    """Compared with the actions themselves, whose notes this reads."""
    subscription = a_subscription(events=["state", "reopened", "comment"])
    ann, bob = a_user(username="ann", email="ann@example.com"), a_user(username="bob")
    finding, today = a_finding(), timezone.localdate()
    review.assign(finding_id=finding.pk, by=bob, owner=ann)
    review.comment(finding_id=finding.pk, by=bob, text="is it the disk, @ann?")
    review.set_state(finding_id=finding.pk, by=ann, state="confirmed")
    review.accept(finding_id=finding.pk, by=ann, reason="known", until=today, today=today)
    review.reopen(finding_id=finding.pk, by=bob)
    review.set_due(finding_id=finding.pk, by=bob, due_on=today, today=today)
    team, person = delivered()
    assert events_of(subscription) == ["comment", "state", "state", "reopened"]
    words = [event["words"] for event in team.content["body"]["findings"][0]["events"]]
    assert words[2] == f"ann set it from confirmed to accepted until {today}: known"
    assert list(person.notices.values_list("event", flat=True)) == ["assigned", "mentioned"]
    assert person.to == "ann@example.com"


def test_mail_chat_and_webhook_say_how_far_it_changed_with_interval_and_values() -> None:
    team = a_team()
    for kind, address in (("e-mail", "x@example.com"), ("slack", ""), ("webhook", "")):
        a_subscription(team=team, kind=kind, address=address or "https://example.com/hook")
    with_changes("oltp_write_only", "oltp_insert")
    mail, chat, webhook = (each.content for each in delivered())
    said = "−12 % [−14 %, −9.0 %]: 100 transactions/s → 88.0 transactions/s (the largest of 2 changes)"
    for text in (mail["text"], mail["html"], webhook["body"]["findings"][0]["size"]):
        assert said in text
    assert chat["body"]["text"].startswith("Worse: client.throughput −12 % (95 % interval −14 % to −9.0 %), 100 ")


def test_words_of_people_neither_call_a_whole_chat_nor_make_markup_in_mail() -> None:
    team = a_team()
    a_subscription(team=team, kind="slack", events=["comment"])
    a_subscription(team=team, kind="e-mail", address="team@example.com", events=["comment"])
    a_note(a_finding(title="a <b> & c\nd"), "comment", by=a_user(), text="<!channel> <script>")
    chat, mail = delivered()
    assert "&lt;!channel&gt; &lt;script&gt;" in chat.content["body"]["text"]
    assert "<script>" not in mail.content["html"]
    assert "<!channel> <script>" in mail.content["text"]
    assert "\n" not in mail.content["subject"]


def test_a_release_with_many_findings_is_one_message_that_says_how_many_more() -> None:
    a_subscription(kind="slack")
    for _ in range(33):
        a_note(a_finding())
    (delivery,) = delivered()
    assert "and 9 more" in delivery.content["body"]["text"]
    assert len(delivery.content["body"]["blocks"]) == 49


def test_a_note_that_came_late_is_sent_though_newer_ones_were() -> None:
    a_subscription()
    finding = a_finding()
    late = a_note(finding)
    number = late.pk
    late.delete()
    a_note(finding)
    delivered()
    Note.objects.create(pk=number, finding=finding, what="found", detail={"changes": [2]})
    assert len(delivered()) == 2


@pytest.mark.django_db(transaction=True)
def test_two_workers_make_each_delivery_once() -> None:
    team = a_team("storage", a_user(email="ann@example.com"))
    a_subscription(team=team)
    a_subscription(team=team, kind="e-mail", address="")
    for _ in range(20):
        a_note(a_finding())
    start = threading.Barrier(4)
    errors: list[BaseException] = []

    def work(job: Callable[[], object]) -> None:
        try:
            start.wait()
            for _ in range(5):
                job()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    def tell() -> None:
        collect.collect()
        collect.bundle(now=timezone.now())

    threads = [threading.Thread(target=work, args=(tell,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    tell()
    assert Notice.objects.count() == 40
    assert sorted(len(delivery.notices.all()) for delivery in Delivery.objects.all()) == [20, 20]


def test_what_the_system_itself_settles_is_sent(django_assert_max_num_queries: Callable[..., object]) -> None:
    subscription = a_subscription()
    assert reconcile.expire_acceptances(today=timezone.now().date()) == 0
    finding = a_finding(state="accepted", reason="known", accepted_until=timezone.now().date() - timedelta(days=1))
    reconcile.expire_acceptances(today=timezone.now().date())
    (delivery,) = delivered()
    assert events_of(subscription) == ["reopened"]
    assert delivery.content["body"]["findings"][0]["id"] == finding.pk
    assert "acceptance has ended" in delivery.content["body"]["findings"][0]["events"][0]["words"]
