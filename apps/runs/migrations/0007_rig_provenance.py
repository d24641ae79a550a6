"""Runs that were made up to try the installation at scale say so."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("runs", "0006_series_have_no_samples")]

    operations = [
        migrations.RemoveConstraint(model_name="run", name="run_provenance_known"),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=Q(provenance__in=["agent", "submitted", "example", "rig"]), name="run_provenance_known"
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="provenance",
            field=models.CharField(
                max_length=16,
                choices=[
                    ("agent", "measured by an agent"),
                    ("submitted", "submitted through the API"),
                    ("example", "shipped example"),
                    ("rig", "made up by the scale rig"),
                ],
            ),
        ),
    ]
