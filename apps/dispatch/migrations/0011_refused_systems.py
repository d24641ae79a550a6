"""Systems that an agent names and that get no jobs, with the reason."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dispatch", "0010_sessions")]

    operations = [
        migrations.AddField(
            "agent",
            "refused_systems",
            models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]
