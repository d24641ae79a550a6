from typing import Any

from django.db import migrations, models


def take_over(apps: Any, _editor: object) -> None:
    """The addresses that administrators gave: of people without a password who have not changed it themselves."""
    changed = apps.get_model("audit", "AuditEntry").objects.filter(action="person.address")
    subjects = set(changed.values_list("subject", flat=True))
    for user in apps.get_model("accounts", "User").objects.filter(password__startswith="!").exclude(email=""):
        if f"person {user.username}" not in subjects:
            user.invited_as = user.email
            user.save(update_fields=["invited_as"])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_identity"), ("audit", "0001_initial")]

    operations = [
        migrations.AddField(
            "user", "invited_as", models.CharField(blank=True, db_default="", default="", max_length=254)
        ),
        migrations.RunPython(take_over, migrations.RunPython.noop, elidable=True),
    ]
