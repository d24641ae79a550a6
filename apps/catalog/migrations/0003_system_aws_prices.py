from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0002_own_labels")]

    operations = [
        migrations.AddField(
            model_name="system",
            name="aws_prices",
            field=models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]
