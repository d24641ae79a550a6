"""Campaigns of several sessions, between which agents start the servers anew."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("dispatch", "0009_until")]

    operations = [
        migrations.AddField("campaign", "sessions", models.PositiveIntegerField(db_default=1, default=1)),
        migrations.AddConstraint(
            "campaign", models.CheckConstraint(condition=Q(sessions__gt=0), name="campaign_sessions_positive")
        ),
        migrations.AddField("job", "session", models.PositiveIntegerField(db_default=1, default=1)),
        migrations.AddField("job", "restart_seconds", models.FloatField(blank=True, null=True)),
    ]
