from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Lower

from apps.catalog.short_names import Traits, short_name


def name_systems(apps, schema_editor):
    """All systems are known here, so that each is distinguished from all others, not only from those before it."""
    systems = apps.get_model("catalog", "System").objects.select_related("release__platform", "hardware_class")
    rows = list(systems.prefetch_related("nodes").order_by("created_at", "pk"))
    traits = {
        row.pk: Traits(
            slug=row.slug,
            name=row.name,
            platform_slug=row.release.platform.slug,
            platform=row.release.platform.name,
            version=row.release.version,
            hardware=row.hardware_class.slug,
            settings=row.settings,
            roles=[node.role for node in row.nodes.all()],
        )
        for row in rows
    }
    taken = []
    for row in rows:
        own = traits[row.pk]
        others = [each for each in traits.values() if each.platform_slug == own.platform_slug and each is not own]
        row.short_name = short_name(own, others=others, taken=taken)
        taken.append(row.short_name)
        row.save(update_fields=["short_name"])


class Migration(migrations.Migration):
    dependencies = [("catalog", "0003_price_date")]

    operations = [
        migrations.AddField("system", "short_name", models.CharField(max_length=16, null=True)),
        migrations.RunPython(name_systems, migrations.RunPython.noop),
        migrations.AlterField("system", "short_name", models.CharField(max_length=16)),
        migrations.AddConstraint(
            "system", models.UniqueConstraint(Lower("short_name"), name="system_short_name_once")
        ),
        migrations.AddConstraint(
            "system", models.CheckConstraint(condition=~Q(short_name=""), name="system_has_short_name")
        ),
    ]
