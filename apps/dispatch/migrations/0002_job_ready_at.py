"""A job whose attempt was lost waits a little, so that a failing system is not asked in a hot loop."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dispatch", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="job",
            name="ready_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
