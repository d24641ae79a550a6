"""Teams and subscriptions in the browser's forms; who may only read sees addresses in part."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.models import User
from apps.core.audit.models import AuditEntry
from apps.notifications import collect, deliver, services
from apps.notifications.encryption import UNREADABLE
from apps.notifications.models import Delivery, Subscription, Team
from tests.notifications.made import Receiver, a_finding, a_note, a_subscription, a_team
from tests.support.builders import a_user
from tests.support.pages import data, element, squeezed, states, text

pytestmark = pytest.mark.django_db
FORM = {
    "channel": "webhook",
    "address": "https://example.com/hook",
    "events": ["found", "verify"],
    "digest": "at once",
    "hour": "7",
    "zone": "UTC",
    "is_enabled": "on",
}


def answer_of(client: Client) -> tuple[str | None, ...]:
    """Numbers of subscriptions, and of deliveries that arrived, wait and were given up."""
    page = client.get("/notifications/").content.decode()
    (found,) = states(page, ".lede", "subscriptions", "sent", "waiting", "given-up")
    return found


def test_from_nothing_to_a_delivery_that_arrived(
    engineer: Client,
    enqueued: list[str],
    receiver: Receiver,
) -> None:
    assert answer_of(engineer) == ("0", "0", "0", "0")
    engineer.post("/notifications/teams/new/", {"name": "storage", "members": ["ann"]})
    team = Team.objects.get()
    engineer.post(
        "/notifications/subscriptions/new/",
        FORM | {"team": team.pk, "address": receiver.url, "smallest": "0.05", "state": ["open"], "label": "io, disk"},
    )
    subscription = Subscription.objects.get()
    assert subscription.asks == {"smallest": 0.05, "state": ["open"], "label": ["io", "disk"]}
    page = engineer.get("/notifications/").content.decode()
    assert "from 5\u00a0%" in page
    engineer.post(f"/notifications/subscriptions/{subscription.pk}/test/")
    assert enqueued == ["workers.tasks.send_delivery"]
    delivery = Delivery.objects.get()
    deliver.send(delivery_id=delivery.pk, now=timezone.now())
    assert answer_of(engineer) == ("1", "1", "0", "0")
    assert "200 OK: said by the receiver" in engineer.get("/notifications/").content.decode()
    assert "&quot;test&quot;: true" in engineer.get(f"/notifications/deliveries/{delivery.pk}/").content.decode()


def test_what_went_wrong_stands_at_the_top_and_is_tried_again_by_a_button(
    engineer: Client,
    enqueued: list[str],
    receiver: Receiver,
) -> None:
    receiver.answers = [404]
    a_subscription(address=receiver.url)
    a_note(a_finding())
    collect.collect()
    collect.bundle(now=timezone.now())
    delivery = Delivery.objects.get()
    deliver.send(delivery_id=delivery.pk, now=timezone.now())
    assert answer_of(engineer) == ("1", "0", "0", "1")
    assert "404 Not Found" in text(engineer.get("/notifications/").content.decode(), ".lede")
    engineer.post(f"/notifications/deliveries/{delivery.pk}/retry/")
    delivery.refresh_from_db()
    assert (delivery.state, enqueued) == ("waiting", ["workers.tasks.send_delivery"])


def test_bad_input_is_said_at_its_field_and_what_was_typed_stays(engineer: Client) -> None:
    team = a_team()
    bad = FORM | {
        "team": team.pk,
        "address": "https://10.0.0.1/x",
        "zone": "Nowhere",
        "smallest": "much",
        "text": "kept",
    }
    answer = engineer.post("/notifications/subscriptions/new/", bad)
    page = answer.content.decode()
    assert answer.status_code == 422
    for said in ("10.0.0.1 is not public", "is not a time zone", "is not a size", "Nothing was saved"):
        assert said in page
    for kept in ('value="https://10.0.0.1/x"', 'value="Nowhere"', 'value="much"', 'value="kept"'):
        assert kept in page
    assert not Subscription.objects.exists()


def test_a_filter_of_the_list_of_findings_becomes_that_of_a_subscription(engineer: Client) -> None:
    a_team()
    address = "/notifications/subscriptions/new/?state=open&text=commit&smallest=0.1"
    page = squeezed(engineer.get(address).content.decode())
    assert 'name="text" value="commit"' in page
    assert 'name="smallest" value="0.1"' in page
    assert 'name="state" value="open" checked' in page


def test_a_subscription_is_edited_switched_off_and_deleted(engineer: Client) -> None:
    subscription = a_subscription()
    secret = subscription.secret
    page = engineer.get(f"/notifications/subscriptions/{subscription.pk}/").content.decode()
    assert secret in page
    form = {name: value for name, value in FORM.items() if name != "is_enabled"} | {"team": subscription.team_id}
    engineer.post(f"/notifications/subscriptions/{subscription.pk}/", form | {"digest": "daily", "hour": "9"})
    subscription.refresh_from_db()
    assert (subscription.digest, subscription.hour, subscription.is_enabled) == ("daily", 9, False)
    assert subscription.secret == secret, "an empty field leaves it"
    said = engineer.post(f"/notifications/teams/{subscription.team_id}/delete/", follow=True).content.decode()
    assert "has 1 subscription (delete them first)" in said
    engineer.post(f"/notifications/subscriptions/{subscription.pk}/delete/")
    engineer.post(f"/notifications/teams/{subscription.team_id}/delete/")
    assert not Team.objects.exists()


def test_a_subscription_is_deleted_after_a_question_that_names_receiver_and_deliveries(engineer: Client) -> None:
    subscription = a_subscription(address="https://hooks.example.com/services/T0/SECRET")

    def question() -> str:
        page = engineer.get(f"/notifications/subscriptions/{subscription.pk}/").content.decode()
        return element(page, "form[action$='/delete/']").attributes["data-confirm"] or ""

    receiver = f"Delete the subscription of {subscription.team.name} to https://hooks.example.com/…?"
    assert question() == f"{receiver} It has no deliveries."
    services.send_test(subscription_id=subscription.pk, now=timezone.now())
    assert question() == f"{receiver} 1 delivery will be deleted with it; disabled, it keeps them."


def test_readers_read_and_see_addresses_in_part(client: Client) -> None:
    subscription = a_subscription(address="https://hooks.example.com/services/T0/SECRET")
    a_subscription(kind="e-mail", address="storage@example.com")
    a_note(a_finding())
    collect.collect()
    collect.bundle(now=timezone.now())
    client.force_login(a_user(role="reader"))
    page = client.get("/notifications/").content.decode()
    assert "https://hooks.example.com/…" in page
    assert "s…@example.com" in page
    assert "SECRET" not in page
    assert "storage@example.com" not in page
    for address in ("teams/new/", "subscriptions/new/", f"subscriptions/{subscription.pk}/"):
        assert client.get(f"/notifications/{address}").status_code == 403
        assert client.post(f"/notifications/{address}").status_code == 403


def test_a_team_without_any_mailbox_is_sent_nothing_and_the_answer_says_so(engineer: Client) -> None:
    team = a_team("storage", a_user())
    asked = engineer.get("/notifications/subscriptions/new/").content.decode()
    assert "storage (no e-mail addresses)" in asked
    form = FORM | {"team": team.pk, "channel": "e-mail", "address": ""}
    said = engineer.post("/notifications/subscriptions/new/", form, follow=True).content.decode()
    assert "Subscription saved, but no member of storage has an e-mail address yet, so no notification is sent" in said
    assert "from now on" not in said
    assert 'data-state="no recipient"' in said
    assert answer_of(engineer) == ("0", "0", "0", "0")
    team.members.add(a_user(email="ann@example.com"))
    assert 'data-state="no recipient"' not in engineer.get("/notifications/").content.decode()
    assert answer_of(engineer) == ("1", "0", "0", "0")


def test_a_mail_to_a_person_is_shown_to_that_person_and_to_administrators(client: Client) -> None:
    bob = a_user(username="bob", email="bob@example.com", role="reader")
    a_note(a_finding(), "comment", by=a_user(), text="a word for @bob alone").mentions.set([bob])
    collect.collect()
    collect.bundle(now=timezone.now())
    address = f"/notifications/deliveries/{Delivery.objects.get().pk}/"
    row = f'href="{address}"'

    def sees() -> tuple[bool, bool]:
        found = client.get(address)
        is_shown = found.status_code == 200 and "a word for @bob alone" in found.content.decode()
        return is_shown, row in client.get("/notifications/").content.decode()

    assert sees() == (False, False)
    client.force_login(a_user(role="engineer"))
    assert sees() == (False, False)
    assert client.post(f"{address}retry/").status_code == 404
    for viewer in (bob, a_user(role="administrator")):
        client.force_login(viewer)
        assert sees() == (True, True)


def test_strangers_read_how_many_members_a_team_has_and_no_name_nor_mailbox(client: Client) -> None:
    a_subscription(
        team=a_team("storage", a_user(username="zoe"), a_user(email="zoe2@example.com")), kind="e-mail", address=""
    )
    tell()
    Delivery.objects.update(given_up_at=timezone.now(), answer="550 no zoe2@example.com here")
    page = client.get("/notifications/").content.decode()
    assert data(page, "members") == ["2"]
    assert "550 no z…@example.com here" in page
    assert "zoe" not in page


def test_anybody_signed_in_says_where_they_are_notified(client: Client) -> None:
    assert client.post("/notifications/", {"address": "x@example.com"})["Location"].startswith("/sign-in/")
    reader = a_user(role="reader")
    client.force_login(reader)
    client.post("/notifications/", {"address": "me@example.com"})
    assert User.objects.get(pk=reader.pk).email == "me@example.com"
    refused = client.post("/notifications/", {"address": "me"})
    assert refused.status_code == 422
    control = element(refused.content.decode(), "#id_address")
    assert (control.attributes["value"], control.attributes["aria-describedby"]) == ("me", "address-error")
    assert "is not an e-mail address" in element(refused.content.decode(), "#address-error").text()
    client.post("/notifications/", {"address": ""})
    assert User.objects.get(pk=reader.pk).email == ""


def test_forms_are_refused_without_their_token() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(a_user())
    assert client.post("/notifications/teams/new/", {"name": "x"}).status_code == 403


def test_the_page_asks_the_same_number_of_queries_however_much_there_is(engineer: Client) -> None:
    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert engineer.get("/notifications/").status_code == 200
        return len(captured)

    team = a_team("first", a_user())
    a_subscription(team=team)
    tell()
    few = count()
    for name in ("second", "third"):
        for _ in range(3):
            a_subscription(team=Team.objects.filter(name=name).first() or a_team(name, a_user(), a_user()))
    for _ in range(5):
        tell()
    assert count() == few
    parts = engineer.get("/notifications/", headers={"HX-Request": "true"}).content.decode()
    assert parts.lstrip().startswith('<div id="deliveries"')


def tell() -> None:
    a_note(a_finding())
    collect.collect()
    collect.bundle(now=timezone.now())


@pytest.mark.parametrize("kind", ["slack", "teams", "mattermost"])
def test_the_address_of_a_chat_is_shown_in_part_and_kept_when_it_is_left(engineer: Client, kind: str) -> None:
    secret = "https://hooks.example/services/T0/B0/s3cret?sig=s3cret"
    team = a_team()
    engineer.post("/notifications/subscriptions/new/", FORM | {"team": team.pk, "channel": kind, "address": secret})
    subscription = Subscription.objects.get()
    assert subscription.address == secret
    services.send_test(subscription_id=subscription.pk, now=timezone.now())
    delivery, own = Delivery.objects.get(), f"/notifications/subscriptions/{subscription.pk}/"
    for address in ("/notifications/", own, f"/notifications/deliveries/{delivery.pk}/", "/api/v1/subscriptions/"):
        shown = engineer.get(address).content.decode()
        assert "https://hooks.example/…" in shown
        assert "s3cret" not in shown
    for left in ("https://hooks.example/…", "", " https://hooks.example/… "):
        form = FORM | {"team": team.pk, "channel": kind, "address": left, "hour": "9"}
        assert engineer.post(own, form).status_code == 302
        subscription.refresh_from_db()
        assert (subscription.address, subscription.hour) == (secret, 9)
    engineer.post(own, FORM | {"team": team.pk, "channel": kind, "address": "https://hooks.example/new"})
    subscription.refresh_from_db()
    assert subscription.address == "https://hooks.example/new"
    with connection.cursor() as cursor:
        cursor.execute("SELECT address FROM notifications_subscription")
        assert "hooks.example" not in str(cursor.fetchall()), "encrypted"


def test_a_masked_address_makes_no_new_subscription_and_an_unreadable_one_is_asked_for(engineer: Client) -> None:
    team = a_team()
    form = FORM | {"team": team.pk, "channel": "slack", "address": ""}
    assert engineer.post("/notifications/subscriptions/new/", form).status_code == 422
    subscription = a_subscription(kind="slack", team=team)
    own = f"/notifications/subscriptions/{subscription.pk}/"
    with connection.cursor() as cursor:
        cursor.execute("UPDATE notifications_subscription SET address = 'of another key'")
    page = engineer.get(own).content.decode()
    assert "SPLASHBOARD_SECRET_KEY has changed" in page
    for left in (UNREADABLE, ""):
        assert engineer.post(own, form | {"address": left}).status_code == 422


def test_the_audit_log_tells_what_changed_in_a_subscription_and_no_secret() -> None:
    subscription = a_subscription(kind="slack", address="https://hooks.example.com/services/T0/FIRST")
    a_subscription(
        subscription_id=subscription.pk,
        kind="slack",
        address="https://hooks.example.com/services/T0/SECOND",
        digest="weekly",
        hour=9,
        zone="Asia/Tokyo",
        asks={"smallest": 0.1},
    )
    entry = AuditEntry.objects.filter(action="subscription.save").latest("pk")
    assert "at once" in entry.before
    assert "all findings" in entry.before
    assert "weekly at 09:00 Asia/Tokyo" in entry.after
    assert "smallest=0.1" in entry.after
    assert "address" in entry.after.rpartition("(")[2], "the masked form of both is the same"
    assert "https://hooks.example.com/…" in entry.after
    assert not {"FIRST", "SECOND"} & set(re.split(r"\W", f"{entry.before} {entry.after}"))
