"""What opens other people's doors is stored so that the database alone does not tell it."""

from importlib import import_module

import pytest
from django.apps import apps
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from apps.notifications import deliver, services
from apps.notifications.encryption import UNREADABLE
from apps.notifications.models import Subscription
from tests.notifications.made import a_subscription
from tests.support.builders import a_user

pytestmark = pytest.mark.django_db
ADDRESS, SECRET = "https://chat.example/services/T0/B0/opens-the-channel", "a-secret-of-sixteen"


def stored(*columns: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(columns)} FROM notifications_subscription ORDER BY id")
        return [str(text) for row in cursor.fetchall() for text in row]


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Subscription:
    monkeypatch.setattr("apps.notifications.webhooks.addresses.check", lambda url: url)
    return a_subscription(kind="webhook", address=ADDRESS, secret=SECRET)


def test_neither_address_nor_secret_can_be_read_in_the_database(chat: Subscription) -> None:
    a_subscription(kind="webhook", address=ADDRESS, secret=SECRET)
    kept = stored("address", "secret")
    assert not [text for text in kept if "chat.example" in text or SECRET in text]
    assert len(set(kept)) == 4  # equal texts differ
    chat.refresh_from_db()
    assert (chat.address, chat.secret) == (ADDRESS, SECRET)


def test_a_mailbox_of_nobody_stays_empty_so_that_it_can_be_asked_for(db: None) -> None:
    a_subscription(kind="e-mail", address="")
    assert stored("address", "secret") == ["", ""]


def test_a_new_key_reads_what_the_old_one_encrypted_as_long_as_that_is_named(
    chat: Subscription, settings: LazySettings
) -> None:
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "n" * 50
    chat.refresh_from_db()
    assert (chat.address, chat.secret) == (ADDRESS, SECRET)
    chat.save()
    settings.SECRET_KEY_FALLBACKS = []
    chat.refresh_from_db()
    assert (chat.address, chat.secret) == (ADDRESS, SECRET)


def test_after_a_lost_key_nothing_is_sent_and_what_is_entered_again_counts(
    chat: Subscription, settings: LazySettings
) -> None:
    settings.SECRET_KEY = "another" * 8
    (delivery,) = services.send_test(subscription_id=chat.pk, now=timezone.now())
    deliver.send(delivery_id=delivery.pk, now=timezone.now())
    delivery.refresh_from_db()
    assert (delivery.state, delivery.answer) == ("given up", f"address or secret {UNREADABLE}")
    changed = services.keep_subscription(
        subscription_id=chat.pk,
        by=a_user(),
        team=chat.team_id,
        kind="webhook",
        address=ADDRESS,
        secret=UNREADABLE,
        asks={},
        events=["found"],
        digest="at once",
        hour=7,
        zone="UTC",
    )
    changed.refresh_from_db()
    assert changed.address == ADDRESS
    assert changed.secret not in (UNREADABLE, SECRET)
    assert len(changed.secret) > 30


def test_what_an_earlier_release_stored_in_clear_is_encrypted_by_the_migration(chat: Subscription) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE notifications_subscription SET address = %s, secret = %s", [ADDRESS, SECRET])
    import_module("apps.notifications.migrations.0002_encrypt_webhooks").encrypt(apps, None)
    assert not [text for text in stored("address", "secret") if text in (ADDRESS, SECRET)]
    chat.refresh_from_db()
    assert (chat.address, chat.secret) == (ADDRESS, SECRET)
