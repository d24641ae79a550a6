from django.db import migrations


def move(apps, schema_editor):
    for seen in apps.get_model("aws", "Observation").objects.exclude(prices={}).select_related("system"):
        seen.system.aws_prices = seen.prices
        seen.system.save(update_fields=["aws_prices"])


class Migration(migrations.Migration):
    dependencies = [("aws", "0001_squashed_0002_observations"), ("catalog", "0003_system_aws_prices")]

    operations = [
        migrations.RunPython(move, migrations.RunPython.noop),
        migrations.RemoveField(model_name="observation", name="prices"),
    ]
