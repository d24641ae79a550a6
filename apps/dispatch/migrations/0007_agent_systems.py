import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

SYSTEM = "system:"
# The agent that a start makes beside the server.
LOCAL = "local"


def allow_what_they_measure(apps, _):
    """Agents that are there go on as before."""
    Agent, AgentSystem = apps.get_model("dispatch", "Agent"), apps.get_model("dispatch", "AgentSystem")
    Agent.objects.filter(name=LOCAL).update(is_trusted=True)
    for agent in Agent.objects.exclude(name=LOCAL):
        slugs = [label.removeprefix(SYSTEM) for label in agent.labels if label.startswith(SYSTEM)]
        AgentSystem.objects.bulk_create(
            [AgentSystem(agent=agent, slug=slug[:80], is_allowed=True, decided_at=timezone.now()) for slug in slugs],
            ignore_conflicts=True,
        )


class Migration(migrations.Migration):
    dependencies = [
        ("dispatch", "0006_scheduled_runs"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="is_trusted",
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name="Enrolment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                (
                    "systems",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=80), blank=True, default=list, size=None
                    ),
                ),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "agent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="dispatch.agent",
                    ),
                ),
                (
                    "made_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AgentSystem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.CharField(max_length=80)),
                ("is_allowed", models.BooleanField(null=True)),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="asked", to="dispatch.agent"
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["slug"],
                "constraints": [models.UniqueConstraint(fields=("agent", "slug"), name="agent_system_once")],
            },
        ),
        migrations.RunPython(allow_what_they_measure, migrations.RunPython.noop),
    ]
