"""Queues every compared release: latency at a fixed rate is now primary, failed checks limit rows, and sessions follow
from each side's own runs."""

from typing import Any

from django.db import migrations


def queue(apps: Any, _: Any) -> None:
    pending, checked = (apps.get_model("regressions", name) for name in ("Pending", "CheckedRelease"))
    rows = checked.objects.values_list("release_id", "hardware_class_id")
    pending.objects.bulk_create(
        [pending(release_id=release, hardware_class_id=hardware) for release, hardware in rows], ignore_conflicts=True
    )


class Migration(migrations.Migration):
    dependencies = [("regressions", "0005_rates_and_steps")]

    operations = [migrations.RunPython(queue, migrations.RunPython.noop)]
