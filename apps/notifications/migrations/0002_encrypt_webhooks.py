"""Addresses and secrets of webhooks are encrypted. Subscriptions are few, so that one statement each is quick."""

from typing import Any

from django.db import migrations

import apps.notifications.encryption


def encrypt(registry: Any, _: Any) -> None:
    for row in registry.get_model("notifications", "Subscription").objects.raw(
        "SELECT id, address AS plain_address, secret AS plain_secret FROM notifications_subscription"
    ):
        row.address, row.secret = row.plain_address, row.plain_secret
        row.save(update_fields=["address", "secret"])


class Migration(migrations.Migration):
    dependencies = [("notifications", "0001_notifications")]

    operations = [
        migrations.AlterField("Subscription", "address", apps.notifications.encryption.EncryptedTextField(blank=True)),
        migrations.AlterField("Subscription", "secret", apps.notifications.encryption.EncryptedTextField(blank=True)),
        migrations.RunPython(encrypt, migrations.RunPython.noop, elidable=True),
    ]
