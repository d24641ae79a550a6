"""What could not be archived is tried less and less often; what was fetched from the archive stays for a while."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0007_rig_provenance")]

    operations = [
        migrations.AddField(
            model_name="archivedrun", name="fetched_at", field=models.DateTimeField(blank=True, null=True)
        ),
        migrations.CreateModel(
            name="ArchiveAttempt",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="archive_attempt",
                        serialize=False,
                        to="runs.run",
                    ),
                ),
                ("attempts", models.PositiveIntegerField()),
                ("due_at", models.DateTimeField()),
                ("problem", models.TextField(blank=True)),
            ],
        ),
    ]
