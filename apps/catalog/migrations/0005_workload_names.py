from django.db import migrations

from workers.protocol.workloads import WORKLOADS
from workers.protocol.workloads.declaration import renamed


def rename(apps, schema_editor):
    for workload in apps.get_model("catalog", "Workload").objects.filter(tool__in=WORKLOADS).iterator():
        name = renamed(WORKLOADS[workload.tool], workload.name, workload.parameters)
        if name != workload.name:
            workload.name = name
            workload.save(update_fields=["name"])


class Migration(migrations.Migration):
    dependencies = [("catalog", "0004_short_names")]

    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
