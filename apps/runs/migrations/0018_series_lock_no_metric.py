import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0001_initial"),
        ("runs", "0017_outdated_archives"),
    ]

    operations = [
        migrations.AlterField(
            model_name="series",
            name="metric",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="catalog.metric",
            ),
        ),
    ]
