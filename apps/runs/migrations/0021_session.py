from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0020_allowance")]

    operations = [
        migrations.AddField("run", "session", models.CharField(blank=True, db_default="", default="", max_length=120)),
        migrations.AddField(
            "run",
            "server_started_at",
            models.DateTimeField(blank=True, null=True, verbose_name="the last start of any of its servers"),
        ),
    ]
