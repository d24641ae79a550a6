import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("aws", "0001_sightings"), ("catalog", "0003_price_date")]

    operations = [
        migrations.RenameModel("Sighting", "Observation"),
        migrations.AlterField(
            "Observation",
            "system",
            models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                primary_key=True,
                related_name="observation",
                serialize=False,
                to="catalog.system",
            ),
        ),
    ]
