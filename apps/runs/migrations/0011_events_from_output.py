"""Events that the load tool printed are told from those that were sampled."""

from django.db import migrations, models


def mark(apps, schema_editor):
    events = apps.get_model("runs", "Event").objects
    events.filter(node="client", kind__in=["warning", "error"], detail__has_key="level").update(from_output=True)


class Migration(migrations.Migration):
    dependencies = [("runs", "0010_batches_have_one_index")]
    operations = [
        migrations.AddField(model_name="event", name="from_output", field=models.BooleanField(db_default=False, default=False)),
        migrations.RunPython(mark, migrations.RunPython.noop, elidable=True),
    ]
