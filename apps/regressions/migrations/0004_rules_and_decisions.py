from django.db import migrations, models


def as_they_are_now(apps, schema_editor):
    """What people confirmed or closed before this was kept counts as decided about as it is now."""
    change = apps.get_model("regressions", "Change")
    decided = change.objects.filter(
        finding__state__in=["confirmed", "fixed", "not reproducible"], gone_at=None, accepted_ratio=None
    )
    change.objects.filter(pk__in=decided.values("pk")).update(accepted_ratio=models.F("ratio"))


class Migration(migrations.Migration):
    dependencies = [("regressions", "0003_accepted_as")]

    operations = [
        migrations.AddField("history", "rules", models.PositiveSmallIntegerField(default=0)),
        migrations.RunPython(as_they_are_now, migrations.RunPython.noop),
    ]
