from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0016_schema_changes_found")]

    operations = [
        migrations.AddField(
            model_name="archivedrun",
            name="is_outdated",
            field=models.BooleanField(default=False),
        ),
    ]
