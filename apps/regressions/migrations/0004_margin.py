"""Margins of thresholds. Queues every compared release: stalls and work per transaction are now judged."""

from typing import Any

from django.conf import settings
from django.db import migrations, models


def queue(apps: Any, _: Any) -> None:
    pending, checked = (apps.get_model("regressions", name) for name in ("Pending", "CheckedRelease"))
    rows = checked.objects.values_list("release_id", "hardware_class_id")
    pending.objects.bulk_create(
        [pending(release_id=release, hardware_class_id=hardware) for release, hardware in rows], ignore_conflicts=True
    )


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0001_squashed_0005_workload_names'),
        ('regressions', '0003_compare_errors'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='threshold',
            name='margin',
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name='threshold',
            constraint=models.CheckConstraint(condition=models.Q(('margin__isnull', True), models.Q(('margin__gt', 0), ('margin__lte', 1)), _connector='OR'), name='threshold_margin_in_range'),
        ),
        migrations.RunPython(queue, migrations.RunPython.noop),
    ]
