from django.db import migrations


def mend(apps, schema_editor):
    """Examples had been restored with the label of the system that they were measured on: agents of a system with that
    slug were given their jobs."""
    for system in apps.get_model("catalog", "System").objects.all():
        further = [label for label in system.labels if not label.startswith("system:")]
        labels = [f"system:{system.slug}", *further]
        if system.labels != labels:
            system.labels = labels
            system.save(update_fields=["labels"])


class Migration(migrations.Migration):
    dependencies = [("catalog", "0001_squashed_0005_workload_names")]

    operations = [migrations.RunPython(mend, migrations.RunPython.noop)]
